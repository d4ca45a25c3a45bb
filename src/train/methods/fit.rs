//! Fits a method to frozen features: batches of captions in shuffled order, cosine schedule without warm-up.

use std::f64::consts::PI;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::method::{Method, Pairs, Side};
use super::probes::{EPOCHS_PER_READING, ProbeLog};
use crate::device::is_cpu;
use crate::train::optimize::{
    BatchPart, Checkpoint, Loss, Objective, Optimizer, Trainer, cosine, each,
};

/// Least learning rate of the cosine schedule.
const LEAST_LEARNING_RATE: f64 = 1e-6;
/// Captions of a batch that go through a method together on one core of a CPU.
const ROWS_PER_PART: usize = 512;

/// Optimiser, batch, epochs and seed of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Optimiser, with the learning rate at the start.
    pub optimizer: Optimizer,
    /// Pairs in a batch; 2048 in the paper.
    pub batch: usize,
    /// Passes over the captions; 200 in the paper.
    pub epochs: usize,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
}

impl Training {
    const fn steps_per_epoch(&self, n_texts: usize) -> usize {
        n_texts.div_ceil(self.batch)
    }

    const fn n_steps(&self, n_texts: usize) -> usize {
        self.steps_per_epoch(n_texts) * self.epochs
    }
}

/// Captions and pictures as cached features.
#[derive(Debug, Clone)]
pub struct Features {
    /// `[n_texts, embed_dim]`, not normalised.
    pub texts: Tensor<2>,
    /// `[n_images, embed_dim]`; methods that need unit vectors normalise them.
    pub images: Tensor<2>,
    /// Row of each caption's picture.
    pub image_of_text: Vec<i64>,
}

/// Files that a fit writes while it is under way; none unless they are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct FitOutputs<'a> {
    /// Folder of a checkpoint, which is left there now and then and when interrupted, and resumed from.
    pub checkpoint: Option<&'a Path>,
    /// Sentences whose κ is written down every ten epochs and at the end.
    pub probes: Option<&'a ProbeLog>,
}

/// Trains a method whose parameters are on an autodiff device; returns it without autodiff.
///
/// # Errors
///
/// The user interrupted, the training diverged, an output cannot be read or written, or the folder holds a checkpoint
/// of another training.
pub fn train<M: Method>(
    method: M,
    name: &'static str,
    training: &Training,
    features: &Features,
    outputs: FitOutputs<'_>,
) -> Result<M> {
    let Some(device) = method.devices().into_iter().next() else {
        return Ok(method);
    };
    let n_texts = features.image_of_text.len();
    ensure!(n_texts > 0, "no captions to train on");
    let checkpoint = outputs.checkpoint;
    let checkpoint = checkpoint.map(|folder| Checkpoint::new(folder, training));
    let (n_steps, checkpoint) = (training.n_steps(n_texts), checkpoint.transpose()?);
    let probes = outputs.probes.map(|log| Probing {
        name,
        log: ProbeLog {
            features: attached_to(log.features.clone(), &device),
            ..log.clone()
        },
    });
    let trainer = trainer(method, training, features, (device, probes));
    Ok(trainer.run(name, n_steps, checkpoint.as_ref())?.valid())
}

/// Mean loss of a fitted method on pairs that it was not fitted to, in batches as large as those of the training, whole
/// ones where there are any; that of ELIP as at the end of the training.
///
/// # Errors
///
/// The device fails.
pub fn mean_loss<M: Method>(method: &M, training: &Training, features: &Features) -> Result<f64> {
    let n_texts = features.image_of_text.len();
    // The same order for all rates, in which captions of one picture do not follow each other.
    let order = shuffled(n_texts, &mut ChaCha8Rng::seed_from_u64(0));
    let batch = training.batch.min(n_texts);
    let mut losses = Vec::new();
    for indices in order.chunks_exact(batch.max(1)) {
        let loss = method.loss(gather(features, indices), training.epochs);
        losses.push(f64::from(loss.try_into_scalar::<f32>()?));
    }
    Ok(crate::metrics::mean(&losses))
}

/// Seconds that a number of steps takes, after two that are not counted.
///
/// # Errors
///
/// The device fails.
pub fn seconds_of_steps<M: Method>(
    method: M,
    training: &Training,
    features: &Features,
    n_steps: usize,
) -> Result<f64> {
    const WARM_UP: usize = 2;
    let device = method.devices().into_iter().next();
    let device = device.context("the method has no parameters")?;
    let mut fit = trainer(method, training, features, (device, None));
    let mut started = Instant::now();
    for step in 0..WARM_UP + n_steps {
        let loss = fit.step(step)?.total;
        if step + 1 == WARM_UP || step + 1 == WARM_UP + n_steps {
            // A device may lag behind; the loss is there when it has caught up.
            loss.try_into_scalar::<f32>()?;
        }
        if step + 1 == WARM_UP {
            started = Instant::now();
        }
    }
    Ok(started.elapsed().as_secs_f64())
}

