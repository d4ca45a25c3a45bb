//! `train photos`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::train::import::CheckpointSource;
use crate::train::photos_model::data::PhotosFolders;
use crate::train::photos_model::pipeline::{PhotosPreset, PhotosRun};
use crate::train::provenance::command_line;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train photos --root data/flickr8k --wordnet data/wordnet/dict --preset full --out runs/photos\n\nCtrl-C stops after the piece under way; the same command resumes from there."
)]
pub(super) struct PhotosArgs {
    /// Folder of Flickr8k: its captions, its lists, its pictures.
    #[arg(long)]
    root: PathBuf,
    /// `WordNet`'s folder `dict`, which tells the classes of nouns.
    #[arg(long)]
    wordnet: PathBuf,
    /// Folder of `HierarCaps`, to measure on at the end.
    #[arg(long)]
    hierarcaps: Option<PathBuf>,
    /// The text tower: a file, a folder, or an id at the model hub.
    #[arg(long, default_value = "sentence-transformers/all-MiniLM-L6-v2")]
    text_tower: String,
    /// The image tower: a file, a folder, or an id at the model hub.
    #[arg(long, default_value = "timm/tf_efficientnet_lite0.in1k")]
    image_tower: String,
    /// How much work to put in.
    #[arg(long, value_enum, default_value = "small")]
    preset: PhotosPreset,
    /// Folder of the run; an interrupted run is resumed there.
    #[arg(long, default_value = "runs/photos")]
    out: PathBuf,
}

pub(super) fn run(args: &PhotosArgs) -> Result<()> {
    let run = PhotosRun {
        folders: PhotosFolders {
            flickr8k: args.root.clone(),
            wordnet: args.wordnet.clone(),
            hierarcaps: args.hierarcaps.clone(),
        },
        text_tower: CheckpointSource::parse(&args.text_tower, None)?,
        image_tower: CheckpointSource::parse(&args.image_tower, None)?,
        preset: args.preset,
        out: args.out.clone(),
        command: command_line(),
    };
    run.run()
}
