//! The view of evidence: the model's own evaluation, and every method of the papers.

pub mod chart;
pub mod evaluation;
pub mod figure;
pub mod findings;
pub mod photographs;
pub mod summary;
