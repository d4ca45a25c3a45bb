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
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::batch::{Batch, BatchMix, Pool};
use crate::model::adapter::{info_nce, scaled, shifted};
use crate::model::clip::{Clip, ClipConfig, normalize};
use crate::preprocess::text::TextPreprocess;
use crate::train::optimize::{BatchPart, Checkpoint, Loss, Objective, Trainer, cosine, each};

/// Pictures that are read at once: few enough that what is between two products stays near a core.
const IMAGES_PER_PART: usize = 48;
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
        let clip = config.init(device);
        draw_weights(&clip, config, device);
        Self {
            clip,
            log_probe_scale: scalar(10f32.ln()),
            probe_bias: scalar(-3.0),
        }
    }

    /// Contrastive and logistic loss of a batch's features, `[n_images, embed_dim]` and `[n_texts, embed_dim]`.
    fn losses(
        &self,
        images: Tensor<2>,
        texts: Tensor<2>,
        batch: &DeviceBatch,
    ) -> (Tensor<1>, Tensor<1>) {
        let cosines = normalize(texts).matmul(normalize(images).transpose()); // [n_texts, n_images]
        let [_, n_images] = cosines.dims();
        let log_scale = self
            .clip
            .log_logit_scale
            .val()
            .clamp_max(MAX_LOG_LOGIT_SCALE);
        let logits = scaled(cosines.clone().slice(0..n_images), log_scale.exp());
        let logits = logits + batch.not_negative.clone();
        let probe_logits = scaled(cosines, self.log_probe_scale.val().exp());
        let probe_logits = shifted(probe_logits, self.probe_bias.val());
        (info_nce(logits), logistic_loss(probe_logits, batch))
    }

    /// Losses of a batch and their gradients, with the towers' features in parts.
    fn loss(
        &self,
        mut batch: DeviceBatch,
        probe_weight: f64,
        device: &Device,
    ) -> (Loss, GradientsParams) {
        let n_image_parts = batch.images.len();
        let mut inputs = std::mem::take(&mut batch.images);
        inputs.append(&mut batch.texts);
        let parts = each(inputs, device, |input| input.forward(&self.clip, device));
        let leaves: Vec<Tensor<2>> = parts.iter().map(BatchPart::leaf).collect();
        let (images, texts) = leaves.split_at(n_image_parts);
        let images = Tensor::cat(images.to_vec(), 0);
        let texts = Tensor::cat(texts.to_vec(), 0).select(0, batch.position.clone());
        let (contrastive, logistic) = self.losses(images, texts, &batch);
        let total = contrastive.clone() + logistic.clone() * probe_weight;
        let shown = vec![("contrastive", contrastive), ("logistic", logistic)];
        Loss { total, shown }.with_gradients_in_parts(self, parts, device)
    }
}

/// Has all weights drawn, one tower after the other: a parameter draws its first value when it is first used, and which
/// part of a batch comes first to use it is chance.
fn draw_weights(clip: &Clip, config: &ClipConfig, device: &Device) {
    let side = config.vision_cfg.image_size;
    clip.vision
        .forward(Tensor::zeros([1, 3, side, side], device));
    clip.text.forward(Tensor::zeros([1, 1], device), &[0]);
}

/// Mean over texts of the logistic loss, positives and negatives of a text weighing the same.
fn logistic_loss(logits: Tensor<2>, batch: &DeviceBatch) -> Tensor<1> {
    let signed = logits * batch.sign.clone();
    let softplus = signed.clone().neg().clamp_min(0.0) + (signed.abs().neg().exp() + 1.0).log();
    (softplus * batch.weight.clone()).sum()
}

/// What one part of a batch is made of.
enum PartInput {
    /// Normalised pixels, `[n_images, 3, side, side]`.
    Images(Tensor<4>),
    /// Token ids, `[n_texts, n_tokens]`, and the end position of each text.
    Texts(Tensor<2, Int>, Vec<usize>),
}

impl PartInput {
    /// Features `[n, embed_dim]` by a copy of the tower.
    fn forward(self, clip: &Clip, device: &Device) -> BatchPart {
        match self {
            Self::Images(pixels) => {
                BatchPart::new(&clip.vision, device, |vision| vision.forward(pixels))
            }
            Self::Texts(ids, ends) => {
                BatchPart::new(&clip.text, device, |text| text.forward(ids, &ends))
            }
        }
    }
}

