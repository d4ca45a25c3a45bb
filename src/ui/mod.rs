//! The page: captions on one side, pictures on the other, and what each says of each.
//!
//! Knows the protocol and the arithmetic of readings; never a tensor, a model or an engine's inside.
#![expect(
    unreachable_pub,
    reason = "the component macro makes its functions public, whatever they say"
)]

mod app;
mod candidate;
mod card;
mod client;
mod desk;
mod dom;
mod engine;
mod event;
mod model_panel;
mod origin;
mod page;
mod panels;
mod plot;
mod rival;
mod views;

pub use app::start;
