//! Heads of two locked towers, trained by `InfoNCE` on features that the towers gave once.
//!
//! Six thousand pictures are few: without dropout of the input, heads memorise them within a hundred steps. What is
//! kept is the state that retrieves best on pictures that no step has seen.

use anyhow::{Context as _, Result, ensure};
use burn::module::{Module, Param};
use burn::nn::{Dropout, DropoutConfig};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use crate::metrics::retrieval::{Hit, recalls};
use crate::model::adapter::info_nce;
use crate::model::clip::normalize;
use crate::model::encoder::{NamedHead, TowersConfig};

/// Greatest factor on the cosines, as in CLIP.
const MAX_LOGIT_SCALE: f64 = 100.0;

/// Added to a deviation, so that a feature that is always the same divides by no zero.
const MIN_DEVIATION: f64 = 1e-6;

/// Rows of features, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Values, row by row.
    pub values: Vec<f32>,
    /// Values in a row.
    pub width: usize,
}

/// Pictures and their captions as the towers see them.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionedPictures {
    /// A row for each picture.
    pub images: Features,
    /// A row for each caption.
    pub captions: Features,
    /// The picture of each caption, ascending; every picture has one.
    pub picture_of: Vec<usize>,
}

/// How heads are trained. The defaults were chosen by retrieval on Flickr8k's development pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadRecipe {
    /// Steps.
    pub steps: usize,
    /// Pictures in a step, each with one of its captions.
    pub batch: usize,
    /// Greatest learning rate.
    pub learning_rate: f64,
    /// Steps over which the learning rate climbs; it falls to zero by a cosine.
    pub warmup: usize,
    /// `AdamW`'s weight decay.
    pub weight_decay: f32,
    /// Share of the standardised features that are left out.
    pub input_dropout: f64,
    /// Share of the hidden layer that is left out.
    pub hidden_dropout: f64,
    /// Steps between two measurements on unseen pictures.
    pub measure_every: usize,
    /// Seed of weights, batches and dropout.
    pub seed: u64,
}

impl Default for HeadRecipe {
    fn default() -> Self {
        Self {
            steps: 300,
            batch: 1024,
            learning_rate: 1e-3,
            warmup: 20,
            weight_decay: 0.5,
            input_dropout: 0.4,
            hidden_dropout: 0.3,
            measure_every: 25,
            seed: 0,
        }
    }
}

/// Recall at 1, 5 and 10 on unseen pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Retrieval {
    /// Of captions for their picture.
    pub text_to_image: [f64; 3],
    /// Of pictures for any of their captions.
    pub image_to_text: [f64; 3],
}

impl Retrieval {
    /// What the best state is chosen by: the sum of both ways' recall at 1.
    fn score(&self) -> f64 {
        self.text_to_image[0] + self.image_to_text[0]
    }
}

/// Trained heads.
#[derive(Debug)]
pub struct TrainedHeads {
    /// The text tower's.
    pub text: NamedHead,
    /// The image tower's.
    pub image: NamedHead,
    /// The step after which they were kept.
    pub step: usize,
    /// How they retrieve on unseen pictures.
    pub retrieval: Retrieval,
}

#[derive(Module, Debug)]
struct Learner {
    text: crate::model::encoder::Head,
    image: crate::model::encoder::Head,
    /// Logarithm of the factor on the cosines, `[1]`.
    log_logit_scale: Param<Tensor<1>>,
    input_dropout: Dropout,
    hidden_dropout: Dropout,
}

/// Trains heads on `train` and keeps the state that retrieves best on `unseen`.
///
/// # Errors
///
/// Fewer pictures than a batch, or a device that fails.
pub fn train_heads(
    towers: &TowersConfig,
    recipe: &HeadRecipe,
    train: &CaptionedPictures,
    unseen: &CaptionedPictures,
    device: &Device,
) -> Result<TrainedHeads> {
    let captions_of = captions_of(train);
    ensure!(
        captions_of.len() >= recipe.batch,
        "{} pictures, fewer than a batch of {}",
        captions_of.len(),
        recipe.batch
    );
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let mut learner = Learner::new(towers, recipe, train, &autodiff);
    let mut optimizer: ModuleOptimizer = AdamWConfig::new()
        .with_weight_decay(recipe.weight_decay)
        .init();
    let mut best: Option<(Learner, usize, Retrieval)> = None;
    let mut order = Vec::new();
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.seed);
    for step in 0..recipe.steps {
        if order.len() < recipe.batch {
            order = (0..captions_of.len()).collect();
            order.shuffle(&mut rng);
        }
        let pictures = order.split_off(order.len() - recipe.batch);
        let captions: Vec<usize> = pictures
            .iter()
            .map(|picture| captions_of[*picture][rng.random_range(0..captions_of[*picture].len())])
            .collect();
        let loss = learner.loss(
            train.images.rows(&pictures, &autodiff),
            train.captions.rows(&captions, &autodiff),
        );
        let gradients = GradientsParams::from_grads(loss.backward(), &learner);
        learner = optimizer.step(recipe.learning_rate_at(step), learner, gradients);
        if (step + 1).is_multiple_of(recipe.measure_every) || step + 1 == recipe.steps {
            let state = learner.valid();
            let found = state.retrieval(unseen, device)?;
            if best
                .as_ref()
                .is_none_or(|(_, _, best)| found.score() > best.score())
            {
                best = Some((state, step + 1, found));
            }
        }
    }
    let (learner, step, retrieval) = best.context("no step was asked for")?;
    let (mut text, mut image) = (
        towers.init_text_head(device),
        towers.init_image_head(device),
    );
    (text.head, image.head) = (learner.text, learner.image);
    Ok(TrainedHeads {
        text,
        image,
        step,
        retrieval,
    })
}