/// A batch on the device.
struct DeviceBatch {
    /// All pictures, in parts.
    images: Vec<PartInput>,
    /// All texts, sorted by length into groups.
    texts: Vec<PartInput>,
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
        let n_values = 3 * side * side;
        let images = batch.pixels.chunks(IMAGES_PER_PART * n_values);
        let images = images.map(|pixels| {
            let n_images = pixels.len() / n_values;
            let pixels = TensorData::new(pixels.to_vec(), [n_images, 3, side, side]);
            PartInput::Images(Tensor::from_data(pixels, device))
        });
        let groups = batch
            .texts
            .groups
            .iter()
            .map(|group| PartInput::Texts(group.ids_on(device), group.ends.clone()));
        let position = TensorData::new(batch.texts.position.clone(), [n_texts]);
        let sign = batch
            .truth
            .iter()
            .map(|&fits| if fits { 1.0 } else { -1.0 });
        Self {
            images: images.collect(),
            texts: groups.collect(),
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
    fn loss(&mut self, learner: &ClipLearner, _step: usize) -> Result<(Loss, GradientsParams)> {
        let batch = self.batches.recv();
        let batch = batch.context("the batch generator stopped")??;
        let batch = DeviceBatch::new(&batch, self.side, self.recipe.mask_fitting, self.device);
        Ok(learner.loss(batch, self.recipe.probe_weight, self.device))
    }

    fn learning_rate(&self, step: usize) -> f64 {
        self.recipe.learning_rate_at(step)
    }
}

#[cfg(test)]
mod tests {
    use burn::module::ModuleVisitor;

    use super::*;
    use crate::device;
    use crate::preprocess::ImagePreprocess;
    use crate::scenes::Compositions;
    use crate::train::scenes_model::recipe::{Preset, ScenesRecipe, tokenizer_json};

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

    /// Greatest differences between the gradients of a module's parameters, beside the greatest of each.
    struct Differences<'a> {
        found: &'a GradientsParams,
        expected: &'a GradientsParams,
        relative: Vec<f32>,
    }

    impl ModuleVisitor for Differences<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let of = |gradients: &GradientsParams| gradients.get::<D>(param.id);
            let both = (of(self.found), of(self.expected));
            let (Some(found), Some(expected)) = both else {
                panic!("a parameter without a gradient: {both:?}");
            };
            let greatest = expected.clone().abs().max().into_scalar::<f32>();
            let difference = (found - expected).abs().max().into_scalar::<f32>();
            self.relative.push(difference / greatest.max(1e-6));
        }
    }

    #[test]
    fn gradients_in_parts_are_those_of_the_whole_batch() {
        let (device, side) = (device::cpu().autodiff(), 24);
        let mut scenes = ScenesRecipe::new(Preset::Small, 0);
        (scenes.clip.batch, scenes.clip.probes) = (IMAGES_PER_PART + 8, 9);
        let (recipe, mut model) = (scenes.clip, scenes.model);
        model.vision_cfg.image_size = side;
        (
            model.vision_cfg.patch_size,
            model.vision_cfg.layers,
            model.text_cfg.layers,
        ) = (8, 2, 2);
        let tokenizer = tokenizer_json();
        let context = model.text_cfg.context_length;
        let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer.as_bytes(), context);
        let data = TrainingData {
            pool: Pool::draw(64, Compositions::Seen, 0, &ImagePreprocess::clip(side)),
            tokenizer: &tokenizer.expect("the world's own tokenizer"),
        };
        let batch = data.batch(&recipe, 3).expect("a batch");
        device.seed(1);
        let learner = ClipLearner::new(&model, &device);

        let in_parts = DeviceBatch::new(&batch, side, true, &device);
        assert_eq!(in_parts.images.len(), 2, "a whole part and a rest");
        let (found_loss, found) = learner.loss(in_parts, recipe.probe_weight, &device);

        let n_images = batch.scenes.len();
        let pixels = TensorData::new(batch.pixels.clone(), [n_images, 3, side, side]);
        let images = learner
            .clip
            .vision
            .forward(Tensor::from_data(pixels, &device));
        let groups = batch.texts.groups.iter();
        let groups = groups.map(|group| {
            let ids = group.ids_on(&device);
            learner.clip.text.forward(ids, &group.ends)
        });
        let whole = DeviceBatch::new(&batch, side, true, &device);
        let texts = Tensor::cat(groups.collect(), 0).select(0, whole.position.clone());
        let (contrastive, logistic) = learner.losses(images, texts, &whole);
        let total = contrastive + logistic * recipe.probe_weight;
        let shown = Vec::new();
        let (expected_loss, expected) = Loss { total, shown }.with_gradients(&learner);

        let [found_loss, expected_loss] =
            [found_loss, expected_loss].map(|loss| f64::from(loss.total.into_scalar::<f32>()));
        assert!(
            (found_loss - expected_loss).abs() < 1e-5,
            "{found_loss}, {expected_loss}"
        );
        let mut differences = Differences {
            found: &found,
            expected: &expected,
            relative: Vec::new(),
        };
        learner.visit(&mut differences);
        let greatest = differences.relative.iter().copied().fold(0.0, f32::max);
        assert!(differences.relative.len() > 60, "of every parameter");
        assert!(greatest < 1e-3, "they differ by {greatest} of the greatest");
    }
}
