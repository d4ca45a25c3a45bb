//! The view of evidence: the model's own evaluation, and every method of the papers.

pub(in crate::explorer) mod chart;
pub(in crate::explorer) mod evaluation;
pub(in crate::explorer) mod figure;
pub(in crate::explorer) mod findings;
pub(in crate::explorer) mod photographs;
pub(in crate::explorer) mod summary;
