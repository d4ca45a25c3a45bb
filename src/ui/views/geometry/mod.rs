//! Distributions on the sphere, drawn: the exact marginal of the cosine, and a ball.

mod spreads;
mod tables;
mod view;

pub(in crate::ui) use view::Geometry;
