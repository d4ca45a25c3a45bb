//! Measurements of the models, and of every method of the papers.

mod figure;
mod findings;
mod suite;
mod table;
mod view;

pub(in crate::ui) use view::Evidence;
