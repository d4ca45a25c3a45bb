//! Entry point of the worker that computes on the GPU through WebGPU.

use kappascope::worker::{self, Engine};
use kappascope::{device, inference};

fn main() {
    worker::start(async {
        worker::run_constructors()?;
        let device_text = worker::describe_gpu().await?;
        let device = device::gpu(worker::report_lost_gpu).await?;
        Ok(Engine {
            name: "gpu",
            tolerance: inference::GPU_TOLERANCE,
            device,
            device_text,
            kernel: None,
            is_reference: false,
        })
    });
}
