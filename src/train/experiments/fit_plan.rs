//! Plan of a fit: sizes, batches, passes and learning rates.

use std::collections::BTreeMap;

use crate::model::adapter::{AdapterConfig, MeanDirection};
use crate::train::methods::{MethodName, MethodOptions, Training, UncertaintyOf, Variant};
use crate::train::optimize::Optimizer;

/// The paper's hidden width, and how much wider than the features it is at their 512 dimensions.
const HIDDEN_WIDTH: usize = 1024;
const WIDENING: usize = 2;
/// Hidden layers of the paper's code.
const HIDDEN_LAYERS: usize = 3;

/// Plan of a fit; what is not given is as published.
#[derive(Debug, Clone, PartialEq)]
pub struct FitPlan {
    /// Pairs in a batch.
    pub batch: usize,
    /// Passes over the captions.
    pub epochs: usize,
    /// Factor on each method's published learning rate.
    pub rate_factor: f64,
    /// Learning rates that were chosen on validation data, in place of published ones.
    pub learning_rates: BTreeMap<MethodName, f64>,
    /// Passes of the fits by which they were chosen, if they were.
    pub grid_epochs: Option<usize>,
    /// Paper or code, where they differ.
    pub follow: Variant,
    /// Statistic that `ProbVLM` calls uncertainty.
    pub probvlm_uncertainty: UncertaintyOf,
    /// Initial τ of deterministic fine-tuning; 1 if not given.
    pub deterministic_scale: Option<f32>,
    /// Width of hidden layers; the paper's 1024, or twice the features' where that is less.
    pub hidden_width: Option<usize>,
    /// The command, for the record.
    pub command: String,
}

impl FitPlan {
    /// Sizes of the perceptrons for features of this width.
    #[must_use]
    pub fn sizes(&self, embed_dim: usize) -> AdapterConfig {
        let usual = HIDDEN_WIDTH.min(WIDENING * embed_dim);
        AdapterConfig {
            embed_dim,
            hidden_width: self.hidden_width.unwrap_or(usual),
            hidden_layers: HIDDEN_LAYERS,
            mean_direction: MeanDirection::Learned,
        }
    }

    pub(super) fn options(&self, embed_dim: usize) -> MethodOptions {
        MethodOptions {
            variant: self.follow,
            sizes: self.sizes(embed_dim),
            batch: self.batch,
            deterministic_scale: self.deterministic_scale,
            probvlm_uncertainty: self.probvlm_uncertainty,
        }
    }

    /// The optimiser of a method with its learning rate; `None` for a method that trains nothing.
    #[must_use]
    pub fn optimizer(&self, name: MethodName) -> Option<Optimizer> {
        let published = name.optimizer(self.follow)?;
        Some(match self.learning_rates.get(&name) {
            Some(rate) => published.at(*rate),
            None => published.faster(self.rate_factor),
        })
    }

    /// `None` for a method that trains nothing.
    pub(super) fn training(&self, name: MethodName, seed: u64) -> Option<Training> {
        Some(Training {
            optimizer: self.optimizer(name)?,
            batch: self.batch,
            epochs: self.epochs,
            seed,
        })
    }
}

/// A method and a seed to fit it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitRequest {
    /// The method to fit.
    pub name: MethodName,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
}
