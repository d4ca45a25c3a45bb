//! Two towers that were trained apart → one dual encoder, whose heads are still to be trained.
//!
//! Each kind of tower has a file of its own, which reads its sizes from its tensors' shapes and gives its tensors our
//! names.

mod bert;
mod efficientnet;
mod unclaimed_tensors;
mod vocabulary;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use self::vocabulary::prune;
use super::job::{Import, bare_manifest, complete, existing};
use super::open::open;
use super::random::RandomCheckpoint;
use super::shards::ShardWriter;
use super::source::{CheckpointFiles, CheckpointSource};
use super::staging::{self, Staging};
use super::tensor_file::TensorFile as _;
use crate::device;
use crate::inference::Session;
use crate::model::encoder::{
    EncoderConfig, ImageTowerConfig, NamedHead, TextTowerConfig, TowersConfig,
};
use crate::model::parameters::TensorRecord;
use crate::preprocess::{ImagePreprocess, TextPreprocess};
use crate::train::export::bundle::records;
use crate::train::files::put;
use crate::train::provenance::commit_and_date;
use crate::weights::manifest::{CheckpointOrigin, Manifest, Part, Provenance, Shard};
use crate::weights::shard::Precision;

/// Name of the token table, which gets a file of its own.
const TOKEN_TABLE: &str = "text_model.embeddings.word_embeddings.weight";

/// Seed of the heads' initial weights.
const HEAD_SEED: u64 = 0;

/// A text tower as it was read.
#[derive(Debug)]
pub struct ReadText {
    /// Sizes of the tower, read from the shapes of its tensors.
    pub config: TextTowerConfig,
    /// Tensors of the tower under our names.
    pub tensors: Vec<TensorRecord>,
    /// Content of its `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// Checkpoint that it was read from.
    pub origin: CheckpointOrigin,
}

/// An image tower as it was read.
#[derive(Debug)]
pub struct ReadImage {
    /// Sizes of the tower, read from the shapes of its tensors.
    pub config: ImageTowerConfig,
    /// Tensors of the tower under our names.
    pub tensors: Vec<TensorRecord>,
    /// Preprocessing of its pictures.
    pub preprocess: ImagePreprocess,
    /// Checkpoint that it was read from.
    pub origin: CheckpointOrigin,
}

/// A BERT text tower with its tokenizer, read from a checkpoint.
///
/// # Errors
///
/// The source cannot be found, or is not a BERT with its tokenizer.
pub fn read_text(source: &CheckpointSource) -> Result<ReadText> {
    let found = CheckpointFiles::of(source)?;
    let in_file = || found.weights.display().to_string();
    let mut checkpoint = open(&found.weights)?;
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

/// An EfficientNet-Lite image tower, read from a checkpoint.
///
/// # Errors
///
/// The source cannot be found, or is not an EfficientNet-Lite.
pub fn read_image(source: &CheckpointSource) -> Result<ReadImage> {
    let found = CheckpointFiles::of(source)?;
    let in_file = || found.weights.display().to_string();
    let mut checkpoint = open(&found.weights)?;
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

/// Choice of the wordpieces that a model keeps.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Vocabulary {
    /// A file of texts, one a line: of a text tower's wordpieces those that these need stay. May be given several
    /// times; without one, all stay.
    #[arg(long, value_name = "FILE", requires = "image_tower")]
    pub typed: Vec<PathBuf>,
    /// Wordpieces that stay with `--typed`.
    #[arg(long, default_value_t = 15_000)]
    pub pieces: usize,
}

impl ReadText {
    /// The tower without the wordpieces that a vocabulary leaves out.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a tokenizer of another kind.
    pub fn prune(self, vocabulary: &Vocabulary) -> Result<Self> {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path);
            text.with_context(|| path.display().to_string())
        };
        let typed = vocabulary
            .typed
            .iter()
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        let lines = typed.iter().flat_map(|text| text.lines());
        let pruned = prune(&self.tokenizer, lines, vocabulary.pieces)?;
        let TextTowerConfig::Bert(mut bert) = self.config;
        let ids = TextPreprocess::from_tokenizer_json(&pruned.tokenizer, bert.context_length)?;
        bert.vocab_size = pruned.kept.len();
        bert.start_token_id = ids.start_token_id().unwrap_or_default();
        bert.end_token_id = ids.end_token_id();
        let tensors = self.tensors.into_iter().map(|tensor| match &*tensor.name {
            TOKEN_TABLE => pruned.table(tensor),
            _ => Ok(tensor),
        });
        Ok(Self {
            config: TextTowerConfig::Bert(bert),
            tensors: tensors.collect::<Result<_>>()?,
            tokenizer: pruned.tokenizer.clone(),
            origin: self.origin,
        })
    }
}

/// Makes a model folder of a text tower and an image tower, with heads of random weights.
///
/// # Errors
///
/// The source cannot be found or is not a tower of a known kind, or the output is there already.
pub fn import_towers(
    job: &Import,
    image: &CheckpointSource,
    vocabulary: &Vocabulary,
) -> Result<Manifest> {
    let existing = existing(job);
    staging::check(&job.out, existing)?;
    let (mut text, image) = (read_text(&job.source)?, read_image(image)?);
    if !vocabulary.typed.is_empty() {
        text = text.prune(vocabulary)?;
    }
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
    let device = device::cpu();
    let text_head = initial_values(&towers.init_text_head(&device))?;
    let image_head = initial_values(&towers.init_image_head(&device))?;
    let text_tensors = [text.tensors, text_head].concat();
    let image_tensors = [image.tensors, image_head].concat();
    let shards = write_shards(job.precision, folder, text_tensors, image_tensors)?;
    put(&folder.join("tokenizer.json"), &text.tokenizer)?;
    let sources = format!("{} and {}", text.origin.source, image.origin.source);
    let encoder = EncoderConfig::Towers(towers);
    let manifest = Manifest {
        title: format!("{sources} with untrained heads"),
        license: format!("see {sources}"),
        shards,
        provenance: Provenance {
            command: job.command.clone(),
            seed: HEAD_SEED,
            origin: Some(text.origin),
            image_origin: Some(image.origin),
            ..commit_and_date()
        },
        ..bare_manifest(&job.out, encoder, &image.preprocess, &text.tokenizer)
    };
    complete(manifest, folder)
}

/// Tensors of an untrained head, drawn by seed and name: the device's random numbers belong to the whole process.
fn initial_values(head: &NamedHead) -> Result<Vec<TensorRecord>> {
    let mut tensors = records(head)?;
    let shapes = tensors
        .iter()
        .map(|tensor| (tensor.name.clone(), tensor.shape.clone()));
    let mut drawn = RandomCheckpoint::new(shapes.collect(), HEAD_SEED);
    for tensor in &mut tensors {
        if tensor.shape.len() == 2 {
            tensor.values = drawn.read(&tensor.name)?;
        } else if tensor.name.ends_with("bias") {
            tensor.values.fill(0.0);
        }
    }
    Ok(tensors)
}

/// Writes the tensors of both encoders; the token table gets a file of its own.
///
/// # Errors
///
/// The folder cannot be written.
pub(in crate::train) fn write_shards(
    precision: Precision,
    folder: &Path,
    text: Vec<TensorRecord>,
    image: Vec<TensorRecord>,
) -> Result<Vec<Shard>> {
    let writer = |stem, part| ShardWriter::new(folder, stem, part, precision);
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
