//! `train embed --world scenes`: drawn scenes and their captions through a frozen encoder.

use std::path::Path;

use anyhow::{Context as _, Result};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use rayon::prelude::*;

use super::cache::{Cache, CacheConfig, CaptionRow, IdMap, Rows, Split, Task, TaskIds};
use crate::model::clip::{TextTower, VisionTower};
use crate::model::parameters::{Parameters as _, TensorRecord};
use crate::preprocess::image::ImagePreprocess;
use crate::preprocess::text::{TextPreprocess, Tokens};
use crate::scenes::grammar::{hierarchy, random_part, single_attribute};
use crate::scenes::{Compositions, Description, Scene, Wording, information, say};
use crate::train::attributes;
use crate::train::batch::{TokenBatch, picture};
use crate::train::progress::Meter;
use crate::weights::manifest::{Manifest, Part};
use crate::weights::shard::{join, read, verify};

/// Pictures or captions that go through a tower together.
const ROWS_PER_PASS: usize = 256;
/// Scenes of each classification task.
const TASK_SCENES: usize = 1000;
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
    /// Seed of the training scenes.
    pub seed: u64,
}

/// A frozen encoder with what turns words and scenes into its inputs.
struct Towers {
    text: TextTower,
    vision: VisionTower,
    tokenizer: TextPreprocess,
    preprocess: ImagePreprocess,
    device: Device,
}

/// Features, and what the projection was fed to make them.
struct Embedded {
    features: Rows,
    activations: Rows,
}

impl Towers {
    fn open(manifest: &Manifest, folder: &Path, device: &Device) -> Result<Self> {
        let mut text = manifest.clip.init_text(device);
        text.load(records(manifest, Part::Text, folder)?)?;
        let mut vision = manifest.clip.init_vision(device);
        vision.load(records(manifest, Part::Image, folder)?)?;
        let path = folder.join(&manifest.tokenizer.file);
        let tokenizer = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&tokenizer, &manifest.tokenizer)?;
        Ok(Self {
            text,
            vision,
            tokenizer: TextPreprocess::from_tokenizer_json(
                &tokenizer,
                manifest.clip.text_cfg.context_length,
            )?,
            preprocess: manifest.preprocess.clone(),
            device: device.clone(),
        })
    }

    fn scenes(&self, name: &'static str, scenes: &[Scene]) -> Result<Embedded> {
        let side = self.preprocess.image_size;
        let mut embedded = Collector::new(name, scenes.len());
        for chunk in scenes.chunks(ROWS_PER_PASS) {
            let pixels: Vec<Vec<f32>> = chunk
                .par_iter()
                .map(|scene| picture(scene, &self.preprocess))
                .collect();
            let pixels = TensorData::new(pixels.concat(), [chunk.len(), 3, side, side]);
            let pooled = self.vision.pool(Tensor::from_data(pixels, &self.device));
            embedded.push(self.vision.project(pooled.clone()), pooled)?;
        }
        embedded.finish()
    }

    fn tokens(&self, captions: &[String]) -> Result<Vec<Tokens>> {
        let tokens: crate::error::Result<Vec<Tokens>> = captions
            .par_iter()
            .map(|caption| self.tokenizer.encode(caption))
            .collect();
        Ok(tokens?)
    }

    fn captions(&self, name: &'static str, tokens: &[Tokens]) -> Result<Embedded> {
        let mut embedded = Collector::new(name, tokens.len());
        for chunk in tokens.chunks(ROWS_PER_PASS) {
            let batch = TokenBatch::new(chunk);
            let ids = TensorData::new(batch.ids, [chunk.len(), batch.n_tokens]);
            let ends = TensorData::new(batch.ends, [chunk.len()]);
            let ids = Tensor::<2, Int>::from_data(ids, &self.device);
            let ends = Tensor::<1, Int>::from_data(ends, &self.device);
            let pooled = self.text.pool(ids, ends);
            embedded.push(self.text.project(pooled.clone()), pooled)?;
        }
        embedded.finish()
    }
}

/// Rows that come pass by pass.
struct Collector {
    meter: Meter,
    features: Vec<f32>,
    activations: Vec<f32>,
    widths: (usize, usize),
    n_done: usize,
}

impl Collector {
    fn new(name: &'static str, n: usize) -> Self {
        Self {
            meter: Meter::new(name, 0, n),
            features: Vec::new(),
            activations: Vec::new(),
            widths: (1, 1),
            n_done: 0,
        }
    }

    fn push(&mut self, features: Tensor<2>, activations: Tensor<2>) -> Result<()> {
        let [n, embed_dim] = features.dims();
        let [_, tower_width] = activations.dims();
        self.features.extend(Rows::from_device(features)?.values);
        self.activations
            .extend(Rows::from_device(activations)?.values);
        self.widths = (embed_dim, tower_width);
        self.n_done += n;
        self.meter.update(self.n_done, &[]);
        Ok(())
    }

