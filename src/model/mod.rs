//! Burn modules: config → `init(&Device)` → `forward`.
//!
//! Nothing here reads a tensor back, opens a file, or names a backend.

pub mod adapter;
pub mod clip;
pub mod dense;
pub mod parameters;
