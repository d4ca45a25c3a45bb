//! Reasons for which a JPEG file is not decoded: damage, an unknown variant of the format, or excess over the budget.

use crate::preprocess::budget::Excess;

/// Reason for which a picture cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::preprocess) enum Refusal {
    /// Damage: the file breaks the rules of the format in this way.
    Damaged(&'static str),
    /// Variant of the format that this decoder does not know.
    Unsupported(&'static str),
    /// Excess over the budget of pixels, memory or work.
    Excess(Excess),
}

impl From<Excess> for Refusal {
    fn from(excess: Excess) -> Self {
        Self::Excess(excess)
    }
}
