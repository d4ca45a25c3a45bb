//! Adapters that give each caption its κ, and leave its direction to the encoder: η = κ(x)·x/|x|.
//!
//! κ is fitted to cosines of pairs that no head has seen: each fold of the training pictures is read by heads that were
//! trained on the other folds. Captions come in all levels. Caption and picture are drawn together, so other pictures
//! that a vague caption fits may be among its negatives: a caption that fits many pictures must spread its mass. The
//! recipe can leave them out of the negatives instead.

use anyhow::Result;
use burn::module::Module;
use burn::nn::{Dropout, DropoutConfig};
use burn::optim::GradientsParams;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::concentration_scale::concentration_scale;
use super::data::CaptionedListing;
use super::fitting_mask::fitting_mask;
use super::heads::{CaptionedPictures, Heads};
use super::moving_average::MovingAverage;
use super::statistics::statistics;
use super::vaguer_captions::Step;
use crate::model::adapter::{
    Adapter, AdapterConfig, Family, MeanDirection, info_nce, log_likelihood_ratio, scaled,
};
use crate::model::parameters::{Parameters as _, TensorRecord};
use crate::train::features::rows::Rows;
use crate::train::optimize::{Loss, Objective, Optimizer, Trainer, warm_cosine};

/// Shares of the levels of captions, the caption itself first; a level that a caption lacks gives its share to it.
const LEVELS: [(Option<Step>, f64); 6] = [
    (None, 0.40),
    (Some(Step::Clause), 0.15),
    (Some(Step::NounPhrase), 0.15),
    (Some(Step::Noun), 0.12),
    (Some(Step::Class), 0.12),
    (Some(Step::Anything), 0.06),
];
/// Share of vaguer truths with a bare form that take it; captions always do.
const BARE: f64 = 0.4;

/// Recipe of the training of adapters. The defaults were chosen on Flickr8k's development pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterRecipe {
    /// Number of steps of the optimiser.
    pub steps: usize,
    /// Pairs in a step, all of one fold.
    pub batch: usize,
    /// Optimiser, with the greatest learning rate.
    pub optimizer: Optimizer,
    /// Steps over which the learning rate climbs.
    pub warmup: usize,
    /// Width of the hidden layers.
    pub hidden_width: usize,
    /// Number of hidden layers.
    pub hidden_layers: usize,
    /// Share of the hidden layers that is left out.
    pub dropout: f64,
    /// Weight of the order of captions and their vaguer truths, as of `ProLIP`'s inclusion.
    pub order_weight: f64,
    /// Whether other pictures that a vague caption fits are left out of its negatives.
    pub masks_fitting: bool,
    /// Share of the moving average that is kept in a step.
    pub average_decay: f32,
    /// Seed of weights, batches and dropout.
    pub seed: u64,
}

impl Default for AdapterRecipe {
    fn default() -> Self {
        Self {
            steps: 1200,
            batch: 1200,
            optimizer: Optimizer::AdamW {
                learning_rate: 2e-3,
                weight_decay: 0.05,
            },
            warmup: 50,
            hidden_width: 256,
            hidden_layers: 2,
            dropout: 0.4,
            order_weight: 0.25,
            masks_fitting: false,
            average_decay: 0.995,
            seed: 0,
        }
    }
}

/// Difference of ln κ that an order should have, and the difference that makes e times the loss.
const ORDER_MARGIN: f64 = 0.15;
const ORDER_TEMPERATURE: f64 = 0.2;
/// Weight of a noun's classes beside a caption's truths in the order.
const CLASSES_WEIGHT: f64 = 0.6;
/// Pairs of a class and a noun in a step.
const N_CLASS_PAIRS: usize = 256;
/// τ and κ at the start.
const INITIAL_LOGIT_SCALE: f32 = 0.2;
const INITIAL_CONCENTRATION: f32 = 60.0;

/// Pictures that some heads have not seen, with these heads.
#[derive(Debug)]
pub struct Fold {
    /// Heads that were trained on the other pictures.
    pub heads: Heads,
    /// Rows of the training pictures that these heads have not seen, ascending.
    pub pictures: Vec<usize>,
}

/// Data that adapters are trained on: captions, tower features, folds and heads.
#[derive(Debug)]
pub struct AdapterData<'a> {
    /// The captions and their vaguer truths.
    pub listing: &'a CaptionedListing,
    /// Tower features of captions, vaguer truths and bare forms, one after the other.
    pub texts: Rows,
    /// Tower features of the pictures.
    pub images: &'a Rows,
    /// Folds of the training pictures; each step takes its pairs from the next one.
    pub folds: Vec<Fold>,
    /// The heads that are shipped, whose features of captions the adapter reads.
    pub heads: &'a Heads,
    /// Pairs that no training sees, by which the scale of κ is chosen.
    pub unseen: &'a CaptionedPictures,
}

