//! Fits one method and measures it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use burn::tensor::{Device, Tensor};

use super::classify::Classified;
use super::corrupted::{CorruptedSide, impact, less_certain};
use super::evaluation_data::EvaluationData;
use super::fit_plan::{FitPlan, FitRequest};
use super::measure::{Encoded, recall, retrieval};
use super::numbers::Numbers;
use super::paths::{Hierarchies, path_numbers};
use super::picture_uncertainty::share_less;
use super::relevance::Relevance;
use super::validation::{Validation, ValidationSplit};
use crate::metrics::retrieval::mean_impact;
use crate::report::{Impacted, Metric, Shift};
use crate::train::export::bundle::records;
use crate::train::features::cache::{Cache, EmbeddedSet};
use crate::train::features::probes::ProbeSentences;
use crate::train::features::rows::{Embedded, Rows};
use crate::train::files::{make_folder, put};
use crate::train::methods::{
    Activations, Features, FitOutputs, KnownFeatures, Laplace, Method, MethodName, MethodVisitor,
    ProbeLog, Side, Training, train,
};
use crate::train::optimize::Diverged;
use crate::weights::manifest::Logits;
use crate::weights::shard::{Precision, write};

/// Numbers of each data set that was measured on, the own one first.
pub type NumbersBySet = Vec<(String, Numbers)>;

/// What a method that trains nothing knows of the training split.
enum TrainingKnowledge {
    Nothing,
    /// The posteriors of the projections of captions and pictures; none where a tower ends in no projection.
    Posteriors(Box<[Option<Laplace>; 2]>),
    /// Features of the side whose density is asked for.
    Features(Side, Box<KnownFeatures>),
    /// Spread of the views of pictures, which the features bring with them.
    Views,
}

/// Inputs of one method: features, and more for the method that needs it.
struct MethodInputs<'a> {
    evaluator: &'a Evaluator<'a>,
    knowledge: TrainingKnowledge,
}

impl<'a> MethodInputs<'a> {
    fn new(evaluator: &'a Evaluator<'a>, name: MethodName) -> Result<Self> {
        let train = &evaluator.train;
        let knowledge = match name {
            MethodName::Bayesvlm | MethodName::BayesvlmCosine => {
                TrainingKnowledge::Posteriors(Box::new(evaluator.posteriors()?))
            }
            MethodName::Density => {
                TrainingKnowledge::Features(Side::Text, Box::new(KnownFeatures::of(&train.texts)))
            }
            MethodName::ImageDensity => {
                TrainingKnowledge::Features(Side::Image, Box::new(KnownFeatures::of(&train.images)))
            }
            MethodName::Augmentation => TrainingKnowledge::Views,
            _ => TrainingKnowledge::Nothing,
        };
        Ok(Self {
            evaluator,
            knowledge,
        })
    }

    /// Rows of one side on the device, with what the method writes beside them.
    fn rows(&self, side: Side, rows: &Embedded) -> Result<Tensor<2>> {
        let on_device = |rows: &Rows| rows.to_device(self.evaluator.device);
        let features = on_device(&rows.features);
        match &self.knowledge {
            TrainingKnowledge::Posteriors(of_sides) => {
                Ok(match &of_sides[usize::from(side == Side::Image)] {
                    Some(of_side) => of_side.with_variance(features, on_device(&rows.activations)),
                    None => Laplace::without_variance(features),
                })
            }
            TrainingKnowledge::Features(asked, known) if *asked == side => {
                known.with_unfamiliarity(features)
            }
            TrainingKnowledge::Views if side == Side::Image && rows.has_views() => {
                Ok(Tensor::cat(vec![features, on_device(&rows.view_spread)], 1))
            }
            TrainingKnowledge::Features(..)
            | TrainingKnowledge::Views
            | TrainingKnowledge::Nothing => Ok(features),
        }
    }

    /// Captions and pictures of a split or a task.
    fn both<Ids>(&self, set: &EmbeddedSet<Ids>) -> Result<(Tensor<2>, Tensor<2>)> {
        let texts = self.rows(Side::Text, &set.texts)?;
        Ok((texts, self.rows(Side::Image, &set.images)?))
    }

