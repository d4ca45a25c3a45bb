//! `train fit` and `train reproduce`: every method on frozen features, several seeds, tables and figures.

mod campaign;
pub mod classify;
pub mod cli;
pub mod disturb_cli;
pub mod disturbed;
pub mod figures;
pub mod findings;
mod given;
pub mod measure;
pub mod paper;
pub mod plot;
mod relevance;
pub mod report;
pub mod results;
mod run;
pub mod tables;

pub use campaign::Campaign;
pub use given::Given;
pub use run::{Bench, FitRequest, Measured, Plan};
