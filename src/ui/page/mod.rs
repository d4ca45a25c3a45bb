//! The page's signals, and what acts on them: effects, engine events, files, lessons and locks.

pub(super) mod corrupted;
pub(super) mod effects;
pub(super) mod engine_events;
pub(super) mod file_input;
pub(super) mod gallery;
pub(super) mod lessons;
pub(super) mod locks;
pub(super) mod pictures;
pub(super) mod state;
