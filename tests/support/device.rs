//! Where tests compute: on the CPU, or on the device that the variable `KAPPASCOPE_DEVICE` names in a build with its
//! feature: `KAPPASCOPE_DEVICE=cuda cargo test --features cuda --test methods`.

use kappascope::device::{Device, by_name};

/// Error of a GPU over that of the CPU: its products round their factors to ten bits. On an NVIDIA H200 first values
/// beyond 200 times the CPU's error were at most 1200 times as far off.
const FACTOR: f32 = 2000.0;

fn name() -> String {
    std::env::var("KAPPASCOPE_DEVICE").unwrap_or_else(|_| "cpu".to_owned())
}

/// The device to compute on.
pub(crate) fn device() -> Device {
    by_name(&name()).expect("KAPPASCOPE_DEVICE names a device of this build")
}

/// Error that is allowed where the CPU may make this one.
pub(crate) fn tolerance(on_cpu: f32) -> f32 {
    if name() == "cpu" {
        on_cpu
    } else {
        FACTOR * on_cpu
    }
}
