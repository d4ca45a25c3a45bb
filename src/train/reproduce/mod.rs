//! `train embed`, `train fit` and `train reproduce`: frozen features, every method on them, several seeds, tables and
//! figures.

pub mod cache;
pub mod classify;
pub mod cli;
pub mod embed_scenes;
pub mod figures;
pub mod measure;
pub mod plot;
pub mod results;
mod run;
pub mod tables;

pub use run::{FitRequest, Plan, fit_one, reproduce};
