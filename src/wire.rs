//! Protocol messages as JavaScript values and back, for `postMessage`; and the browser's GPU adapter.
//!
//! Used by the page and by its engines, so that both use the same encoding. Knows no message by name.

mod gpu_adapter;

use js_sys::{Array, Object, Reflect};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::JsValue;

pub use gpu_adapter::{is_fallback_adapter, request_adapter};

use crate::error::{Error, Result};

/// The property of a message that holds its files; the protocol itself knows plain data only.
pub const FILES: &str = "files";

/// The JavaScript value of a message; bytes become a `Uint8Array`.
///
/// # Errors
/// When a value has no JavaScript counterpart, such as an integer beyond 2⁵³.
pub fn to_js<T: Serialize>(message: &T) -> Result<JsValue> {
    serde_wasm_bindgen::to_value(message)
        .map_err(|reason| Error::Engine(format!("a message could not be sent: {reason}")))
}

/// The message that a JavaScript value holds.
///
/// # Errors
/// When the value is not such a message, as when page and engine come from different builds.
pub fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T> {
    serde_wasm_bindgen::from_value(value)
        .map_err(|reason| Error::Engine(format!("a message could not be read: {reason}")))
}

/// Puts files beside a message, as its property `files`.
///
/// # Errors
/// When the message is no object.
pub fn put_files(message: &JsValue, files: Vec<JsValue>) -> Result<()> {
    let files = Array::from_iter(files);
    let put = Reflect::set(message, &FILES.into(), &files);
    put.map(|_| ())
        .map_err(|error| Error::Engine(reason(&error)))
}

/// A property of a JavaScript object; `undefined` where there is none.
///
/// For what has no type in web-sys: `saveData`, which is missing there; WebGPU, which needs
/// `web_sys_unstable_apis`; what the document's own script puts into the page or a worker (`startEngine`,
/// `memoryGigabytes`, `earlyMessages`) and the page beside a message (`files`); the name of a picked file, since an
/// engine must not mention `File`; and exceptions, which may be any value. Also for `serviceWorker`, whose getter
/// throws in a sandboxed frame, which web-sys does not catch. Exports of a WebAssembly module have no type either:
/// `worker::gemm_kernel` reads them itself, with the error where one is missing.
#[must_use]
pub fn property(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

/// Message of a JavaScript exception.
#[must_use]
pub fn reason(exception: &JsValue) -> String {
    let message = property(exception, "message").as_string();
    message.unwrap_or_else(|| Object::from(exception.clone()).to_string().into())
}
