//! `train import`: one model in the files of four programs, files that no program wrote, the hub, and
//! what fewer bytes cost.
//!
//! `tests/fixtures/generate_import.py` made the checkpoints with `torch` and `transformers`; `open_clip`'s is made here;
//! `generate_siglip.py` made the other architecture.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "the fixture's integers are small"
)]

mod checkpoints;
mod dtypes;
mod hostile_pickles;
mod hostile_safetensors;
#[path = "../support/http.rs"]
mod http;
mod hub;
mod layouts;
mod npy;
mod published;
#[path = "../support/shared.rs"]
mod shared;
mod siglip;
