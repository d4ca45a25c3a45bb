//! Arguments of `train table`, which reads reports of `train evaluate` and prints them as one table.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::report::Evaluation;
use crate::train::experiments::evaluation_table;
use crate::train::files;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train table runs/seed-0/evaluation.json runs/seed-1/evaluation.json"
)]
pub(super) struct TableArgs {
    /// Files that `evaluate` wrote.
    #[arg(required = true)]
    reports: Vec<PathBuf>,
}

pub(super) fn run(args: &TableArgs) -> Result<()> {
    let evaluations = args.reports.iter().map(|path| files::read_json(path));
    let evaluations: Vec<Evaluation> = evaluations.collect::<Result<_>>()?;
    print!("{}", evaluation_table::markdown(&evaluations));
    Ok(())
}