#[derive(Module, Debug)]
struct AdapterLearner {
    adapter: Adapter,
    dropout: Dropout,
}

/// The sizes of an adapter.
#[must_use]
pub const fn adapter_config(embed_dim: usize, recipe: &AdapterRecipe) -> AdapterConfig {
    AdapterConfig {
        embed_dim,
        hidden_width: recipe.hidden_width,
        hidden_layers: recipe.hidden_layers,
        mean_direction: MeanDirection::Encoder,
    }
}

/// Trains the adapter of a family.
///
/// # Errors
///
/// The training diverged or was interrupted, or the device fails.
pub fn train_adapter(
    family: Family,
    config: &AdapterConfig,
    recipe: &AdapterRecipe,
    data: &AdapterData<'_>,
    device: &Device,
) -> Result<Adapter> {
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let mut features =
        Rows::from_device(data.heads.text.head.forward(data.texts.to_device(device)))?;
    let (mean, deviation) = statistics(&features);
    standardise(&mut features, &mean, &deviation);
    let images = data.folds.iter().map(|fold| {
        let of_fold = data
            .images
            .to_device(device)
            .select(0, indices(&fold.pictures, device));
        fold.heads.images(of_fold)
    });
    let mut training = AdapterTraining {
        family,
        recipe,
        data,
        captions_of: data.captions_of(),
        truth_of_row: data.truth_of_row(),
        features: features.to_device(device),
        images: images.collect(),
        average: MovingAverage::new(recipe.average_decay),
        device: autodiff.clone(),
    };
    let learner = AdapterLearner {
        adapter: initial(config, &autodiff)?,
        dropout: DropoutConfig::new(recipe.dropout).init(),
    };
    let trainer = Trainer::new(learner, recipe.optimizer.init(), &mut training);
    let name = match family {
        Family::VonMisesFisher => "vMF adapter",
        Family::PowerSpherical => "PS adapter",
    };
    trainer.run(name, recipe.steps, None)?;
    let mut records = training.average.records();
    fold_in(&mut records, &mean, &deviation);
    let mut adapter = config.init(device);
    adapter.load(records.clone())?;
    let scale = concentration_scale(family, &adapter, (data.heads, data.unseen), device)?;
    eprintln!("{family:?}, seed {}: κ × {scale}", recipe.seed);
    let bias = last_layer(config) + ".bias";
    for record in records.iter_mut().filter(|record| record.name == bias) {
        record
            .values
            .iter_mut()
            .for_each(|value| *value += scale.ln());
    }
    adapter.load(records)?;
    Ok(adapter)
}

/// The name of an adapter's last layer.
fn last_layer(config: &AdapterConfig) -> String {
    format!("text_adaptor.etta.{}", 2 * config.hidden_layers)
}

/// An adapter that begins with the same κ for all.
fn initial(config: &AdapterConfig, device: &Device) -> Result<Adapter> {
    let mut adapter = config.init(device);
    let mut records = crate::train::export::bundle::records(&adapter.valid())?;
    let last = last_layer(config);
    for record in &mut records {
        if record.name == format!("{last}.bias") {
            record.values.fill(INITIAL_CONCENTRATION.ln());
        } else if record.name == format!("{last}.weight") {
            record.values.iter_mut().for_each(|value| *value *= 0.1);
        } else if record.name.ends_with("temperature") {
            record.values.fill(INITIAL_LOGIT_SCALE);
        }
    }
    adapter.load(records)?;
    Ok(adapter)
}

/// Turns a first layer that reads standardised features into one that reads features as they are.
fn fold_in(records: &mut [TensorRecord], mean: &[f32], deviation: &[f32]) {
    const FIRST: &str = "text_adaptor.etta.0";
    let mut offsets = Vec::new();
    for record in &mut *records {
        if record.name == format!("{FIRST}.weight") {
            for row in record.values.chunks_exact_mut(mean.len()) {
                let mut offset = 0.0;
                for ((weight, mean), deviation) in row.iter_mut().zip(mean).zip(deviation) {
                    *weight /= deviation;
                    offset += *weight * mean;
                }
                offsets.push(offset);
            }
        }
    }
    let bias = records
        .iter_mut()
        .find(|record| record.name == format!("{FIRST}.bias"));
    for (bias, offset) in bias
        .into_iter()
        .flat_map(|bias| &mut bias.values)
        .zip(offsets)
    {
        *bias -= offset;
    }
}

