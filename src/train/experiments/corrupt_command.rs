//! The command line of `train disturb`.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::corrupted::{CorruptedSide, CorruptedSplit, CorruptionName, FOLDER, listed};
use crate::corruption::{Corruption, CorruptionKind as _, ImageCorruption, Misspelling};
use crate::device;
use crate::train::data::dataset::Dataset;
use crate::train::features::cache::Cache;
use crate::train::progress::Interrupt;
use crate::train::scenes_model::embed::TestScenes;
use crate::weights::shard::Precision;

/// `train disturb`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train embed --out runs/features && train disturb runs/features && train reproduce --features runs/features --out runs/papers\n\nThe features of the corrupted test split lie beside the clean ones, one side at a time: 10 corruptions of scenes\ntake minutes. What is there is not done again. `train reproduce` measures every method on them. Pictures and\ncaptions that are read from files are corrupted by `train embed --distort` and measured on by --measure-on."
)]
pub struct DisturbArgs {
    /// Features of scenes that `train embed` wrote.
    #[arg(default_value = "runs/features")]
    features: PathBuf,
    /// Model folder of the same encoder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Severities of each of the nine corruptions of pictures.
    #[arg(long, value_delimiter = ',', default_value = "1,3,5", value_parser = clap::value_parser!(u8).range(1..=i64::from(ImageCorruption::MAX_SEVERITY)))]
    severities: Vec<u8>,
    /// Severities of each misspelling of captions, in twentieths of the words; ELIP's is 5.
    #[arg(long, value_delimiter = ',', default_value = "5", value_parser = clap::value_parser!(u8).range(1..=i64::from(Misspelling::MAX_SEVERITY)))]
    levels: Vec<u8>,
    /// Halve the files: 16 bits a number.
    #[arg(long)]
    f16: bool,
    /// Where to compute: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// Runs `train disturb`.
///
/// # Errors
///
/// The features are missing, of other data or of another encoder, a file cannot be written, or the user interrupted.
pub fn run_disturb(args: &DisturbArgs) -> Result<()> {
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
    let (there, interrupt) = (listed(&args.features)?, Interrupt::install());
    for corruption in args.corruptions() {
        let (name, side) = corruption.name_and_side();
        if there.contains(&name) {
            continue;
        }
        ensure!(
            !interrupt.is_set(),
            "interrupted before {} {}; the same command goes on from there",
            name.kind,
            name.severity
        );
        let embedded = match corruption {
            OneSided::Pictures(corruption) => scenes.pictures(corruption)?,
            OneSided::Captions(misspelling) => scenes.captions(misspelling)?,
        };
        let corrupted = CorruptedSplit {
            corruption: name,
            side,
            features: embedded.features,
            activations: embedded.activations,
        };
        corrupted.write(&clean, &args.features, precision)?;
    }
    println!(
        "{}: {} corruptions",
        args.features.join(FOLDER).display(),
        listed(&args.features)?.len()
    );
    Ok(())
}

/// A corruption of one side, the other one staying clean.
enum OneSided {
    Pictures(Corruption<ImageCorruption>),
    Captions(Corruption<Misspelling>),
}

impl OneSided {
    fn name_and_side(&self) -> (CorruptionName, CorruptedSide) {
        match self {
            Self::Pictures(corruption) => ((*corruption).into(), CorruptedSide::Pictures),
            Self::Captions(misspelling) => ((*misspelling).into(), CorruptedSide::Captions),
        }
    }
}

impl DisturbArgs {
    fn corruptions(&self) -> Vec<OneSided> {
        let pictures = self.severities.iter().flat_map(|&severity| {
            let kinds = ImageCorruption::published().iter();
            kinds.map(move |&kind| OneSided::Pictures(Corruption::new(kind, severity)))
        });
        let captions = self.levels.iter().flat_map(|&severity| {
            let kinds = Misspelling::ALL.iter();
            kinds.map(move |&kind| OneSided::Captions(Corruption::new(kind, severity)))
        });
        pictures.chain(captions).collect()
    }
}
