//! The GPU adapter of the browser: requested by the page, to see whether the GPU is worth trying, and by the engine,
//! to name it.
//!
//! WebGPU by its own names; see [`property`]. Knows neither the page nor the engine.

use js_sys::{Function, Promise};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::property;

/// Adapter that WebGPU, the navigator's `gpu`, gives; null where it has none.
///
/// # Errors
/// Exception of the browser.
pub async fn request_adapter(gpu: &JsValue) -> Result<JsValue, JsValue> {
    let request: Function = property(gpu, "requestAdapter").dyn_into()?;
    let promise: Promise = request.call0(gpu)?.dyn_into()?;
    JsFuture::from(promise).await
}

/// Whether an adapter says that it imitates a GPU in software.
#[must_use]
pub fn is_fallback_adapter(adapter: &JsValue) -> bool {
    // `isFallbackAdapter` moved from the adapter to its `info` in 2025.
    [adapter, &property(adapter, "info")]
        .iter()
        .any(|place| property(place, "isFallbackAdapter").is_truthy())
}
