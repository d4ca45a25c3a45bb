//! Marks and bars: numbers in, SVG out.
//!
//! Knows neither answers nor the page's state; colours and speeds come from the style sheets.

mod axis;
mod ball;
mod bar;
mod halo;
mod marginal;
mod qr;
mod track;

pub(super) use axis::axis;
pub(super) use ball::{Bands, ball};
pub(super) use bar::bar;
pub(super) use halo::{HaloSize, certainty, gradients, halo};
pub(super) use marginal::{Line, Panel, Tick, marginal};
pub(super) use qr::{code, qr};
pub(super) use track::track;