    fn measure<M: Method>(&self, method: &M, name: MethodName) -> Result<NumbersBySet> {
        let sets = self.evaluator.data.measured().into_iter();
        let measured =
            sets.map(|(dataset, cache)| Ok((dataset, self.measure_on(cache, method, name)?)));
        let mut measured = measured.collect::<Result<NumbersBySet>>()?;
        // The own data set is the first.
        if let Some((_, own)) = measured.first_mut() {
            own.extend(self.impact_of_corruptions(method, own)?);
        }
        Ok(measured)
    }

    /// Recall on the own test split with one side corrupted, the other side being clean, and how many of the corrupted
    /// pictures are less certain.
    fn impact_of_corruptions<M: Method>(&self, method: &M, clean: &Numbers) -> Result<Numbers> {
        let data = self.evaluator.data;
        let (texts, images) = self.both(&data.own.test)?;
        let encoded = Encoded::new(method, images, texts);
        let ids = &data.own.test.ids;
        let relevance = Relevance::of(ids);
        let before = encoded.uncertainty_of_images()?;
        let (mut recalls, mut shares) = (Vec::new(), Vec::new());
        for split in &data.corrupted {
            let rows = |side| self.rows(side, &split.rows);
            let corrupted = match split.side {
                CorruptedSide::Pictures => encoded.with_images(rows(Side::Image)?),
                CorruptedSide::Captions => encoded.with_texts(rows(Side::Text)?),
            };
            recalls.push((&split.corruption, recall(&corrupted, ids, &relevance)?));
            let after = corrupted.uncertainty_of_images()?;
            if split.side == CorruptedSide::Pictures
                && let Some((before, after)) = before.as_ref().zip(after)
            {
                shares.push((&split.corruption, share_less(before, &after)));
            }
        }
        let mut numbers = impact(clean, &recalls);
        numbers.extend(less_certain(&shares));
        Ok(numbers)
    }

    /// Recall under noise and its mean loss: on pictures alone, on captions alone, on both as in `both`.
    fn impact<M: Method>(&self, noisy: &Cache, method: &M, both: &Numbers) -> Result<Numbers> {
        let own = &self.evaluator.data.own;
        let is_same = noisy.config.dataset == own.config.dataset
            && noisy.test.ids.images == own.test.ids.images
            && noisy.test.ids.captions.len() == own.test.ids.captions.len();
        if !is_same {
            return Ok(Numbers::new());
        }
        let (texts, images) = self.both(&own.test)?;
        let (noisy_texts, noisy_images) = self.both(&noisy.test)?;
        let recall = |images: &Tensor<2>, texts: &Tensor<2>| {
            let encoded = Encoded::new(method, images.clone(), texts.clone());
            retrieval(&encoded, &own.test.ids)
        };
        let clean = recall(&images, &texts)?;
        let of_pictures = recall(&noisy_images, &texts)?;
        let of_captions = recall(&images, &noisy_texts)?;
        let mut numbers = Numbers::new();
        let impacted = [
            Impacted::TextToImage,
            Impacted::ImageToText,
            Impacted::ImageToOwnText,
        ];
        for of in impacted {
            let metric = of.clean();
            if !clean.contains_key(&metric) {
                continue;
            }
            let shifted = [&of_pictures, &of_captions, both].map(|found| found[&metric]);
            let impact = mean_impact(clean[&metric], &shifted);
            let mut put = |shift, value| numbers.insert(Metric::Shifted(of, shift), value);
            put(Shift::NoisyPictures, shifted[0]);
            put(Shift::NoisyCaptions, shifted[1]);
            if let Some(impact) = impact {
                put(Shift::NoiseImpact, impact);
            }
        }
        Ok(numbers)
    }

