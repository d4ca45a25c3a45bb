//! Heads of two locked towers, trained by `InfoNCE` on features that the towers gave once.
//!
//! Six thousand pictures are few, and heads memorise them within a hundred steps. Against that stand dropout of the
//! input, augmented pictures, captions of a picture mixed in any shares, targets that let pictures with like captions
//! match a little, and a moving average of the weights. What is kept is the average that retrieves best on pictures
//! that no step has seen.

use anyhow::{Context as _, Result, ensure};
use burn::module::{Module, Param};
use burn::nn::{Dropout, DropoutConfig};
use burn::optim::GradientsParams;
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::heads::{CaptionedPictures, Heads, Retrieval, captions_of};
use super::moving_average::MovingAverage;
use super::statistics::statistics;
use crate::model::adapter::soft_info_nce;
use crate::model::clip::normalize;
use crate::model::encoder::{Head, NamedHead, TowersConfig};
use crate::model::parameters::Parameters as _;
use crate::train::features::rows::Rows;
use crate::train::optimize::{Loss, Objective, Optimizer, Trainer, warm_cosine};

/// Greatest factor on the cosines, as in CLIP.
const MAX_LOGIT_SCALE: f64 = 100.0;

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

/// Heads after training, and their recall.
#[derive(Debug)]
pub struct TrainedHeads {
    /// Heads of both towers, a moving average over the steps.
    pub heads: Heads,
    /// The step after which they were kept.
    pub step: usize,
    /// Recall of these heads on unseen pictures.
    pub retrieval: Retrieval,
}

/// Both heads and the logit scale, which are trained together, with dropouts of inputs and hidden layers.
#[derive(Module, Debug)]
struct HeadLearner {
    text: Head,
    image: Head,
    /// Logarithm of the factor on the cosines, `[1]`.
    log_logit_scale: Param<Tensor<1>>,
    dropout: [Dropout; 3],
}

/// Trains heads on `train` and keeps the average that retrieves best on `unseen`.
///
/// # Errors
///
/// No pictures, no step that was asked for, a training that diverged or was interrupted, or a device that fails.
pub fn train_heads(
    towers: &TowersConfig,
    recipe: &HeadRecipe,
    train: &CaptionedPictures,
    unseen: &CaptionedPictures,
    device: &Device,
) -> Result<TrainedHeads> {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let learner = HeadLearner::new(towers, recipe, train, &autodiff)?;
    let mut training = HeadTraining {
        batches: HeadBatches::new(recipe, train, &autodiff)?,
        towers,
        unseen,
        device,
        average: MovingAverage::new(recipe.average_decay),
        best: None,
    };
    let trainer = Trainer::new(learner, recipe.optimizer.init(), &mut training);
    trainer.run("heads", recipe.steps, None)?;
    training.best.context("no step was asked for")
}

/// A training of heads: its batches, the average of the heads after each step, and the best average so far.
struct HeadTraining<'a> {
    batches: HeadBatches<'a>,
    towers: &'a TowersConfig,
    unseen: &'a CaptionedPictures,
    device: &'a Device,
    average: MovingAverage,
    best: Option<TrainedHeads>,
}

impl HeadTraining<'_> {
    /// Measures the average after a number of steps, and keeps it if it is the best.
    fn measure(&mut self, step: usize) -> Result<()> {
        let mut heads = Heads::new(self.towers, self.device);
        heads.load(self.average.records())?;
        let retrieval = heads.retrieval(self.unseen, self.device)?;
        let best = self.best.as_ref().map(|best| best.retrieval.score());
        if best.is_none_or(|best| retrieval.score() > best) {
            self.best = Some(TrainedHeads {
                heads,
                step,
                retrieval,
            });
        }
        Ok(())
    }
}

