//! `train embed`, `train merge`, `train fit` and `train reproduce`: frozen features, every method on them, several seeds, tables and
//! figures.

pub mod cache;
mod campaign;
pub mod classify;
pub mod cli;
pub mod disturb_cli;
pub mod disturbed;
pub mod embed_cli;
pub mod embed_files;
pub mod embed_scenes;
pub mod figures;
pub mod findings;
mod given;
pub mod measure;
pub mod merge;
pub mod paper;
pub mod part_of;
pub mod pieces;
pub mod plot;
mod relevance;
pub mod report;
pub mod results;
mod run;
pub mod tables;
mod towers;
pub mod world;

pub use campaign::Campaign;
pub use given::Given;
pub use run::{Bench, FitRequest, Measured, Plan};
