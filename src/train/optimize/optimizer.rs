//! The published optimisers, which differ from Burn's defaults, and the cosine schedules of learning rates.

use std::f64::consts::PI;

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

    /// This optimizer with its learning rate times `factor`.
    #[must_use]
    pub const fn faster(mut self, factor: f64) -> Self {
        match &mut self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => {
                *learning_rate *= factor;
            }
        }
        self
    }

    /// This optimizer with another learning rate.
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

/// Learning rate of a step, counted from 0: the [`cosine`] that falls from `greatest` to zero in `n_steps` steps, times
/// a factor that climbs evenly to one in `warmup` steps.
#[must_use]
pub fn warm_cosine(greatest: f64, step: usize, warmup: usize, n_steps: usize) -> f64 {
    let climb = (step + 1) as f64 / warmup.max(1) as f64;
    let phase = PI * step as f64 / n_steps as f64;
    climb.min(1.0) * cosine(greatest, 0.0, phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of a cosine.
    const TOLERANCE: f64 = 1e-12;

    #[test]
    fn the_warm_cosine_climbs_and_falls_to_zero() {
        for (step, warmup, expected) in [
            (0, 0, 2.0),
            (0, 10, 0.2),
            (9, 10, cosine(2.0, 0.0, PI * 0.09)),
            (50, 10, 1.0),
            (100, 10, 0.0),
        ] {
            let found = warm_cosine(2.0, step, warmup, 100);
            let error = (found - expected).abs();
            assert!(
                error < TOLERANCE,
                "step {step}: {found}, expected {expected}"
            );
        }
    }
}
