//! Burn modules: config → `init(&Device)` → `forward`.
//!
//! Nothing here waits for a tensor to be read back, opens a file, or names a backend.

pub mod activation;
pub mod adapter;
pub mod bert;
pub mod clip;
pub mod dense;
pub mod efficientnet;
pub mod encoder;
mod initial;
pub mod layer_norm;
pub mod parameters;
pub mod token_table;
mod vector;
