//! Two towers that were trained apart → one dual encoder, whose heads are still to be trained.
//!
//! Each kind of tower has a file of its own, which tells its sizes by its tensors' shapes and gives its tensors our
//! names.

mod bert;
mod efficientnet;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::checkpoint::{self, Checkpoint};
use super::job::{Import, complete, existing};
use super::shards::ShardWriter;
use super::source::{Found, Source};
use super::staging::{self, Staging};
use crate::device;
use crate::error::Error;
use crate::inference::Session;
use crate::model::encoder::{EncoderConfig, ImageTowerConfig, TextTowerConfig, TowersConfig};
use crate::model::parameters::{Parameters, TensorRecord};
use crate::preprocess::ImagePreprocess;
use crate::train::bundle::records;
use crate::train::export::here_and_now;
use crate::weights::manifest::{FORMAT, Manifest, Origin, Part, Provenance, Shard};
use crate::weights::shard::file_entry;

/// Name of the token table, which gets a file of its own.
const TOKEN_TABLE: &str = "text_model.embeddings.word_embeddings.weight";

/// Seed of the heads' initial weights.
const HEAD_SEED: u64 = 0;

/// A text tower as it was read.
#[derive(Debug)]
pub struct ReadText {
    /// Its sizes.
    pub config: TextTowerConfig,
    /// Its tensors under our names.
    pub tensors: Vec<TensorRecord>,
    /// Its `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// Where it comes from.
    pub origin: Origin,
}

/// An image tower as it was read.
#[derive(Debug)]
pub struct ReadImage {
    /// Its sizes.
    pub config: ImageTowerConfig,
    /// Its tensors under our names.
    pub tensors: Vec<TensorRecord>,
    /// How pictures become its input.
    pub preprocess: ImagePreprocess,
    /// Where it comes from.
    pub origin: Origin,
}

/// Reads a text tower.
///
/// # Errors
///
/// A source that cannot be found, or that is no BERT with its tokenizer.
pub fn read_text(source: &Source) -> Result<ReadText> {
    let found = Found::of(source)?;
    let in_file = || found.weights.display().to_string();
    let mut checkpoint = checkpoint::open(&found.weights)?;
    let tokenizer = found.beside.tokenizer_json().with_context(in_file)?;
    let (config, tensors) =
        bert::read(&mut *checkpoint, found.beside.config(), &tokenizer).with_context(in_file)?;
    Ok(ReadText {
        config: TextTowerConfig::Bert(config),
        tensors,
        tokenizer,
        origin: found.origin,
    })
}

/// Reads an image tower.
///
/// # Errors
///
/// A source that cannot be found, or that is no EfficientNet-Lite.
pub fn read_image(source: &Source) -> Result<ReadImage> {
    let found = Found::of(source)?;
    let in_file = || found.weights.display().to_string();
    let mut checkpoint = checkpoint::open(&found.weights)?;
    let card = found.beside.config();
    let (config, tensors) = efficientnet::read(&mut *checkpoint, card).with_context(in_file)?;
    let preprocess = efficientnet::preprocess(card, config.image_size).with_context(in_file)?;
    Ok(ReadImage {
        config: ImageTowerConfig::EfficientNet(config),
        tensors,
        preprocess,
        origin: found.origin,
    })
}

/// Makes a model folder of a text tower and an image tower, with heads of random weights.
///
/// # Errors
///
/// A source that cannot be found or is no tower of a known kind, or an output that is there already.
pub fn import_towers(job: &Import, image: &Source) -> Result<Manifest> {
    let existing = existing(job);
    staging::check(&job.out, existing)?;
    let (text, image) = (read_text(&job.source)?, read_image(image)?);
    let staging = Staging::new(&job.out, existing)?;
    let (manifest, _) = write(job, text, image, staging.folder())?;
    staging.finish()?;
    Ok(manifest)
}

