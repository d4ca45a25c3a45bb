//! Source of a checkpoint, and the files that lie beside it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::hub;
use super::weights_file::{WEIGHTS, file_entry_of};
use crate::weights::manifest::CheckpointOrigin;
use crate::weights::original::CompanionFiles;
use crate::weights::shard::file_entry;

/// Source of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointSource {
    /// A model of the model hub.
    Hub {
        /// Owner and name, as in `openai/clip-vit-base-patch32`.
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

/// A checkpoint and the small files beside it, as far as they are there.
#[derive(Debug)]
pub(super) struct CheckpointFiles {
    pub(super) weights: PathBuf,
    pub(super) origin: CheckpointOrigin,
    pub(super) beside: CompanionFiles,
}

impl CheckpointSource {
    /// A path where there is one, else an id at the hub.
    ///
    /// # Errors
    ///
    /// Neither.
    pub fn parse(source: &str, revision: Option<&str>) -> Result<Self> {
        if Path::new(source).exists() {
            let has_none = revision.is_none();
            ensure!(has_none, "{source} is a file, which has no revision");
            return Ok(Self::Local(source.into()));
        }
        let is_name = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && !part.starts_with('.') && part.chars().all(plain)
        };
        let parts = source.split_once('/');
        let is_id = parts.is_some_and(|(owner, name)| is_name(owner) && is_name(name));
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

impl CheckpointFiles {
    /// Downloads a checkpoint or finds it on the disk.
    ///
    /// # Errors
    ///
    /// Random values, which are no tower's, or a checkpoint that cannot be had.
    pub(super) fn of(source: &CheckpointSource) -> Result<Self> {
        match source {
            CheckpointSource::Hub { id, revision } => Self::at_hub(id, revision.as_deref()),
            CheckpointSource::Local(path) => Self::at(path),
            CheckpointSource::Random { .. } => bail!("random values are not a checkpoint"),
        }
    }

    /// Downloads a checkpoint from the hub.
    pub(super) fn at_hub(id: &str, revision: Option<&str>) -> Result<Self> {
        let fetched = hub::fetch(id, revision)?;
        let mut found = Self::beside(fetched.weights)?;
        let folder = found.weights.parent().unwrap_or(Path::new(""));
        let files = found.origin.beside.iter().chain([&found.origin.checkpoint]);
        files.into_iter().try_for_each(|entry| {
            hub::check(id, &fetched.revision, entry, &folder.join(&entry.file))
        })?;
        hub::check_is_whole(id, &fetched.revision, folder)?;
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
            let (path, names) = (path.display(), WEIGHTS.join(", "));
            bail!("{path}: none of {names} in this folder");
        };
        Self::beside(weights)
    }

    fn beside(weights: PathBuf) -> Result<Self> {
        let folder = weights.parent().unwrap_or(Path::new(""));
        let (mut beside, mut entries) = (CompanionFiles::default(), Vec::new());
        let names = CompanionFiles::FILES.into_iter();
        for name in names.chain(CompanionFiles::OLD_TOKENIZER) {
            let path = folder.join(name);
            if path.is_file() {
                let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
                entries.push(file_entry(name, &bytes));
                let put = beside.put(name, bytes);
                put.with_context(|| folder.display().to_string())?;
            }
        }
        let checkpoint = file_entry_of(&weights)?;
        Ok(Self {
            beside,
            origin: CheckpointOrigin {
                source: checkpoint.file.clone(),
                revision: None,
                checkpoint,
                beside: entries,
            },
            weights,
        })
    }
}
