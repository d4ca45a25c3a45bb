//! Protocol messages as JavaScript values and back, for `postMessage`.
//!
//! Used by the page and by its engines, so that both speak the same encoding. Knows no message by name.

use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::JsValue;

use crate::error::{Error, Result};

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
