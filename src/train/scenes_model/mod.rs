//! The small CLIP of the scenes world: its training from nothing, and its scenes embedded to fit methods on.

pub mod attributes;
pub mod batch;
pub mod clip;
mod drawn;
pub mod embed;
mod encode;
pub mod recipe;
pub mod training;
