//! The studio: a scene that the visitor draws, and scenes that fit a caption.

pub(in crate::explorer) mod drawing;
pub(in crate::explorer) mod ghosts;
pub(in crate::explorer) mod scene_search;
