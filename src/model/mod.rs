//! Burn modules: config → `init(&Device)` → `forward`.
//!
//! Nothing here reads a tensor back, opens a file, or names a backend.

pub mod adapter;
pub mod bert;
pub mod clip;
pub mod dense;
pub mod efficientnet;
pub mod encoder;
pub mod parameters;
