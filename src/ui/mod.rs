//! The page: captions on one side, pictures on the other, and what each says of each.
//!
//! Knows the protocol and the arithmetic of readings; never a tensor, a model or an engine's inside.
#![expect(
    unreachable_pub,
    reason = "the component macro makes its functions public, whatever they say"
)]

mod app;
mod browser;
mod canvas;
mod client;
mod desk;
mod engine;
mod exhibit;
mod gallery;
mod intake;
mod made;
mod panels;
mod pictures;
mod plot;
mod rival;
mod upkeep;
mod views;

pub use app::start;
