//! The import itself: find, read, write, open again, compare, put in place.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::golden::{self, Verdict};
use super::open;
use super::shards::ShardWriter;
use super::source::{CheckpointFiles, CheckpointSource};
use super::staging::{self, Existing, Staging};
use super::tensor_file::TensorFile;
use super::tokenizer::byte_level_json;
use crate::device;
use crate::inference::Session;
use crate::model::clip::ClipConfig;
use crate::model::encoder::EncoderConfig;
use crate::model::parameters::Parameters as _;
use crate::preprocess::ImagePreprocess;
use crate::train::export::bundle::open_untested;
use crate::train::export::golden::{golden_values, put_golden_picture};
use crate::train::files::{put, put_json};
use crate::train::progress::{Interrupt, Meter};
use crate::train::provenance::commit_and_date;
use crate::weights::manifest::{
    CheckpointOrigin, FORMAT, Logits, Manifest, Part, Provenance, Shard,
};
use crate::weights::original::{self, CheckpointDescription, Mapping, describe};
use crate::weights::shard::{Precision, file_entry};

/// Captions of the golden values.
const GOLDEN_CAPTIONS: [&str; 4] = [
    "a diagram",
    "a photo of a dog",
    "a red star above a blue circle",
    "two friends laughing on a rainy street at night",
];

/// Name of the token table, which gets files of its own: it is a third of all weights, and a page may gather its
/// rows one by one.
const TOKEN_TABLE: &str = "text_model.embeddings.token_embedding.weight";

/// An import: source, target and precision.
#[derive(Debug, Clone)]
pub struct Import {
    /// Source of the checkpoint.
    pub source: CheckpointSource,
    /// The folder to make.
    pub out: PathBuf,
    /// Precision in which its weights are stored.
    pub precision: Precision,
    /// A `tokenizer.json`, where none lies beside the checkpoint.
    pub tokenizer: Option<PathBuf>,
    /// `CLIP.png` of `OpenAI`'s repository, for the golden check.
    pub golden_picture: Option<PathBuf>,
    /// Whether a folder that is there already may be replaced.
    pub replace: bool,
    /// The command, for the manifest.
    pub command: String,
}

/// A model that was imported.
#[derive(Debug)]
pub struct Imported {
    /// The manifest that was written.
    pub manifest: Manifest,
    /// Comparison with the published answers.
    pub verdict: Verdict,
}

/// A checkpoint with its description.
struct Prepared {
    checkpoint: Box<dyn TensorFile>,
    mapping: Mapping,
    description: CheckpointDescription,
    origin: Option<CheckpointOrigin>,
    seed: u64,
}

/// Makes a model folder of a checkpoint, or nothing at all.
///
/// # Errors
///
/// A source that cannot be found or is not a CLIP, an output that is there already, or genuine weights that do not
/// give their published answers.
pub fn import(job: &Import) -> Result<Imported> {
    let existing = existing(job);
    staging::check(&job.out, existing)?;
    let mut prepared = prepare(job)?;
    // From here on, Ctrl-C is checked between two tensors, so that the folder is deleted; before, it just ends a
    // download.
    let interrupt = Interrupt::install();
    let staging = Staging::new(&job.out, existing)?;
    let folder = staging.folder();
    let weights = write_weights(&mut prepared, job.precision, folder, interrupt)?;
    let (manifest, session) = write_manifest(&prepared, weights, job, folder)?;
    let (origin, picture) = (prepared.origin.as_ref(), job.golden_picture.as_deref());
    let verdict = golden::judge(&session, job.precision, origin, picture)?;
    staging.finish()?;
    Ok(Imported { manifest, verdict })
}

/// Treatment of a folder that is there already, as the job asks for it.
pub(super) fn existing(job: &Import) -> Existing {
    if job.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    }
}

fn prepare(job: &Import) -> Result<Prepared> {
    let found = match &job.source {
        CheckpointSource::Random { seed } => return prepare_random(job, *seed),
        source => CheckpointFiles::of(source)?,
    };
    let in_file = || found.weights.display().to_string();
    let checkpoint = open::open(&found.weights)?;
    let mapping = Mapping::of(checkpoint.entries()).with_context(in_file)?;
    let mut beside = found.beside.clone();
    if let Some(tokenizer) = read_tokenizer(job)? {
        beside.replace_tokenizer(tokenizer);
    }
    let description = describe(&mapping, &beside, |name| checkpoint.integer(name));
    Ok(Prepared {
        description: description.with_context(in_file)?,
        checkpoint,
        mapping,
        origin: Some(found.origin),
        seed: 0,
    })
}

fn prepare_random(job: &Import, seed: u64) -> Result<Prepared> {
    let clip = ClipConfig::vit_b_32();
    let tokenizer = read_tokenizer(job)?
        .unwrap_or_else(|| byte_level_json(clip.text_cfg.end_token_id - 1).into_bytes());
    let shapes = clip.init(&device::cpu()).named_shapes();
    let checkpoint = open::random(shapes, seed);
    Ok(Prepared {
        mapping: Mapping::of(checkpoint.entries())?,
        checkpoint,
        description: CheckpointDescription {
            preprocess: ImagePreprocess::clip(clip.vision_cfg.image_size),
            clip,
            tokenizer,
        },
        origin: None,
        seed,
    })
}

