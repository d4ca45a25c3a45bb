//! Entry point of the worker that computes on the CPU, in WebAssembly.

use kappascope::worker::{self, Engine};
use kappascope::{device, inference};

fn main() {
    worker::start(async {
        Ok(Engine {
            name: "cpu",
            tolerance: inference::CPU_TOLERANCE,
            device: device::cpu(),
            device_text: "WebAssembly, one thread".to_owned(),
            kernel: Some(worker::kernel()),
            is_reference: true,
        })
    });
}
