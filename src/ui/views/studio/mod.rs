//! The studio: a drawing that the visitor changes, and each caption's numbers for it.

mod ghosts;
mod others;
mod stage;
mod tools;
mod view;

pub(in crate::ui) use view::Studio;
