//! Heads of two locked towers, trained by `InfoNCE` on features that the towers gave once, and the image tower's last
//! stage, tuned with them.
//!
//! Six thousand pictures are few, and heads memorise them within a hundred steps. Against that stand dropout of the
//! input, augmented pictures, captions of a picture mixed in any shares, targets that let pictures with like captions
//! match a little, and a moving average of the weights. What is kept is the average that retrieves best on pictures
//! that no step has seen.

use anyhow::{Context as _, Result};
use burn::module::{Module, Param};
use burn::nn::{Dropout, DropoutConfig};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};

use super::head_batches::{HeadBatch, HeadBatches};
use super::head_recipe::HeadRecipe;
use super::heads::{CaptionedPictures, Heads, Retrieval};
use super::moving_average::MovingAverage;
use super::statistics::statistics;
use crate::model::adapter::{scaled, soft_info_nce};
use crate::model::clip::normalize;
use crate::model::efficientnet::LastStage;
use crate::model::encoder::{Head, NamedHead, TowersConfig};
use crate::model::parameters::Parameters as _;
use crate::train::export::bundle::records;
use crate::train::features::rows::Rows;
use crate::train::optimize::{Loss, Objective, Trainer, warm_cosine};

/// ln(1/0.07), as in CLIP.
const INITIAL_LOG_LOGIT_SCALE: f32 = 2.659_26;
/// Added to the features of a last stage that is tuned: the head takes their square roots, whose slope is infinite
/// where a picture lacks a feature.
const MIN_FEATURE: f64 = 1e-6;
/// Greatest factor on the cosines, as in CLIP.
const MAX_LOGIT_SCALE: f64 = 100.0;

/// Heads after training, and their recall.
#[derive(Debug)]
pub struct TrainedHeads {
    /// Heads of both towers, a moving average over the steps.
    pub heads: Heads,
    /// The step after which they were kept.
    pub step: usize,
    /// Recall of these heads on unseen pictures.
    pub retrieval: Retrieval,
    /// Logarithm of the factor on the cosines.
    pub log_logit_scale: f32,
}

/// Both heads, the logit scale and where it is tuned the image tower's last stage, which are trained together, with
/// dropouts of inputs and hidden layers.
#[derive(Module, Debug)]
struct HeadLearner {
    stage: Option<LastStage>,
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
    let learner = HeadLearner::new(towers, recipe, train, &seeded(recipe, device))?;
    run(learner, towers, recipe, (train, unseen), device)
}

/// Tunes the last stage of the image tower together with heads that were trained before; pictures are given as the maps
/// that it reads. Keeps the average that retrieves best on `unseen`.
///
/// # Errors
///
/// As [`train_heads`], and tensors of other shapes.
pub fn tune_last_stage(
    towers: &TowersConfig,
    recipe: &HeadRecipe,
    (stage, trained): (&LastStage, &TrainedHeads),
    (train, unseen): (&CaptionedPictures, &CaptionedPictures),
    device: &Device,
) -> Result<TrainedHeads> {
    let start = Heads {
        stage: Some(stage.clone()),
        ..trained.heads.clone()
    };
    let mut learner = HeadLearner::of(&start, towers, recipe, &seeded(recipe, device))?;
    learner.log_logit_scale = scale(
        trained.log_logit_scale,
        &learner.log_logit_scale.lazy_device(),
    );
    run(learner, towers, recipe, (train, unseen), device)
}

fn scale(log_logit_scale: f32, device: &Device) -> Param<Tensor<1>> {
    Param::from_tensor(Tensor::from_floats([log_logit_scale], device))
}

/// The device with gradients, whose random numbers begin anew.
fn seeded(recipe: &HeadRecipe, device: &Device) -> Device {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    autodiff
}