fn standardise(features: &mut Rows, mean: &[f32], deviation: &[f32]) {
    for row in features.values.chunks_exact_mut(mean.len()) {
        for ((value, mean), deviation) in row.iter_mut().zip(mean).zip(deviation) {
            *value = (*value - mean) / deviation;
        }
    }
}

fn indices(rows: &[usize], device: &Device) -> Tensor<1, Int> {
    let rows = rows.iter().map(|row| *row as i64).collect::<Vec<_>>();
    let n_rows = rows.len();
    Tensor::from_data(TensorData::new(rows, [n_rows]), device)
}

/// A training of an adapter: its batches, and the average of the adapter after each step.
struct AdapterTraining<'a> {
    family: Family,
    recipe: &'a AdapterRecipe,
    data: &'a AdapterData<'a>,
    captions_of: Vec<Vec<usize>>,
    /// Index of the vaguer truth that each text is, if it is one.
    truth_of_row: Vec<Option<usize>>,
    /// Standardised features of all texts by the heads that are shipped, `[n_texts, embed_dim]`.
    features: Tensor<2>,
    /// Features of each fold's pictures by its heads, `[n_pictures, embed_dim]`.
    images: Vec<Tensor<2>>,
    average: MovingAverage,
    device: Device,
}

impl AdapterData<'_> {
    fn captions_of(&self) -> Vec<Vec<usize>> {
        let mut captions = vec![Vec::new(); self.listing.items.len()];
        for (caption, picture) in self.listing.picture_of.iter().enumerate() {
            captions[*picture].push(caption);
        }
        captions
    }

    fn truth_of_row(&self) -> Vec<Option<usize>> {
        let n_captions = self.listing.captions.len();
        let mut truths = vec![None; self.texts.n_rows()];
        for truth in 0..self.listing.vaguer.len() {
            truths[n_captions + truth] = Some(truth);
            truths[self.bare(n_captions + truth)] = Some(truth);
        }
        truths
    }

    /// The row of a caption, or of one of its vaguer truths.
    fn draw(&self, caption: usize, rng: &mut ChaCha8Rng) -> usize {
        let n_captions = self.listing.captions.len();
        let mut left = rng.random_range(0.0..1.0);
        let level = LEVELS.iter().find(|(_, share)| {
            left -= share;
            left < 0.0
        });
        let step = level.and_then(|(step, _)| *step);
        let truths = self.listing.vaguer_of[caption].iter();
        let truths: Vec<usize> = truths
            .filter(|truth| Some(self.listing.steps[**truth]) == step)
            .copied()
            .collect();
        match truths.choose(rng) {
            Some(truth) if rng.random_bool(BARE) => self.bare(n_captions + truth),
            Some(truth) => n_captions + truth,
            None => self.bare(caption),
        }
    }

    /// The row of a text without full stop or article, if there is one.
    fn bare(&self, row: usize) -> usize {
        let n_said = self.listing.captions.len() + self.listing.vaguer.len();
        self.listing.bare_of[row].map_or(row, |place| n_said + place)
    }

    fn texts(&self, rows: &[usize], device: &Device) -> Tensor<2> {
        let values = rows.iter().flat_map(|row| self.texts.row(*row).to_vec());
        let data = TensorData::new(values.collect::<Vec<_>>(), [rows.len(), self.texts.width]);
        Tensor::from_data(data, device)
    }
}

impl AdapterTraining<'_> {
    /// ln κ of texts by their rows, `[n, 1]`.
    fn log_concentration(&self, learner: &AdapterLearner, rows: &[usize]) -> Tensor<2> {
        let rows = indices(rows, &self.device.clone().inner());
        let features = self.features.clone().select(0, rows).autodiff();
        let on_hidden = |hidden| learner.dropout.forward(hidden);
        learner.adapter.log_concentration_with(features, on_hidden)
    }

    /// Terms of the logits that leave other pictures which a caption fits out of its negatives,
    /// `[n_pictures, n_captions]`.
    fn mask(&self, fold: &Fold, places: &[usize], rows: &[usize]) -> Tensor<2> {
        let fits = rows.iter().map(|row| match self.truth_of_row[*row] {
            Some(truth) => self.data.listing.vaguer_fits[truth].as_slice(),
            None => &[],
        });
        let pictures = places.iter().map(|place| fold.pictures[*place]);
        let values = fitting_mask(&pictures.collect::<Vec<_>>(), &fits.collect::<Vec<_>>());
        let shape = [places.len(), rows.len()];
        Tensor::from_data(TensorData::new(values, shape), &self.device.clone().inner())
    }

    /// Loss of the order of vaguer and less vague texts, `[1]`; none of a batch without such pairs.
    fn order_loss(
        &self,
        learner: &AdapterLearner,
        vaguer: &[usize],
        fuller: &[usize],
    ) -> Tensor<1> {
        if vaguer.is_empty() {
            return Tensor::zeros([1], &self.device);
        }
        let of = |rows| self.log_concentration(learner, rows);
        let missing = (of(vaguer) - of(fuller) + ORDER_MARGIN) / ORDER_TEMPERATURE;
        softplus(missing, 1.0).mean()
    }
}