impl Objective<HeadLearner> for HeadTraining<'_> {
    fn loss(&mut self, learner: &HeadLearner, step: usize) -> Result<(Loss, GradientsParams)> {
        self.batches.loss(learner, step)
    }

    fn learning_rate(&self, step: usize) -> f64 {
        let recipe = self.batches.recipe;
        let greatest = recipe.optimizer.learning_rate();
        warm_cosine(greatest, step, recipe.warmup, recipe.steps)
    }

    fn observe(&mut self, learner: &HeadLearner, n_steps: usize) -> Result<()> {
        if n_steps == 0 {
            return Ok(());
        }
        self.average.update(&learner.heads(self.towers))?;
        let recipe = self.batches.recipe;
        if n_steps.is_multiple_of(recipe.measure_every) || n_steps == recipe.steps {
            self.measure(n_steps)?;
        }
        Ok(())
    }
}

impl HeadLearner {
    fn new(
        towers: &TowersConfig,
        recipe: &HeadRecipe,
        train: &CaptionedPictures,
        device: &Device,
    ) -> Result<Self> {
        let mut text = towers.init_text_head(device).head;
        let mut image = towers.init_image_head(device).head;
        let cpu = device.clone().inner();
        for (head, config, rows) in [
            (&mut text, towers.text_head, &train.captions),
            (&mut image, towers.image_head, &train.images),
        ] {
            let seen = Rows::from_device(config.input.apply(rows.to_device(&cpu)))?;
            let (mean, deviation) = statistics(&seen);
            head.standardise(mean, deviation);
        }
        // ln(1/0.07), as in CLIP.
        let log_logit_scale = Tensor::from_floats([2.659_26], device);
        let [of_text, of_image] = recipe.input_dropout;
        Ok(Self {
            text,
            image,
            log_logit_scale: Param::from_tensor(log_logit_scale),
            dropout: [of_text, of_image, recipe.hidden_dropout]
                .map(|share| DropoutConfig::new(share).init()),
        })
    }

    /// The heads as they are, without autodiff.
    fn heads(&self, towers: &TowersConfig) -> Heads {
        let learner = self.valid();
        let named = |head, like: NamedHead| NamedHead {
            head,
            name: like.name,
        };
        let device = learner.log_logit_scale.lazy_device();
        Heads {
            text: named(learner.text, towers.init_text_head(&device)),
            image: named(learner.image, towers.init_image_head(&device)),
        }
    }

    /// Contrastive loss of a batch of pairs, whose targets say which captions fit which pictures.
    ///
    /// # Shapes
    ///
    /// - `images`, `captions`: `[batch, width]` of their tower; row for row a pair
    /// - `targets`: `[batch, batch]`
    /// - output: `[1]`
    fn loss(&self, images: Tensor<2>, captions: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
        let [of_text, of_image, of_hidden] = &self.dropout;
        let of = |head: &Head, features, dropout: &Dropout| {
            let embeddings = head.forward_with(
                features,
                |input| dropout.forward(input),
                |hidden| of_hidden.forward(hidden),
            );
            normalize(embeddings)
        };
        let texts = of(&self.text, captions, of_text);
        let cosines = of(&self.image, images, of_image).matmul(texts.transpose());
        let scale = self.log_logit_scale.val().exp().clamp_max(MAX_LOGIT_SCALE);
        soft_info_nce(cosines * scale.unsqueeze::<2>(), targets)
    }
}

/// Batches of pictures, each seen in one way and with a mixture of its captions.
struct HeadBatches<'a> {
    recipe: &'a HeadRecipe,
    train: &'a CaptionedPictures,
    captions_of: Vec<Vec<usize>>,
    /// Mean direction of each picture's captions, `[n_pictures, text width]`.
    meanings: Tensor<2>,
    device: Device,
}

impl<'a> HeadBatches<'a> {
    fn new(recipe: &'a HeadRecipe, train: &'a CaptionedPictures, device: &Device) -> Result<Self> {
        let captions_of = captions_of(train);
        ensure!(!captions_of.is_empty(), "no pictures to train on");
        let cpu = device.clone().inner();
        let unit = Rows::from_device(normalize(train.captions.to_device(&cpu)))?;
        let means = captions_of.iter().map(|captions| {
            let share = 1.0 / captions.len() as f32;
            mixture(&unit, captions.iter().map(|caption| (*caption, share)))
        });
        let means = Rows {
            values: means.flatten().collect(),
            width: unit.width,
        };
        Ok(Self {
            recipe,
            train,
            captions_of,
            meanings: normalize(means.to_device(&cpu)),
            device: device.clone(),
        })
    }

