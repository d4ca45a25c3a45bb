//! Trains the small CLIP of the scenes world from scratch.
//!
//! Two losses share the towers. The contrastive one is CLIP's, over captions of every level; a picture that another
//! caption of the batch truly fits is not counted as its negative, because we know the truth (a recipe may count it, as
//! CLIP does). The second asks of many short captions whether each fits each picture (a logistic loss on the cosine):
//! the encoder is asked for single attributes. What one without it sees stands in `public/evidence/scenes/notes.md`.

use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context as _, Result};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, Param};
use burn::optim::{AdamWConfig, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, BatchMix, Pool};
use crate::model::adapter::info_nce;
use crate::model::clip::{Clip, ClipConfig, normalize};
use crate::preprocess::text::TextPreprocess;
use crate::train::optimize::{Checkpoint, Loss, Objective, Trainer, cosine};

/// Score of a pair that must not count as a negative.
const NOT_A_NEGATIVE: f32 = -1e4;
/// Greatest logit scale, as CLIP clamps it.
const MAX_LOG_LOGIT_SCALE: f32 = 4.605_17;

/// Numbers that govern the training of the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipRecipe {
    /// Scenes rendered once and drawn from again and again, each time with new captions.
    pub pool: usize,
    /// Scenes in a batch.
    pub batch: usize,
    /// Short captions in a batch.
    pub probes: usize,
    /// Number of steps of the optimiser.
    pub steps: usize,
    /// Greatest learning rate, reached after the warm-up.
    pub learning_rate: f64,
    /// Steps of linear warm-up.
    pub warmup: usize,
    /// Coefficient of `AdamW`'s decoupled weight decay.
    pub weight_decay: f32,
    /// Weight of the logistic loss beside the contrastive one.
    pub probe_weight: f64,
    /// Whether a picture that another caption of the batch truly fits is left out of that caption's negatives.
    #[serde(default = "masks_fitting")]
    pub mask_fitting: bool,
    /// Share of captions that say everything.
    pub full_captions: f64,
    /// Standard deviation of the noise added to the normalised pixels.
    pub pixel_noise: f64,
    /// Share of unknown words in the captions that have any.
    pub unknown_words: f64,
    /// Seed of scenes, captions and weights.
    pub seed: u64,
}

/// What recipes did before they said so.
const fn masks_fitting() -> bool {
    true
}

impl ClipRecipe {
    /// The learning rate of a step: linear warm-up, then a cosine to zero.
    fn learning_rate_at(&self, step: usize) -> f64 {
        if step < self.warmup {
            return self.learning_rate * (step + 1) as f64 / self.warmup as f64;
        }
        let progress = (step - self.warmup) as f64 / (self.steps - self.warmup).max(1) as f64;
        cosine(self.learning_rate, 0.0, std::f64::consts::PI * progress)
    }

    fn optimizer(&self) -> ModuleOptimizer {
        AdamWConfig::new()
            .with_beta_2(0.98)
            .with_epsilon(1e-8)
            .with_weight_decay(self.weight_decay)
            .with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)))
            .init()
    }
}

/// The encoder and the scale and bias of the logistic loss, which only training needs.
#[derive(Module, Debug)]
pub struct ClipLearner {
    /// The encoder that is trained.
    pub clip: Clip,
    log_probe_scale: Param<Tensor<1>>,
    probe_bias: Param<Tensor<1>>,
}

impl ClipLearner {
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
        let groups = batch.texts.iter().cloned();
        let groups = groups.map(|(ids, ends)| self.clip.text.forward(ids, ends));
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
        (info_nce(logits), logistic_loss(probe_logits, batch))
    }
}

/// Mean over texts of the logistic loss, positives and negatives of a text weighing the same.
fn logistic_loss(logits: Tensor<2>, batch: &DeviceBatch) -> Tensor<1> {
    let signed = logits * batch.sign.clone();
    let softplus = signed.clone().neg().clamp_min(0.0) + (signed.abs().neg().exp() + 1.0).log();
    (softplus * batch.weight.clone()).sum()
}

