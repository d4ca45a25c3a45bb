//! A model of photographs: two locked towers, heads and adapters, trained on captioned pictures.
//!
//! Knows nothing of the drawn scenes.

pub mod heads;
pub mod vaguer_captions;
pub mod wordnet;
