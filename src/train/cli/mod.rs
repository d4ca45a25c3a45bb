//! The command line of `train`, one file a subcommand: its arguments and its calls. Used by the program alone.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

mod adapt;
mod captions;
mod dispatch;
mod disturb;
mod embed;
mod evaluate;
mod export;
mod fit;
mod gallery;
mod golden;
mod import;
pub mod inspect;
mod merge;
mod photos;
mod plan;
mod reproduce;
mod sample;
mod scenes;
mod score;
mod sets;
mod table;

pub use dispatch::{Cli, run};
