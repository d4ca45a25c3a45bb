//! The command line of `train disturb`.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use super::disturbed::{Disturbance, Disturbed, DisturbedSide, FOLDER, listed};
use crate::device;
use crate::train::data::dataset::Dataset;
use crate::train::data::distort::{Distortion, LEVELS, Misspelling, SEVERITIES};
use crate::train::features::cache::Cache;
use crate::train::progress::Interrupt;
use crate::train::scenes_model::embed::TestScenes;
use crate::weights::shard::Precision;

/// `train disturb`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train embed --out runs/features && train disturb runs/features && train reproduce --features runs/features --out runs/papers\n\nThe features of the disturbed test split lie beside the clean ones, one side at a time: 10 distortions and slips of\nscenes take minutes. What is there is not done again. `train reproduce` measures every method on them. Pictures and\ncaptions that are read from files are disturbed by `train embed --distort` and measured on by --measure-on."
)]
pub struct DisturbArgs {
    /// Features of scenes that `train embed` wrote.
    #[arg(default_value = "runs/features")]
    features: PathBuf,
    /// Model folder of the same encoder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// How much each of the nine distortions of pictures is applied.
    #[arg(long, value_delimiter = ',', default_value = "1,3,5", value_parser = clap::value_parser!(u8).range(1..=i64::from(SEVERITIES)))]
    severities: Vec<u8>,
    /// How many twentieths of the words get slips of the keyboard, and how many misspellings; ELIP's is 5.
    #[arg(long, value_delimiter = ',', default_value = "5", value_parser = clap::value_parser!(u8).range(1..=i64::from(LEVELS)))]
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
    for noise in args.noises() {
        let disturbance = noise.disturbance();
        if there.contains(&disturbance) {
            continue;
        }
        ensure!(
            !interrupt.is_set(),
            "interrupted before {} {}; the same command goes on from there",
            disturbance.kind,
            disturbance.severity
        );
        let (side, embedded) = match noise {
            OneSide::Pictures(noise) => (DisturbedSide::Pictures, scenes.pictures(noise)?),
            OneSide::Captions(noise) => (DisturbedSide::Captions, scenes.captions(noise)?),
        };
        let disturbed = Disturbed {
            disturbance,
            side,
            features: embedded.features,
            activations: embedded.activations,
        };
        disturbed.write(&clean, &args.features, precision)?;
    }
    println!(
        "{}: {} disturbances",
        args.features.join(FOLDER).display(),
        listed(&args.features)?.len()
    );
    Ok(())
}

/// Noise on one side.
enum OneSide {
    Pictures(Distortion),
    Captions(Misspelling),
}

impl OneSide {
    fn disturbance(&self) -> Disturbance {
        let (kind, severity) = match self {
            Self::Pictures(noise) => noise.kind_and_severity(),
            Self::Captions(noise) => noise.kind_and_level(),
        };
        Disturbance { kind, severity }
    }
}

impl DisturbArgs {
    fn noises(&self) -> Vec<OneSide> {
        let severities = self.severities.iter().copied();
        let pictures = severities
            .flat_map(Distortion::every)
            .map(OneSide::Pictures);
        let levels = self.levels.iter().copied();
        let captions = levels.flat_map(Misspelling::every).map(OneSide::Captions);
        pictures.chain(captions).collect()
    }
}
