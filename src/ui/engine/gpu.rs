//! Whether this device has a GPU that is worth trying.

use js_sys::{Function, Promise};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::ui::dom::browser;
use crate::wire::{property, reason};

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
    let info = property(&adapter, "info");
    // `isFallbackAdapter` moved from the adapter to its `info` in 2025.
    let is_software = [&adapter, &info]
        .iter()
        .any(|place| property(place, "isFallbackAdapter").is_truthy())
        || property(&info, "architecture").as_string().as_deref() == Some("swiftshader");
    if is_software {
        return Err("the only GPU here is imitated in software".to_owned());
    }
    Ok(())
}

async fn request_adapter(gpu: &JsValue) -> Result<JsValue, JsValue> {
    let request: Function = property(gpu, "requestAdapter").dyn_into()?;
    let promise: Promise = request.call0(gpu)?.dyn_into()?;
    JsFuture::from(promise).await
}
