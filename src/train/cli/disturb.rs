//! Arguments of `train disturb`, and the test scenes that it corrupts.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use clap::builder::RangedI64ValueParser;

use crate::corruption::{CorruptionKind as _, ImageCorruption, Misspelling};
use crate::device;
use crate::train::data::dataset::Dataset;
use crate::train::experiments::corrupted::{self, FOLDER, Severities};
use crate::train::features::cache::Cache;
use crate::train::run_lock::RunLock;
use crate::train::scenes_model::embed::TestScenes;
use crate::weights::shard::Precision;

/// Example, printed below the command's help.
const EXAMPLES: &str = "Example:
  train embed --out runs/features && train disturb runs/features && train reproduce --features runs/features --out runs/papers

The features of the corrupted test split lie beside the clean ones, one side at a time: 10 corruptions of scenes
take minutes. What is there is not done again. `train reproduce` measures every method on them. Pictures and
captions that are read from files are corrupted by `train embed --distort` and measured on by --measure-on; those of
`train photos` by a preset of `train reproduce --world photos`.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DisturbArgs {
    /// Features of scenes that `train embed` wrote.
    #[arg(default_value = "runs/features")]
    pub(super) features: PathBuf,
    /// Model folder of the same encoder.
    #[arg(long, default_value = "public/models/scenes")]
    pub(super) model: PathBuf,
    /// Severities of each of the nine corruptions of pictures.
    #[arg(long, value_delimiter = ',', default_value = "1,3,5", value_parser = severity(ImageCorruption::MAX_SEVERITY))]
    pub(super) severities: Vec<u8>,
    /// Severities of each misspelling of captions, in twentieths of the words; ELIP's is 5.
    #[arg(long, value_delimiter = ',', default_value = "5", value_parser = severity(Misspelling::MAX_SEVERITY))]
    pub(super) levels: Vec<u8>,
    /// Halve the files: 16 bits a number.
    #[arg(long)]
    pub(super) f16: bool,
    /// Device to compute on: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    pub(super) device: String,
}

impl DisturbArgs {
    fn severities(&self) -> Severities {
        Severities {
            pictures: self.severities.clone(),
            captions: self.levels.clone(),
        }
    }
}

/// Severities from 1 to the greatest.
fn severity(most: u8) -> RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(1..=i64::from(most))
}

pub(super) fn run(args: &DisturbArgs) -> Result<()> {
    // A folder that is missing is reported below, and not created by the lock.
    let lock = args
        .features
        .exists()
        .then(|| RunLock::take(&args.features));
    let _lock = lock.transpose()?;
    add_corruptions(args)
}

/// Adds the corruptions to features whose folder is locked already.
pub(super) fn add_corruptions(args: &DisturbArgs) -> Result<()> {
    let clean = Cache::read(&args.features)?;
    ensure!(
        clean.config.dataset == Dataset::Scenes.slug(),
        "{} holds features of {}, whose pictures are not drawn but read: `train embed --distort` embeds them",
        args.features.display(),
        clean.config.dataset
    );
    let scenes = TestScenes::open(&args.model, &clean, &device::by_name(&args.device)?)?;
    let precision = if args.f16 {
        Precision::F16
    } else {
        Precision::F32
    };
    let n = corrupted::add_corruptions(
        |corruption| scenes.pictures(corruption),
        |misspelling| scenes.captions(misspelling),
        &args.severities(),
        precision,
        (&clean, &args.features),
    )?;
    println!("{}: {n} corruptions", args.features.join(FOLDER).display());
    Ok(())
}
