//! Arguments of `train sets`, and the call into `export::scene_sets`, whose thresholds go into the model's manifest.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::device;
use crate::train::export::bundle;
use crate::train::export::scene_sets::{self, scene_sets};
use crate::train::files::put_json;
use crate::train::pairs::picture_sets::markdown;
use crate::train::run_lock::RunLock;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train sets --force
  train sets --model runs/small/model --scenes 500

What the page recorded of the model has its sets as well: `train gallery --force` records it anew.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SetsArgs {
    /// Folder of a model of drawn scenes; its manifest is written anew, its weights stay.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Number of scenes to choose thresholds on; they are measured on as many others.
    #[arg(long, default_value_t = scene_sets::N_SCENES)]
    scenes: usize,
    /// Seed of the scenes. No training and no evaluation has drawn those of the default.
    #[arg(long, default_value_t = scene_sets::SEED)]
    seed: u64,
    /// Write over sets that are there.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &SetsArgs) -> Result<()> {
    let path = args.model.join("manifest.json");
    let _lock = RunLock::take_beside(&path)?;
    let session = bundle::open(&args.model, &device::cpu())?;
    let (mut manifest, model) = (session.manifest().clone(), args.model.display());
    ensure!(
        manifest.out_of_distribution.is_some(),
        "{model}: a model of drawn scenes was expected"
    );
    ensure!(
        args.force || manifest.picture_sets.is_none(),
        "{model} has sets already; --force to write over them"
    );
    let sets = scene_sets(&session, args.scenes, args.seed)?;
    println!("{}", markdown(&sets));
    manifest.picture_sets = Some(sets);
    put_json(&path, &manifest)
}
