//! Fits and measures one method, or all of them with several seeds; what is done is not done again.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::{Device, Tensor};
use serde::Serialize;

use super::cache::{Cache, Task};
use super::classify::Classified;
use super::measure::{Encoded, Numbers, retrieval};
use super::results::Results;
use super::{figures, tables};
use crate::model::adapter::AdapterConfig;
use crate::train::bundle::records;
use crate::train::fit::{Features, Training, train};
use crate::train::methods::{Follow, Job, Laplace, Method, MethodName, Options, UncertaintyOf};
use crate::weights::shard::{Precision, write};

/// The paper's hidden width, and how much wider than the features it is at their 512 dimensions.
const HIDDEN_WIDTH: usize = 1024;
const WIDENING: usize = 2;
/// Hidden layers of the paper's code.
const HIDDEN_LAYERS: usize = 3;

/// How to fit; what is not given is as published.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Pairs in a batch.
    pub batch: usize,
    /// Passes over the captions.
    pub epochs: usize,
    /// Factor on each method's published learning rate.
    pub rate_factor: f64,
    /// Paper or code, where they differ.
    pub follow: Follow,
    /// What `ProbVLM` calls uncertainty.
    pub probvlm_uncertainty: UncertaintyOf,
    /// Where τ starts in deterministic fine-tuning; 1 if not given.
    pub deterministic_scale: Option<f32>,
    /// Width of hidden layers; the paper's 1024, or twice the features' where that is less.
    pub hidden_width: Option<usize>,
    /// The command, for the record.
    pub command: String,
}

impl Plan {
    fn options(&self, embed_dim: usize) -> Options {
        let usual = HIDDEN_WIDTH.min(WIDENING * embed_dim);
        Options {
            follow: self.follow,
            sizes: AdapterConfig {
                embed_dim,
                hidden_width: self.hidden_width.unwrap_or(usual),
                hidden_layers: HIDDEN_LAYERS,
            },
            batch: self.batch,
            deterministic_scale: self.deterministic_scale,
            probvlm_uncertainty: self.probvlm_uncertainty,
        }
    }

    /// `None` for a method that trains nothing.
    fn training(&self, name: MethodName, seed: u64) -> Option<Training> {
        Some(Training {
            optimizer: name.optimizer(self.follow)?.faster(self.rate_factor),
            batch: self.batch,
            epochs: self.epochs,
            seed,
        })
    }
}

/// What to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitRequest {
    /// The method.
    pub name: MethodName,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
}

/// What a method is given.
struct Data<'a> {
    cache: &'a Cache,
    device: &'a Device,
    /// The posteriors of the projections of captions and pictures, for the method that reads them.
    posteriors: Option<(Laplace, Laplace)>,
}

impl<'a> Data<'a> {
    fn new(cache: &'a Cache, name: MethodName, device: &'a Device) -> Result<Self> {
        /// CLIP's own factor, at which the curvature is taken.
        const CLIP_SCALE: f64 = 100.0;
        let posteriors = if name == MethodName::Bayesvlm {
            ensure!(
                cache.config.squared_text_norm > 0.0 && cache.config.squared_image_norm > 0.0,
                "{} has no linear last layer in both towers, which BayesVLM is about",
                cache.config.model
            );
            let train = cache.train.features(device);
            let (text, image) = cache.train.activations(&cache.config, device);
            Some((
                Laplace::estimate(&train.texts, &text, &train.images, CLIP_SCALE)?,
                Laplace::estimate(&train.images, &image, &train.texts, CLIP_SCALE)?,
            ))
        } else {
            None
        };
        Ok(Self {
            cache,
            device,
            posteriors,
        })
    }

    /// Captions and pictures of the test split.
    fn test(&self) -> (Tensor<2>, Tensor<2>) {
        let test = &self.cache.test;
        let features = test.features(self.device);
        match &self.posteriors {
            None => (features.texts, features.images),
            Some((text, image)) => {
                let (texts, images) = test.activations(&self.cache.config, self.device);
                (
                    text.with_variance(features.texts, texts.rows),
                    image.with_variance(features.images, images.rows),
                )
            }
        }
    }

    /// Captions and pictures of a task.
    fn task(&self, task: &Task) -> (Tensor<2>, Tensor<2>) {
        let of = |rows: &super::cache::Rows| rows.to_device(self.device);
        let (texts, images) = (of(&task.texts), of(&task.images));
        match &self.posteriors {
            None => (texts, images),
            Some((text, image)) => (
                text.with_variance(texts, of(&task.text_activations)),
                image.with_variance(images, of(&task.image_activations)),
            ),
        }
    }

    fn measure<M: Method>(&self, method: &M, name: MethodName) -> Result<Numbers> {
        let (texts, images) = self.test();
        let encoded = Encoded::new(method, images, texts);
        let mut numbers = retrieval(&encoded, &self.cache.test.ids)?;
        for task in &self.cache.tasks {
            let (texts, images) = self.task(task);
            let encoded = Encoded::new(method, images, texts);
            let classified = Classified::new(&encoded, &task.ids.labels, task.ids.classes.len())?;
            if task.ids.dummies.is_empty() {
                numbers.insert(
                    format!("accuracy_{}", task.ids.name),
                    classified.accuracy()?,
                );
                continue;
            }
            numbers.extend(classified.with_dummies()?);
            if name == MethodName::Clip {
                numbers.extend(classified.with_thresholds()?);
            }
        }
        Ok(numbers)
    }
}

