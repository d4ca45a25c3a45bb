//! The page's signals, and what acts on them: effects, engine events, files, lessons and locks.

mod actions;
pub(super) mod corrupted;
pub(super) mod effects;
pub(super) mod engine_events;
pub(super) mod fetch_ahead;
pub(super) mod file_input;
pub(super) mod gallery;
pub(super) mod later_task;
mod lesson_texts;
pub(super) mod lessons;
pub(super) mod locks;
pub(super) mod notices;
pub(super) mod pictures;
pub(super) mod speech;
pub(super) mod state;
pub(super) mod status;
pub(super) mod tour;
pub(super) mod wall;
pub(super) mod worlds;
