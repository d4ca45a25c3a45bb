//! The view of corruptions: what noise, blur and misspellings do to pictures and captions.

pub(in crate::explorer) mod disturb;
pub(in crate::explorer) mod misspell;
