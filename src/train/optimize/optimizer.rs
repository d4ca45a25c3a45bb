//! The published optimisers, which differ from Burn's defaults, and the cosine schedule of learning rates.

use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamWConfig, ModuleOptimizer, SgdConfig};
use serde::{Deserialize, Serialize};

/// An optimiser with its numbers. All parameters decay, factors and biases included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    /// Stochastic gradient descent as in `PyTorch`: no dampening, the decay added to the gradient.
    Sgd {
        /// Learning rate at the start.
        learning_rate: f64,
        /// Share of the velocity that is kept.
        momentum: f64,
        /// Added to the gradient for each unit of the parameter.
        weight_decay: f32,
    },
    /// `AdamW` as in `PyTorch`: β = (0.9, 0.999), ε = 1e-8.
    AdamW {
        /// Learning rate at the start.
        learning_rate: f64,
        /// Taken off the parameter itself, times the learning rate.
        weight_decay: f32,
    },
}

impl Optimizer {
    /// The learning rate at the start.
    #[must_use]
    pub const fn learning_rate(self) -> f64 {
        match self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => learning_rate,
        }
    }

    /// The same with the learning rate times `factor`.
    #[must_use]
    pub const fn faster(mut self, factor: f64) -> Self {
        match &mut self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => {
                *learning_rate *= factor;
            }
        }
        self
    }

    /// The same with this learning rate.
    #[must_use]
    pub const fn at(mut self, rate: f64) -> Self {
        match &mut self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => {
                *learning_rate = rate;
            }
        }
        self
    }

    /// The optimiser before its first step.
    #[must_use]
    pub fn init(self) -> ModuleOptimizer {
        match self {
            Self::Sgd {
                momentum,
                weight_decay: penalty,
                ..
            } => {
                let (dampening, nesterov) = (0.0, false);
                let momentum = MomentumConfig {
                    momentum,
                    dampening,
                    nesterov,
                };
                let sgd = SgdConfig::new().with_momentum(Some(momentum));
                sgd.with_weight_decay(Some(WeightDecayConfig { penalty }))
                    .init()
            }
            Self::AdamW { weight_decay, .. } => AdamWConfig::new()
                .with_beta_1(0.9)
                .with_beta_2(0.999)
                .with_epsilon(1e-8)
                .with_weight_decay(weight_decay)
                .init(),
        }
    }
}

/// Half a period of a cosine from one learning rate to another, at a phase from 0 to π.
#[must_use]
pub fn cosine(from: f64, to: f64, phase: f64) -> f64 {
    to + (from - to) * 0.5 * (1.0 + phase.cos())
}
