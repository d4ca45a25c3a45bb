//! How long a model takes on the visitor's device.

use serde::{Deserialize, Serialize};

/// How long the loaded model takes for something on this device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceTiming {
    /// What was done, for people.
    pub work: String,
    /// Milliseconds of the first time.
    pub first_millis: f64,
    /// Median of the milliseconds of five times.
    pub median_millis: f64,
}