/// Trains a method, keeps its weights if there is a folder for them, and measures it.
struct FitAndMeasure<'a> {
    request: FitRequest,
    training: Option<Training>,
    features: &'a Features,
    data: &'a Data<'a>,
    folder: Option<&'a Path>,
}

impl Job for FitAndMeasure<'_> {
    type Output = Result<Numbers>;

    fn run<M: Method>(self, method: M) -> Result<Numbers> {
        let started = Instant::now();
        let name = self.request.name;
        let method = match &self.training {
            None => method.valid(),
            Some(training) => train(method, name.title(), training, self.features, self.folder)?,
        };
        let fit_seconds = started.elapsed().as_secs_f64();
        if let (Some(folder), true) = (self.folder, self.training.is_some()) {
            let weights = write(&records(&method)?, Precision::F32)?;
            std::fs::write(folder.join("method.safetensors"), weights)?;
        }
        let started = Instant::now();
        let mut numbers = self.data.measure(&method, name)?;
        let measure_seconds = started.elapsed().as_secs_f64();
        numbers.insert("fit_seconds".to_owned(), fit_seconds);
        numbers.insert("measure_seconds".to_owned(), measure_seconds);
        Ok(numbers)
    }
}

/// Fits one method on cached features and measures it; with a folder, weights and a checkpoint lie there.
///
/// # Errors
///
/// The user interrupted, the training left the numbers, or a file cannot be written.
pub fn fit_one(
    request: FitRequest,
    plan: &Plan,
    cache: &Cache,
    folder: Option<&Path>,
    device: &Device,
) -> Result<Numbers> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
    }
    let options = plan.options(cache.config.embed_dim);
    let autodiff = device.clone().autodiff();
    autodiff.seed(request.seed);
    let features = cache.train.features(device);
    let data = Data::new(cache, request.name, device)?;
    let job = FitAndMeasure {
        request,
        training: plan.training(request.name, request.seed),
        features: &features,
        data: &data,
        folder,
    };
    request.name.with(&options, &autodiff, job)
}

/// What else a reader has to know to repeat the numbers.
#[derive(Serialize)]
struct Environment<'a> {
    command: &'a str,
    version: &'static str,
    commit: String,
    system: String,
    n_cores: usize,
    device: &'a str,
    batch: usize,
    epochs: usize,
    rate_factor: f64,
    follow: Follow,
    hidden_width: usize,
    features: &'a super::cache::CacheConfig,
}

/// Fits and measures methods with seeds 0, 1, …; writes `results.json`, `tables.md` and the figures after each.
///
/// # Errors
///
/// As [`fit_one`].
pub fn reproduce(
    methods: &[MethodName],
    n_seeds: u64,
    plan: &Plan,
    cache: &Cache,
    folder: &Path,
    device: (&str, &Device),
) -> Result<()> {
    ensure!(n_seeds > 0, "no seeds: at least one is needed");
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    claim(plan, cache, folder, device.0)?;
    let path = folder.join("results.json");
    let mut results = Results::read(&path)?;
    let dataset = &cache.config.dataset;
    for seed in 0..n_seeds {
        for &name in methods {
            // What trains nothing is the same for every seed.
            let is_fixed = name.optimizer(plan.follow).is_none() && seed > 0;
            if is_fixed || results.has(name, dataset, seed) {
                continue;
            }
            let unfinished = folder
                .join("unfinished")
                .join(format!("{}-{seed}", name.slug()));
            let request = FitRequest { name, seed };
            let numbers = fit_one(request, plan, cache, Some(&unfinished), device.1)
                .with_context(|| format!("{} with seed {seed}", name.slug()))?;
            results.add(name, dataset, seed, numbers);
            results.write(&path)?;
            std::fs::remove_dir_all(&unfinished)?;
        }
    }
    // Empty by now; it may also never have been made.
    std::fs::remove_dir(folder.join("unfinished")).ok();
    std::fs::write(folder.join("tables.md"), tables::markdown(&results))?;
    for name in figures::write(&results, folder)? {
        eprintln!("{}", folder.join(name).display());
    }
    Ok(())
}

/// Writes `environment.json`, or checks that the run there was planned the same way.
fn claim(plan: &Plan, cache: &Cache, folder: &Path, device: &str) -> Result<()> {
    let environment = Environment {
        command: &plan.command,
        version: env!("CARGO_PKG_VERSION"),
        commit: commit(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        n_cores: std::thread::available_parallelism().map_or(1, usize::from),
        device,
        batch: plan.batch,
        epochs: plan.epochs,
        rate_factor: plan.rate_factor,
        follow: plan.follow,
        hidden_width: plan.options(cache.config.embed_dim).sizes.hidden_width,
        features: &cache.config,
    };
    let path = folder.join("environment.json");
    let now = serde_json::to_value(&environment)?;
    if let Ok(json) = std::fs::read(&path) {
        let there: serde_json::Value =
            serde_json::from_slice(&json).with_context(|| path.display().to_string())?;
        for key in [
            "batch",
            "epochs",
            "rate_factor",
            "follow",
            "hidden_width",
            "features",
        ] {
            ensure!(
                there[key] == now[key],
                "{} holds results with {key} {}, not {}; choose another folder",
                folder.display(),
                there[key],
                now[key]
            );
        }
        return Ok(());
    }
    std::fs::write(path, serde_json::to_string_pretty(&now)?)?;
    Ok(())
}

/// The commit of the working tree, or nothing where there is none.
fn commit() -> String {
    let output = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => String::new(),
    }
}