fn trainer<'a, M: Method>(
    method: M,
    training: &'a Training,
    features: &'a Features,
    (device, probes): (Device, Option<Probing>),
) -> Trainer<M, FeatureBatches<'a>> {
    // Has all weights drawn: a parameter draws its first value when it is first used, and which part of a batch is the
    // first to use it is chance.
    method.loss(attached(gather(features, &[0]), &device), 1);
    let batches = FeatureBatches {
        training,
        features,
        device,
        probes,
        order: Order::first(features.image_of_text.len(), training.seed),
    };
    Trainer::new(method, training.optimizer.init(), batches)
}

/// Batches of cached features, the captions of each epoch in an order of its own.
struct FeatureBatches<'a> {
    training: &'a Training,
    features: &'a Features,
    device: Device,
    probes: Option<Probing>,
    order: Order,
}

/// A log of probe sentences, and the name of the fit in the lines that it prints.
struct Probing {
    name: &'static str,
    log: ProbeLog,
}

impl FeatureBatches<'_> {
    /// The pairs of a step and its epoch, counted from 0. The last batch of an epoch may be short.
    fn pairs(&mut self, step: usize) -> (Pairs, usize) {
        let (batch, n_texts) = (self.training.batch, self.features.image_of_text.len());
        let per_epoch = self.training.steps_per_epoch(n_texts);
        let (epoch, i_batch) = (step / per_epoch, step % per_epoch);
        self.order.advance_to(epoch);
        let captions = &self.order.captions;
        let indices = &captions[i_batch * batch..((i_batch + 1) * batch).min(captions.len())];
        (
            attached(gather(self.features, indices), &self.device),
            epoch,
        )
    }
}

impl<M: Method> Objective<M> for FeatureBatches<'_> {
    fn loss(&mut self, method: &M, step: usize) -> Result<(Loss, GradientsParams)> {
        let (pairs, epoch) = self.pairs(step);
        Ok(loss(method, pairs, epoch + 1, ROWS_PER_PART))
    }

    fn learning_rate(&self, step: usize) -> f64 {
        let n_steps = self.training.n_steps(self.features.image_of_text.len());
        let phase = PI * step as f64 / n_steps as f64;
        let greatest = self.training.optimizer.learning_rate();
        cosine(greatest, LEAST_LEARNING_RATE, phase)
    }

    fn observe(&mut self, method: &M, n_steps: usize) -> Result<()> {
        let Some(Probing { name, log }) = &self.probes else {
            return Ok(());
        };
        let n_texts = self.features.image_of_text.len();
        let per_reading = EPOCHS_PER_READING * self.training.steps_per_epoch(n_texts);
        match n_steps {
            // What an earlier fit wrote.
            0 => log.clear(),
            n if n.is_multiple_of(per_reading) || n == self.training.n_steps(n_texts) => {
                log.record(name, method, n)
            }
            _ => Ok(()),
        }
    }
}

/// The loss of a batch and its gradients. On the CPU captions go through the method in parts of so many rows, if there
/// is more than one.
fn loss<M: Method>(
    method: &M,
    pairs: Pairs,
    epoch: usize,
    rows_per_part: usize,
) -> (Loss, GradientsParams) {
    let ([n, _], device) = (pairs.texts.dims(), pairs.texts.device());
    if n <= rows_per_part || !is_cpu(&device) {
        let total = method.loss(pairs, epoch);
        return beside_scale(total, method).with_gradients(method);
    }
    let images = method.training_rows(Side::Image, pairs.images);
    let parts = each(pairs.texts.split(rows_per_part, 0), &device, |texts| {
        BatchPart::new(method, &device, |copy| {
            copy.training_rows(Side::Text, texts)
        })
    });
    let texts = Tensor::cat(parts.iter().map(BatchPart::leaf).collect(), 0);
    let total = method.loss_of_rows(images, texts, epoch);
    beside_scale(total, method).with_gradients_in_parts(method, parts, &device)
}

/// A loss that is shown beside the factor on the logits, if there is one.
fn beside_scale(total: Tensor<1>, method: &impl Method) -> Loss {
    let mut shown = vec![("loss", total.clone())];
    shown.extend(method.logit_scale().map(|scale| ("τ", scale)));
    Loss { total, shown }
}

