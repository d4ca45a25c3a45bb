//! The page's side of the worker boundary: performs the actions of the supervisor, and reports events to it.
//!
//! Decides nothing itself: see [`Supervisor`](crate::explorer::Supervisor).

mod client;
mod gpu;
mod load_notes;
mod worker_handle;

pub(super) use client::{Client, asked_kind};
