//! The model hub: the files of one commit, in the cache that all programs of Hugging Face's share.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hf_hub::api::sync::{ApiBuilder, ApiRepo};
use hf_hub::{Cache, Repo, RepoType};

use super::weights_file::{WEIGHTS, file_entry_of};
use crate::weights::hub_hashes::{check_compiled_in, check_may_lack};
use crate::weights::manifest::FileEntry;
use crate::weights::original::CompanionFiles;

/// The commit that is taken of a model where none is asked for.
#[rustfmt::skip]
const PINNED: [(&str, &str); 2] = [
    ("openai/clip-vit-base-patch32", "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268"),
    ("google/siglip-base-patch16-224", "7fd15f0689c79d79e38b1c2e2e2370a7bf2761ed"),
];

/// Number of times that a download is resumed after the connection broke.
const MAX_RETRIES: usize = 5;

/// A downloaded checkpoint; configuration and tokenizer lie beside it.
#[derive(Debug)]
pub(super) struct Downloaded {
    pub(super) weights: PathBuf,
    pub(super) revision: String,
}

/// Downloads the files that an import needs, or finds it in the cache. A download that was cut off is resumed.
///
/// # Errors
///
/// No such model or revision, no checkpoint that can be read, or a connection that fails.
pub(super) fn fetch(id: &str, asked: Option<&str>) -> Result<Downloaded> {
    let pinned = PINNED.iter().find(|(known, _)| *known == id);
    let revision = asked
        .or(pinned.map(|(_, revision)| *revision))
        .unwrap_or("main");
    let repo = Repo::with_revision(id.to_owned(), RepoType::Model, revision.to_owned());
    let cache = Cache::from_env().repo(repo.clone());
    let cached = WEIGHTS.iter().find_map(|file| cache.get(file));
    let api = ApiBuilder::from_env().with_retries(MAX_RETRIES).build()?;
    let repo = api.repo(repo);
    for file in CompanionFiles::FILES {
        let found = get(&repo, file).with_context(|| format!("{id}: {file} of {revision}"));
        // The hub is asked again for files that the model does not have; a failure of that must not make a cached model
        // unusable.
        if cached.is_none() {
            found?;
        }
    }
    let download = || first_of(&repo, &WEIGHTS);
    let weights = cached.map_or_else(download, Ok);
    let weights = weights.with_context(|| format!("{id}: weights of {revision}"))?;
    verify(&weights)?;
    let revision = commit(&weights).unwrap_or(revision).to_owned();
    if asked.is_none() && pinned.is_none() {
        eprintln!("{id}: taken at commit {revision}; --revision {revision} takes the same again");
    }
    Ok(Downloaded { weights, revision })
}

fn first_of(repo: &ApiRepo, files: &[&str]) -> Result<PathBuf> {
    for file in files {
        if let Some(path) = get(repo, file)? {
            return Ok(path);
        }
    }
    bail!("none of {} at the hub", files.join(", "))
}

/// One file, if the model has it.
fn get(repo: &ApiRepo, file: &str) -> Result<Option<PathBuf>> {
    match repo.get(file) {
        Ok(path) => Ok(Some(path)),
        // The error type of the HTTP library is not a dependency of ours.
        Err(error) if error.to_string().ends_with("http status: 404") => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Large files lie in the cache under their SHA-256.
fn verify(weights: &Path) -> Result<()> {
    let blob = weights.canonicalize()?;
    let name = blob.file_name().and_then(|name| name.to_str());
    let Some(expected) = name.filter(|name| name.len() == 64) else {
        return Ok(());
    };
    let found = file_entry_of(&blob)?.sha256;
    if found != expected {
        std::fs::remove_file(&blob)?;
        let weights = weights.display();
        bail!(
            "{weights}: sha256 is {found}, the hub says {expected}; it was deleted, so that another run downloads it again"
        );
    }
    Ok(())
}

/// Compares a file of a pinned model with the hash that is compiled in; another one is deleted from the cache.
pub(super) fn check(id: &str, revision: &str, entry: &FileEntry, path: &Path) -> Result<()> {
    let checked = check_compiled_in(id, revision, &entry.file, &entry.sha256);
    if checked.is_err() {
        std::fs::remove_file(path.canonicalize()?)?;
        std::fs::remove_file(path)?;
    }
    checked.with_context(|| {
        let path = path.display();
        format!("{path} was deleted, so that another run downloads it again")
    })
}

/// Refuses a pinned model without one of the small files whose hashes are compiled in.
pub(super) fn check_is_whole(id: &str, revision: &str, folder: &Path) -> Result<()> {
    let is_missing = |file: &&str| !folder.join(file).exists();
    for file in CompanionFiles::FILES.into_iter().filter(is_missing) {
        check_may_lack(id, revision, file)?;
    }
    Ok(())
}

/// The commit in `…/snapshots/COMMIT/FILE`.
fn commit(weights: &Path) -> Option<&str> {
    weights.parent()?.file_name()?.to_str()
}
