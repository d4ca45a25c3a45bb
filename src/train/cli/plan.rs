//! The arguments that `train fit` and `train reproduce` share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;

use crate::train::experiments::corrupted::CorruptedSplit;
use crate::train::experiments::preset::PresetRecipe;
use crate::train::experiments::{EvaluationData, FitPlan};
use crate::train::features::cache::Cache;
use crate::train::files;
use crate::train::methods::{UncertaintyOf, Variant};
use crate::train::provenance::command_line;

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// Features that `train embed` wrote, runs/features if not given; with what `train disturb` put beside them, that
    /// is measured on too.
    #[arg(long)]
    features: Option<PathBuf>,
    /// Features of another data set by the same encoder, to measure on too; may be given several times.
    #[arg(long = "measure-on", value_name = "FEATURES")]
    measure_on: Vec<PathBuf>,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Source to follow where paper and released code differ.
    #[arg(long, value_enum, default_value = "code")]
    follow: Variant,
    /// Scalar taken for `ProbVLM`'s uncertainty.
    #[arg(long, value_enum, default_value = "inverse")]
    probvlm_uncertainty: UncertaintyOf,
    /// Initial factor of deterministic fine-tuning; 1 if not given, CLIP's is 14.3.
    #[arg(long)]
    deterministic_scale: Option<f32>,
    /// Device to compute on: `cpu`, or `cuda` or `libtorch` in a build with that feature.
    #[arg(long, default_value = "cpu")]
    pub(super) device: String,
}

/// The arguments of a fit that are the same for all methods.
#[derive(Debug, Args)]
pub(super) struct RecipeArgs {
    /// Pairs in a batch, 1024 if not given or a preset's; 2048 in the paper.
    #[arg(long)]
    batch: Option<usize>,
    /// Passes over the captions, 20 if not given or a preset's; 200 in the paper. ELIP's loss takes 20 to reach its
    /// full form.
    #[arg(long)]
    epochs: Option<usize>,
    /// Factor on each method's published learning rate; above 1 because there are far fewer steps than in the paper.
    #[arg(long, default_value_t = 5.0)]
    rate_factor: f64,
    /// Width of hidden layers; 1024, or twice the features' where that is less.
    #[arg(long)]
    hidden_width: Option<usize>,
}

impl RecipeArgs {
    /// A plan that follows the released code in everything else.
    pub(super) fn plan(&self) -> Result<FitPlan> {
        self.plan_or(1024, 20)
    }

    /// The plan of the fits, with this batch and number of passes where none were given.
    fn plan_or(&self, batch: usize, epochs: usize) -> Result<FitPlan> {
        let (batch, epochs) = (self.batch.unwrap_or(batch), self.epochs.unwrap_or(epochs));
        let rate_factor = self.rate_factor;
        ensure!(batch > 1, "--batch is {batch}, at least 2 is needed");
        ensure!(epochs > 0, "--epochs is 0, at least 1 is needed");
        let is_positive = rate_factor > 0.0;
        ensure!(
            is_positive,
            "--rate-factor is {rate_factor}, a positive number is needed"
        );
        Ok(FitPlan {
            batch,
            epochs,
            rate_factor,
            learning_rates: BTreeMap::new(),
            grid_epochs: None,
            follow: Variant::Code,
            probvlm_uncertainty: UncertaintyOf::default(),
            deterministic_scale: None,
            hidden_width: self.hidden_width,
            command: command_line(),
        })
    }
}

impl PlanArgs {
    /// Folder of the features.
    pub(super) fn features(&self) -> &Path {
        self.features
            .as_deref()
            .unwrap_or(Path::new("runs/features"))
    }

    /// Folder of the features, with another default.
    pub(super) fn features_or(&self, usual: PathBuf) -> PathBuf {
        self.features.clone().unwrap_or(usual)
    }

    pub(super) fn plan(&self) -> Result<FitPlan> {
        Ok(self.with_choices(self.recipe.plan()?))
    }

    /// The plan of a preset, but for what was given.
    pub(super) fn preset_plan(&self, recipe: &PresetRecipe) -> Result<FitPlan> {
        Ok(self.with_choices(self.recipe.plan_or(recipe.batch, recipe.epochs)?))
    }

    fn with_choices(&self, plan: FitPlan) -> FitPlan {
        FitPlan {
            follow: self.follow,
            probvlm_uncertainty: self.probvlm_uncertainty,
            deterministic_scale: self.deterministic_scale,
            ..plan
        }
    }

    pub(super) fn data(&self) -> Result<EvaluationData> {
        self.data_in(self.features())
    }

    /// The features of a folder, and of those that are measured on, too.
    pub(super) fn data_in(&self, features: &Path) -> Result<EvaluationData> {
        let others = self.measure_on.iter().map(|folder| Cache::read(folder));
        let own = Cache::read(features)?;
        let corrupted = CorruptedSplit::read_all(&own, features)?;
        let data = EvaluationData::new(own, others.collect::<Result<_>>()?)?;
        let data = data.with_corrupted(corrupted);
        Ok(data.with_hashes(files::hashes(features)?))
    }
}
