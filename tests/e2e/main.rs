//! The built page in a headless browser: `cargo xtask test page e2e`.
//!
//! Each test has a tab and a server of its own. The page is read through its `data-` hooks only. `harness` holds what all
//! tests stand on; the tests themselves are `built_page` modules, which `cargo test` without a built page passes by.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "an integration test has no users"
)]

mod accessibility;
mod answers;
mod bench;
mod engines;
mod failures;
mod game;
mod harness;
#[path = "../support/http.rs"]
mod http;
mod layout;
mod learning;
mod legibility;
mod links;
mod minimal_pairs;
mod models;
mod pictures;
mod served;
mod soak;
mod studio;
mod targets;
mod undo;
mod views;
mod wall;
mod weights;
mod worlds;
