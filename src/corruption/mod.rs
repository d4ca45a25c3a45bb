//! Corruptions of pictures and captions: those that ELIP measures with, at their published severities, and our own.
//!
//! One implementation for the page and for `train`. Knows pixels and words; nothing of files, codecs, models or the
//! browser, so JPEG is left to whoever has a codec.

mod blur;
mod canvas;
mod image;
mod kind;
mod misspelling;
mod noise;
mod placement;
mod snow;

pub use image::{Corrupted, ImageCorruption};
pub use kind::{Corruption, CorruptionKind};
pub use misspelling::Misspelling;
