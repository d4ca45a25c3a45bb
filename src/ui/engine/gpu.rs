//! Whether this device has a GPU that is worth trying.

use wasm_bindgen::JsValue;

use crate::ui::dom::browser;
use crate::wire::{is_fallback_adapter, property, reason, request_adapter};

/// Whether there is such a GPU, or why not. One that is imitated in software is far slower than the CPU engine.
pub(super) async fn probe() -> Result<(), String> {
    if browser::lacks_memory() {
        return Err(
            "the GPU engine needs memory of its own, and this device has little".to_owned(),
        );
    }
    let navigator =
        browser::window().map_or(JsValue::UNDEFINED, |window| window.navigator().into());
    let gpu = property(&navigator, "gpu");
    if gpu.is_undefined() {
        return Err("this browser offers no WebGPU".to_owned());
    }
    let adapter = request_adapter(&gpu)
        .await
        .map_err(|error| reason(&error))?;
    if adapter.is_null() || adapter.is_undefined() {
        return Err("this browser offers no GPU adapter".to_owned());
    }
    let architecture = property(&property(&adapter, "info"), "architecture").as_string();
    if is_fallback_adapter(&adapter) || architecture.as_deref() == Some("swiftshader") {
        return Err("the only GPU here is imitated in software".to_owned());
    }
    Ok(())
}
