//! Times of a model on the visitor's device.

use serde::{Deserialize, Serialize};

/// Time that one kind of pass of the loaded model takes on this device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceTiming {
    /// Name of the pass for people, such as `one caption of eleven words`.
    pub work: String,
    /// Milliseconds of the first pass: of five, or of all since the engine began, where `work` says so.
    pub first_millis: f64,
    /// Median of the milliseconds of five passes.
    pub median_millis: f64,
}
