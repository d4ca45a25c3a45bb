//! The native program: trains, evaluates and scores.

use clap::Parser as _;
use kappascope::train::cli::{Cli, run};

fn main() -> anyhow::Result<()> {
    run(&Cli::parse())
}
