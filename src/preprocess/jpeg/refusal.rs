//! Refusals of files.

use crate::preprocess::budget::Excess;

/// Why a picture cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::preprocess) enum Refusal {
    /// It breaks the rules of the format.
    Damaged(&'static str),
    /// It follows rules that this decoder does not know.
    Unsupported(&'static str),
    /// It costs too much.
    Excess(Excess),
}

impl From<Excess> for Refusal {
    fn from(excess: Excess) -> Self {
        Self::Excess(excess)
    }
}
