//! The page: captions on one side, pictures on the other, and what each says of each.
//!
//! Knows the protocol and the arithmetic of readings; never a tensor, a model or an engine's inside.
#![expect(
    unreachable_pub,
    reason = "the component macro makes its functions public, whatever they say"
)]

mod app;
mod browser;
mod candidate;
mod canvas;
mod card;
mod client;
mod desk;
mod engine;
mod event;
mod exhibit;
mod gallery;
mod happenings;
mod harmed;
mod intake;
mod lessons;
mod line_field;
mod locks;
mod model_panel;
mod origin;
mod panels;
mod pictures;
mod plot;
mod portrait;
mod rival;
mod upkeep;
mod views;

pub use app::start;
