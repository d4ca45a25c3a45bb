//! Subcommands of `train`, and the dispatch to their files.

use anyhow::Result;
use clap::{Parser, Subcommand};

use super::adapt::{self, AdaptArgs};
use super::disturb::{self, DisturbArgs};
use super::embed::{self, EmbedArgs};
use super::evaluate::{self, EvaluateArgs};
use super::export::{self, ExportArgs};
use super::fit::{self, FitArgs};
use super::gallery::{self, GalleryArgs};
use super::golden::{self, GoldenArgs};
use super::import::{self, ImportArgs};
use super::inspect::{self, InspectArgs};
use super::merge::{self, MergeArgs};
use super::photos::{self, PhotosArgs};
use super::reproduce::{self, ReproduceArgs};
use super::sample::{self, SampleArgs};
use super::scenes::{self, ScenesArgs};
use super::score::{self, ScoreArgs};
use super::sets::{self, SetsArgs};
use super::table::{self, TableArgs};

/// Trains, evaluates and runs Kappascope's models.
#[derive(Debug, Parser)]
#[command(name = "train", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train the small CLIP of the scenes world and its adapters, from nothing.
    Scenes(ScenesArgs),
    /// Train the model of photographs: heads and adapters on two pretrained towers.
    Photos(PhotosArgs),
    /// Make a model folder of a checkpoint from elsewhere: the released CLIP, or another model of the CLIP family.
    Import(ImportArgs),
    /// Give an imported encoder its κ: embed, fit both adapters, measure, and put them beside it.
    Adapt(AdaptArgs),
    /// Measure a model on scenes that no training has seen.
    Evaluate(EvaluateArgs),
    /// Choose thresholds for the sets of drawings that captions could mean, and put them into a model of scenes.
    Sets(SetsArgs),
    /// Compute the golden values of a model that comes with the page anew, for the captions that it opens with.
    Golden(GoldenArgs),
    /// Print reports of `evaluate` as a table; several, of trainings that differ in their seed, with mean and range.
    Table(TableArgs),
    /// Embed pictures and captions with a frozen encoder, to fit methods on.
    Embed(EmbedArgs),
    /// Embed the test scenes once more with corrupted pictures and misspelt captions, beside the clean features.
    Disturb(DisturbArgs),
    /// Put together what the shards of `embed` embedded.
    Merge(MergeArgs),
    /// Fit one method on embedded pictures and captions, and measure it.
    Fit(FitArgs),
    /// Fit and measure every method with several seeds; write results, tables and figures.
    Reproduce(ReproduceArgs),
    /// Put two fits beside their encoder: a model folder for the page and for `train score`.
    Export(ExportArgs),
    /// Say what a folder holds that one of these commands wrote, and how far it has come.
    Inspect(InspectArgs),
    /// Score captions against pictures: the numbers of the page.
    Score(ScoreArgs),
    /// Draw directions from the distributions of captions.
    Sample(SampleArgs),
    /// Draw the pictures of the page, and record a model's answers to its starting captions.
    Gallery(GalleryArgs),
}

/// Runs the command line.
///
/// # Errors
///
/// Whatever stops the command.
pub fn run(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Scenes(args) => scenes::run(args),
        Command::Photos(args) => photos::run(args),
        Command::Import(args) => import::run(args),
        Command::Adapt(args) => adapt::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Sets(args) => sets::run(args),
        Command::Golden(args) => golden::run(args),
        Command::Table(args) => table::run(args),
        Command::Embed(args) => embed::run(args),
        Command::Disturb(args) => disturb::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Export(args) => export::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Score(args) => score::run(args),
        Command::Sample(args) => sample::run(args),
        Command::Gallery(args) => gallery::run(args),
    }
}
