//! The models that the page can work with: which there are, where their weights come from, and what a load is doing.
//!
//! Knows sizes, sources and licences; never a tensor or a caption's numbers.

mod actions;
mod adapter;
mod menu;
mod models_state;
mod photographs;
mod progress;
mod sources;
mod stored_weights;
mod timings;

pub(super) use actions::{adapt_page_to_clip, built_in_stored, follow_link, given_up, open};
pub(super) use adapter::{NeedsAdapter, accept_weights};
pub(super) use menu::{ModelButton, ModelPanel, engine_name};
pub(super) use models_state::{ModelsState, Timings};
pub(super) use photographs::PhotographSets;
pub(super) use progress::stage_name;
