//! Description of the browser's GPU adapter, queried before Burn uses WebGPU: Burn's runtime panics where there is
//! none.

use js_sys::Function;
use wasm_bindgen::{JsCast as _, JsValue};

use super::worker_scope::scope;
use crate::error::{Error, Result};
use crate::wire::{is_fallback_adapter, property, reason, request_adapter};

/// Limits in bytes that bound which models fit and which kernels run: WebGPU's name, ours, and a unit with its bytes.
const LIMITS: [(&str, &str, &str, f64); 2] = [
    ("maxBufferSize", "buffers up to", "MiB", 1_048_576.0),
    (
        "maxComputeWorkgroupStorageSize",
        "workgroup memory",
        "KiB",
        1024.0,
    ),
];
/// Optional features that make a GPU faster or let it be timed.
const FEATURES: [&str; 2] = ["shader-f16", "timestamp-query"];

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

/// Vendor, architecture and description, as far as the browser gives them, and what the adapter offers.
fn words(adapter: &JsValue) -> String {
    let info = property(adapter, "info");
    let known = ["vendor", "architecture", "description"]
        .into_iter()
        .filter_map(|name| property(&info, name).as_string())
        .filter(|word| !word.is_empty());
    let named = known.collect::<Vec<_>>().join(" ");
    let name = if named.is_empty() {
        "unnamed GPU".to_owned()
    } else {
        named
    };
    let note = match is_fallback_adapter(adapter) {
        true => " (in software)",
        false => "",
    };
    [name, note.to_owned(), offers(adapter)].concat()
}

/// Limits of the adapter on buffers and workgroups, and whether it has two optional features.
fn offers(adapter: &JsValue) -> String {
    let [limits, features] = ["limits", "features"].map(|name| property(adapter, name));
    let limit = |(name, what, unit, unit_bytes): (&str, &str, &str, f64)| {
        let bytes = property(&limits, name).as_f64()?;
        Some(format!(", {what} {:.0} {unit}", bytes / unit_bytes))
    };
    let offered = |name: &str| match has(&features, name) {
        true => format!(", with {name}"),
        false => format!(", without {name}"),
    };
    LIMITS
        .into_iter()
        .filter_map(limit)
        .chain(FEATURES.map(offered))
        .collect()
}

/// Whether a set of JavaScript's has this name.
fn has(set: &JsValue, name: &str) -> bool {
    let method = property(set, "has").dyn_into::<Function>().ok();
    let found = method.and_then(|method| method.call1(set, &name.into()).ok());
    found.is_some_and(|found| found.is_truthy())
}
