//! Trains a method on frozen features: one loop for all of them, with the optimisers and the schedule of the released
//! code, which differ from Burn's defaults.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use burn::store::ModuleRecord;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::files;
use super::methods::{AsymVlm, Method, Objective, Pairs};
use super::progress::{Interrupt, Meter};
use crate::model::adapter::{Adapter, AdapterConfig, Family};

/// Least learning rate of the cosine schedule.
const LEAST_LEARNING_RATE: f64 = 1e-6;
/// Steps between two readings of the loss.
const STEPS_PER_READING: usize = 25;
/// Seconds between two checkpoints.
const SECONDS_PER_CHECKPOINT: u64 = 120;

/// Numbers that govern the fit of an adapter in `train scenes`.
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

/// How parameters are moved. All parameters decay, factors and biases included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    /// Stochastic gradient descent as in `PyTorch`: no dampening, the decay added to the gradient.
    Sgd {
        /// At the start.
        learning_rate: f64,
        /// Share of the velocity that is kept.
        momentum: f64,
        /// Added to the gradient for each unit of the parameter.
        weight_decay: f32,
    },
    /// `AdamW` as in `PyTorch`: β = (0.9, 0.999), ε = 1e-8.
    AdamW {
        /// At the start.
        learning_rate: f64,
        /// Taken off the parameter itself, times the learning rate.
        weight_decay: f32,
    },
}

impl Optimizer {
    /// The learning rate at the start.
    #[must_use]
    pub const fn learning_rate(self) -> f64 {
        match self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => learning_rate,
        }
    }

    /// The same with the learning rate times `factor`.
    #[must_use]
    pub const fn faster(mut self, factor: f64) -> Self {
        match &mut self {
            Self::Sgd { learning_rate, .. } | Self::AdamW { learning_rate, .. } => {
                *learning_rate *= factor;
            }
        }
        self
    }

    /// A fresh state.
    #[must_use]
    pub fn init(self) -> ModuleOptimizer {
        match self {
            Self::Sgd {
                momentum,
                weight_decay,
                ..
            } => SgdConfig::new()
                .with_momentum(Some(MomentumConfig {
                    momentum,
                    dampening: 0.0,
                    nesterov: false,
                }))
                .with_weight_decay(Some(WeightDecayConfig {
                    penalty: weight_decay,
                }))
                .init(),
            Self::AdamW { weight_decay, .. } => AdamWConfig::new()
                .with_beta_1(0.9)
                .with_beta_2(0.999)
                .with_epsilon(1e-8)
                .with_weight_decay(weight_decay)
                .init(),
        }
    }
}

/// What decides a training, beside the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Optimiser.
    pub optimizer: Optimizer,
    /// Pairs in a batch; 2048 in the paper.
    pub batch: usize,
    /// Passes over the captions; 200 in the paper.
    pub epochs: usize,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
}

/// Captions and pictures as cached features.
#[derive(Debug, Clone)]
pub struct Features {
    /// `[n_texts, embed_dim]`, not normalised.
    pub texts: Tensor<2>,
    /// `[n_images, embed_dim]`; methods that need unit vectors normalise them.
    pub images: Tensor<2>,
    /// Which picture each caption belongs to.
    pub image_of_text: Vec<i64>,
}

/// Fits an adapter with `InfoNCE`, as `train scenes` does.
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
    let training = Training {
        optimizer: Optimizer::Sgd {
            learning_rate: recipe.learning_rate,
            momentum: recipe.momentum,
            weight_decay: recipe.weight_decay,
        },
        batch: recipe.batch,
        epochs: recipe.epochs,
        seed: recipe.seed,
    };
    let name = match family {
        Family::VonMisesFisher => "vMF adapter",
        Family::PowerSpherical => "power-spherical adapter",
    };
    let autodiff = device.clone().autodiff();
    autodiff.seed(recipe.seed);
    let method = AsymVlm::new(config, family, Objective::InfoNce, &autodiff);
    Ok(train(method, name, &training, features, None)?.adapter)
}

/// A training that left the numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the loss is {loss} at step {step}; a smaller learning rate may help")]
pub struct Diverged {
    /// Infinite, or no number.
    pub loss: f32,
    /// Steps that were taken before it.
    pub step: usize,
}