impl HeadRecipe {
    fn learning_rate_at(&self, step: usize) -> f64 {
        let climb = (step + 1) as f64 / self.warmup.max(1) as f64;
        let angle = std::f64::consts::PI * step as f64 / self.steps as f64;
        self.learning_rate * climb.min(1.0) * 0.5 * (1.0 + angle.cos())
    }
}

impl Features {
    /// The rows with these indices, `[rows, width]`.
    fn rows(&self, indices: &[usize], device: &Device) -> Tensor<2> {
        let rows = indices.iter();
        let rows = rows.flat_map(|row| &self.values[row * self.width..(row + 1) * self.width]);
        let rows: Vec<f32> = rows.copied().collect();
        Tensor::from_data(TensorData::new(rows, [indices.len(), self.width]), device)
    }

    fn all(&self, device: &Device) -> Tensor<2> {
        let n_rows = self.values.len() / self.width;
        Tensor::from_data(
            TensorData::new(self.values.clone(), [n_rows, self.width]),
            device,
        )
    }

    /// Mean and standard deviation of each column.
    #[expect(clippy::cast_possible_truncation, reason = "features are used in f32")]
    fn statistics(&self) -> (Vec<f32>, Vec<f32>) {
        let n_rows = (self.values.len() / self.width) as f64;
        let column = |i_column: usize| {
            let values = self.values.iter().skip(i_column).step_by(self.width);
            values.map(|value| f64::from(*value))
        };
        let moments = (0..self.width).map(|i_column| {
            let mean = column(i_column).sum::<f64>() / n_rows;
            let squares = column(i_column).map(|value| (value - mean).powi(2));
            let deviation = (squares.sum::<f64>() / n_rows).sqrt();
            (mean as f32, (deviation + MIN_DEVIATION) as f32)
        });
        moments.unzip()
    }
}

/// The captions of each picture.
fn captions_of(pairs: &CaptionedPictures) -> Vec<Vec<usize>> {
    let n_pictures = pairs.images.values.len() / pairs.images.width;
    let mut captions = vec![Vec::new(); n_pictures];
    for (caption, picture) in pairs.picture_of.iter().enumerate() {
        captions[*picture].push(caption);
    }
    captions
}

impl Learner {
    fn new(
        towers: &TowersConfig,
        recipe: &HeadRecipe,
        train: &CaptionedPictures,
        device: &Device,
    ) -> Self {
        let mut text = towers.init_text_head(device).head;
        let mut image = towers.init_image_head(device).head;
        let (mean, deviation) = train.captions.statistics();
        text.standardise(mean, deviation);
        let (mean, deviation) = train.images.statistics();
        image.standardise(mean, deviation);
        // ln(1/0.07), as in CLIP.
        let log_logit_scale = Tensor::from_floats([2.659_26], device);
        Self {
            text,
            image,
            log_logit_scale: Param::from_tensor(log_logit_scale),
            input_dropout: DropoutConfig::new(recipe.input_dropout).init(),
            hidden_dropout: DropoutConfig::new(recipe.hidden_dropout).init(),
        }
    }

    /// # Shapes
    ///
    /// - `images`, `captions`: `[batch, width]` of their tower; row for row a pair
    /// - output: `[1]`
    fn loss(&self, images: Tensor<2>, captions: Tensor<2>) -> Tensor<1> {
        let of = |head: &crate::model::encoder::Head, features| {
            let embeddings = head.forward_with(
                features,
                |input| self.input_dropout.forward(input),
                |hidden| self.hidden_dropout.forward(hidden),
            );
            normalize(embeddings)
        };
        let cosines = of(&self.image, images).matmul(of(&self.text, captions).transpose());
        let scale = self.log_logit_scale.val().exp().clamp_max(MAX_LOGIT_SCALE);
        info_nce(cosines * scale.unsqueeze::<2>())
    }

    fn retrieval(&self, pairs: &CaptionedPictures, device: &Device) -> Result<Retrieval> {
        let images = normalize(self.image.forward(pairs.images.all(device)));
        let texts = normalize(self.text.forward(pairs.captions.all(device)));
        let read = |scores: Tensor<2>| scores.into_data().try_into_vec::<f32>();
        let by_text = read(texts.clone().matmul(images.clone().transpose()))?;
        let by_image = read(images.matmul(texts.transpose()))?;
        let captions = captions_of(pairs);
        let queries = by_text.chunks_exact(captions.len()).zip(&pairs.picture_of);
        let hits: Vec<Hit> = queries
            .map(|(scores, picture)| Hit::of(scores, [*picture]))
            .collect();
        let text_to_image = recalls(&hits);
        let queries = by_image.chunks_exact(pairs.picture_of.len()).zip(captions);
        let hits: Vec<Hit> = queries
            .map(|(scores, captions)| Hit::of(scores, captions))
            .collect();
        Ok(Retrieval {
            text_to_image,
            image_to_text: recalls(&hits),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_standardised_by_the_training_set() {
        let features = Features {
            values: vec![1.0, 5.0, 3.0, 5.0],
            width: 2,
        };
        let (mean, deviation) = features.statistics();
        assert_eq!(mean, [2.0, 5.0], "of each column");
        assert!((deviation[0] - 1.0).abs() < 1e-5, "{deviation:?}");
        assert!(deviation[1] > 0.0, "nothing is divided by zero");
    }
}
