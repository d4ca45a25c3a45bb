//! Trains the small CLIP of the scenes world from scratch.
//!
//! Two losses share the towers. The contrastive one is CLIP's, over captions of every level; a picture that another
//! caption of the batch truly fits is not counted as its negative, because we know the truth. The second asks of many
//! short captions whether each fits each picture (a logistic loss on the cosine): it is what makes the encoder see
//! attributes that the contrastive loss never needs, such as shape.

use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use anyhow::{Context as _, Result};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, Param};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::store::ModuleRecord;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, CaptionMix, Pool, TokenBatch};
use super::files;
use super::progress::{Interrupt, Meter};
use crate::model::clip::{Clip, ClipConfig, normalize};
use crate::preprocess::text::TextPreprocess;

/// Score of a pair that must not count as a negative.
const NOT_A_NEGATIVE: f32 = -1e4;
/// Greatest logit scale, as CLIP clamps it.
const MAX_LOG_LOGIT_SCALE: f32 = 4.605_17;
/// Steps between two readings of the loss.
const STEPS_PER_READING: usize = 25;

/// Numbers that govern the training of the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipRecipe {
    /// Scenes rendered once and drawn from again and again, each time with new captions.
    pub pool: usize,
    /// Scenes in a batch.
    pub batch: usize,
    /// Short captions in a batch.
    pub probes: usize,
    /// Optimiser steps.
    pub steps: usize,
    /// Greatest learning rate, reached after the warm-up.
    pub learning_rate: f64,
    /// Steps of linear warm-up.
    pub warmup: usize,
    /// `AdamW`'s weight decay.
    pub weight_decay: f32,
    /// Weight of the logistic loss beside the contrastive one.
    pub probe_weight: f64,
    /// Share of captions that say everything.
    pub full_captions: f64,
    /// Standard deviation of the noise added to the normalised pixels.
    pub pixel_noise: f64,
    /// Share of unknown words in the captions that have any.
    pub unknown_words: f64,
    /// Seed of scenes, captions and weights.
    pub seed: u64,
}

impl ClipRecipe {
    /// The learning rate of a step: linear warm-up, then a cosine to zero.
    fn learning_rate_at(&self, step: usize) -> f64 {
        if step < self.warmup {
            return self.learning_rate * (step + 1) as f64 / self.warmup as f64;
        }
        let progress = (step - self.warmup) as f64 / (self.steps - self.warmup).max(1) as f64;
        self.learning_rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
    }
}

/// The encoder and the scale and bias of the logistic loss, which only training needs.
#[derive(Module, Debug)]
pub struct Learner {
    /// The encoder.
    pub clip: Clip,
    log_probe_scale: Param<Tensor<1>>,
    probe_bias: Param<Tensor<1>>,
}

impl Learner {
    fn new(config: &ClipConfig, device: &Device) -> Self {
        let scalar = |value: f32| Param::from_tensor(Tensor::from_floats([value], device));
        Self {
            clip: config.init(device),
            log_probe_scale: scalar(10f32.ln()),
            probe_bias: scalar(-3.0),
        }
    }

    /// Contrastive and logistic loss of a batch.
    fn losses(&self, batch: &DeviceBatch) -> (Tensor<1>, Tensor<1>) {
        let images = normalize(self.clip.vision.forward(batch.pixels.clone()));
        let groups = batch.texts.iter().map(|tokens| {
            self.clip
                .text
                .forward(tokens.ids.clone(), tokens.ends.clone())
        });
        let texts = Tensor::cat(groups.collect(), 0).select(0, batch.position.clone());
        let texts = normalize(texts);
        let cosines = texts.matmul(images.transpose()); // [n_texts, n_images]
        let [_, n_images] = cosines.dims();
        let log_scale = self
            .clip
            .log_logit_scale
            .val()
            .clamp_max(MAX_LOG_LOGIT_SCALE);
        let logits = cosines.clone().slice(0..n_images) * log_scale.exp().unsqueeze::<2>();
        let logits = logits + batch.not_negative.clone();
        let probe_logits = cosines * self.log_probe_scale.val().exp().unsqueeze::<2>()
            + self.probe_bias.val().unsqueeze::<2>();
        (contrastive_loss(logits), logistic_loss(probe_logits, batch))
    }
}

/// Mean of the cross-entropies of rows and columns against the diagonal.
fn contrastive_loss(logits: Tensor<2>) -> Tensor<1> {
    let [n, _] = logits.dims();
    let eye = Tensor::<2>::eye(n, &logits.device());
    let rows = log_softmax(logits.clone(), 1) * eye.clone();
    let columns = log_softmax(logits, 0) * eye;
    (rows.sum() + columns.sum()) / (-2.0 * n as f64)
}