fn gather(features: &Features, indices: &[usize]) -> Pairs {
    let n = indices.len();
    let to_tensor = |values: Vec<i64>| {
        Tensor::<1, Int>::from_data(TensorData::new(values, [n]), &features.texts.device())
    };
    let texts = to_tensor(indices.iter().map(|&i| i as i64).collect());
    let images = to_tensor(indices.iter().map(|&i| features.image_of_text[i]).collect());
    Pairs {
        texts: features.texts.clone().select(0, texts),
        images: features.images.clone().select(0, images),
    }
}

fn attached(pairs: Pairs, device: &Device) -> Pairs {
    Pairs {
        texts: attached_to(pairs.texts, device),
        images: attached_to(pairs.images, device),
    }
}

fn attached_to(rows: Tensor<2>, device: &Device) -> Tensor<2> {
    rows.to_device(&device.clone().inner()).autodiff()
}

/// The order of captions in the epoch that is under way. It depends on the seed and the epoch alone, so that a resumed
/// training sees what it would have seen.
struct Order {
    captions: Vec<usize>,
    epoch: usize,
    rng: ChaCha8Rng,
}

impl Order {
    fn first(n: usize, seed: u64) -> Self {
        let (mut rng, epoch) = (ChaCha8Rng::seed_from_u64(seed), 0);
        let captions = shuffled(n, &mut rng);
        Self {
            captions,
            epoch,
            rng,
        }
    }

    /// Advances to an epoch that is not behind the present one.
    fn advance_to(&mut self, epoch: usize) {
        while self.epoch < epoch {
            self.captions = shuffled(self.captions.len(), &mut self.rng);
            self.epoch += 1;
        }
    }
}