/// A batch on the device.
struct DeviceBatch {
    pixels: Tensor<4>,
    /// All texts, sorted by length into groups.
    texts: Vec<(Tensor<2, Int>, Tensor<1, Int>)>,
    /// Index of each text in the groups.
    position: Tensor<1, Int>,
    /// 0, or [`NOT_A_NEGATIVE`] where a caption fits another scene too.
    not_negative: Tensor<2>,
    /// +1 where a text fits a scene, else −1.
    sign: Tensor<2>,
    /// Weight of each pair in the logistic loss; sums to one.
    weight: Tensor<2>,
}

impl DeviceBatch {
    fn new(batch: &Batch, side: usize, mask_fitting: bool, device: &Device) -> Self {
        let n = batch.scenes.len();
        let n_texts = batch.truth.len() / n;
        let table = |values: Vec<f32>, rows: usize| {
            Tensor::from_data(TensorData::new(values, [rows, n]), device)
        };
        let pixels = TensorData::new(batch.pixels.clone(), [n, 3, side, side]);
        let groups = batch.texts.groups.iter();
        let position = TensorData::new(batch.texts.position.clone(), [n_texts]);
        let sign = batch
            .truth
            .iter()
            .map(|&fits| if fits { 1.0 } else { -1.0 });
        Self {
            pixels: Tensor::from_data(pixels, device),
            texts: groups.map(|group| group.to_device(device)).collect(),
            position: Tensor::from_data(position, device),
            not_negative: table(not_negative(&batch.truth, n, mask_fitting), n),
            sign: table(sign.collect(), n_texts),
            weight: table(balanced_weights(&batch.truth, n), n_texts),
        }
    }
}

fn not_negative(truth: &[bool], n: usize, mask_fitting: bool) -> Vec<f32> {
    let masked = |i: usize| mask_fitting && truth[i] && i / n != i % n;
    let score = |i| if masked(i) { NOT_A_NEGATIVE } else { 0.0 };
    (0..n * n).map(score).collect()
}

/// Half of a text's weight on the scenes that it fits, half on the others; texts that fit all or none weigh nothing.
fn balanced_weights(truth: &[bool], n: usize) -> Vec<f32> {
    let is_informative = |row: &&[bool]| row.contains(&true) && row.contains(&false);
    let informative = truth.chunks_exact(n).filter(is_informative).count();
    let mut weights = Vec::with_capacity(truth.len());
    for row in truth.chunks_exact(n) {
        let n_true = row.iter().filter(|&&fits| fits).count();
        let weight = |&fits: &bool| match if fits { n_true } else { n - n_true } {
            n_same if n_same < n => 0.5 / (n_same * informative) as f32,
            _ => 0.0,
        };
        weights.extend(row.iter().map(weight));
    }
    weights
}

/// The encoder of a run that has taken all its steps, without autodiff.
///
/// # Errors
///
/// The checkpoint cannot be read, or is of another training.
pub fn finished(
    config: &ClipConfig,
    recipe: &ClipRecipe,
    checkpoint: &Checkpoint,
    device: &Device,
) -> Result<Option<Clip>> {
    if checkpoint.n_steps()? < recipe.steps {
        return Ok(None);
    }
    Ok(Some(
        checkpoint.module(ClipLearner::new(config, device))?.clip,
    ))
}

/// Scenes to draw batches from, and the tokenizer of their captions.
#[derive(Debug)]
pub struct TrainingData<'a> {
    /// Rendered scenes to draw batches from.
    pub pool: Pool,
    /// Words → token ids.
    pub tokenizer: &'a TextPreprocess,
}

/// Trains, or resumes from the checkpoint. Returns the encoder without autodiff.
///
/// # Errors
///
/// The checkpoint cannot be read or written, the training diverged, or it was interrupted (its state is saved).
pub fn train(
    config: &ClipConfig,
    recipe: &ClipRecipe,
    data: &TrainingData<'_>,
    checkpoint: &Checkpoint,
    device: &Device,
) -> Result<Clip> {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let learner = ClipLearner::new(config, &autodiff);
    let start = checkpoint.n_steps()?;
    let learner = std::thread::scope(|scope| {
        let (sender, batches) = sync_channel(2);
        scope.spawn(move || {
            let mut steps = start..recipe.steps;
            // The receiver is gone once the training has stopped.
            steps.all(|step| sender.send(data.batch(recipe, step)).is_ok());
        });
        let batches = DrawnBatches {
            batches,
            side: config.vision_cfg.image_size,
            device: &autodiff,
            recipe,
        };
        let trainer = Trainer::new(learner, recipe.optimizer(), batches);
        trainer.run("encoder", recipe.steps, Some(checkpoint))
    })?;
    Ok(learner.clip.valid())
}

