//! Checkpoints of other programs: their layout, the places of our tensors in them, and the model that they hold.
//!
//! Works on headers and small files, so that the native import and the browser read the same files alike. Knows
//! nothing of where the bytes come from.

mod describe;
mod header;
mod hf;
mod layout;
mod open_clip;
mod openai;
mod place;
mod sentence_piece;
mod sizes;
mod tensor;
pub mod tokenizer;
mod towers;

pub use describe::{CheckpointDescription, CompanionFiles, describe, license};
pub use header::{Index, LENGTH_BYTES, header_range};
pub use layout::{CheckpointLayout, Mapping, SourceTensor};
pub(super) use tensor::values;
pub use tensor::{Entry, TensorDtype, n_values};
pub use towers::{Shapes, Towers, is_text};
