//! The views beside the matrix, one a file; what they show is worked out in `explorer`.

mod chosen_caption;
mod chosen_picture;
mod corruption;
mod evidence;
mod geometry;
mod ladder;
mod learn;
mod none_of_these;
mod number;
mod select;
mod studio;
mod teach;
mod traverse;
mod words;

pub(super) use corruption::Corruption;
pub(super) use evidence::Evidence;
pub(super) use geometry::Geometry;
pub(super) use ladder::Ladder;
pub(super) use learn::Learn;
pub(super) use none_of_these::NoneOfThese;
pub(super) use studio::Studio;
pub(super) use teach::Teach;
pub(super) use traverse::Traverse;
pub(super) use words::Words;
