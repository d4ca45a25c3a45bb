//! `train import`: another program's checkpoint → a folder that the page and `train score` can open.
//!
//! A source is found or downloaded, its tensors are read by our names whatever the file calls them, written as shards
//! with a manifest, opened again and compared with published answers. Knows nothing of training.

pub mod golden;
mod hub;
mod job;
mod legacy;
pub mod open;
mod pickle;
mod random;
mod safetensors;
mod shards;
mod source;
mod staging;
pub mod tensor_file;
mod torch;
pub mod towers;
mod weights_file;

pub use crate::weights::original::tokenizer;
pub use job::{Import, Imported, import};
pub use source::CheckpointSource;
