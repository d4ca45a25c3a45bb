//! Recipe of the training of heads, and of the tuning of the image tower's last stage with them.

use serde::{Deserialize, Serialize};

use crate::train::optimize::Optimizer;

/// Recipe of the training of heads. The defaults were chosen by retrieval on Flickr8k's development pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadRecipe {
    /// Number of steps of the optimiser.
    pub steps: usize,
    /// Pictures in a step, each with a mixture of its captions; all of them where they are fewer.
    pub batch: usize,
    /// Optimiser, with the greatest learning rate.
    pub optimizer: Optimizer,
    /// Steps over which the learning rate climbs; it falls to zero by a cosine.
    pub warmup: usize,
    /// Share of the standardised features that are left out, of captions and of pictures.
    pub input_dropout: [f64; 2],
    /// Share of the hidden layer that is left out.
    pub hidden_dropout: f64,
    /// Share of a target that is given to pictures with like captions.
    pub softness: f64,
    /// Difference of two captions' cosines that makes e times the target.
    pub target_temperature: f64,
    /// Share of the moving average that is kept in a step.
    pub average_decay: f32,
    /// Steps between two measurements on unseen pictures.
    pub measure_every: usize,
    /// Seed of weights, batches and dropout.
    pub seed: u64,
}

impl Default for HeadRecipe {
    fn default() -> Self {
        Self {
            steps: 500,
            batch: 1024,
            optimizer: Optimizer::AdamW {
                learning_rate: 1e-3,
                weight_decay: 0.5,
            },
            warmup: 20,
            input_dropout: [0.3, 0.6],
            hidden_dropout: 0.5,
            softness: 0.3,
            target_temperature: 0.1,
            average_decay: 0.97,
            measure_every: 50,
            seed: 0,
        }
    }
}

impl HeadRecipe {
    /// The recipe of the tuning of the image tower's last stage, with the heads that were trained by this one.
    #[must_use]
    pub fn of_tuning(&self, steps: usize) -> Self {
        Self {
            steps,
            batch: 512,
            optimizer: Optimizer::AdamW {
                learning_rate: 2.5e-4,
                weight_decay: 0.1,
            },
            measure_every: 30,
            ..self.clone()
        }
    }
}
