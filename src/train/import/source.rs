//! Where a checkpoint comes from, and the files that lie beside it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::hub;
use super::sentence_piece;
use super::tokenizer::from_vocab_and_merges;
use crate::weights::manifest::{FileEntry, Origin};

/// Names of checkpoints, the ones that are preferred first.
pub(super) const WEIGHTS: [&str; 6] = [
    "model.safetensors",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "pytorch_model.bin",
    "open_clip_pytorch_model.bin",
    "ViT-B-32.pt",
];

/// Names of the files that say what tensors do not.
pub(super) const BESIDE: [&str; 5] = [
    CONFIG,
    OPEN_CLIP_CONFIG,
    PREPROCESSOR_CONFIG,
    TOKENIZER,
    SENTENCE_PIECE,
];

const CONFIG: &str = "config.json";
const OPEN_CLIP_CONFIG: &str = "open_clip_config.json";
const PREPROCESSOR_CONFIG: &str = "preprocessor_config.json";
const TOKENIZER: &str = "tokenizer.json";
const SENTENCE_PIECE: &str = "spiece.model";

/// Bytes that are hashed at once.
const HASH_CHUNK: usize = 1 << 20;

/// Where a checkpoint comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The model hub.
    Hub {
        /// Owner and name.
        id: String,
        /// Branch, tag or commit; the pinned commit if there is one and nothing else is said.
        revision: Option<String>,
    },
    /// A checkpoint, or a folder that holds one.
    Local(PathBuf),
    /// Nowhere: ViT-B/32's shapes with random values.
    Random {
        /// Seed of the values.
        seed: u64,
    },
}

/// A checkpoint and what lies beside it, as far as it is there.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) weights: PathBuf,
    pub(super) origin: Origin,
    pub(super) config: Option<Value>,
    pub(super) open_clip_config: Option<Value>,
    pub(super) preprocessor_config: Option<Value>,
    pub(super) tokenizer: Option<Vec<u8>>,
}

impl Source {
    /// A path where there is one, else an id at the hub.
    ///
    /// # Errors
    ///
    /// Neither.
    pub fn parse(source: &str, revision: Option<&str>) -> Result<Self> {
        if Path::new(source).exists() {
            ensure!(
                revision.is_none(),
                "{source} is a file, which has no revision"
            );
            return Ok(Self::Local(source.into()));
        }
        let is_name = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && !part.starts_with('.') && part.chars().all(plain)
        };
        let is_id = source
            .split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && is_name(name));
        ensure!(
            is_id,
            "{source}: no such file, and no id at the model hub, which would be like openai/clip-vit-base-patch32"
        );
        Ok(Self::Hub {
            id: source.to_owned(),
            revision: revision.map(str::to_owned),
        })
    }
}

impl Found {
    /// Downloads a checkpoint from the hub.
    pub(super) fn at_hub(id: &str, revision: Option<&str>) -> Result<Self> {
        let fetched = hub::fetch(id, revision)?;
        let mut found = Self::beside(fetched.weights)?;
        found.origin.source = id.to_owned();
        found.origin.revision = Some(fetched.revision);
        Ok(found)
    }

    /// Finds a checkpoint on the disk.
    pub(super) fn at(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            return Self::beside(path.to_owned());
        }
        let weights = WEIGHTS.iter().map(|file| path.join(file));
        let Some(weights) = weights.clone().find(|file| file.is_file()) else {
            bail!(
                "{}: none of {} in this folder",
                path.display(),
                WEIGHTS.join(", ")
            );
        };
        Self::beside(weights)
    }

    fn beside(weights: PathBuf) -> Result<Self> {
        let folder = weights.parent().unwrap_or(Path::new(""));
        let read = |name: &str| -> Result<Option<Vec<u8>>> {
            let path = folder.join(name);
            if !path.is_file() {
                return Ok(None);
            }
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            Ok(Some(bytes))
        };
        let json = |name: &str| -> Result<Option<Value>> {
            let Some(bytes) = read(name)? else {
                return Ok(None);
            };
            let value = serde_json::from_slice(&bytes);
            Ok(Some(value.with_context(|| {
                folder.join(name).display().to_string()
            })?))
        };
        let checkpoint = file_entry_of(&weights)?;
        let tokenizer = match (
            read(SENTENCE_PIECE)?,
            read(TOKENIZER)?,
            read("vocab.json")?,
            read("merges.txt")?,
        ) {
            // A `tokenizer.json` beside it was made of it by some other program.
            (Some(model), _, _, _) => Some(sentence_piece::to_tokenizer_json(&model)?.into_bytes()),
            (None, Some(tokenizer), _, _) => Some(tokenizer),
            (None, None, Some(vocab), Some(merges)) => {
                let merges = String::from_utf8(merges).context("merges.txt")?;
                Some(from_vocab_and_merges(&vocab, &merges)?.into_bytes())
            }
            _ => None,
        };
        Ok(Self {
            config: json(CONFIG)?,
            open_clip_config: json(OPEN_CLIP_CONFIG)?,
            preprocessor_config: json(PREPROCESSOR_CONFIG)?,
            tokenizer,
            origin: Origin {
                source: checkpoint.file.clone(),
                revision: None,
                checkpoint,
            },
            weights,
        })
    }
}

/// Name, size and SHA-256 of a file, which is never in memory as a whole.
pub(super) fn file_entry_of(path: &Path) -> Result<FileEntry> {
    let in_file = || path.display().to_string();
    let mut file = File::open(path).with_context(in_file)?;
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; HASH_CHUNK];
    loop {
        let n = file.read(&mut chunk).with_context(in_file)?;
        if n == 0 {
            break;
        }
        hash.update(&chunk[..n]);
        bytes += n as u64;
    }
    let name = path.file_name().unwrap_or_default();
    Ok(FileEntry {
        file: name.to_string_lossy().into_owned(),
        bytes,
        sha256: hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    })
}