fn shuffled(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use burn::module::{Module as _, ModuleVisitor, Param};

    use super::super::probes::ProbeReading;
    use super::*;
    use crate::model::adapter::{AdapterConfig, Family, MeanDirection};
    use crate::model::parameters::{NamedTensor, Parameters as _, TensorRecord};
    use crate::train::methods::{
        AsymVlm, ContrastiveLoss, MethodName, MethodOptions, MethodVisitor, UncertaintyOf, Variant,
    };

    /// Rounding of a cosine.
    const TOLERANCE: f64 = 1e-12;

    /// The schedule of a hundred steps.
    fn rate(step: usize) -> f64 {
        cosine(5e-2, LEAST_LEARNING_RATE, PI * step as f64 / 100.0)
    }

    #[test]
    fn the_cosine_falls_at_every_step_from_the_learning_rate_to_the_least() {
        for (step, expected) in [
            (0, 5e-2),
            (50, (5e-2 + LEAST_LEARNING_RATE) / 2.0),
            (100, LEAST_LEARNING_RATE),
        ] {
            let error = (rate(step) - expected).abs();
            assert!(
                error < TOLERANCE,
                "step {step}: {}, expected {expected}",
                rate(step)
            );
        }
        for step in 0..100 {
            let (now, next) = (rate(step), rate(step + 1));
            assert!(next < now, "step {step}: {now}, then {next}");
        }
    }

    #[test]
    fn an_epoch_holds_every_caption_once_in_an_order_of_its_own() {
        let order_of = |epochs: &[usize]| {
            let mut order = Order::first(50, 0);
            for &epoch in epochs {
                order.advance_to(epoch);
            }
            order.captions
        };
        let mut sorted = order_of(&[0]);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>(), "each once");
        assert_ne!(order_of(&[0]), order_of(&[1]), "another in the next epoch");
        let resumed = order_of(&[0, 0, 1, 2, 2]);
        assert_eq!(resumed, order_of(&[2]), "the same order when it is resumed");
    }

    fn some_features() -> Features {
        let rows = |n: usize| {
            let values = (0_u16..).map(|i| (f32::from(i) * 0.7).sin());
            let values: Vec<f32> = values.take(n * 4).collect();
            Tensor::<2>::from_data(TensorData::new(values, [n, 4]), &crate::device::cpu())
        };
        Features {
            texts: rows(9),
            images: rows(5),
            image_of_text: (0..9).map(|i| i % 5).collect(),
        }
    }

    fn untrained() -> AsymVlm {
        let config = AdapterConfig {
            embed_dim: 4,
            hidden_width: 5,
            hidden_layers: 1,
            mean_direction: MeanDirection::Learned,
        };
        let device = crate::device::cpu().autodiff();
        let (family, loss) = (Family::VonMisesFisher, ContrastiveLoss::InfoNce);
        AsymVlm::new(&config, family, loss, &device)
    }

    #[test]
    fn the_loss_on_other_pairs_is_the_mean_over_whole_batches() {
        let features = some_features();
        let training = Training {
            optimizer: Optimizer::Sgd {
                learning_rate: 0.1,
                momentum: 0.9,
                weight_decay: 0.0,
            },
            batch: 4,
            epochs: 1,
            seed: 0,
        };
        let method = untrained().valid();
        let order = shuffled(9, &mut ChaCha8Rng::seed_from_u64(0));
        let of =
            |indices: &[usize]| -> f32 { method.loss(gather(&features, indices), 1).into_scalar() };
        let expected = f64::from(of(&order[..4]) + of(&order[4..8])) / 2.0;
        let found = mean_loss(&method, &training, &features).expect("a device");
        assert!(
            (found - expected).abs() < 1e-6,
            "{found}, expected {expected}"
        );
    }

    type FitTrainer<'a> = Trainer<AsymVlm, FeatureBatches<'a>>;

    fn weights(fit: &FitTrainer<'_>) -> Vec<f32> {
        let values = |tensor: NamedTensor| tensor.values.into_data().try_into_vec::<f32>();
        let tensors = fit.module.named_tensors().into_iter();
        tensors
            .flat_map(|tensor| values(tensor).expect("f32"))
            .collect()
    }

    #[test]
    fn a_resumed_training_ends_where_an_uninterrupted_one_does() {
        const WEIGHT_DECAY: f32 = 5e-4;
        let sgd = Optimizer::Sgd {
            learning_rate: 0.1,
            momentum: 0.9,
            weight_decay: WEIGHT_DECAY,
        };
        let adam_w = Optimizer::AdamW {
            learning_rate: 0.01,
            weight_decay: WEIGHT_DECAY,
        };
        let features = some_features();
        for (name, optimizer) in [("sgd", sgd), ("adam", adam_w)] {
            let training = Training {
                optimizer,
                batch: 4,
                epochs: 3,
                seed: 1,
            };
            let device = crate::device::cpu().autodiff();
            let begin = |method| trainer(method, &training, &features, (device.clone(), None));
            let steps = |fit: &mut FitTrainer<'_>, range: std::ops::Range<usize>| {
                for step in range {
                    fit.step(step).expect("a batch");
                }
            };
            let start = untrained();
            let (mut whole, mut first) = (begin(start.clone()), begin(start));
            let n_steps = training.n_steps(9);
            steps(&mut whole, 0..n_steps);
            steps(&mut first, 0..4);

            let folder = tempfile::tempdir().expect("a folder for the test");
            let checkpoint = Checkpoint::new(&folder.path().join("fit"), &training).expect("JSON");
            first.save(4, &checkpoint).expect("a folder for the test");
            let mut second = begin(untrained());
            let taken = second.resume(&checkpoint).expect("the checkpoint is whole");
            // The contents of a checkpoint are read when they are first used.
            steps(&mut second, taken..n_steps);
            assert_eq!(weights(&second), weights(&whole), "weights with {name}");
        }
    }

    /// The readings of a file.
    fn readings(path: &Path) -> Vec<ProbeReading> {
        let json = std::fs::read(path).expect("a fit wrote it");
        serde_json::from_slice(&json).expect("readings")
    }

    #[test]
    fn probes_are_read_every_ten_epochs_once_and_change_nothing() {
        let features = some_features();
        let training = Training {
            optimizer: Optimizer::Sgd {
                learning_rate: 0.1,
                momentum: 0.9,
                weight_decay: 5e-4,
            },
            batch: 4,
            epochs: 25,
            seed: 1,
        };
        let folder = tempfile::tempdir().expect("a folder for the test");
        let log = ProbeLog {
            sentences: vec!["vague".to_owned(), "full".to_owned()],
            features: features.texts.clone().slice(0..2),
            path: folder.path().join("probes.json"),
        };
        std::fs::write(&log.path, "of a fit before").expect("a folder for the test");
        let start = untrained();
        let fitted = |outputs| {
            let fitted = train(start.clone(), "fit", &training, &features, outputs);
            fitted.expect("nothing interrupts")
        };
        let checkpoint = folder.path().join("fit");
        let watched = FitOutputs {
            checkpoint: Some(&checkpoint),
            probes: Some(&log),
        };
        let (bare, seen) = (fitted(FitOutputs::default()), fitted(watched));
        let weights = |method: &AsymVlm| -> Vec<f32> {
            let values = |tensor: NamedTensor| tensor.values.into_data().try_into_vec::<f32>();
            let tensors = method.named_tensors().into_iter();
            tensors
                .flat_map(|tensor| values(tensor).expect("f32"))
                .collect()
        };
        assert_eq!(weights(&seen), weights(&bare), "the same weights");

        let found = readings(&log.path);
        // Three batches of nine captions an epoch.
        let steps: Vec<usize> = found.iter().map(|reading| reading.step).collect();
        assert_eq!(steps, [30, 30, 60, 60, 75, 75], "tenth, twentieth, last");
        let last = &found[5];
        let rows = seen.of_texts(log.features.clone());
        let kappa = seen.concentration(rows).expect("it has one");
        let kappa: Vec<f32> = kappa.into_data().try_into_vec().expect("f32");
        let scale = seen.logit_scale().expect("it has one").into_scalar::<f32>();
        assert_eq!(last.kappa, f64::from(kappa[1]), "κ of the fitted method");
        let tempered = f64::from(scale) * last.kappa;
        assert_eq!(
            (last.uncertainty, last.scaled),
            (1.0 / last.kappa, tempered),
            "1/κ and τκ"
        );
        // Resuming a finished fit takes its last reading again, which must not be recorded twice.
        fitted(watched);
        assert_eq!(readings(&log.path), found, "without doubles");
    }

    /// Compares a batch in parts with all of it at once.
    struct InParts {
        pairs: Pairs,
    }

    impl MethodVisitor for InParts {
        /// Greatest difference of a gradient over the greatest gradient, and difference of the losses.
        type Output = (f32, f32);

        fn visit<M: Method>(self, mut method: M) -> Self::Output {
            // Weights that are drawn may leave every unit of so small a perceptron at zero.
            let set = method.named_tensors().into_iter().map(|tensor| {
                let n_values: usize = tensor.shape.iter().product();
                let values = (1_u16..).map(|i| (f32::from(i) * 0.7).sin() * 0.5);
                TensorRecord {
                    values: values.take(n_values).collect(),
                    name: tensor.name,
                    shape: tensor.shape,
                }
            });
            method.load(set).expect("its own names and shapes");
            let of = |rows_per_part| {
                let (loss, gradients) = loss(&method, self.pairs.clone(), 1, rows_per_part);
                (loss.total.into_scalar::<f32>(), gradients)
            };
            let ((all, expected), (in_parts, found)) = (of(9), of(4));
            let mut compared = Compared {
                found,
                expected,
                greatest: 0.0,
                difference: 0.0,
            };
            method.visit(&mut compared);
            assert!(compared.greatest > 0.0, "no gradient");
            (
                compared.difference / compared.greatest,
                (in_parts - all).abs(),
            )
        }
    }

    struct Compared {
        found: GradientsParams,
        expected: GradientsParams,
        greatest: f32,
        difference: f32,
    }

    impl ModuleVisitor for Compared {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let of = |gradients: &GradientsParams| {
                let gradient = gradients.get::<D>(param.id);
                gradient.expect("every parameter takes part in the loss")
            };
            let (found, expected) = (of(&self.found), of(&self.expected));
            let sum = (found.clone() + expected.clone()).sum();
            assert!(sum.into_scalar::<f32>().is_finite(), "gradients are finite");
            let greatest = |values: Tensor<D>| values.abs().max().into_scalar::<f32>();
            self.greatest = self.greatest.max(greatest(expected.clone()));
            self.difference = self.difference.max(greatest(found - expected));
        }
    }

    #[test]
    fn captions_in_parts_have_the_loss_and_the_gradients_of_all_at_once() {
        let device = crate::device::cpu().autodiff();
        let (features, variant) = (some_features(), Variant::Code);
        let options = MethodOptions {
            variant,
            sizes: AdapterConfig {
                embed_dim: 4,
                hidden_width: 5,
                hidden_layers: 1,
                mean_direction: MeanDirection::Learned,
            },
            batch: 9,
            deterministic_scale: None,
            probvlm_uncertainty: UncertaintyOf::Inverse,
        };
        let all: Vec<usize> = (0..9).collect();
        let trained = MethodName::ALL.into_iter();
        for name in trained.filter(|name| name.optimizer(variant).is_some()) {
            let pairs = attached(gather(&features, &all), &device);
            let (of_gradients, of_loss) = name.visit(&options, &device, InParts { pairs });
            assert!(
                of_gradients < 1e-5 && of_loss < 1e-5,
                "{}: gradients differ by {of_gradients} of the greatest, losses by {of_loss}",
                name.title()
            );
        }
    }
}
