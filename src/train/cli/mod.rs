//! The command line of `train`, one file a subcommand: its arguments and what they call. Used by the program alone.

mod dispatch;
mod embed;
mod evaluate;
mod export;
mod gallery;
mod import;
pub mod inspect;
mod merge;
mod photos;
mod scenes;
mod score;
mod table;

pub use dispatch::{Cli, run};