/// Where an interrupted training goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Position {
    step: usize,
    training: Training,
}

/// Trains a method whose parameters are on an autodiff device; returns it without autodiff.
///
/// With a folder it leaves a checkpoint there now and then and when interrupted, and goes on from one.
///
/// # Errors
///
/// The user interrupted, the loss is no number, the folder cannot be read or written, or it holds a checkpoint of
/// another training.
pub fn train<M: Method>(
    method: M,
    name: &'static str,
    training: &Training,
    features: &Features,
    checkpoint: Option<&Path>,
) -> Result<M> {
    let Some(device) = method.devices().into_iter().next() else {
        return Ok(method);
    };
    ensure!(
        !features.image_of_text.is_empty(),
        "no captions to train on"
    );
    let mut fit = Fit::new(method, training, features, device);
    let start = match checkpoint {
        Some(folder) => fit.resume(folder)?,
        None => 0,
    };
    let n_steps = fit.n_steps();
    let (mut meter, interrupt) = (Meter::new(name, start, n_steps), Interrupt::install());
    let mut saved = Instant::now();
    for step in start..n_steps {
        let loss = fit.step(step);
        if step.is_multiple_of(STEPS_PER_READING) || step + 1 == n_steps {
            report(&mut meter, step, loss, &fit.method)?;
        }
        let stopping = interrupt.is_set() && step + 1 < n_steps;
        let Some(folder) = checkpoint else {
            ensure!(!stopping, "interrupted after step {} of {name}", step + 1);
            continue;
        };
        if stopping || saved.elapsed().as_secs() > SECONDS_PER_CHECKPOINT {
            fit.save(step + 1, folder)?;
            saved = Instant::now();
        }
        ensure!(
            !stopping,
            "interrupted after step {} of {name}; the same command goes on from there",
            step + 1
        );
    }
    meter.finish();
    Ok(fit.method.valid())
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
    let mut fit = Fit::new(method, training, features, device);
    let mut started = Instant::now();
    for step in 0..WARM_UP + n_steps {
        let loss = fit.step(step);
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

/// Shows the loss, and stops a training that has left the numbers.
fn report<M: Method>(meter: &mut Meter, step: usize, loss: Tensor<1>, method: &M) -> Result<()> {
    let loss = loss.into_scalar::<f32>();
    if !loss.is_finite() {
        return Err(Diverged { loss, step }.into());
    }
    let mut numbers = vec![("loss", loss)];
    if let Some(scale) = method.logit_scale() {
        numbers.push(("τ", scale.into_scalar::<f32>()));
    }
    meter.update(step + 1, &numbers);
    Ok(())
}

/// A training at work.
struct Fit<'a, M> {
    method: M,
    optimizer: ModuleOptimizer,
    training: &'a Training,
    features: &'a Features,
    device: Device,
    order: Order,
}

impl<'a, M: Method> Fit<'a, M> {
    fn new(method: M, training: &'a Training, features: &'a Features, device: Device) -> Self {
        Self {
            method,
            optimizer: training.optimizer.init(),
            training,
            features,
            device,
            order: Order::first(features.image_of_text.len(), training.seed),
        }
    }

    fn steps_per_epoch(&self) -> usize {
        let n = self.features.image_of_text.len();
        n.div_ceil(self.training.batch)
    }

    fn n_steps(&self) -> usize {
        self.steps_per_epoch() * self.training.epochs
    }

    /// Takes one step and returns the loss before it. The last batch of an epoch may be short.
    fn step(&mut self, step: usize) -> Tensor<1> {
        let (epoch, i_batch) = (step / self.steps_per_epoch(), step % self.steps_per_epoch());
        self.order.advance_to(epoch);
        let captions = &self.order.captions;
        let batch = self.training.batch;
        let indices = &captions[i_batch * batch..((i_batch + 1) * batch).min(captions.len())];
        let pairs = gather(self.features, indices, &self.device);

        let loss = self.method.loss(pairs, epoch + 1);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.method);
        let rate = cosine(
            self.training.optimizer.learning_rate(),
            step,
            self.n_steps(),
        );
        self.method = self.optimizer.step(rate, self.method.clone(), gradients);
        loss
    }

    /// Leaves a checkpoint after `step` steps.
    fn save(&self, step: usize, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        let record = self.method.clone().into_record();
        record.save(folder.join("method.new"))?;
        self.optimizer.save(folder.join("optimizer.new"))?;
        std::fs::rename(folder.join("method.new"), folder.join("method.bpk"))?;
        std::fs::rename(folder.join("optimizer.new"), folder.join("optimizer.bpk"))?;
        let position = Position {
            step,
            training: self.training.clone(),
        };
        files::put(
            &folder.join("checkpoint.json"),
            serde_json::to_vec(&position)?,
        )
    }

    /// Goes back to a checkpoint, if there is one; returns how many steps were taken.
    fn resume(&mut self, folder: &Path) -> Result<usize> {
        let Some(position) = files::find_json::<Position>(&folder.join("checkpoint.json"))? else {
            return Ok(0);
        };
        ensure!(
            position.training == *self.training,
            "{} holds a checkpoint of another training; choose another folder or delete it",
            folder.display()
        );
        let record = ModuleRecord::load(folder.join("method.bpk"))?;
        self.method = self.method.clone().load_record(record);
        let fresh = self.training.optimizer.init();
        self.optimizer = fresh.load(folder.join("optimizer.bpk"))?;
        Ok(position.step)
    }
}

