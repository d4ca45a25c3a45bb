//! The studio: a scene that the visitor draws, and scenes that fit a caption.

pub mod drawing;
pub mod ghosts;
pub mod scene_search;
