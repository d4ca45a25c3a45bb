//! Description of the browser's GPU adapter, queried before Burn uses WebGPU: Burn's runtime panics where there is
//! none.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::worker_scope::scope;
use crate::error::{Error, Result};
use crate::wire::{property, reason};

/// The adapter's name in words.
///
/// # Errors
///
/// When the browser has no WebGPU, or no adapter for it.
pub async fn describe_gpu() -> Result<String> {
    let gpu = property(&scope().navigator(), "gpu");
    if gpu.is_undefined() {
        return Err(Error::Engine("the browser offers no WebGPU".to_owned()));
    }
    let adapter = request_adapter(&gpu)
        .await
        .map_err(|e| Error::Engine(format!("the GPU: {}", reason(&e))))?;
    if adapter.is_null() || adapter.is_undefined() {
        return Err(Error::Engine(
            "the browser offers WebGPU but no adapter".to_owned(),
        ));
    }
    Ok(words(&adapter))
}

async fn request_adapter(gpu: &JsValue) -> Result<JsValue, JsValue> {
    let request: Function = property(gpu, "requestAdapter").dyn_into()?;
    let promise: Promise = request.call0(gpu)?.dyn_into()?;
    JsFuture::from(promise).await
}

/// Vendor, architecture and description, as far as the browser gives them.
fn words(adapter: &JsValue) -> String {
    let info = property(adapter, "info");
    let known = ["vendor", "architecture", "description"]
        .into_iter()
        .filter_map(|name| property(&info, name).as_string())
        .filter(|word| !word.is_empty());
    let named = known.collect::<Vec<_>>().join(" ");
    // It moved from the adapter to its `info` in 2025.
    let is_fallback = [adapter, &info]
        .iter()
        .any(|place| property(place, "isFallbackAdapter").is_truthy());
    let name = if named.is_empty() {
        "unnamed GPU".to_owned()
    } else {
        named
    };
    if is_fallback {
        format!("{name} (in software)")
    } else {
        name
    }
}
