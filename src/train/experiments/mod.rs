//! `train fit`, `train reproduce`, `train disturb` and `train evaluate`: what models and methods are worth, over
//! several seeds, in tables, figures and findings.
//!
//! Knows frozen features and methods; nothing of how features are embedded.

mod campaign;
mod caption_uncertainty;
pub mod check;
mod classify;
pub mod corrupted;
mod environment;
pub mod evaluate;
mod evaluation_data;
pub mod evaluation_table;
mod figures;
mod findings;
mod fit_plan;
mod fit_record;
pub mod grid;
mod judge;
mod level_noise;
mod measure;
mod numbers;
mod paper;
mod paths;
mod picture_uncertainty;
pub mod preset;
mod relevance;
pub mod report;
pub mod results;
mod run;
mod side_by_side;
mod tables;
mod times;
mod validation;
mod verdict;

pub use campaign::Campaign;
pub use evaluation_data::EvaluationData;
pub use fit_plan::{FitPlan, FitRequest};
pub use fit_record::FitRecord;
pub use measure::{Encoded, retrieval};
pub use numbers::Numbers;
pub use run::{Evaluator, NumbersBySet};