impl TrainingData<'_> {
    /// The batch of a step depends on the seed and the step alone, so a resumed run sees the same data.
    fn batch(&self, recipe: &ClipRecipe, step: usize) -> crate::error::Result<Batch> {
        let mut rng = ChaCha8Rng::seed_from_u64(recipe.seed);
        rng.set_stream(1 + step as u64);
        let mix = BatchMix {
            unknown: recipe.unknown_words,
            full: recipe.full_captions,
            pixel_noise: recipe.pixel_noise,
        };
        let (pool, n, n_probes) = (&self.pool, recipe.batch, recipe.probes);
        Batch::draw(pool, n, n_probes, mix, self.tokenizer, &mut rng)
    }
}

/// The batches of the steps that are left, drawn on another thread while the device computes.
struct DrawnBatches<'a> {
    batches: Receiver<crate::error::Result<Batch>>,
    /// Side of the pictures in pixels.
    side: usize,
    device: &'a Device,
    recipe: &'a ClipRecipe,
}

impl Objective<ClipLearner> for DrawnBatches<'_> {
    fn loss(&mut self, learner: &ClipLearner, _step: usize) -> Result<Loss> {
        let batch = self.batches.recv();
        let batch = batch.context("the batch generator stopped")??;
        let batch = DeviceBatch::new(&batch, self.side, self.recipe.mask_fitting, self.device);
        let (contrastive, logistic) = learner.losses(&batch);
        Ok(Loss {
            total: contrastive.clone() + logistic.clone() * self.recipe.probe_weight,
            shown: vec![("contrastive", contrastive), ("logistic", logistic)],
        })
    }

    fn learning_rate(&self, step: usize) -> f64 {
        self.recipe.learning_rate_at(step)
    }
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
            mask_fitting: true,
            full_captions: 0.5,
            pixel_noise: 0.05,
            unknown_words: 0.3,
            seed: 0,
        }
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64, what: &str) {
        let error = (found - expected).abs();
        assert!(error < TOLERANCE, "{what}: {found}, expected {expected}");
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
        let warmup = 0;
        let rate = ClipRecipe { warmup, ..recipe() }.learning_rate_at(0);
        assert_near(rate / 1e-3, 1.0, "the first step");
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
        let of_no_use = "texts that fit all scenes or none tell nothing";
        assert_eq!(weights[8..], [0.0; 8], "{of_no_use}");
        let alone = balanced_weights(&[true, true], 2);
        assert_eq!(
            alone,
            [0.0, 0.0],
            "{of_no_use}, also where there are no others"
        );
    }

    #[test]
    fn other_scenes_that_a_caption_fits_are_no_negatives() {
        // Two captions and one probe, which the mask leaves out.
        let truth = [true, true, false, true, true, true];
        let expected = [0.0, NOT_A_NEGATIVE, 0.0, 0.0];
        let what = "caption 0 fits scene 1 too; the diagonal stays";
        assert_eq!(not_negative(&truth, 2, true), expected, "{what}");
        let plain = not_negative(&truth, 2, false);
        assert_eq!(plain, [0.0; 4], "as CLIP counts");
    }

    #[test]
    fn a_masked_pair_does_not_count_in_the_info_nce() {
        let truth = [true, true, false, true];
        let mask = TensorData::new(not_negative(&truth, 2, true), [2, 2]);
        let logits = Tensor::<2>::from_data(mask, &device::cpu());
        let loss = info_nce(logits).into_scalar::<f32>();
        // Row 0 and column 1 have no negative left and lose nothing; row 1 and column 0 lose ln 2 each.
        assert_near(f64::from(loss), 2f64.ln() / 2.0, "half of ln 2");
    }
}