fn write(
    job: &Import,
    text: ReadText,
    image: ReadImage,
    folder: &Path,
) -> Result<(Manifest, Session)> {
    let towers = TowersConfig::of(text.config, image.config);
    let encoder = EncoderConfig::Towers(towers);
    let device = device::cpu();
    device.seed(HEAD_SEED);
    let text_tensors = with_new_head(&encoder.init_text(&device), text.tensors)?;
    let image_tensors = with_new_head(&encoder.init_vision(&device), image.tensors)?;
    let shards = write_shards(job, folder, text_tensors, image_tensors)?;
    std::fs::write(folder.join("tokenizer.json"), &text.tokenizer)?;
    let name = job.out.file_name().unwrap_or_default().to_string_lossy();
    let manifest = Manifest {
        format: FORMAT,
        name: name.into_owned(),
        title: format!(
            "{} and {} with untrained heads",
            text.origin.source, image.origin.source
        ),
        license: format!("see {} and {}", text.origin.source, image.origin.source),
        encoder,
        preprocess: image.preprocess,
        tokenizer: file_entry("tokenizer.json", &text.tokenizer),
        shards,
        adapters: None,
        reference_uncertainty: None,
        outside: None,
        golden: None,
        provenance: Provenance {
            command: job.command.clone(),
            seed: HEAD_SEED,
            origin: Some(text.origin),
            image_origin: Some(image.origin),
            ..here_and_now()
        },
    };
    complete(manifest, folder)
}

/// A tower's tensors, then those of its new head.
fn with_new_head(encoder: &impl Parameters, tower: Vec<TensorRecord>) -> Result<Vec<TensorRecord>> {
    let is_new = |record: &TensorRecord| tower.iter().all(|known| known.name != record.name);
    let head: Vec<_> = records(encoder)?.into_iter().filter(is_new).collect();
    Ok([tower, head].concat())
}

fn write_shards(
    job: &Import,
    folder: &Path,
    text: Vec<TensorRecord>,
    image: Vec<TensorRecord>,
) -> Result<Vec<Shard>> {
    let writer = |stem, part| ShardWriter::new(folder, stem, part, job.dtype.into());
    let mut tokens = writer("tokens", Part::Text);
    let mut rest = writer("text", Part::Text);
    let mut pictures = writer("image", Part::Image);
    for record in text {
        match &*record.name {
            TOKEN_TABLE => tokens.push(record)?,
            _ => rest.push(record)?,
        }
    }
    image
        .into_iter()
        .try_for_each(|record| pictures.push(record))?;
    Ok([rest.finish()?, tokens.finish()?, pictures.finish()?].concat())
}

/// The tensors of a foreign file, each of which must be taken or be known not to matter.
struct Taking<'a> {
    checkpoint: &'a mut dyn Checkpoint,
    left: BTreeMap<String, Vec<usize>>,
}

impl<'a> Taking<'a> {
    fn new(checkpoint: &'a mut dyn Checkpoint) -> Self {
        let entries = checkpoint.entries().iter();
        let left = entries.map(|(name, entry)| (name.clone(), entry.shape.clone()));
        Self {
            left: left.collect(),
            checkpoint,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// The shape of a tensor that has so many sizes, none of them 0.
    fn dims<const N: usize>(&self, name: &str) -> crate::error::Result<[usize; N]> {
        let Some(shape) = self.left.get(name) else {
            return Err(Error::Weights(format!("{name}: missing")));
        };
        match <[usize; N]>::try_from(&**shape) {
            Ok(sizes) if !sizes.contains(&0) => Ok(sizes),
            _ => Err(Error::Weights(format!(
                "{name}: shape is {shape:?}, expected {N} sizes above 0"
            ))),
        }
    }

    fn take(&mut self, name: &str) -> crate::error::Result<TensorRecord> {
        let Some(shape) = self.left.remove(name) else {
            return Err(Error::Weights(format!("{name}: missing")));
        };
        let values = self.checkpoint.read(name)?;
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::Weights(format!("{name}: holds {value}")));
        }
        Ok(TensorRecord {
            name: name.to_owned(),
            shape,
            values,
        })
    }

    /// Refuses a file that holds anything else but what `matters_not` knows.
    fn finish(self, kind: &str, matters_not: impl Fn(&str) -> bool) -> Result<()> {
        let left = self.left.keys().find(|name| !matters_not(name));
        ensure!(
            left.is_none(),
            "{}: no part of {kind}",
            left.map_or("", |name| name)
        );
        Ok(())
    }
}
