//! Where a checkpoint comes from, and the files that lie beside it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use super::hub;
use crate::weights::manifest::{FileEntry, Origin};
use crate::weights::original::CompanionFiles;

/// Names of checkpoints, the ones that are preferred first.
pub(super) const WEIGHTS: [&str; 6] = [
    "model.safetensors",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "pytorch_model.bin",
    "open_clip_pytorch_model.bin",
    "ViT-B-32.pt",
];

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
    pub(super) beside: CompanionFiles,
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
    /// Downloads a checkpoint or finds it on the disk.
    ///
    /// # Errors
    ///
    /// Random values, which are no tower's, or a checkpoint that cannot be had.
    pub(super) fn of(source: &Source) -> Result<Self> {
        match source {
            Source::Hub { id, revision } => Self::at_hub(id, revision.as_deref()),
            Source::Local(path) => Self::at(path),
            Source::Random { .. } => bail!("random values are no checkpoint"),
        }
    }

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
        let mut beside = CompanionFiles::default();
        for name in CompanionFiles::FILES
            .into_iter()
            .chain(CompanionFiles::OLD_TOKENIZER)
        {
            let path = folder.join(name);
            if path.is_file() {
                let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
                beside
                    .put(name, bytes)
                    .with_context(|| folder.display().to_string())?;
            }
        }
        let checkpoint = file_entry_of(&weights)?;
        Ok(Self {
            beside,
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
