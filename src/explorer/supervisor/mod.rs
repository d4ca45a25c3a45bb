//! Engines' life and death: which engine runs, what it is asked, and what follows when it dies or does not answer.
//!
//! A state machine: events → actions. It has no clock and no worker of its own; the page performs its actions and tells
//! it what happens, so that all of it is tested natively with engines that die, hang and answer late.
//!
//! An engine at work has one job at a time, so that a death has one thing to blame. What is blamed is asked again once,
//! alone, by the next engine; what kills that one, too, is named: a caption is quarantined, a picture or an adapter
//! file is dropped, and a model's load is counted as a strike, which is kept from visit to visit. Every request ends
//! with an answer, with a message that it failed, or with the message that no engine runs.

mod blame;
mod death;
mod engine;
mod event;
mod load;
mod machine;
mod model;
mod pictures;
mod queries;
mod strikes;
#[cfg(test)]
mod tests;
mod upgrade;
mod work;

pub use event::{Action, EngineEvent, Event, PagePicture, ScoreRequest, Start, ViewAnswer};
pub use machine::Supervisor;
pub use model::{EngineKind, LoadedModel, ModelSource};
pub use strikes::{LoadId, LoadKind, LoadNote, LoadNotes, UnfinishedLoad};
