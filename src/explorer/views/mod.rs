//! The logic of each view, as plain data; `ui::views` draws it.

pub(super) mod corruption;
pub(super) mod evidence;
pub(super) mod geometry;
pub(super) mod ladder;
pub(super) mod learn;
pub(super) mod none_of_these;
pub(super) mod studio;
pub(super) mod traverse;
pub(super) mod word_variants;
