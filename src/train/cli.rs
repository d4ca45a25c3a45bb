//! The command line of `train`.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};

use super::dtypes::{self, Pairs};
use super::experiments::command::{
    FitArgs, ReproduceArgs, refuse_to_overwrite, run_fit, run_reproduce,
};
use super::experiments::corrupt_command::{DisturbArgs, run_disturb};
use super::experiments::{evaluate, evaluation_table};
use super::export_fits::{ExportFits, export_fits};
use super::import::command::ImportArgs;
use super::reproduce::embed_cli::{EmbedArgs, MergeArgs, run_embed, run_merge};
use super::scenes::{self, Preset, ScenesRecipe};
use super::{bundle, export, files, gallery, inspect, record, score};
use crate::device;
use crate::family::{Family, PerFamily};
use crate::report::Evaluation;

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
    /// Make a model folder of a checkpoint from elsewhere: the released CLIP, or one of its kin.
    Import(ImportArgs),
    /// Measure what it does to a model's answers to store its towers in f32, f16 or int8.
    Dtypes(DtypesArgs),
    /// Measure a model on scenes that no training has seen.
    Evaluate(EvaluateArgs),
    /// Print reports of `evaluate` as a table; several, of trainings that differ in their seed, with mean and range.
    Table(TableArgs),
    /// Embed pictures and captions with a frozen encoder, to fit methods on.
    Embed(EmbedArgs),
    /// Embed the test scenes once more with distorted pictures and misspelt captions, beside the clean features.
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
    /// Draw the pictures that the page hangs, and record a model's answers to its starting captions.
    Gallery(GalleryArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  train dtypes public/models/scenes --scenes 500")]
struct DtypesArgs {
    /// Model folder.
    #[arg(default_value = "public/models/scenes")]
    model: PathBuf,
    /// Folder of photographs whose `manifest.json` lists `file` and `captions`; drawn scenes if not given.
    #[arg(long)]
    photos: Option<PathBuf>,
    /// Drawn scenes.
    #[arg(long, default_value_t = 500)]
    scenes: usize,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  train evaluate --out runs/evaluation.json\n  train evaluate --model runs/small/model --scenes 1000 --seed 7 --out runs/small/validation.json"
)]
struct EvaluateArgs {
    /// Model folder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Where the report goes; beside the manifest if not given.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Test scenes.
    #[arg(long, default_value_t = 5000)]
    scenes: usize,
    /// Seed of the scenes. The default draws the test set; nothing may be chosen by what is measured on that.
    #[arg(long, default_value_t = evaluate::TEST_SEED)]
    seed: u64,
    /// Folder of photographs, none of which belongs to the world of scenes.
    #[arg(long)]
    photos: Option<PathBuf>,
    /// Write over a report that is there.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train fit --method asymvlm-vmf --features runs/coco --out runs/vmf\n  train fit --method asymvlm-ps --features runs/coco --out runs/ps\n  train export --model runs/clip --vmf runs/vmf --ps runs/ps --out public/models/clip-coco"
)]
struct ExportArgs {
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

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  train inspect public/models/scenes\n  train inspect runs/features"
)]
struct InspectArgs {
    /// A model, features, a fit, results, or a training.
    folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train table runs/seed-0/evaluation.json runs/seed-1/evaluation.json"
)]
struct TableArgs {
    /// Files that `evaluate` wrote.
    #[arg(required = true)]
    reports: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train score --caption 'a red star' --caption 'a picture' --image public/gallery/lone-red-star.png"
)]
struct ScoreArgs {
    /// Model folder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// Law on the sphere.
    #[arg(long, value_enum, default_value = "vmf")]
    family: FamilyName,
    /// A caption; may be given several times.
    #[arg(long = "caption", required = true)]
    captions: Vec<String>,
    /// A picture file; may be given several times.
    #[arg(long = "image")]
    images: Vec<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FamilyName {
    Vmf,
    PowerSpherical,
}

impl From<FamilyName> for Family {
    fn from(name: FamilyName) -> Self {
        match name {
            FamilyName::Vmf => Self::VonMisesFisher,
            FamilyName::PowerSpherical => Self::PowerSpherical,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  train gallery --model public/models/scenes --force")]
struct GalleryArgs {
    /// Folder of the pictures.
    #[arg(long, default_value = "public/gallery")]
    out: PathBuf,
    /// Model folder.
    #[arg(long, default_value = "public/models/scenes")]
    model: PathBuf,
    /// File of the tour and the lessons, whose captions are answered, too.
    #[arg(long, default_value = "public/lessons.json")]
    lessons: PathBuf,
    /// Folder of the recorded answers.
    #[arg(long, default_value = "public/examples")]
    examples: PathBuf,
    /// Write over pictures and answers that are there.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  train scenes --preset small --out runs/small --export runs/small/model\n\nCtrl-C leaves a checkpoint; the same command goes on from there."
)]
struct ScenesArgs {
    /// Folder of the run; a run that was interrupted goes on there.
    #[arg(long, default_value = "runs/scenes")]
    out: PathBuf,
    /// How much work to put in.
    #[arg(long, value_enum, default_value = "small")]
    preset: Preset,
    /// Seed of scenes, captions and weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Optimiser steps of the encoder, if not the preset's.
    #[arg(long)]
    steps: Option<usize>,
    /// Scenes in a batch, if not the preset's.
    #[arg(long)]
    batch: Option<usize>,
    /// Scenes rendered once, if not the preset's.
    #[arg(long)]
    pool: Option<usize>,
    /// Greatest learning rate of the encoder, if not the preset's.
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Scenes whose captions the adapters are fitted to, if not the preset's.
    #[arg(long)]
    adapter_scenes: Option<usize>,
    /// Write the finished model here, for the page and for `train score`.
    #[arg(long)]
    export: Option<PathBuf>,
    /// Write over a model that is there.
    #[arg(long, requires = "export")]
    force: bool,
    /// Where to compute: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    device: String,
}

impl ScenesArgs {
    fn recipe(&self) -> ScenesRecipe {
        let mut recipe = ScenesRecipe::new(self.preset, self.seed);
        let clip = &mut recipe.clip;
        clip.steps = self.steps.unwrap_or(clip.steps);
        clip.batch = self.batch.unwrap_or(clip.batch);
        clip.pool = self.pool.unwrap_or(clip.pool);
        clip.learning_rate = self.learning_rate.unwrap_or(clip.learning_rate);
        recipe.adapter_scenes = self.adapter_scenes.unwrap_or(recipe.adapter_scenes);
        recipe
    }
}

/// Runs the command line.
///
/// # Errors
///
/// Whatever stops the command.
pub fn run(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Scenes(args) => train_scenes(args),
        Command::Import(args) => args.run(command_line()),
        Command::Dtypes(args) => compare_dtypes(args),
        Command::Evaluate(args) => evaluate_model(args),
        Command::Table(args) => print_table(args),
        Command::Embed(args) => run_embed(args),
        Command::Disturb(args) => run_disturb(args),
        Command::Merge(args) => run_merge(args),
        Command::Fit(args) => run_fit(args),
        Command::Reproduce(args) => run_reproduce(args),
        Command::Export(args) => export_model(args),
        Command::Inspect(args) => {
            print!("{}", inspect::describe(&args.folder)?);
            Ok(())
        }
        Command::Score(args) => print_scores(args),
        Command::Gallery(args) => {
            refuse_to_overwrite(&args.out.join("gallery.json"), args.force)?;
            gallery::write(&args.out)?;
            let (session, self_test) = bundle::open_tested(&args.model, &device::cpu())?;
            record::write(&session, self_test, &args.examples, &args.lessons)
        }
    }
}

fn train_scenes(args: &ScenesArgs) -> Result<()> {
    if let Some(out) = &args.export {
        refuse_to_overwrite(&out.join("manifest.json"), args.force)?;
    }
    let (recipe, device) = (args.recipe(), device::by_name(&args.device)?);
    let trained = scenes::run(&recipe, &args.out, &device)?;
    let Some(out) = &args.export else {
        return Ok(());
    };
    export::export(&recipe, &trained, &command_line(), out)
}

/// What was typed, for a manifest.
pub(super) fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("train {}", arguments.join(" "))
}

fn compare_dtypes(args: &DtypesArgs) -> Result<()> {
    let pairs = match &args.photos {
        Some(folder) => Pairs::photos(folder)?,
        None => Pairs::scenes(args.scenes),
    };
    let rows = dtypes::measure(&args.model, &pairs)?;
    println!("{}", dtypes::TABLE_HEAD);
    rows.iter().for_each(|row| println!("{row}"));
    Ok(())
}

fn export_model(args: &ExportArgs) -> Result<()> {
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

fn evaluate_model(args: &EvaluateArgs) -> Result<()> {
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| args.model.join("evaluation.json"));
    refuse_to_overwrite(&out, args.force)?;
    let session = bundle::open(&args.model, &device::cpu())?;
    let evaluation = evaluate::evaluate(&session, args.scenes, args.seed, args.photos.as_deref())?;
    std::fs::write(&out, serde_json::to_string_pretty(&evaluation)?)
        .with_context(|| format!("writing {}", out.display()))?;
    print!("{}", evaluation_table::markdown(&[evaluation]));
    Ok(())
}

fn print_table(args: &TableArgs) -> Result<()> {
    let paths = args.reports.iter();
    let evaluations: Vec<Evaluation> = paths
        .map(|path| files::read_json(path))
        .collect::<Result<_>>()?;
    print!("{}", evaluation_table::markdown(&evaluations));
    Ok(())
}

fn print_scores(args: &ScoreArgs) -> Result<()> {
    let session = bundle::open(&args.model, &device::cpu())?;
    let images: Vec<&Path> = args.images.iter().map(PathBuf::as_path).collect();
    let table = score::score(&session, args.family.into(), &args.captions, &images)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&table)?);
    } else {
        print!("{table}");
    }
    Ok(())
}
