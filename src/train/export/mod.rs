//! Model folders, which the page and `train score` open: written of a training or of two fits, and opened natively.

pub mod bundle;
pub mod fits;
pub mod golden;
pub mod out_of_distribution;
pub mod scene_sets;
pub mod scenes_model;
