//! `train embed`, `train merge`, `train fit` and `train reproduce`: frozen features, every method on them, several seeds, tables and
//! figures.

pub mod cache;
pub mod classify;
pub mod cli;
pub mod embed_cli;
pub mod embed_files;
pub mod embed_scenes;
pub mod figures;
mod given;
pub mod measure;
pub mod merge;
pub mod paper;
pub mod part_of;
pub mod pieces;
pub mod plot;
pub mod results;
mod run;
pub mod tables;
mod towers;
pub mod world;

pub use given::Given;
pub use run::{FitRequest, Measured, Plan, fit_one, reproduce};
