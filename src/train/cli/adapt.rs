//! Arguments of `train adapt`, and the call into `train::adapt`, which embeds, fits and measures.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::plan::RecipeArgs;
use crate::device;
use crate::train::adapt::{AdaptRun, markdown};
use crate::train::data::dataset::{Dataset, DatasetChoice, FlickrSplit};
use crate::train::run_lock::RunLock;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train adapt openai/clip-vit-base-patch32 --data coco --root data/coco --export public/models/clip-coco
  train adapt runs/model --data flickr8k --root data/flickr8k
  train adapt ViT-B-32/ --data captions --root photos --limit 2000 --out runs/adapt-photos

The adapters lie beside the encoder, or beside a copy of it with --export: for the page, for `train score`, and as
adapters.safetensors for the same encoder wherever the page has it from.

What is in --out is not done again: an interrupted run is resumed by the same command.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AdaptArgs {
    /// A model folder, or what `train import` takes: a checkpoint, a folder that holds one, or an id at the model hub.
    model: String,
    /// Captioned pictures to fit and to measure on; by the published splits where there are some.
    #[arg(long, value_enum)]
    data: Dataset,
    /// Folder of the data set.
    #[arg(long)]
    root: PathBuf,
    /// File of captions, if it is not at its usual place in the data set.
    #[arg(long)]
    captions: Option<PathBuf>,
    /// Greatest number of pictures of each split, chosen by the seed.
    #[arg(long)]
    limit: Option<usize>,
    /// Branch, tag or commit at the hub, if not the pinned one.
    #[arg(long)]
    revision: Option<String>,
    /// Seed of the adapters, and of what is chosen of the data.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Folder of the run: the imported model, its features and the fits.
    #[arg(long, default_value = "runs/adapt")]
    out: PathBuf,
    /// Model folder to make, instead of adding to the model's own.
    #[arg(long)]
    export: Option<PathBuf>,
    /// Write over adapters or a model that are there.
    #[arg(long)]
    force: bool,
    /// Device to compute on: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
}

pub(super) fn run(args: &AdaptArgs) -> Result<()> {
    let _lock = RunLock::take(&args.out)?;
    let run = AdaptRun {
        model: args.model.clone(),
        revision: args.revision.clone(),
        data: DatasetChoice {
            dataset: args.data,
            root: args.root.clone(),
            captions: args.captions.clone(),
            limit: args.limit,
            hold_out: DatasetChoice::HOLD_OUT,
            flickr_split: FlickrSplit::Karpathy,
            seed: args.seed,
        },
        plan: args.recipe.plan()?,
        out: args.out.clone(),
        export: args.export.clone(),
        replace: args.force,
        device: device::by_name(&args.device)?,
    };
    let (report, folder) = run.run()?;
    print!("{}", markdown(&report));
    println!("{}: opened and tested", folder.display());
    Ok(())
}