    fn finish(self) -> Result<Embedded> {
        self.meter.finish();
        anyhow::ensure!(self.n_done > 0, "nothing to embed");
        Ok(Embedded {
            features: Rows {
                values: self.features,
                width: self.widths.0,
            },
            activations: Rows {
                values: self.activations,
                width: self.widths.1,
            },
        })
    }
}

fn records(manifest: &Manifest, part: Part, folder: &Path) -> Result<Vec<TensorRecord>> {
    let mut records = Vec::new();
    for shard in manifest.shards(part) {
        let path = folder.join(&shard.entry.file);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        verify(&bytes, &shard.entry)?;
        records.extend(read(&bytes)?);
    }
    Ok(join(records)?)
}

/// Draws scenes, says captions of them, and embeds both.
///
/// # Errors
///
/// The model folder cannot be opened, or the device fails.
pub fn embed(model: &Path, amounts: &Amounts, command: String, device: &Device) -> Result<Cache> {
    let path = model.join("manifest.json");
    let json = std::fs::read(&path)
        .with_context(|| format!("{}: a model folder was expected", path.display()))?;
    let manifest = Manifest::from_json(&json)?;
    let towers = Towers::open(&manifest, model, device)?;
    let squared_norm = |weights: Tensor<2>| {
        let weights = weights.without_autodiff();
        f64::from((weights.clone() * weights).sum().into_scalar::<f32>())
    };
    let of_images = towers.vision.projection_weights().map(squared_norm);
    let train = draw(
        amounts.train_scenes,
        Compositions::Seen,
        amounts.seed,
        Captions::Train,
    );
    let test = draw(
        amounts.test_scenes,
        Compositions::All,
        TEST_SEED,
        Captions::Test,
    );
    Ok(Cache {
        config: CacheConfig {
            dataset: "scenes".to_owned(),
            model: manifest.name.clone(),
            weights: manifest
                .shards
                .iter()
                .filter(|shard| matches!(shard.part, Part::Text | Part::Image))
                .map(|shard| shard.entry.sha256.clone())
                .collect(),
            embed_dim: manifest.clip.embed_dim,
            squared_text_norm: squared_norm(towers.text.projection_weights()),
            squared_image_norm: of_images.unwrap_or_default(),
            seed: amounts.seed,
            command,
        },
        train: embed_split(&towers, &train, ["training scenes", "training captions"])?,
        test: embed_split(&towers, &test, ["test scenes", "test captions"])?,
        tasks: tasks(&towers)?,
    })
}

/// Which captions a scene gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Captions {
    /// All levels, one attribute, a random part: as the shipped adapters were trained.
    Train,
    /// All levels and a random part, with their information.
    Test,
}

struct Drawn {
    scenes: Vec<Scene>,
    captions: Vec<DrawnCaption>,
    with_bits: bool,
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
        with_bits: which == Captions::Test,
    }
}

fn embed_split(towers: &Towers, drawn: &Drawn, names: [&'static str; 2]) -> Result<Split> {
    let texts: Vec<String> = drawn.captions.iter().map(|c| c.text.clone()).collect();
    let tokens = towers.tokens(&texts)?;
    let rows = drawn.captions.par_iter().zip(&tokens);
    let captions = rows
        .map(|(caption, tokens)| CaptionRow {
            text: caption.text.clone(),
            image: caption.image,
            n_tokens: tokens.n_tokens,
            level: caption.level,
            bits: drawn
                .with_bits
                .then(|| information(&caption.description).bits),
        })
        .collect();
    let images = towers.scenes(names[0], &drawn.scenes)?;
    let texts = towers.captions(names[1], &tokens)?;
    Ok(Split {
        ids: IdMap {
            images: (0..drawn.scenes.len()).map(|i| i.to_string()).collect(),
            captions,
        },
        texts: texts.features,
        images: images.features,
        text_activations: texts.activations,
        image_activations: images.activations,
    })
}

/// Each attribute by captions alone, and shapes of which half belong to no class.
fn tasks(towers: &Towers) -> Result<Vec<Task>> {
    let mut rng = ChaCha8Rng::seed_from_u64(TEST_SEED + 1);
    let mut found = Vec::new();
    for task in attributes::tasks() {
        let scenes: Vec<Scene> = (0..TASK_SCENES)
            .map(|i| (task.scenes)(&mut rng, i))
            .collect();
        let labels: Vec<usize> = scenes.iter().map(task.label).collect();
        let images = towers.scenes("task scenes", &scenes)?;
        let one = |name: &str, n_classes: usize, dummies: &[&str]| -> Result<Task> {
            let classes = task.captions[..n_classes].to_vec();
            let dummies: Vec<String> = dummies.iter().map(|&text| text.to_owned()).collect();
            let all = towers.tokens(&[classes.clone(), dummies.clone()].concat())?;
            let texts = towers.captions("task captions", &all)?;
            let of_class = |&label: &usize| (label < n_classes).then_some(label);
            Ok(Task {
                ids: TaskIds {
                    name: name.to_owned(),
                    classes,
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
