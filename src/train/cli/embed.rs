//! Arguments of `train embed`, and the calls that embed drawn scenes or a data set.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use super::captions::caption;
use super::merge;
use crate::corruption::{Corruption, CorruptionKind};
use crate::device;
use crate::train::data::corruption::Corruptions;
use crate::train::data::dataset::{Dataset, DatasetChoice, FlickrSplit, task};
use crate::train::features::embed::embed_pieces;
use crate::train::features::part_of::PartOf;
use crate::train::features::pieces::Sources;
use crate::train::files::refuse_to_overwrite;
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;
use crate::train::scenes_model::embed::{Amounts, embed};
use crate::weights::shard::Precision;

/// Examples, printed below the command's help.
const EXAMPLES: &str = "Examples:
  train embed --out runs/features
  train embed --world coco --root data/coco --model runs/clip --device cuda --f16 --out runs/coco
  train embed --world captions --root photos --model runs/clip --out runs/photos
  train embed --world cc --root data/cc3m --limit 200000 --model runs/clip --shard auto --out runs/cc
  train merge runs/cc
  train embed --train-scenes 1 --distort shot:5 --misspell keyboard:5 --out runs/noisy

What is embedded already is not embedded again: an interrupted run is resumed. With --shard several processes share
the work, also as a job array of Slurm (--shard auto) or Kubernetes (--shard auto/8); `train merge` ends it.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EmbedArgs {
    /// Source of pictures and captions.
    #[arg(long, value_enum, default_value = "scenes")]
    world: Dataset,
    /// Folder of the data set.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// File of captions, if it is not at its usual place in the data set.
    #[arg(long)]
    captions: Option<PathBuf>,
    /// Folder of the model that computes the features.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Folder of the features.
    #[arg(long, default_value = "runs/features")]
    out: PathBuf,
    /// Greatest number of pictures to train on; of all pictures where a data set has no splits.
    #[arg(long)]
    limit: Option<usize>,
    /// Share of the pictures to measure on, where a data set has no splits.
    #[arg(long, default_value_t = DatasetChoice::HOLD_OUT)]
    hold_out: f64,
    /// Division of Flickr30k and Flickr8k into pictures to train and to measure on.
    #[arg(long, value_enum, default_value = "karpathy")]
    flickr_split: FlickrSplit,
    /// Pictures to be classified: cifar10=FOLDER, cifar100=FOLDER, stl10=FOLDER, or folder=FOLDER with a folder for
    /// each class; may be given several times. CIFAR-10 and CIFAR-100 together make "none of the above".
    #[arg(long = "task", value_name = "NAME=FOLDER")]
    tasks: Vec<String>,
    /// Caption of a class, with {} in place of its name; several are an ensemble.
    #[arg(long = "template", default_value = "a photo of a {}", value_parser = caption)]
    templates: Vec<String>,
    /// A caption that stands for "none of them"; may be given several times.
    #[arg(
        long = "dummy", value_parser = caption,
        default_values = ["a photo", "a photo of an object", "a photo of something"]
    )]
    dummies: Vec<String>,
    /// Part of the work to do: 3/8 (counted from 0), auto, or auto/8.
    #[arg(long)]
    shard: Option<String>,
    /// Distort the pictures that are measured on: gaussian, shot, impulse, speckle, defocus, zoom, snow, jpeg or
    /// pixelate, from :1 to :5.
    #[arg(long, value_name = "KIND:SEVERITY")]
    distort: Option<String>,
    /// Misspell the captions that are measured on: keyboard or spelling, from :1 to :7.
    #[arg(long, value_name = "KIND:LEVEL")]
    misspell: Option<String>,
    /// Augmented views of each picture that is measured on, of which the spread of its feature is kept: what the method
    /// `augmentation` of `train reproduce` calls uncertainty.
    #[arg(long, default_value_t = 0)]
    views: usize,
    /// Scenes to train on, with seven captions each.
    #[arg(long, default_value_t = 10_000)]
    train_scenes: usize,
    /// Scenes to measure on, with six captions each.
    #[arg(long, default_value_t = 5000)]
    test_scenes: usize,
    /// Scenes of each classification task.
    #[arg(long, default_value_t = 1000)]
    task_scenes: usize,
    /// Seed of the training scenes, or of what is chosen of a data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Halve the files: 16 bits a number, as the paper's cache.
    #[arg(long)]
    f16: bool,
    /// Write over features that are there.
    #[arg(long)]
    force: bool,
    /// Device to compute on: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
}

