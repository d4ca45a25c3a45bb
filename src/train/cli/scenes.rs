//! Arguments of `train scenes`, and the calls that train and export the model.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::device;
use crate::train::export::scenes_model::export;
use crate::train::files::refuse_to_overwrite;
use crate::train::provenance::command_line;
use crate::train::run_lock::RunLock;
use crate::train::scenes_model::recipe::{Preset, ScenesRecipe};
use crate::train::scenes_model::training::{self, RunFolder};

/// Example, printed below the command's help.
const EXAMPLES: &str = "Example:
  train scenes --preset small --out runs/small --export runs/small/model

Ctrl-C leaves a checkpoint; the same command resumes from there.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ScenesArgs {
    /// Folder of the run; an interrupted run is resumed there.
    #[arg(long, default_value = "runs/scenes")]
    out: PathBuf,
    /// Amount of work to put in.
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
    /// Train the encoder by CLIP's contrast alone, as a control: without anything that is told which captions fit a
    /// picture, the second loss and the mask over other pictures that a caption fits.
    #[arg(long)]
    plain_contrast: bool,
    /// Scenes whose captions the adapters are fitted to, if not the preset's.
    #[arg(long)]
    adapter_scenes: Option<usize>,
    /// Seconds between two checkpoints of the encoder; 0 for one after each step.
    #[arg(long, default_value_t = 120)]
    checkpoint_seconds: u64,
    /// Write the finished model here, for the page and for `train score`.
    #[arg(long)]
    export: Option<PathBuf>,
    /// Write over a model that is there.
    #[arg(long, requires = "export")]
    force: bool,
    /// Device to compute on: `cpu`, or `cuda` or `libtorch` in a build with that feature.
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
        if self.plain_contrast {
            (clip.probe_weight, clip.mask_fitting) = (0.0, false);
        }
        recipe.adapter_scenes = self.adapter_scenes.unwrap_or(recipe.adapter_scenes);
        recipe
    }
}

pub(super) fn run(args: &ScenesArgs) -> Result<()> {
    if let Some(out) = &args.export {
        refuse_to_overwrite(&out.join("manifest.json"), args.force)?;
    }
    let (recipe, device) = (args.recipe(), device::by_name(&args.device)?);
    let _lock = RunLock::take(&args.out)?;
    let run = RunFolder {
        folder: &args.out,
        interval: Duration::from_secs(args.checkpoint_seconds),
    };
    let trained = training::run(&recipe, &run, &device)?;
    let Some(out) = &args.export else {
        return Ok(());
    };
    export(&recipe, &trained, &command_line(), out)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct ScenesCommand {
        #[command(flatten)]
        args: ScenesArgs,
    }

    #[test]
    fn plain_contrast_leaves_out_all_that_knows_what_fits() {
        let recipe = |words: &[&str]| ScenesCommand::parse_from(words).args.recipe();
        let (usual, plain) = (recipe(&["train"]), recipe(&["train", "--plain-contrast"]));
        let weights = [usual.clip.probe_weight, plain.clip.probe_weight];
        assert!(weights[0] > 0.0 && weights[1] == 0.0, "weights {weights:?}");
        assert!(usual.clip.mask_fitting && !plain.clip.mask_fitting, "masks");
        let mut same = plain;
        same.clip.probe_weight = usual.clip.probe_weight;
        same.clip.mask_fitting = true;
        assert_eq!(same, usual, "nothing else changes");
    }
}
