//! `train embed --world scenes`: drawn scenes and their captions through a frozen encoder.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, ensure};
use burn::tensor::Device;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use rayon::prelude::*;

use super::cache::{Cache, CaptionRow, IdMap, Split, Task, TaskIds, Truths};
use super::towers::{Embedded, ROWS_PER_PASS, Towers};
use crate::corruption::{Corruption, ImageCorruption, Misspelling};
use crate::preprocess::Tokens;
use crate::scenes::grammar::{hierarchy, random_part, single_attribute};
use crate::scenes::{Compositions, Description, Scene, Wording, information, say};
use crate::train::attributes;
use crate::train::batch::rendered;
use crate::train::data::corruption::Corruptions;
use crate::train::progress::Meter;

/// Test scenes have seeds of their own, behind all training seeds.
const TEST_SEED: u64 = 4_000_000;
/// What stands for "none of the above", after the dummies of the paper.
const DUMMIES: [&str; 3] = ["a picture", "a shape", "something"];

/// How much to embed.
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
    /// What happens to the scenes and captions that are measured on.
    pub noise: Corruptions,
}

/// Scenes through the vision tower.
fn embed_images(
    towers: &Towers,
    name: &'static str,
    scenes: &[Scene],
    noise: Corruptions,
) -> Result<Embedded> {
    let mut meter = Meter::new(name, 0, scenes.len());
    let mut embedded = towers.no_images();
    for (i, chunk) in scenes.chunks(ROWS_PER_PASS).enumerate() {
        let scenes = chunk.par_iter().enumerate();
        let pixels: Vec<Vec<f32>> = scenes
            .map(|(j, scene)| {
                let id = (i * ROWS_PER_PASS + j).to_string();
                towers.pixels(&rendered(scene), &id, noise)
            })
            .collect();
        embedded.append(towers.images(&pixels)?);
        meter.update(embedded.features.n_rows(), &[]);
    }
    meter.finish();
    Ok(embedded)
}

/// Captions through the text tower.
fn embed_texts(towers: &Towers, name: &'static str, tokens: &[Tokens]) -> Result<Embedded> {
    let mut meter = Meter::new(name, 0, tokens.len());
    let embedded = towers.all_texts(tokens, |n_done| meter.update(n_done, &[]))?;
    meter.finish();
    Ok(embedded)
}

/// Draws scenes, says captions of them, and embeds both.
///
/// # Errors
///
/// The model folder cannot be opened, or the device fails.
pub fn embed(model: &Path, amounts: &Amounts, command: String, device: &Device) -> Result<Cache> {
    ensure!(
        amounts.train_scenes + amounts.test_scenes > 0,
        "no scenes to train on and none to measure on"
    );
    let towers = Towers::open(model, device)?;
    let train = draw(
        amounts.train_scenes,
        Compositions::Seen,
        amounts.seed,
        Captions::Train,
    );
    let mut test = draw(
        amounts.test_scenes,
        Compositions::All,
        TEST_SEED,
        Captions::Test,
    );
    for caption in &mut test.captions {
        caption.text = amounts
            .noise
            .caption(&caption.text, &caption.image.to_string());
    }
    let noise = amounts.noise;
    Ok(Cache {
        config: towers.config("scenes", noise.to_string(), amounts.seed, command),
        train: embed_split(
            &towers,
            &train,
            ["training scenes", "training captions"],
            Corruptions::default(),
        )?,
        test: embed_split(&towers, &test, ["test scenes", "test captions"], noise)?,
        tasks: tasks(&towers, amounts.task_scenes)?,
    })
}

/// The scenes that are measured on, drawn again to be corrupted.
pub(in crate::train) struct TestScenes {
    towers: Towers,
    drawn: Drawn,
}

impl TestScenes {
    /// Draws the scenes of a cache's test split.
    ///
    /// # Errors
    ///
    /// The model folder cannot be opened or holds another encoder, or the cache holds other scenes.
    pub(in crate::train) fn open(model: &Path, clean: &Cache, device: &Device) -> Result<Self> {
        let towers = Towers::open(model, device)?;
        let config = towers.config("scenes", String::new(), 0, String::new());
        ensure!(
            config.weights == clean.config.weights,
            "{} is not the encoder of the features",
            model.display()
        );
        let ids = &clean.test.ids;
        let drawn = draw(
            ids.images.len(),
            Compositions::All,
            TEST_SEED,
            Captions::Test,
        );
        let drawn_texts = drawn.captions.iter().map(|caption| &caption.text);
        ensure!(
            drawn_texts.eq(ids.captions.iter().map(|caption| &caption.text)),
            "the features are of other test scenes than this program draws, or are noisy already; embed them again"
        );
        Ok(Self { towers, drawn })
    }

    /// The scenes with corrupted pictures.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub(in crate::train) fn pictures(
        &self,
        corruption: Corruption<ImageCorruption>,
    ) -> Result<Embedded> {
        let noise = Corruptions {
            pictures: Some(corruption),
            captions: None,
        };
        embed_images(&self.towers, "corrupted scenes", &self.drawn.scenes, noise)
    }

    /// The captions of the scenes misspelt.
    ///
    /// # Errors
    ///
    /// The tokenizer refuses a caption, or the device fails.
    pub(in crate::train) fn captions(
        &self,
        misspelling: Corruption<Misspelling>,
    ) -> Result<Embedded> {
        let captions = self.drawn.captions.iter();
        let said: Vec<String> = captions
            .map(|caption| misspelling.apply(&caption.text, &caption.image.to_string()))
            .collect();
        let tokens = self.towers.tokens(&said)?;
        embed_texts(&self.towers, "misspelt captions", &tokens)
    }
}

