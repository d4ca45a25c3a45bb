//! Fits an adapter to frozen features: the released recipe of `AsymVLM` (SGD with momentum, a cosine per step, `InfoNCE`
//! with a trainable factor on the log-likelihoods).

use anyhow::Result;
use burn::module::Module as _;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::progress::{Interrupt, Meter};
use crate::model::adapter::{Adapter, AdapterConfig, Family, info_nce};

/// Least learning rate of the cosine schedule.
const LEAST_LEARNING_RATE: f64 = 1e-6;
/// Steps between two readings of the loss.
const STEPS_PER_READING: usize = 25;

/// Numbers that govern the fit of an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitRecipe {
    /// Pairs in a batch.
    pub batch: usize,
    /// Passes over the captions.
    pub epochs: usize,
    /// Learning rate at the start; 1e-2 in the paper.
    pub learning_rate: f64,
    /// Momentum; 0.9 in the paper's code.
    pub momentum: f64,
    /// Weight decay of every parameter, the factor included; 5e-4 in the paper's code.
    pub weight_decay: f32,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
}

/// Captions and pictures as cached features.
#[derive(Debug, Clone)]
pub struct Features {
    /// `[n_texts, embed_dim]`, not normalised.
    pub texts: Tensor<2>,
    /// `[n_images, embed_dim]`, unit vectors.
    pub images: Tensor<2>,
    /// Which picture each caption belongs to.
    pub image_of_text: Vec<i64>,
}

/// Fits an adapter.
///
/// # Errors
///
/// The user interrupted.
pub fn fit(
    config: &AdapterConfig,
    family: Family,
    recipe: &FitRecipe,
    features: &Features,
    device: &Device,
) -> Result<Adapter> {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let mut adapter = config.init(&autodiff);
    let mut optimizer = optimizer_of(recipe);
    let steps_per_epoch = features.image_of_text.len().div_ceil(recipe.batch);
    let n_steps = steps_per_epoch * recipe.epochs;
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.seed);
    let (mut meter, interrupt) = (Meter::new(name(family), 0, n_steps), Interrupt::install());
    for epoch in 0..recipe.epochs {
        for (i, indices) in shuffled(features.image_of_text.len(), &mut rng)
            .chunks(recipe.batch)
            .enumerate()
        {
            let step = epoch * steps_per_epoch + i;
            let (texts, images) = gather(features, indices, &autodiff);
            let loss = info_nce(adapter.logits(family, texts, images));
            let gradients = GradientsParams::from_grads(loss.backward(), &adapter);
            adapter = optimizer.step(
                cosine(recipe.learning_rate, step, n_steps),
                adapter,
                gradients,
            );
            if step.is_multiple_of(STEPS_PER_READING) {
                let scale = adapter.logit_scale.val().into_scalar::<f32>();
                meter.update(
                    step + 1,
                    &[("loss", loss.into_scalar::<f32>()), ("τ", scale)],
                );
                anyhow::ensure!(
                    !interrupt.is_set(),
                    "interrupted at step {step} of the {} adapter",
                    name(family)
                );
            }
        }
    }
    meter.finish();
    Ok(adapter.valid())
}

fn optimizer_of(recipe: &FitRecipe) -> ModuleOptimizer {
    SgdConfig::new()
        .with_momentum(Some(MomentumConfig {
            momentum: recipe.momentum,
            dampening: 0.0,
            nesterov: false,
        }))
        .with_weight_decay(Some(WeightDecayConfig {
            penalty: recipe.weight_decay,
        }))
        .init()
}

const fn name(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "vMF adapter",
        Family::PowerSpherical => "power-spherical adapter",
    }
}

fn gather(features: &Features, indices: &[usize], device: &Device) -> (Tensor<2>, Tensor<2>) {
    let n = indices.len();
    let to_tensor = |values: Vec<i64>| {
        Tensor::<1, Int>::from_data(TensorData::new(values, [n]), &features.texts.device())
    };
    let texts = to_tensor(indices.iter().map(|&i| i as i64).collect());
    let images = to_tensor(indices.iter().map(|&i| features.image_of_text[i]).collect());
    let attach = |rows: Tensor<2>| rows.to_device(&device.clone().inner()).autodiff();
    (
        attach(features.texts.clone().select(0, texts)),
        attach(features.images.clone().select(0, images)),
    )
}

fn shuffled(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

/// Cosine annealing per step, without warm-up.
fn cosine(learning_rate: f64, step: usize, n_steps: usize) -> f64 {
    let phase = std::f64::consts::PI * step as f64 / n_steps as f64;
    LEAST_LEARNING_RATE + (learning_rate - LEAST_LEARNING_RATE) * 0.5 * (1.0 + phase.cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of a cosine.
    const TOLERANCE: f64 = 1e-12;

    #[test]
    fn the_cosine_starts_at_the_learning_rate_and_ends_at_the_least() {
        for (step, expected) in [
            (0, 5e-2),
            (50, (5e-2 + LEAST_LEARNING_RATE) / 2.0),
            (100, LEAST_LEARNING_RATE),
        ] {
            let found = cosine(5e-2, step, 100);
            assert!(
                (found - expected).abs() < TOLERANCE,
                "step {step}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn the_cosine_falls_at_every_step() {
        for step in 0..100 {
            let (now, next) = (cosine(5e-2, step, 100), cosine(5e-2, step + 1, 100));
            assert!(next < now, "step {step}: {now}, then {next}");
        }
    }

    #[test]
    fn an_epoch_holds_every_caption_once_in_an_order_of_its_own() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let (first, second) = (shuffled(50, &mut rng), shuffled(50, &mut rng));
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>(), "each once");
        assert_ne!(first, second, "another order in the next epoch");
    }
}
