//! `train scenes`: from nothing to a small CLIP with its two adapters.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use burn::module::Module as _;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use super::attributes::attribute_accuracy;
use super::batch::Pool;
use super::clip::{self, TrainingData};
use super::drawn::{CaptionKinds, Drawn};
use super::encode::PROBE_SENTENCES;
use super::recipe::{ScenesRecipe, tokenizer_json};
use crate::model::adapter::{Adapter, Family, PerFamily};
use crate::model::clip::Clip;
use crate::preprocess::image::ImagePreprocess;
use crate::preprocess::text::TextPreprocess;
use crate::scenes::Compositions;
use crate::train::data::corruption::Corruptions;
use crate::train::features::encoder::Encoder;
use crate::train::files;
use crate::train::methods::{AsymVlm, ContrastiveLoss, Features, FitOutputs, ProbeLog, train};
use crate::train::optimize::Checkpoint;

/// Scenes on which attributes are checked while developing; the test set of `evaluate` has another seed.
const N_VALIDATION: usize = 1000;
const VALIDATION_SEED: u64 = 1_000_000;

/// Folder in which a run keeps its state, and the time between two checkpoints.
#[derive(Debug, Clone, Copy)]
pub struct RunFolder<'a> {
    /// Folder of the run.
    pub folder: &'a Path,
    /// Time between two checkpoints of the encoder; none after each step.
    pub interval: Duration,
}

/// A trained encoder with its adapters.
#[derive(Debug)]
pub struct Trained {
    /// The trained encoder, without autodiff.
    pub clip: Clip,
    /// The trained adapter of each family.
    pub adapters: PerFamily<Adapter>,
    /// Accuracy of each attribute on validation scenes.
    pub metrics: BTreeMap<String, f64>,
}

/// Trains encoder and adapters in a folder, or resumes where an interrupted run stopped.
///
/// # Errors
///
/// The folder holds a run with another recipe or of an earlier version, cannot be written, or the user interrupted.
pub fn run(recipe: &ScenesRecipe, run: &RunFolder<'_>, device: &Device) -> Result<Trained> {
    let folder = run.folder;
    files::make_folder(folder)?;
    claim(recipe, folder)?;
    let json = tokenizer_json();
    files::put(&folder.join("tokenizer.json"), &json)?;
    let tokenizer =
        TextPreprocess::from_tokenizer_json(json.as_bytes(), recipe.model.text_cfg.context_length)?;
    let preprocess = ImagePreprocess::clip(recipe.model.vision_cfg.image_size);

    let mut checkpoint = Checkpoint::new(&folder.join("encoder"), recipe)?;
    checkpoint.interval = run.interval;
    let clip = match clip::finished(&recipe.model, &recipe.clip, &checkpoint, device)? {
        Some(clip) => clip,
        None => train_encoder(recipe, &tokenizer, &preprocess, &checkpoint, device)?,
    };
    let encoder = Encoder::of_trained(&clip, &recipe.model, tokenizer, preprocess, device);
    let metrics = validate(&encoder, folder)?;
    let mut features = None;
    let mut adapter = |family| fit_adapter(recipe, family, &mut features, &encoder, folder);
    Ok(Trained {
        adapters: PerFamily {
            vmf: adapter(Family::VonMisesFisher)?,
            power_spherical: adapter(Family::PowerSpherical)?,
        },
        clip,
        metrics,
    })
}

fn train_encoder(
    recipe: &ScenesRecipe,
    tokenizer: &TextPreprocess,
    preprocess: &ImagePreprocess,
    checkpoint: &Checkpoint,
    device: &Device,
) -> Result<Clip> {
    eprintln!("drawing {} scenes", recipe.clip.pool);
    let (n_scenes, seed) = (recipe.clip.pool, recipe.clip.seed);
    let pool = Pool::draw(n_scenes, Compositions::Seen, seed, preprocess);
    let data = TrainingData { pool, tokenizer };
    clip::train(&recipe.model, &recipe.clip, &data, checkpoint, device)
}