    /// The pictures of a step. Each picture is drawn once in an epoch.
    fn pictures(&self, step: usize) -> Vec<usize> {
        let n = self.captions_of.len();
        let batch = self.recipe.batch.min(n);
        let per_epoch = n / batch;
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream((step / per_epoch) as u64);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng);
        order[step % per_epoch * batch..][..batch].to_vec()
    }

    /// One-hot targets, a share of which goes to pictures with like captions, `[batch, batch]`.
    fn targets(&self, pictures: &[usize]) -> Tensor<2> {
        let rows = pictures.iter().map(|picture| *picture as i64).collect();
        let rows = TensorData::new::<i64, _>(rows, [pictures.len()]);
        let device = self.device.clone().inner();
        let meanings = self
            .meanings
            .clone()
            .select(0, Tensor::from_data(rows, &device));
        let cosines = meanings.clone().matmul(meanings.transpose());
        let soft = softmax(cosines / self.recipe.target_temperature, 1) * self.recipe.softness;
        let targets = Tensor::eye(pictures.len(), &device) * (1.0 - self.recipe.softness) + soft;
        targets.autodiff()
    }

    fn loss(&self, learner: &HeadLearner, step: usize) -> Result<(Loss, GradientsParams)> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream(u64::MAX - step as u64);
        let pictures = self.pictures(step);
        let (mut images, mut captions) = (Vec::new(), Vec::new());
        for picture in &pictures {
            let view = rng.random_range(0..=self.train.augmented.len());
            let seen = match view.checked_sub(1) {
                None => &self.train.images,
                Some(view) => &self.train.augmented[view],
            };
            images.extend_from_slice(seen.row(*picture));
            let of_one = &self.captions_of[*picture];
            let shares = random_shares(of_one.len(), &mut rng);
            let shares = of_one.iter().copied().zip(shares);
            captions.extend(mixture(&self.train.captions, shares));
        }
        let rows = |values, width| {
            let data = TensorData::new::<f32, _>(values, [pictures.len(), width]);
            Tensor::<2>::from_data(data, &self.device)
        };
        let total = learner.loss(
            rows(images, self.train.images.width),
            rows(captions, self.train.captions.width),
            self.targets(&pictures),
        );
        let shown = vec![("loss", total.clone())];
        Ok(Loss { total, shown }.with_gradients(learner))
    }
}

/// Positive shares that sum to one, every way to divide as likely as any other.
fn random_shares(n: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let drawn: Vec<f32> = (0..n)
        .map(|_| -rng.random_range(f32::MIN_POSITIVE..1.0).ln())
        .collect();
    let sum: f32 = drawn.iter().sum();
    drawn.into_iter().map(|share| share / sum).collect()
}

/// Sum of rows, each times its share.
fn mixture(rows: &Rows, shares: impl Iterator<Item = (usize, f32)>) -> Vec<f32> {
    let mut mixed = vec![0.0; rows.width];
    for (row, share) in shares {
        for (sum, value) in mixed.iter_mut().zip(rows.row(row)) {
            *sum += share * value;
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_positive_and_sum_to_one() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for n in 1..6 {
            let shares = random_shares(n, &mut rng);
            let sum: f32 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{shares:?}");
            assert!(shares.iter().all(|share| *share > 0.0), "{shares:?}");
        }
    }

    #[test]
    fn a_mixture_is_a_sum_of_rows() {
        let rows = Rows {
            values: vec![1.0, 2.0, 3.0, 6.0],
            width: 2,
        };
        let mixed = mixture(&rows, [(0, 0.5), (1, 0.5)].into_iter());
        assert_eq!(mixed, [2.0, 4.0], "half of each");
    }
}
