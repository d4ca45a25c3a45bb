//! `train photos`: import → embed → heads → adapters → evaluate → export. What a folder holds already is not done
//! again.

#![expect(
    clippy::print_stdout,
    reason = "a command line answers on standard output"
)]

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use super::adapters::AdapterRecipe;
use super::data::{CaptionedListing, PhotosData, PhotosFolders};
use super::evaluation::{markdown, outsider_pictures, report};
use super::export::export;
use super::head_recipe::HeadRecipe;
use super::tower_features::{ListingFeatures, PhotosFeatures, PictureRows, TowerFeatures};
use super::training::{Recipes, SeedTraining};
use super::unfamiliar::{self, outsider_texts};
use crate::device::{self, Device};
use crate::train::data::augment::Augmentation;
use crate::train::features::encoder::Encoder;
use crate::train::files;
use crate::train::import::towers::{Vocabulary, import_towers};
use crate::train::import::{CheckpointSource, Import};
use crate::train::pairs::picture_sets;
use crate::weights::shard::Precision;

/// Wordpieces that are kept of the text tower's.
const N_PIECES: usize = 14_000;

/// Steps in which the image tower's last stage is tuned.
const TUNING_STEPS: usize = 120;

/// Name of the features of augmented pictures, and their seed.
const CROPS: (&str, u64) = ("crops-1", 1);

/// Amount of work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PhotosPreset {
    /// A tenth of the steps, on pictures as they are; to try the command.
    Small,
    /// The recipe of the shipped model.
    Full,
}

impl PhotosPreset {
    /// Recipes of heads, the image tower's last stage and adapters.
    fn recipes(self, tunes_last_stage: bool) -> Recipes {
        let (mut heads, mut adapters) = (HeadRecipe::default(), AdapterRecipe::default());
        let mut tuning_steps = if tunes_last_stage { TUNING_STEPS } else { 0 };
        if self == Self::Small {
            (heads.steps, adapters.steps) = (heads.steps / 10, adapters.steps / 10);
            tuning_steps /= 10;
        }
        Recipes {
            heads,
            adapters,
            tuning_steps,
        }
    }
}

/// Inputs, preset and folders of a run of `train photos`.
#[derive(Debug, Clone)]
pub struct PhotosRun {
    /// Folders of Flickr8k, `WordNet` and, where given, `HierarCaps`.
    pub folders: PhotosFolders,
    /// Checkpoint from which the text tower is imported.
    pub text_tower: CheckpointSource,
    /// Checkpoint from which the image tower is imported.
    pub image_tower: CheckpointSource,
    /// Amount of work to put in.
    pub preset: PhotosPreset,
    /// Whether the image tower's last stage is tuned with the heads.
    pub tunes_last_stage: bool,
    /// Whether other pictures that a vague caption fits are left out of its negatives.
    pub masks_fitting: bool,
    /// Trainings that differ in their seed, from 0; the first is exported.
    pub seeds: u64,
    /// Folder of the run.
    pub out: PathBuf,
    /// Device of the trainings.
    pub device: Device,
    /// Model folder to make, if any.
    pub export: Option<PathBuf>,
    /// The command, for the record.
    pub command: String,
}

