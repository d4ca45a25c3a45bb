//! The command line of `train`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use super::scenes::{self, Preset, ScenesRecipe};
use crate::device;

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
}

#[derive(Debug, Args)]
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
    /// Where to compute: `cpu`, or `cuda` in a build with `--features cuda`.
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
        Command::Scenes(args) => {
            scenes::run(&args.recipe(), &args.out, &device::by_name(&args.device)?).map(|_| ())
        },
    }
}