    /// What paths from the pictures towards a root meet, where the caption without words was embedded.
    fn paths<M: Method>(
        &self,
        cache: &Cache,
        method: &M,
        [images, texts]: [&Tensor<2>; 2],
    ) -> Result<Numbers> {
        let probes = cache
            .probes
            .as_ref()
            .or(self.evaluator.data.own.probes.as_ref());
        let Some(no_words) = probes.and_then(ProbeSentences::no_words) else {
            return Ok(Numbers::new());
        };
        let hierarchies = Hierarchies {
            images: images.clone(),
            texts: texts.clone(),
            no_words: no_words.to_device(self.evaluator.device),
            captions: &cache.test.ids.captions,
        };
        path_numbers(method, hierarchies)
    }

    fn measure_on<M: Method>(
        &self,
        cache: &Cache,
        method: &M,
        name: MethodName,
    ) -> Result<Numbers> {
        let (texts, images) = self.both(&cache.test)?;
        let mut numbers = self.paths(cache, method, [&images, &texts])?;
        let encoded = Encoded::new(method, images, texts);
        numbers.extend(retrieval(&encoded, &cache.test.ids)?);
        if !cache.config.noise.is_empty() {
            numbers.extend(self.impact(cache, method, &numbers)?);
        }
        for task in &cache.tasks {
            let (texts, images) = self.both(task)?;
            let encoded = Encoded::new(method, images, texts);
            let classified = Classified::new(&encoded, &task.ids)?;
            if task.ids.dummies.is_empty() {
                let metric = Metric::Accuracy(task.ids.name.clone().into());
                numbers.insert(metric, classified.accuracy()?);
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
    inputs: &'a MethodInputs<'a>,
    outputs: FitOutputs<'a>,
}

impl MethodVisitor for FitAndMeasure<'_> {
    type Output = Result<NumbersBySet>;

    fn visit<M: Method>(self, method: M) -> Result<NumbersBySet> {
        let FitRequest { name, seed } = self.request;
        let method = drawn(method, seed);
        let started = Instant::now();
        let method = match &self.training {
            None => method.valid(),
            Some(training) => {
                let features = &self.inputs.evaluator.train;
                train(method, name.title(), training, features, self.outputs)?
            }
        };
        let fit_seconds = started.elapsed().as_secs_f64();
        if let (Some(folder), true) = (self.outputs.checkpoint, self.training.is_some()) {
            let weights = write(&records(&method)?, Precision::F32)?;
            put(&folder.join("method.safetensors"), weights)?;
        }
        let started = Instant::now();
        let mut measured = self.inputs.measure(&method, name)?;
        let measure_seconds = started.elapsed().as_secs_f64();
        let scale = self.training.as_ref().and_then(|_| method.logit_scale());
        let scale = scale.map(Tensor::try_into_scalar::<f32>).transpose()?;
        if let Some((_, own)) = measured.first_mut() {
            own.extend(scale.map(|scale| (Metric::FittedScale, f64::from(scale))));
            own.insert(Metric::FitSeconds, fit_seconds);
            own.insert(Metric::MeasureSeconds, measure_seconds);
        }
        Ok(measured)
    }
}

/// Trains a method on some of the pictures and measures it on the others; `None` where the training diverged.
struct FitAndValidate<'a> {
    request: FitRequest,
    training: Training,
    split: &'a ValidationSplit,
}

impl MethodVisitor for FitAndValidate<'_> {
    type Output = Result<Option<Validation>>;

    fn visit<M: Method>(self, method: M) -> Result<Option<Validation>> {
        let FitRequest { name, seed } = self.request;
        let method = drawn(method, seed);
        match train(
            method,
            name.title(),
            &self.training,
            &self.split.train,
            FitOutputs::default(),
        ) {
            Ok(method) => self.split.measure(&method, &self.training),
            Err(error) => error.downcast::<Diverged>().map(|_| None),
        }
    }
}

/// The method with its initial weights, which depend on the seed alone.
fn drawn<M: Method>(method: M, seed: u64) -> M {
    /// Burn draws from one generator of the process: who seeds it must be alone until all is drawn.
    static DRAWING: Mutex<()> = Mutex::new(());
    let _alone = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    for device in method.devices() {
        device.seed(seed);
    }
    // Weights are drawn when they are first read, and clones share them.
    drop(method.clone().valid());
    method
}

