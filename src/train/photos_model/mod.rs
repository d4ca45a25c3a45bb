//! A model of photographs: two locked towers, heads and adapters, trained on captioned pictures.
//!
//! Knows the drawn scenes only as pictures that are not photographs.

pub mod adapters;
mod concentration_scale;
pub mod data;
pub mod evaluation;
pub mod export;
mod fitting_mask;
pub mod frozen;
mod frozen_encoder;
mod head_batches;
pub mod head_recipe;
pub mod head_training;
pub mod heads;
mod moving_average;
pub mod pipeline;
mod statistics;
pub mod test_variants;
pub mod tower_features;
pub mod training;
pub mod unfamiliar;
pub mod vaguer_captions;
pub mod wordnet;
