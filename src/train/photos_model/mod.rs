//! A model of photographs: two locked towers, heads and adapters, trained on captioned pictures.
//!
//! Knows nothing of the drawn scenes.

pub mod augment;
pub mod data;
pub mod heads;
mod moving_average;
pub mod pipeline;
mod statistics;
pub mod tower_features;
pub mod vaguer_captions;
pub mod wordnet;
