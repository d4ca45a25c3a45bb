//! Frozen features: listed pictures and captions through an encoder, in pieces that several processes can share, merged
//! into a cache that methods are fitted on.

pub mod cache;
pub mod embed;
pub mod encoder;
pub mod merge;
pub mod part_of;
pub mod pieces;
pub mod probes;
pub mod rows;
pub mod tokens;
pub(in crate::train) mod views;