fn run(
    learner: HeadLearner,
    towers: &TowersConfig,
    recipe: &HeadRecipe,
    (train, unseen): (&CaptionedPictures, &CaptionedPictures),
    device: &Device,
) -> Result<TrainedHeads> {
    let autodiff = device.clone().autodiff();
    let name = match learner.stage {
        None => "heads",
        Some(_) => "last stage",
    };
    let mut training = HeadTraining {
        batches: HeadBatches::new(recipe, train, &autodiff)?,
        towers,
        unseen,
        device,
        average: MovingAverage::new(recipe.average_decay),
        best: None,
    };
    let trainer = Trainer::new(learner, recipe.optimizer.init(), &mut training);
    trainer.run(name, recipe.steps, None)?;
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
    fn measure(&mut self, learner: &HeadLearner, step: usize) -> Result<()> {
        let mut heads = learner.fresh(self.towers, self.device);
        heads.load(self.average.records())?;
        let retrieval = heads.retrieval(self.unseen, self.device)?;
        let best = self.best.as_ref().map(|best| best.retrieval.score());
        if best.is_none_or(|best| retrieval.score() > best) {
            self.best = Some(TrainedHeads {
                heads,
                step,
                retrieval,
                log_logit_scale: learner.log_logit_scale.val().try_into_scalar()?,
            });
        }
        Ok(())
    }
}

impl Objective<HeadLearner> for HeadTraining<'_> {
    fn loss(&mut self, learner: &HeadLearner, step: usize) -> Result<(Loss, GradientsParams)> {
        let HeadBatch {
            images,
            captions,
            targets,
        } = self.batches.batch(step);
        let total = learner.loss(images, captions, targets);
        let shown = vec![("loss", total.clone())];
        Ok(Loss { total, shown }.with_gradients(learner))
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
            self.measure(learner, n_steps)?;
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
        Ok(Self::at_start(None, text, image, recipe, device))
    }

    /// The learner that goes on with heads and a last stage.
    fn of(
        start: &Heads,
        towers: &TowersConfig,
        recipe: &HeadRecipe,
        device: &Device,
    ) -> Result<Self> {
        let mut own = Heads::with_stage(towers, device);
        own.load(records(start)?)?;
        let [text, image] = [own.text.head, own.image.head].map(|mut head| {
            // They belong to the features that the tower gave before.
            head.mean = head.mean.set_require_grad(false);
            head.deviation = head.deviation.set_require_grad(false);
            head
        });
        let stage = own.stage.map(|mut stage| {
            stage.hold_kernels();
            stage
        });
        Ok(Self::at_start(stage, text, image, recipe, device))
    }

    fn at_start(
        stage: Option<LastStage>,
        text: Head,
        image: Head,
        recipe: &HeadRecipe,
        device: &Device,
    ) -> Self {
        let [of_text, of_image] = recipe.input_dropout;
        Self {
            stage,
            text,
            image,
            log_logit_scale: scale(INITIAL_LOG_LOGIT_SCALE, device),
            dropout: [of_text, of_image, recipe.hidden_dropout]
                .map(|share| DropoutConfig::new(share).init()),
        }
    }

    /// Heads of the same kind with random weights.
    fn fresh(&self, towers: &TowersConfig, device: &Device) -> Heads {
        match self.stage {
            None => Heads::new(towers, device),
            Some(_) => Heads::with_stage(towers, device),
        }
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
            stage: learner.stage,
            text: named(learner.text, towers.init_text_head(&device)),
            image: named(learner.image, towers.init_image_head(&device)),
        }
    }

    /// Contrastive loss of a batch of pairs, whose targets say which captions fit which pictures.
    ///
    /// # Shapes
    ///
    /// - `images`, `captions`: `[batch, width]` of their tower, or maps of pictures; row for row a pair
    /// - `targets`: `[batch, batch]`
    /// - output: `[1]`
    fn loss(&self, images: Tensor<2>, captions: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
        let [of_text, of_image, of_hidden] = &self.dropout;
        let images = match &self.stage {
            None => images,
            Some(stage) => stage.forward(images) + MIN_FEATURE,
        };
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
        soft_info_nce(scaled(cosines, scale), targets)
    }
}