/// Accuracy of each attribute on validation scenes, measured once for a run.
fn validate(encoder: &Encoder, folder: &Path) -> Result<BTreeMap<String, f64>> {
    let path = folder.join("metrics.json");
    if let Some(metrics) = files::find_json(&path)? {
        return Ok(metrics);
    }
    let metrics = attribute_accuracy(encoder, N_VALIDATION, VALIDATION_SEED)?;
    eprintln!("attributes on {N_VALIDATION} validation scenes: {metrics:.3?}");
    files::put_json(&path, &metrics)?;
    Ok(metrics)
}

/// Writes `config.json`, or checks that the one there holds the same recipe.
fn claim(recipe: &ScenesRecipe, folder: &Path) -> Result<()> {
    ensure!(
        !folder.join("encoder.json").exists(),
        "{} holds a run of an earlier version of this program; choose another folder or delete it",
        folder.display()
    );
    let path = folder.join("config.json");
    let Some(there) = files::find_json::<ScenesRecipe>(&path)? else {
        return files::put_json(&path, recipe);
    };
    let (is_same, folder) = (there == *recipe, folder.display());
    ensure!(
        is_same,
        "{folder} holds a run with another recipe; choose another folder"
    );
    Ok(())
}

/// The adapter of a family: the finished one of the folder, or a fit to features that are made when first needed.
fn fit_adapter(
    recipe: &ScenesRecipe,
    family: Family,
    features: &mut Option<Features>,
    encoder: &Encoder,
    folder: &Path,
) -> Result<Adapter> {
    let (name, file) = match family {
        Family::VonMisesFisher => ("vMF adapter", "vmf"),
        Family::PowerSpherical => ("power-spherical adapter", "power_spherical"),
    };
    let (path, checkpoint) = (folder.join(format!("{file}.bpk")), folder.join(file));
    if path.exists() {
        // A run that was killed after it had saved the adapter left this file.
        files::remove_folder(&checkpoint)?;
        let fresh = recipe.adapter.init(encoder.device());
        let record = ModuleRecord::load(&path);
        let shown = path.display();
        let record = record
            .with_context(|| format!("{shown} is damaged; delete it, and it is fitted anew"))?;
        return Ok(fresh.load_record(record));
    }
    if features.is_none() {
        *features = Some(adapter_features(recipe, encoder)?);
    }
    let features = features.as_ref().context("features were just made")?;
    let autodiff = encoder.device().clone().autodiff();
    autodiff.seed(recipe.fit.seed);
    let method = AsymVlm::new(&recipe.adapter, family, ContrastiveLoss::InfoNce, &autodiff);
    let probes = encoder.probes(&PROBE_SENTENCES)?;
    let probes = ProbeLog {
        features: probes.features.to_device(encoder.device()),
        sentences: probes.sentences,
        path: folder.join(format!("probes-{file}.json")),
    };
    let outputs = FitOutputs {
        checkpoint: Some(&checkpoint),
        probes: Some(&probes),
    };
    let adapter = train(method, name, &recipe.fit, features, outputs)?.adapter;
    files::put_by(&path, |new| Ok(adapter.clone().into_record().save(new)?))?;
    files::remove_folder(&checkpoint)?;
    Ok(adapter)
}

/// Features of fresh scenes with captions of all levels.
fn adapter_features(recipe: &ScenesRecipe, encoder: &Encoder) -> Result<Features> {
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.fit.seed);
    rng.set_stream(u64::MAX);
    let n_scenes = recipe.adapter_scenes;
    let drawn = Drawn::new(n_scenes, Compositions::Seen, CaptionKinds::Train, &mut rng);
    let split = drawn.embed(encoder, ["scenes", "captions"], Corruptions::default(), 0)?;
    Ok(split.features(encoder.device()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::scenes_model::recipe::Preset;

    #[test]
    fn a_folder_with_another_recipe_is_refused() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let claim_with = |seed| claim(&ScenesRecipe::new(Preset::Small, seed), folder.path());
        let results = [0, 0, 1].map(|seed| claim_with(seed).is_ok());
        assert_eq!(
            results,
            [true, true, false],
            "new, the same again, another seed"
        );
    }
}
