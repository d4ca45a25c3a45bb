//! Arguments of `train export`, and the call into `export::fits`, which writes the model folder.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::family::PerFamily;
use crate::train::export::bundle;
use crate::train::export::fits::{ExportFits, export_fits};
use crate::train::files::refuse_to_overwrite;
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;

/// Example, printed below the command's help.
const EXAMPLES: &str = "Example:
  train fit --method asymvlm-vmf --features runs/coco --out runs/vmf
  train fit --method asymvlm-ps --features runs/coco --out runs/ps
  train export --model runs/clip --vmf runs/vmf --ps runs/ps --out public/models/clip-coco";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// Model folder of the encoder whose features were fitted.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Folder of a fit of asymvlm-vmf.
    #[arg(long)]
    vmf: PathBuf,
    /// Folder of a fit of asymvlm-ps.
    #[arg(long)]
    ps: PathBuf,
    /// Model folder to make.
    #[arg(long)]
    out: PathBuf,
    /// Title for people; the encoder's if not given.
    #[arg(long)]
    title: Option<String>,
    /// Write over a model that is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &ExportArgs) -> Result<()> {
    let _lock = RunLock::take(&args.out)?;
    refuse_to_overwrite(&args.out.join("manifest.json"), args.force)?;
    export_fits(&ExportFits {
        model: args.model.clone(),
        fits: PerFamily {
            vmf: args.vmf.clone(),
            power_spherical: args.ps.clone(),
        },
        out: args.out.clone(),
        title: args.title.clone(),
        command: command_line(),
    })?;
    // Opened as the page opens it, with its golden values.
    bundle::open(&args.out, &device::cpu())?;
    println!("{}: opened and tested", args.out.display());
    Ok(())
}
