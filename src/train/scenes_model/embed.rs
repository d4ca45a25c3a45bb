//! `train embed --world scenes`: drawn scenes and their captions through a frozen encoder, as a cache of features.

use std::path::Path;

use anyhow::{Result, ensure};
use burn::tensor::Device;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use super::attributes;
use super::drawn::{CaptionKinds, Drawn, DrawnCaption};
use super::encode::{PROBE_SENTENCES, embed_images, embed_texts};
use crate::corruption::{Corruption, ImageCorruption, Misspelling};
use crate::scenes::{Compositions, Scene};
use crate::train::data::corruption::Corruptions;
use crate::train::features::cache::{Cache, CacheConfig, Task, TaskIds};
use crate::train::features::encoder::Encoder;
use crate::train::features::rows::Embedded;

/// Test scenes have seeds of their own, behind all training seeds.
const TEST_SEED: u64 = 4_000_000;
/// Captions for "none of the above", after the dummies of the paper.
const DUMMIES: [&str; 3] = ["a picture", "a shape", "something"];

/// Numbers of scenes to embed, with their seed, corruption and views.
#[derive(Debug, Clone, PartialEq)]
pub struct Amounts {
    /// Scenes to train on, with seven captions each.
    pub train_scenes: usize,
    /// Scenes to measure on, with six captions each.
    pub test_scenes: usize,
    /// Scenes of each classification task.
    pub task_scenes: usize,
    /// Seed of the training scenes.
    pub seed: u64,
    /// Corruption of the scenes and captions that are measured on.
    pub noise: Corruptions,
    /// Augmented views of each scene that is measured on.
    pub views: usize,
}

/// Draws scenes with captions and embeds both.
///
/// # Errors
///
/// The model folder cannot be opened, or the device fails.
pub fn embed(model: &Path, amounts: &Amounts, command: String, device: &Device) -> Result<Cache> {
    ensure!(
        amounts.train_scenes + amounts.test_scenes > 0,
        "no scenes to train on and none to measure on"
    );
    let encoder = Encoder::open(model, device)?;
    let rng = &mut ChaCha8Rng::seed_from_u64(amounts.seed);
    let n_train = amounts.train_scenes;
    let train = Drawn::new(n_train, Compositions::Seen, CaptionKinds::Train, rng);
    let mut test = test_scenes(amounts.test_scenes);
    let noise = amounts.noise;
    for caption in &mut test.captions {
        caption.text = noise.caption(&caption.text, &caption.image.to_string());
    }
    let train_names = ["training scenes", "training captions"];
    let test_names = ["test scenes", "test captions"];
    Ok(Cache {
        config: CacheConfig {
            views: amounts.views,
            ..encoder.cache_config("scenes", noise.to_string(), amounts.seed, command)
        },
        train: train.embed(&encoder, train_names, Corruptions::default(), 0)?,
        test: test.embed(&encoder, test_names, noise, amounts.views)?,
        tasks: tasks(&encoder, amounts.task_scenes)?,
        probes: Some(encoder.probes(&PROBE_SENTENCES)?),
    })
}

fn test_scenes(n_scenes: usize) -> Drawn {
    let rng = &mut ChaCha8Rng::seed_from_u64(TEST_SEED);
    Drawn::new(n_scenes, Compositions::All, CaptionKinds::Test, rng)
}

/// The test scenes of a cache, drawn again to be corrupted.
#[derive(Debug)]
pub struct TestScenes {
    encoder: Encoder,
    drawn: Drawn,
}

impl TestScenes {
    /// Draws the scenes of a cache's test split.
    ///
    /// # Errors
    ///
    /// The model folder cannot be opened or holds another encoder, or the cache holds other scenes.
    pub fn open(model: &Path, clean: &Cache, device: &Device) -> Result<Self> {
        let encoder = Encoder::open(model, device)?;
        let config = encoder.cache_config("scenes", String::new(), 0, String::new());
        ensure!(
            config.weights == clean.config.weights,
            "{} is not the encoder of the features",
            model.display()
        );
        let ids = &clean.test.ids;
        let drawn = test_scenes(ids.images.len());
        let drawn_texts = drawn.captions.iter().map(|caption| &caption.text);
        ensure!(
            drawn_texts.eq(ids.captions.iter().map(|caption| &caption.text)),
            "the features are of other test scenes than this program draws, or are noisy already; embed them again"
        );
        Ok(Self { encoder, drawn })
    }

    /// The scenes with corrupted pictures.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn pictures(&self, corruption: Corruption<ImageCorruption>) -> Result<Embedded> {
        let noise = Corruptions {
            pictures: Some(corruption),
            captions: None,
        };
        embed_images(
            &self.encoder,
            "corrupted scenes",
            &self.drawn.scenes,
            noise,
            0,
        )
    }

    /// The captions of the scenes, misspelt.
    ///
    /// # Errors
    ///
    /// The tokenizer refuses a caption, or the device fails.
    pub fn captions(&self, misspelling: Corruption<Misspelling>) -> Result<Embedded> {
        let misspelt = |c: &DrawnCaption| misspelling.apply(&c.text, &c.image.to_string());
        let said: Vec<String> = self.drawn.captions.iter().map(misspelt).collect();
        let tokens = self.encoder.tokens(&said)?;
        embed_texts(&self.encoder, "misspelt captions", &tokens)
    }
}

/// Each attribute by captions alone, and shapes of which half belong to no class.
fn tasks(encoder: &Encoder, n_scenes: usize) -> Result<Vec<Task>> {
    let mut rng = ChaCha8Rng::seed_from_u64(TEST_SEED + 1);
    let mut found = Vec::new();
    for task in attributes::tasks() {
        let scenes: Vec<Scene> = (0..n_scenes).map(|i| (task.scenes)(&mut rng, i)).collect();
        let labels: Vec<usize> = scenes.iter().map(task.label).collect();
        let images = embed_images(encoder, "task scenes", &scenes, Corruptions::default(), 0)?;
        let one = |name: &str, n_classes: usize, dummies: &[&str]| -> Result<Task> {
            let classes = task.captions[..n_classes].to_vec();
            let dummies: Vec<String> = dummies.iter().map(|&text| text.to_owned()).collect();
            let all = encoder.tokens(&[classes.clone(), dummies.clone()].concat())?;
            let texts = embed_texts(encoder, "task captions", &all)?;
            let of_class = |&label: &usize| (label < n_classes).then_some(label);
            Ok(Task {
                ids: TaskIds {
                    name: name.to_owned(),
                    classes,
                    n_templates: 1,
                    dummies,
                    labels: labels.iter().map(of_class).collect(),
                },
                texts,
                images: images.clone(),
            })
        };
        found.push(one(task.name, task.captions.len(), &[])?);
        if task.name == "shape" {
            found.push(one("none_of_the_above", task.captions.len() / 2, &DUMMIES)?);
        }
    }
    Ok(found)
}