impl PhotosRun {
    /// Imports the towers, with the wordpieces that captions and dictionaries need, and returns their folder.
    ///
    /// # Errors
    ///
    /// A source cannot be found or is not a tower of a known kind, or the folder cannot be written.
    pub fn towers(&self, data: &PhotosData) -> Result<PathBuf> {
        let folder = self.out.join("towers");
        if folder.join("manifest.json").exists() {
            return Ok(folder);
        }
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("creating {}", self.out.display()))?;
        let typed = self.out.join("typed.txt");
        let words = data.wordnet.nouns();
        let texts = data.train.captions.iter().map(String::as_str).chain(words);
        files::put(&typed, texts.collect::<Vec<_>>().join("\n"))?;
        let vocabulary = Vocabulary {
            typed: vec![typed],
            pieces: N_PIECES,
        };
        let import = Import {
            source: self.text_tower.clone(),
            out: folder.clone(),
            precision: Precision::F32,
            tokenizer: None,
            golden_picture: None,
            replace: false,
            command: self.command.clone(),
        };
        import_towers(&import, &self.image_tower, &vocabulary)?;
        Ok(folder)
    }

    /// Features of everything, of which those are read that were computed before.
    ///
    /// # Errors
    ///
    /// A picture cannot be read, the folder holds other features, or the user interrupted.
    pub fn embed(&self, data: &PhotosData, towers: &Path) -> Result<PhotosFeatures> {
        let encoder = Encoder::open(towers, &device::cpu())?;
        let features = TowerFeatures {
            encoder: &encoder,
            folder: self.out.join(features_folder(self.tunes_last_stage)),
            of_pictures: PictureRows::of(self.tunes_last_stage),
        };
        let of = |listing: &CaptionedListing, names: [&'static str; 3]| {
            Ok::<_, anyhow::Error>(ListingFeatures {
                captions: features.texts(names[1], &listing.captions)?,
                vaguer: features.texts(names[2], &listing.vaguer)?,
                images: features.images(names[0], &listing.items, None)?,
            })
        };
        let hierarcaps = data.hierarcaps.as_ref().map(|listing| {
            let captions = listing.items.iter().flat_map(|item| &item.captions);
            let captions: Vec<&str> = captions.map(|caption| caption.text.as_str()).collect();
            let captions = features.texts("hierarcaps-captions", &captions)?;
            let images = features.images("hierarcaps-pictures", &listing.items, None)?;
            Ok::<_, anyhow::Error>([images, captions])
        });
        let hierarcaps = hierarcaps.transpose()?;
        let names = ["test-pictures", "test-captions", "test-vaguer"];
        let test = of(&data.test, names)?;
        let dev = of(&data.dev, ["dev-pictures", "dev-captions", "dev-vaguer"])?;
        let names = ["train-pictures", "train-captions", "train-vaguer"];
        let train = of(&data.train, names)?;
        let (name, seed) = CROPS;
        let crops = match self.preset {
            PhotosPreset::Small => Vec::new(),
            PhotosPreset::Full => {
                vec![features.images(name, &data.train.items, Some(Augmentation { seed }))?]
            }
        };
        let outsiders = outsider_pictures().into_iter();
        let outsiders =
            outsiders.map(|(kind, pictures)| Ok((kind, features.of_pixels(&pictures)?)));
        let outsider_texts = outsider_texts(&data.test.captions).into_iter();
        let outsider_texts =
            outsider_texts.map(|(kind, texts)| Ok((kind.to_owned(), features.of_texts(&texts)?)));
        let bare = features.texts("train-bare", &data.train.bare)?;
        Ok(PhotosFeatures {
            crops,
            bare,
            outsiders: outsiders.collect::<Result<_>>()?,
            outsider_texts: outsider_texts.collect::<Result<_>>()?,
            train,
            dev,
            test,
            hierarcaps,
        })
    }

    /// Runs all stages; returns the evaluation of all seeds.
    ///
    /// # Errors
    ///
    /// Whatever stops a stage.
    pub fn run(&self) -> Result<()> {
        let data = PhotosData::read(&self.folders)?;
        let towers = self.towers(&data)?;
        let embedded = self.embed(&data, &towers)?;
        let mut recipes = self.preset.recipes(self.tunes_last_stage);
        recipes.adapters.masks_fitting = self.masks_fitting;
        let device = self.device.clone();
        let training = SeedTraining::new(&data, embedded, &self.out, recipes, device)?;
        let mut evaluations = Vec::new();
        let mut card = CardTables::default();
        for seed in 0..self.seeds {
            let model = training.train(seed)?;
            let mut int8 = None;
            if let (0, Some(out)) = (seed, &self.export) {
                let unfamiliar = training.unfamiliar(&model)?;
                card.marked = unfamiliar::markdown(&unfamiliar.detectors);
                let sets = training.picture_sets(&model)?;
                card.sets = picture_sets::markdown(&sets);
                export(
                    &self.command,
                    &towers,
                    (&model, &unfamiliar, sets),
                    &data,
                    out,
                )?;
                int8 = Some(training.of_exported(out, &model)?);
            }
            evaluations.extend(training.evaluate(&model, &self.folders, int8.as_ref())?);
        }
        if evaluations.is_empty() {
            eprintln!("without --hierarcaps nothing is evaluated");
            return Ok(());
        }
        let report = report(evaluations)?;
        let folder = self.export.as_ref().unwrap_or(&self.out);
        files::put_json(&folder.join("evaluation.json"), &report)?;
        let table = markdown(&report.summary);
        if self.export.is_some() {
            files::put(&folder.join("MODEL_CARD.md"), card.with(&table))?;
        }
        println!("{table}");
        Ok(())
    }
}

/// Name of the folder of features of pictures, or of the maps that a last stage reads.
pub(super) const fn features_folder(tunes_last_stage: bool) -> &'static str {
    if tunes_last_stage { "maps" } else { "features" }
}

/// Tables of the model card.
#[derive(Debug, Default)]
struct CardTables {
    sets: String,
    marked: String,
}

impl CardTables {
    /// The card with these tables and that of the evaluation.
    fn with(&self, measured: &str) -> String {
        let card = include_str!("model_card.md").replace("{measured}", measured);
        card.replace("{sets}", &self.sets)
            .replace("{marked}", &self.marked)
    }
}
