//! The native side: makes data, trains, evaluates, scores and exports.
//!
//! Only this module touches files, clocks and the terminal. Knows nothing of the browser.

pub mod attributes;
pub mod batch;
pub mod clip;
pub mod cli;
pub mod embed;
pub mod fit;
pub mod progress;
pub mod scenes;
