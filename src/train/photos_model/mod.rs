//! A model of photographs: two locked towers, heads and adapters, trained on captioned pictures.
//!
//! Knows the drawn scenes only as pictures that are no photographs.

pub mod evaluation;
pub mod heads;
pub mod vaguer_captions;
pub mod wordnet;