/// Mean over texts of the logistic loss, positives and negatives of a text weighing the same.
fn logistic_loss(logits: Tensor<2>, batch: &DeviceBatch) -> Tensor<1> {
    let signed = logits * batch.sign.clone();
    let softplus = signed.clone().neg().clamp_min(0.0) + (signed.abs().neg().exp() + 1.0).log();
    (softplus * batch.weight.clone()).sum()
}

struct DeviceTokens {
    ids: Tensor<2, Int>,
    ends: Tensor<1, Int>,
}

impl DeviceTokens {
    fn new(tokens: &TokenBatch, device: &Device) -> Self {
        let n_texts = tokens.ends.len();
        Self {
            ids: Tensor::from_data(
                TensorData::new(tokens.ids.clone(), [n_texts, tokens.n_tokens]),
                device,
            ),
            ends: Tensor::from_data(TensorData::new(tokens.ends.clone(), [n_texts]), device),
        }
    }
}

/// A batch on the device.
struct DeviceBatch {
    pixels: Tensor<4>,
    /// All texts, sorted by length into groups.
    texts: Vec<DeviceTokens>,
    /// Where each text lies in the groups.
    position: Tensor<1, Int>,
    /// 0, or [`NOT_A_NEGATIVE`] where a caption fits another scene too.
    not_negative: Tensor<2>,
    /// +1 where a text fits a scene, else −1.
    sign: Tensor<2>,
    /// Weight of each pair in the logistic loss; sums to one.
    weight: Tensor<2>,
}

impl DeviceBatch {
    fn new(batch: &Batch, side: usize, noise: f64, device: &Device) -> Self {
        let n = batch.scenes.len();
        let n_texts = batch.truth.len() / n;
        let table = |values: Vec<f32>, rows: usize| {
            Tensor::from_data(TensorData::new(values, [rows, n]), device)
        };
        let pixels = Tensor::from_data(
            TensorData::new(batch.pixels.clone(), [n, 3, side, side]),
            device,
        );
        let noise = Tensor::random(pixels.dims(), Distribution::Normal(0.0, noise), device);
        Self {
            pixels: pixels + noise,
            texts: batch
                .texts
                .groups
                .iter()
                .map(|group| DeviceTokens::new(group, device))
                .collect(),
            position: Tensor::from_data(
                TensorData::new(batch.texts.position.clone(), [n_texts]),
                device,
            ),
            not_negative: table(not_negative(&batch.truth, n), n),
            sign: table(
                batch
                    .truth
                    .iter()
                    .map(|&fits| if fits { 1.0 } else { -1.0 })
                    .collect(),
                n_texts,
            ),
            weight: table(balanced_weights(&batch.truth, n), n_texts),
        }
    }
}

fn not_negative(truth: &[bool], n: usize) -> Vec<f32> {
    let masked = |i: usize| truth[i] && i / n != i % n;
    (0..n * n)
        .map(|i| if masked(i) { NOT_A_NEGATIVE } else { 0.0 })
        .collect()
}

/// Half of a text's weight on the scenes that it fits, half on the others; texts that fit all or none weigh nothing.
fn balanced_weights(truth: &[bool], n: usize) -> Vec<f32> {
    let informative = truth
        .chunks_exact(n)
        .filter(|row| row.contains(&true) && row.contains(&false))
        .count()
        .max(1);
    let mut weights = Vec::with_capacity(truth.len());
    for row in truth.chunks_exact(n) {
        let n_true = row.iter().filter(|&&fits| fits).count();
        let share = |n_same: usize| {
            if n_true == 0 || n_true == n {
                0.0
            } else {
                0.5 / (n_same * informative) as f32
            }
        };
        weights.extend(
            row.iter()
                .map(|&fits| share(if fits { n_true } else { n - n_true })),
        );
    }
    weights
}

/// Where a training run keeps its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    step: usize,
}

/// The encoder of a run that has taken all its steps, without autodiff.
///
/// # Errors
///
/// The folder's files cannot be read.
pub fn finished(
    config: &ClipConfig,
    recipe: &ClipRecipe,
    folder: &Path,
    device: &Device,
) -> Result<Option<Clip>> {
    match position(folder)? {
        Some(position) if position.step >= recipe.steps => {
            let record = ModuleRecord::load(folder.join("encoder.bpk"))?;
            Ok(Some(Learner::new(config, device).load_record(record).clip))
        }
        _ => Ok(None),
    }
}