impl EmbedArgs {
    const fn precision(&self) -> Precision {
        if self.f16 {
            Precision::F16
        } else {
            Precision::F32
        }
    }

    fn noise(&self) -> Result<Corruptions> {
        Ok(Corruptions {
            pictures: parsed("--distort", self.distort.as_deref())?,
            captions: parsed("--misspell", self.misspell.as_deref())?,
        })
    }

    fn sources(&self) -> Result<Sources> {
        let choice = DatasetChoice {
            dataset: self.world,
            root: self.root.clone(),
            captions: self.captions.clone(),
            limit: self.limit,
            hold_out: self.hold_out,
            flickr_split: self.flickr_split,
            seed: self.seed,
        };
        if let Some(template) = self.templates.iter().find(|t| !t.contains("{}")) {
            anyhow::bail!("--template {template:?} has no {{}} for the name of the class");
        }
        let tasks: Result<Vec<_>> = self.tasks.iter().map(|text| task(text)).collect();
        Ok(Sources {
            dataset: self.world.slug(),
            splits: choice.splits()?,
            tasks: tasks?,
            templates: self.templates.clone(),
            dummies: self.dummies.clone(),
            noise: self.noise()?,
            views: self.views,
            seed: self.seed,
        })
    }
}

fn parsed<K: CorruptionKind>(
    name: &'static str,
    text: Option<&str>,
) -> Result<Option<Corruption<K>>> {
    let corruption = text.map(Corruption::parse).transpose();
    corruption.map_err(anyhow::Error::msg).context(name)
}

pub(super) fn run(args: &EmbedArgs) -> Result<()> {
    let part = match &args.shard {
        Some(text) => PartOf::parse(text, |name| std::env::var(name).ok())?,
        None => PartOf::WHOLE,
    };
    let _lock = match &args.shard {
        Some(_) => RunLock::take_part(&args.out, &format!("{}-of-{}", part.index, part.n))?,
        None => RunLock::take(&args.out)?,
    };
    refuse_to_overwrite(&args.out.join("features.json"), args.force)?;
    if args.world == Dataset::Scenes {
        return embed_scenes(args);
    }
    let sources = args.sources()?;
    for note in &sources.splits.notes {
        eprintln!("{note}");
    }
    let device = device::by_name(&args.device)?;
    embed_pieces(
        &sources,
        &args.model,
        &args.out,
        part,
        args.precision(),
        &device,
    )?;
    if args.shard.is_some() {
        let (out, PartOf { index, n }) = (args.out.display(), part);
        println!("{out}: part {index} of {n} is done; `train merge {out}` when all are");
        return Ok(());
    }
    merge::merge_and_print(&args.out)
}

fn embed_scenes(args: &EmbedArgs) -> Result<()> {
    ensure!(
        args.shard.is_none() && args.tasks.is_empty(),
        "--shard and --task are for data sets that are read; scenes are drawn in minutes, with tasks of their own"
    );
    let amounts = Amounts {
        train_scenes: args.train_scenes,
        test_scenes: args.test_scenes,
        task_scenes: args.task_scenes,
        seed: args.seed,
        noise: args.noise()?,
        views: args.views,
    };
    let device = device::by_name(&args.device)?;
    let cache = embed(&args.model, &amounts, command_line(), &device)?;
    let written = cache.write(&args.out, args.precision());
    written.with_context(|| args.out.display().to_string())?;
    merge::print_summary(&args.out, &cache);
    Ok(())
}