/// Which captions a scene gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Captions {
    /// All levels, one attribute, a random part: as the shipped adapters were trained.
    Train,
    /// All levels and a random part, with their information and the scenes that they fit.
    Test,
}

struct Drawn {
    scenes: Vec<Scene>,
    captions: Vec<DrawnCaption>,
    which: Captions,
}

impl Drawn {
    /// Which scenes each caption fits, its own and others.
    fn truths(&self) -> Truths {
        let mut known: HashMap<&Description, usize> = HashMap::new();
        let mut different = Vec::new();
        let meanings = self.captions.iter().map(|caption| {
            *known.entry(&caption.description).or_insert_with(|| {
                different.push(&caption.description);
                different.len() - 1
            })
        });
        let meanings = meanings.collect();
        let fitting = |description: &&Description| {
            let scenes = self.scenes.iter().enumerate();
            let fitting = scenes.filter(|(_, scene)| description.fits(scene));
            fitting.map(|(i, _)| i).collect()
        };
        Truths {
            pictures: different.par_iter().map(fitting).collect(),
            meanings,
        }
    }
}

struct DrawnCaption {
    image: usize,
    level: Option<usize>,
    description: Description,
    text: String,
}

fn draw(n: usize, compositions: Compositions, seed: u64, which: Captions) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let scenes: Vec<Scene> = (0..n)
        .map(|_| Scene::sample(compositions, &mut rng))
        .collect();
    let mut captions = Vec::new();
    for (image, scene) in scenes.iter().enumerate() {
        let levels = hierarchy(scene, &mut rng).into_iter().enumerate();
        let mut said: Vec<_> = levels.map(|(level, d)| (Some(level), d)).collect();
        if which == Captions::Train {
            said.push((None, single_attribute(scene, &mut rng)));
        }
        said.push((None, random_part(scene, &mut rng)));
        for (level, description) in said {
            captions.push(DrawnCaption {
                text: say(&description, Wording::Varied, &mut rng),
                image,
                level,
                description,
            });
        }
    }
    Drawn {
        scenes,
        captions,
        which,
    }
}

fn embed_split(
    towers: &Towers,
    drawn: &Drawn,
    names: [&'static str; 2],
    noise: Corruptions,
) -> Result<Split> {
    let texts: Vec<String> = drawn.captions.iter().map(|c| c.text.clone()).collect();
    let tokens = towers.tokens(&texts)?;
    let is_test = drawn.which == Captions::Test;
    let rows = drawn.captions.par_iter().zip(&tokens);
    let captions = rows
        .map(|(caption, tokens)| CaptionRow {
            text: caption.text.clone(),
            image: caption.image,
            n_tokens: tokens.n_tokens,
            level: caption.level,
            bits: is_test.then(|| information(&caption.description).bits),
        })
        .collect();
    let images = embed_images(towers, names[0], &drawn.scenes, noise)?;
    let texts = embed_texts(towers, names[1], &tokens)?;
    Ok(Split {
        ids: IdMap {
            images: (0..drawn.scenes.len()).map(|i| i.to_string()).collect(),
            captions,
            truths: is_test.then(|| drawn.truths()),
        },
        texts: texts.features,
        images: images.features,
        text_activations: texts.activations,
        image_activations: images.activations,
    })
}

/// Each attribute by captions alone, and shapes of which half belong to no class.
fn tasks(towers: &Towers, n_scenes: usize) -> Result<Vec<Task>> {
    let mut rng = ChaCha8Rng::seed_from_u64(TEST_SEED + 1);
    let mut found = Vec::new();
    for task in attributes::tasks() {
        let scenes: Vec<Scene> = (0..n_scenes).map(|i| (task.scenes)(&mut rng, i)).collect();
        let labels: Vec<usize> = scenes.iter().map(task.label).collect();
        let images = embed_images(towers, "task scenes", &scenes, Corruptions::default())?;
        let one = |name: &str, n_classes: usize, dummies: &[&str]| -> Result<Task> {
            let classes = task.captions[..n_classes].to_vec();
            let dummies: Vec<String> = dummies.iter().map(|&text| text.to_owned()).collect();
            let all = towers.tokens(&[classes.clone(), dummies.clone()].concat())?;
            let texts = embed_texts(towers, "task captions", &all)?;
            let of_class = |&label: &usize| (label < n_classes).then_some(label);
            Ok(Task {
                ids: TaskIds {
                    name: name.to_owned(),
                    classes,
                    n_templates: 1,
                    dummies,
                    labels: labels.iter().map(of_class).collect(),
                },
                texts: texts.features,
                images: images.features.clone(),
                text_activations: texts.activations,
                image_activations: images.activations.clone(),
            })
        };
        found.push(one(task.name, task.captions.len(), &[])?);
        if task.name == "shape" {
            found.push(one("none_of_the_above", task.captions.len() / 2, &DUMMIES)?);
        }
    }
    Ok(found)
}