/// How far the run in a folder has come, if one was begun.
fn position(folder: &Path) -> Result<Option<Position>> {
    files::find_json(&folder.join("encoder.json"))
}

/// Trains, or goes on where a run in this folder stopped. Returns the encoder without autodiff.
///
/// # Errors
///
/// The folder cannot be read or written, or the run was interrupted (its state is saved).
pub fn train(
    config: &ClipConfig,
    recipe: &ClipRecipe,
    pool: Pool,
    tokenizer: &TextPreprocess,
    folder: &Path,
    device: &Device,
) -> Result<Clip> {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let (mut learner, mut optimizer, start) = resume(config, recipe, folder, &autodiff)?;
    let interrupt = Interrupt::install();
    std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(2);
        let pool = &pool;
        scope.spawn(move || {
            for step in start..recipe.steps {
                if sender
                    .send(draw_batch(pool, recipe, tokenizer, step))
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut run = Run {
            side: config.vision_cfg.image_size,
            device: &autodiff,
            recipe,
            folder,
            meter: Meter::new("encoder", start, recipe.steps),
            interrupt,
        };
        run.steps(start, &mut learner, &mut optimizer, &batches)
    })?;
    Ok(learner.clip.valid())
}

/// The batch of a step depends on the seed and the step alone, so a resumed run sees the same data.
fn draw_batch(
    pool: &Pool,
    recipe: &ClipRecipe,
    tokenizer: &TextPreprocess,
    step: usize,
) -> crate::error::Result<Batch> {
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.seed);
    rng.set_stream(1 + step as u64);
    let mix = CaptionMix {
        unknown: recipe.unknown_words,
        full: recipe.full_captions,
    };
    Batch::draw(pool, recipe.batch, recipe.probes, mix, tokenizer, &mut rng)
}

struct Run<'a> {
    /// Side of the pictures.
    side: usize,
    device: &'a Device,
    recipe: &'a ClipRecipe,
    folder: &'a Path,
    meter: Meter,
    interrupt: Interrupt,
}

impl Run<'_> {
    fn steps(
        &mut self,
        start: usize,
        learner: &mut Learner,
        optimizer: &mut ModuleOptimizer,
        batches: &Receiver<crate::error::Result<Batch>>,
    ) -> Result<()> {
        let mut saved = Instant::now();
        for step in start..self.recipe.steps {
            let batch = batches.recv().context("the batch generator stopped")??;
            let batch = DeviceBatch::new(&batch, self.side, self.recipe.pixel_noise, self.device);
            let (contrastive, logistic) = learner.losses(&batch);
            let loss = contrastive.clone() + logistic.clone() * self.recipe.probe_weight;
            let gradients = GradientsParams::from_grads(loss.backward(), learner);
            *learner = optimizer.step(
                self.recipe.learning_rate_at(step),
                learner.clone(),
                gradients,
            );
            if step.is_multiple_of(STEPS_PER_READING) {
                let losses = [
                    contrastive.into_scalar::<f32>(),
                    logistic.into_scalar::<f32>(),
                ];
                self.meter.update(
                    step + 1,
                    &[("contrastive", losses[0]), ("logistic", losses[1])],
                );
            }
            let last = step + 1 == self.recipe.steps;
            if last || self.interrupt.is_set() || saved.elapsed().as_secs() > 120 {
                save(learner, optimizer, Position { step: step + 1 }, self.folder)?;
                saved = Instant::now();
            }
            anyhow::ensure!(
                last || !self.interrupt.is_set(),
                "interrupted after step {}; the same command goes on from there",
                step + 1
            );
        }
        self.meter.finish();
        Ok(())
    }
}

fn optimizer_of(recipe: &ClipRecipe) -> ModuleOptimizer {
    AdamWConfig::new()
        .with_beta_2(0.98)
        .with_epsilon(1e-8)
        .with_weight_decay(recipe.weight_decay)
        .with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)))
        .init()
}

fn save(
    learner: &Learner,
    optimizer: &ModuleOptimizer,
    position: Position,
    folder: &Path,
) -> Result<()> {
    learner
        .clone()
        .into_record()
        .save(folder.join("encoder.new"))
        .context("saving the encoder")?;
    optimizer
        .save(folder.join("encoder-optimizer.new"))
        .context("saving the optimiser")?;
    std::fs::rename(folder.join("encoder.new"), folder.join("encoder.bpk"))?;
    std::fs::rename(
        folder.join("encoder-optimizer.new"),
        folder.join("encoder-optimizer.bpk"),
    )?;
    files::put(&folder.join("encoder.json"), serde_json::to_vec(&position)?)
}