/// Fits and measures methods on cached features, which lie on the device.
#[derive(Debug)]
pub struct Evaluator<'a> {
    pub(super) data: &'a EvaluationData,
    train: Features,
    device: &'a Device,
}

impl<'a> Evaluator<'a> {
    /// Brings the features that are trained on to the device.
    #[must_use]
    pub fn new(data: &'a EvaluationData, device: &'a Device) -> Self {
        Self {
            train: data.own.train.features(device),
            data,
            device,
        }
    }

    /// The features' probe sentences, if there are any, to be written down in a file.
    pub(super) fn probe_log(&self, path: PathBuf) -> Option<ProbeLog> {
        let probes = self.data.own.probes.as_ref()?;
        Some(ProbeLog {
            sentences: probes.sentences.clone(),
            features: probes.features.to_device(self.device),
            path,
        })
    }

    /// The posteriors of the last projections of captions and pictures.
    fn posteriors(&self) -> Result<[Option<Laplace>; 2]> {
        let (cache, train) = (&self.data.own, &self.train);
        let logits = cache.config.logits.unwrap_or(Logits::CLIP);
        let (text, image) = cache.train.activations(&cache.config, self.device);
        let estimate = |features: &Tensor<2>, activations: &Activations, others: &Tensor<2>| {
            let has_projection = activations.squared_weight_norm > 0.0;
            has_projection
                .then(|| Laplace::estimate(features, activations, others, logits))
                .transpose()
        };
        Ok([
            estimate(&train.texts, &text, &train.images)?,
            estimate(&train.images, &image, &train.texts)?,
        ])
    }

    /// The training split in two, for the choice of learning rates.
    #[must_use]
    pub(super) fn validation_split(&self) -> ValidationSplit {
        ValidationSplit::of(&self.train, self.device)
    }

    /// Measures a fit on pictures that it was not fitted to; `None` where it diverged.
    ///
    /// # Errors
    ///
    /// The user interrupted, or the device fails.
    pub(super) fn validate(
        &self,
        request: FitRequest,
        training: Training,
        plan: &FitPlan,
        split: &ValidationSplit,
    ) -> Result<Option<Validation>> {
        let options = plan.options(self.data.own.config.embed_dim);
        let job = FitAndValidate {
            request,
            training,
            split,
        };
        let autodiff = self.device.clone().autodiff();
        request.name.visit(&options, &autodiff, job)
    }

    /// Fits one method and measures it; with a folder, weights and a checkpoint lie there.
    ///
    /// # Errors
    ///
    /// The user interrupted, the training diverged, or a file cannot be written.
    pub fn fit(
        &self,
        request: FitRequest,
        plan: &FitPlan,
        folder: Option<&Path>,
    ) -> Result<NumbersBySet> {
        let outputs = FitOutputs {
            checkpoint: folder,
            probes: None,
        };
        self.fit_with(request, plan, outputs)
    }

    /// Fits one method and measures it; that a recipe diverges is a result, too.
    pub(super) fn fit_or_divergence(
        &self,
        request: FitRequest,
        plan: &FitPlan,
        folder: Option<&Path>,
    ) -> Result<NumbersBySet> {
        self.fit(request, plan, folder).or_else(|error| {
            let step = error.downcast::<Diverged>()?.step;
            let numbers = Numbers::from([(Metric::DivergedAtStep, step as f64)]);
            Ok(vec![(self.data.own.config.dataset.clone(), numbers)])
        })
    }

    /// Fits one method and measures it; weights lie beside the checkpoint.
    pub(super) fn fit_with(
        &self,
        request: FitRequest,
        plan: &FitPlan,
        outputs: FitOutputs<'_>,
    ) -> Result<NumbersBySet> {
        if let Some(folder) = outputs.checkpoint {
            make_folder(folder)?;
        }
        let options = plan.options(self.data.own.config.embed_dim);
        let job = FitAndMeasure {
            training: plan.training(request.name, request.seed),
            inputs: &MethodInputs::new(self, request.name)?,
            request,
            outputs,
        };
        let autodiff = self.device.clone().autodiff();
        request.name.visit(&options, &autodiff, job)
    }
}
