//! Arguments of `train evaluate`, and the call into `experiments::evaluate`, whose report it writes and prints.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::train::experiments::{evaluate, evaluation_table};
use crate::train::export::bundle;
use crate::train::files::{put_json, refuse_to_overwrite};
use crate::train::run_lock::RunLock;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train evaluate --out runs/evaluation.json
  train evaluate --model runs/small/model --scenes 1000 --seed 7 --out runs/small/validation.json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EvaluateArgs {
    /// Folder of the model to evaluate.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// File of the report; `evaluation.json` beside the manifest if not given.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Number of scenes to measure on.
    #[arg(long, default_value_t = 5000)]
    scenes: usize,
    /// Seed of the scenes. The default draws the test set; nothing may be chosen by what is measured on that.
    #[arg(long, default_value_t = evaluate::TEST_SEED)]
    seed: u64,
    /// Folder of photographs, none of which belongs to the world of scenes.
    #[arg(long)]
    photos: Option<PathBuf>,
    /// Write over a report that is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &EvaluateArgs) -> Result<()> {
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| args.model.join("evaluation.json"));
    let session = bundle::open(&args.model, &device::cpu())?;
    let _lock = RunLock::take_beside(&out)?;
    refuse_to_overwrite(&out, args.force)?;
    let evaluation = evaluate::evaluate(&session, args.scenes, args.seed, args.photos.as_deref())?;
    put_json(&out, &evaluation)?;
    print!("{}", evaluation_table::markdown(&[evaluation]));
    Ok(())
}