fn resume(
    config: &ClipConfig,
    recipe: &ClipRecipe,
    folder: &Path,
    device: &Device,
) -> Result<(Learner, ModuleOptimizer, usize)> {
    let (learner, optimizer) = (Learner::new(config, device), optimizer_of(recipe));
    let Some(position) = position(folder)? else {
        return Ok((learner, optimizer, 0));
    };
    let learner = learner.load_record(ModuleRecord::load(folder.join("encoder.bpk"))?);
    let optimizer = optimizer.load(folder.join("encoder-optimizer.bpk"))?;
    Ok((learner, optimizer, position.step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;

    /// Room for rounding of sums of a few `f32`.
    const TOLERANCE: f64 = 1e-6;

    fn recipe() -> ClipRecipe {
        ClipRecipe {
            pool: 10,
            batch: 4,
            probes: 2,
            steps: 110,
            learning_rate: 1e-3,
            warmup: 10,
            weight_decay: 0.05,
            probe_weight: 4.0,
            full_captions: 0.5,
            pixel_noise: 0.05,
            unknown_words: 0.3,
            seed: 0,
        }
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64, what: &str) {
        assert!(
            (found - expected).abs() < TOLERANCE,
            "{what}: {found}, expected {expected}"
        );
    }

    #[test]
    fn the_learning_rate_climbs_to_its_greatest_value_and_falls_to_zero() {
        let rate = |step| recipe().learning_rate_at(step) / 1e-3;
        assert_near(rate(0), 0.1, "the first step");
        assert_near(rate(9), 1.0, "the last step of the warm-up");
        assert_near(rate(10), 1.0, "the first step of the cosine");
        assert_near(rate(60), 0.5, "half of the cosine");
        assert_near(rate(110), 0.0, "after the last step");
    }

    #[test]
    fn a_run_without_warm_up_starts_at_the_greatest_learning_rate() {
        let recipe = ClipRecipe {
            warmup: 0,
            ..recipe()
        };
        assert_near(recipe.learning_rate_at(0) / 1e-3, 1.0, "the first step");
    }

    #[test]
    fn the_weights_of_the_logistic_loss_sum_to_one_and_balance_each_text() {
        let truth = [
            [true, false, false, false],
            [true, true, true, false],
            [true, true, true, true],
            [false, false, false, false],
        ];
        let weights = balanced_weights(truth.as_flattened(), 4);
        let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        assert_near(sum, 1.0, "sum of the weights");
        for (row, fits) in weights.chunks_exact(4).zip(truth).take(2) {
            let of = |value: bool| -> f64 {
                let chosen = row.iter().zip(fits).filter(|pair| pair.1 == value);
                chosen.map(|pair| f64::from(*pair.0)).sum()
            };
            assert_near(of(true), 0.25, "scenes that fit one of two texts");
            assert_near(of(false), 0.25, "scenes that do not");
        }
        assert_eq!(
            weights[8..],
            [0.0; 8],
            "texts that fit all scenes or none tell nothing"
        );
    }

    #[test]
    fn texts_that_tell_nothing_have_no_weight_even_alone() {
        assert_eq!(
            balanced_weights(&[true, true], 2),
            [0.0, 0.0],
            "not a division by zero"
        );
    }

    #[test]
    fn other_scenes_that_a_caption_fits_are_no_negatives() {
        // Two captions and one probe, which the mask leaves out.
        let truth = [true, true, false, true, true, true];
        assert_eq!(
            not_negative(&truth, 2),
            [0.0, NOT_A_NEGATIVE, 0.0, 0.0],
            "caption 0 fits scene 1 too; the diagonal stays"
        );
    }

    #[test]
    fn the_contrastive_loss_of_equal_logits_is_the_logarithm_of_the_batch() {
        let logits = Tensor::<2>::zeros([4, 4], &device::cpu());
        let loss = contrastive_loss(logits).into_scalar::<f32>();
        assert_near(f64::from(loss), 4f64.ln(), "four pairs");
    }

    #[test]
    fn a_masked_pair_does_not_count_in_the_contrastive_loss() {
        let truth = [true, true, false, true];
        let mask = TensorData::new(not_negative(&truth, 2), [2, 2]);
        let logits = Tensor::<2>::from_data(mask, &device::cpu());
        let loss = contrastive_loss(logits).into_scalar::<f32>();
        // Row 0 and column 1 have no negative left and lose nothing; row 1 and column 0 lose ln 2 each.
        assert_near(f64::from(loss), 2f64.ln() / 2.0, "half of ln 2");
    }
}
