//! The page: captions on one side, pictures on the other, and what each says of each.
//!
//! Knows the protocol and the arithmetic of readings; never a tensor, a model or an engine's inside.
#![expect(
    unreachable_pub,
    reason = "the component macro makes its functions public, whatever they say"
)]

mod app;
mod dom;
mod engine;
mod model_panel;
mod page;
mod panels;
mod plot;
mod views;

pub use app::start;
