//! Arguments of `train golden`, and the call into `export::golden`, whose values go into the model's manifest.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::train::export::{bundle, golden};
use crate::train::files::put_json;
use crate::train::run_lock::RunLock;

/// Example, printed below the command's help.
const EXAMPLES: &str = "Example:
  train golden --model public/models/photos

Engines test themselves on the captions that the page opens with, so that these are answered once an engine is trusted. \
After those captions have changed, this command writes the golden values anew.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GoldenArgs {
    /// Folder of a model that comes with the page; its manifest is written anew, its weights stay.
    #[arg(long)]
    model: PathBuf,
}

pub(super) fn run(args: &GoldenArgs) -> Result<()> {
    let path = args.model.join("manifest.json");
    let _lock = RunLock::take_beside(&path)?;
    // A model that misses its present golden values is refused.
    let session = bundle::open(&args.model, &device::cpu())?;
    put_json(&path, &golden::renewed(&session, &args.model)?)?;
    bundle::open(&args.model, &device::cpu())?;
    println!("{}: golden values renewed and tested", args.model.display());
    Ok(())
}