impl Objective<AdapterLearner> for AdapterTraining<'_> {
    fn loss(&mut self, learner: &AdapterLearner, step: usize) -> Result<(Loss, GradientsParams)> {
        let (data, device) = (self.data, self.device.clone().inner());
        let mut rng = ChaCha8Rng::seed_from_u64(self.recipe.seed);
        rng.set_stream(step as u64);
        let i_fold = step % data.folds.len();
        let fold = &data.folds[i_fold];
        let mut places: Vec<usize> = (0..fold.pictures.len()).collect();
        places.shuffle(&mut rng);
        places.truncate(self.recipe.batch);
        let captions: Vec<usize> = places
            .iter()
            .filter_map(|place| self.captions_of[fold.pictures[*place]].choose(&mut rng))
            .copied()
            .collect();
        let rows: Vec<usize> = captions.iter().map(|c| data.draw(*c, &mut rng)).collect();
        let images = self.images[i_fold].clone();
        let images = images.select(0, indices(&places, &device));
        let directions = fold.heads.texts(data.texts(&rows, &device));
        let log_concentration = self.log_concentration(learner, &rows);
        let eta = directions.autodiff() * log_concentration.exp();
        let nats = log_likelihood_ratio(self.family, eta, images.autodiff());
        let mut logits = scaled(nats, learner.adapter.logit_scale.val());
        if self.recipe.masks_fitting {
            logits = logits + self.mask(fold, &places, &rows).autodiff();
        }
        let contrast = info_nce(logits);
        let classes: Vec<_> = (0..N_CLASS_PAIRS)
            .filter_map(|_| data.listing.classes.choose(&mut rng).copied())
            .collect();
        let n_captions = data.listing.captions.len();
        let place = |at: usize| {
            classes
                .iter()
                .map(|pair| n_captions + pair[at])
                .collect::<Vec<_>>()
        };
        let pairs = rows.iter().zip(&captions);
        let pairs = pairs.map(|(row, caption)| (*row, data.bare(*caption)));
        let (vaguer, fuller): (Vec<_>, Vec<_>) = pairs.filter(|(row, own)| row != own).unzip();
        let order = self.order_loss(learner, &vaguer, &fuller)
            + self.order_loss(learner, &place(0), &place(1)) * CLASSES_WEIGHT;
        let total = contrast.clone() + order.clone() * self.recipe.order_weight;
        let shown = vec![("contrast", contrast), ("order", order)];
        Ok(Loss { total, shown }.with_gradients(learner))
    }

    fn learning_rate(&self, step: usize) -> f64 {
        let greatest = self.recipe.optimizer.learning_rate();
        warm_cosine(greatest, step, self.recipe.warmup, self.recipe.steps)
    }

    fn observe(&mut self, learner: &AdapterLearner, n_steps: usize) -> Result<()> {
        if n_steps > 0 {
            self.average.update(&learner.adapter.valid())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn an_adapter_that_was_fitted_to_standardised_features_reads_them_as_they_are() {
        let config = adapter_config(3, &AdapterRecipe::default());
        let device = cpu();
        let fitted = config.init(&device);
        let (mean, deviation) = ([1.0, -2.0, 0.5], [2.0, 0.5, 4.0]);
        let mut records = crate::train::export::bundle::records(&fitted).expect("on the host");
        fold_in(&mut records, &mean, &deviation);
        let mut adapter = config.init(&device);
        adapter.load(records).expect("the same tensors");
        let features = Rows {
            values: vec![3.0, -1.0, 0.0, -4.0, 2.0, 9.0],
            width: 3,
        };
        let mut standard = features.clone();
        standardise(&mut standard, &mean, &deviation);
        let expected = fitted.log_concentration(standard.to_device(&device));
        let found = adapter.log_concentration(features.to_device(&device));
        let error: f32 = (found - expected).abs().max().into_scalar();
        assert!(error < 1e-5, "{error}");
    }
}
