//! Fits and measures one method, or all of them with several seeds; what is done is not done again.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::{Device, Tensor};
use serde::Serialize;

use super::cache::{Cache, CacheConfig, Task};
use super::classify::Classified;
use super::given::Given;
use super::measure::{Encoded, Numbers, retrieval};
use super::results::Results;
use super::{figures, tables};
use crate::metrics::retrieval::mean_impact;
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
    /// Sizes of the perceptrons for features of this width.
    #[must_use]
    pub fn sizes(&self, embed_dim: usize) -> AdapterConfig {
        let usual = HIDDEN_WIDTH.min(WIDENING * embed_dim);
        AdapterConfig {
            embed_dim,
            hidden_width: self.hidden_width.unwrap_or(usual),
            hidden_layers: HIDDEN_LAYERS,
        }
    }

    fn options(&self, embed_dim: usize) -> Options {
        Options {
            follow: self.follow,
            sizes: self.sizes(embed_dim),
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

/// Numbers of each data set that was measured on, the own one first.
pub type Measured = Vec<(String, Numbers)>;

/// What a method is given.
struct Data<'a> {
    given: &'a Given,
    device: &'a Device,
    /// The posteriors of the projections of captions and pictures, for the method that reads them.
    posteriors: Option<(Laplace, Laplace)>,
}

impl<'a> Data<'a> {
    fn new(given: &'a Given, name: MethodName, device: &'a Device) -> Result<Self> {
        /// CLIP's own factor, at which the curvature is taken.
        const CLIP_SCALE: f64 = 100.0;
        let cache = &given.own;
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
            given,
            device,
            posteriors,
        })
    }

    /// Captions and pictures of a test split.
    fn test(&self, cache: &Cache) -> (Tensor<2>, Tensor<2>) {
        let test = &cache.test;
        let features = test.features(self.device);
        match &self.posteriors {
            None => (features.texts, features.images),
            Some((text, image)) => {
                let (texts, images) = test.activations(&cache.config, self.device);
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

    fn measure<M: Method>(&self, method: &M, name: MethodName) -> Result<Measured> {
        let sets = self.given.measured().into_iter();
        sets.map(|(dataset, cache)| Ok((dataset, self.measure_on(cache, method, name)?)))
            .collect()
    }

    /// What noise does to recall: on pictures alone, on captions alone, on both as in `both`.
    fn impact<M: Method>(&self, noisy: &Cache, method: &M, both: &Numbers) -> Result<Numbers> {
        let own = &self.given.own;
        let is_same = noisy.config.dataset == own.config.dataset
            && noisy.test.ids.images == own.test.ids.images
            && noisy.test.ids.captions.len() == own.test.ids.captions.len();
        if !is_same {
            return Ok(Numbers::new());
        }
        let ((texts, images), (noisy_texts, noisy_images)) = (self.test(own), self.test(noisy));
        let recall = |images: &Tensor<2>, texts: &Tensor<2>| {
            let encoded = Encoded::new(method, images.clone(), texts.clone());
            retrieval(&encoded, &own.test.ids)
        };
        let undisturbed = recall(&images, &texts)?;
        let of_pictures = recall(&noisy_images, &texts)?;
        let of_captions = recall(&images, &noisy_texts)?;
        let mut numbers = Numbers::new();
        for metric in ["t2i_recall_at_1", "i2t_recall_at_1"] {
            let shifted = [&of_pictures, &of_captions, both].map(|found| found[metric]);
            numbers.insert(format!("{metric}_noisy_pictures"), shifted[0]);
            numbers.insert(format!("{metric}_noisy_captions"), shifted[1]);
            if let Some(impact) = mean_impact(undisturbed[metric], &shifted) {
                numbers.insert(format!("{metric}_mmi"), impact);
            }
        }
        Ok(numbers)
    }

    fn measure_on<M: Method>(
        &self,
        cache: &Cache,
        method: &M,
        name: MethodName,
    ) -> Result<Numbers> {
        let (texts, images) = self.test(cache);
        let encoded = Encoded::new(method, images, texts);
        let mut numbers = retrieval(&encoded, &cache.test.ids)?;
        if !cache.config.noise.is_empty() {
            numbers.extend(self.impact(cache, method, &numbers)?);
        }
        for task in &cache.tasks {
            let (texts, images) = self.task(task);
            let encoded = Encoded::new(method, images, texts);
            let classified = Classified::new(&encoded, &task.ids)?;
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
    type Output = Result<Measured>;

    fn run<M: Method>(self, method: M) -> Result<Measured> {
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
        let mut measured = self.data.measure(&method, name)?;
        let measure_seconds = started.elapsed().as_secs_f64();
        if let Some((_, own)) = measured.first_mut() {
            own.insert("fit_seconds".to_owned(), fit_seconds);
            own.insert("measure_seconds".to_owned(), measure_seconds);
        }
        Ok(measured)
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
    given: &Given,
    folder: Option<&Path>,
    device: &Device,
) -> Result<Measured> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
    }
    let cache = &given.own;
    let options = plan.options(cache.config.embed_dim);
    let autodiff = device.clone().autodiff();
    autodiff.seed(request.seed);
    let features = cache.train.features(device);
    let data = Data::new(given, request.name, device)?;
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
    features: &'a CacheConfig,
    also_measured_on: Vec<&'a CacheConfig>,
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
    given: &Given,
    folder: &Path,
    device: (&str, &Device),
) -> Result<()> {
    ensure!(n_seeds > 0, "no seeds: at least one is needed");
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    claim(plan, given, folder, device.0)?;
    let path = folder.join("results.json");
    let mut results = Results::read(&path)?;
    let dataset = &given.own.config.dataset;
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
            let measured = fit_one(request, plan, given, Some(&unfinished), device.1)
                .with_context(|| format!("{} with seed {seed}", name.slug()))?;
            for (dataset, numbers) in measured {
                results.add(name, &dataset, seed, numbers);
            }
            results.write(&path)?;
            std::fs::remove_dir_all(&unfinished)?;
        }
    }
    // Empty by now; it may also never have been made.
    std::fs::remove_dir(folder.join("unfinished")).ok();
    std::fs::write(folder.join("tables.md"), tables::markdown(&results))?;
    for dataset in results.datasets() {
        for name in figures::write(&results.on(&dataset), &dataset, folder)? {
            eprintln!("{}", folder.join(name).display());
        }
    }
    Ok(())
}

/// Writes `environment.json`, or checks that the run there was planned the same way.
fn claim(plan: &Plan, given: &Given, folder: &Path, device: &str) -> Result<()> {
    let config = &given.own.config;
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
        hidden_width: plan.sizes(config.embed_dim).hidden_width,
        features: config,
        also_measured_on: given.others.iter().map(|cache| &cache.config).collect(),
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
            "also_measured_on",
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