fn gather(features: &Features, indices: &[usize], device: &Device) -> Pairs {
    let n = indices.len();
    let to_tensor = |values: Vec<i64>| {
        Tensor::<1, Int>::from_data(TensorData::new(values, [n]), &features.texts.device())
    };
    let texts = to_tensor(indices.iter().map(|&i| i as i64).collect());
    let images = to_tensor(indices.iter().map(|&i| features.image_of_text[i]).collect());
    let attach = |rows: Tensor<2>| rows.to_device(&device.clone().inner()).autodiff();
    Pairs {
        texts: attach(features.texts.clone().select(0, texts)),
        images: attach(features.images.clone().select(0, images)),
    }
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
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Self {
            captions: shuffled(n, &mut rng),
            epoch: 0,
            rng,
        }
    }

    /// Goes on to an epoch that is not behind the present one.
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

/// Cosine annealing per step, without warm-up.
fn cosine(learning_rate: f64, step: usize, n_steps: usize) -> f64 {
    let phase = std::f64::consts::PI * step as f64 / n_steps as f64;
    LEAST_LEARNING_RATE + (learning_rate - LEAST_LEARNING_RATE) * 0.5 * (1.0 + phase.cos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::{NamedTensor, Parameters as _};

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
        assert_eq!(
            order_of(&[0, 0, 1, 2, 2]),
            order_of(&[2]),
            "the same order when it is resumed"
        );
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
        };
        let device = crate::device::cpu().autodiff();
        AsymVlm::new(&config, Family::VonMisesFisher, Objective::InfoNce, &device)
    }

    fn weights(fit: &Fit<'_, AsymVlm>) -> Vec<f32> {
        let values = |tensor: NamedTensor| tensor.values.into_data().try_into_vec::<f32>();
        let tensors = fit.method.named_tensors().into_iter();
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
            let begin = |method| Fit::new(method, &training, &features, device.clone());
            let steps = |fit: &mut Fit<'_, AsymVlm>, range: std::ops::Range<usize>| {
                for step in range {
                    fit.step(step);
                }
            };
            let start = untrained();
            let (mut whole, mut first) = (begin(start.clone()), begin(start));
            let n_steps = whole.n_steps();
            steps(&mut whole, 0..n_steps);
            steps(&mut first, 0..4);

            let folder = format!("kappascope-fit-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(folder);
            first.save(4, &folder).expect("a folder for the test");
            let mut second = begin(untrained());
            let taken = second.resume(&folder).expect("the checkpoint is whole");
            // What a checkpoint holds is read when it is first used.
            steps(&mut second, taken..n_steps);
            std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
            assert_eq!(weights(&second), weights(&whole), "weights with {name}");
        }
    }
}