fn read_tokenizer(job: &Import) -> Result<Option<Vec<u8>>> {
    let read = |path: &PathBuf| std::fs::read(path).with_context(|| path.display().to_string());
    job.tokenizer.as_ref().map(read).transpose()
}

/// The weights of a checkpoint as they were written.
struct WrittenWeights {
    shards: Vec<Shard>,
    /// Scale and bias of the logits, which are kept in the manifest.
    logits: Option<Logits>,
}

fn write_weights(
    prepared: &mut Prepared,
    precision: Precision,
    folder: &Path,
    interrupt: Interrupt,
) -> Result<WrittenWeights> {
    let clip = prepared.description.clip.init(&device::cpu());
    let shapes = clip.named_shapes();
    let mut tokens = ShardWriter::new(folder, "tokens", Part::Text, precision);
    let mut text = ShardWriter::new(folder, "text", Part::Text, precision);
    let mut image = ShardWriter::new(folder, "image", Part::Image, precision);
    let (mut log_scale, mut bias) = (None, None);
    let mut meter = Meter::new("tensors", 0, shapes.len());
    for (i_tensor, (name, shape)) in shapes.iter().enumerate() {
        ensure!(!interrupt.is_set(), "interrupted; nothing was written");
        let piece = prepared.mapping.find(name, shape)?;
        let values = prepared.checkpoint.read(piece.foreign())?;
        let record = piece.record(values)?;
        match &**name {
            "logit_scale" => log_scale = record.values.first().copied(),
            "logit_bias" => bias = record.values.first().copied().map(f64::from),
            TOKEN_TABLE => tokens.push(record)?,
            _ if name.starts_with("text_") => text.push(record)?,
            _ => image.push(record)?,
        }
        meter.update(i_tensor + 1, &[]);
    }
    meter.finish();
    let names = shapes.into_iter().map(|(name, _)| name);
    prepared.mapping.check_nothing_is_left(names)?;
    let logits = log_scale.map(|log_scale| Logits {
        scale: f64::from(log_scale).exp(),
        bias,
    });
    Ok(WrittenWeights {
        shards: [text.finish()?, tokens.finish()?, image.finish()?].concat(),
        logits,
    })
}

fn write_manifest(
    prepared: &Prepared,
    WrittenWeights { shards, logits }: WrittenWeights,
    job: &Import,
    folder: &Path,
) -> Result<(Manifest, Session)> {
    let description = &prepared.description;
    put(&folder.join("tokenizer.json"), &description.tokenizer)?;
    let encoder = EncoderConfig::Clip(description.clip.clone());
    let manifest = Manifest {
        title: match prepared.origin {
            Some(_) => description.title(),
            None => format!("{} with random weights", description.title()),
        },
        license: license(prepared.origin.as_ref()),
        logits,
        shards,
        provenance: Provenance {
            command: job.command.clone(),
            seed: prepared.seed,
            origin: prepared.origin.clone(),
            ..commit_and_date()
        },
        ..bare_manifest(
            &job.out,
            encoder,
            &description.preprocess,
            &description.tokenizer,
        )
    };
    complete(manifest, folder)
}

/// The manifest of an encoder without shards, titles and adapters.
pub(super) fn bare_manifest(
    out: &Path,
    encoder: EncoderConfig,
    preprocess: &ImagePreprocess,
    tokenizer: &[u8],
) -> Manifest {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    Manifest {
        format: FORMAT,
        name: name.into_owned(),
        title: String::new(),
        license: String::new(),
        encoder,
        logits: None,
        preprocess: preprocess.clone(),
        tokenizer: file_entry("tokenizer.json", tokenizer),
        shards: Vec::new(),
        adapters: None,
        reference_uncertainty: None,
        out_of_distribution: None,
        unfamiliar: None,
        picture_sets: None,
        golden: None,
        provenance: Provenance::default(),
    }
}

/// Writes the manifest with its golden values, which are those of the weights as they are stored.
pub(super) fn complete(mut manifest: Manifest, folder: &Path) -> Result<(Manifest, Session)> {
    let image = put_golden_picture(folder)?;
    let captions = GOLDEN_CAPTIONS.map(str::to_owned).to_vec();
    let session = open_untested(manifest.clone(), folder, &device::cpu())?;
    manifest.golden = Some(golden_values(&session, folder, captions, image)?);
    put_json(&folder.join("manifest.json"), &manifest)?;
    Ok((manifest, session))
}

fn license(origin: Option<&CheckpointOrigin>) -> String {
    let Some(origin) = origin else {
        return "MIT OR Apache-2.0".to_owned();
    };
    let owner = origin.source.split_once('/').map(|(owner, _)| owner);
    match owner.and_then(original::license) {
        Some(license) => license.to_owned(),
        None if golden::claims_to_be_genuine(origin) => "MIT".to_owned(),
        None => format!("not known; see {}", origin.source),
    }
}
