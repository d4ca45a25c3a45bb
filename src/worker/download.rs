//! The files beside a manifest: from the browser's disk or from the network, checked against the manifest either way.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use web_sys::Url;

use super::control::Control;
use super::file_bytes::{FileBytes, OpenedFile, hex, sha256};
use super::store::{Store, read, whole};
use super::transfer::{Fetched, Transfer, fetch_small};
use super::worker_scope::post_progress;
use crate::error::{Error, Result};
use crate::inference::{Source, StoredTensor};
use crate::protocol::{Progress, Stage};
use crate::weights::f16_stream::StoragePrecision;
use crate::weights::manifest::{FileEntry, Manifest, Part, Shard};
use crate::weights::original::{Index, LENGTH_BYTES, header_range};
use crate::weights::plan::Plan;
use crate::weights::shard::{scales_name, stored, verify_hash};
use crate::wire::reason;

/// Message of the refusal of a file that is not the one of the page.
const OTHER_VERSION: &str =
    "this is of another version of the page, which has been renewed meanwhile: reload it";

/// The files of one manifest.
#[derive(Debug)]
pub(super) struct Download {
    manifest_url: String,
    /// Whether the page names the manifest by its hash.
    is_pinned: bool,
    store: Store,
    control: Control,
    /// Files in the order in which they are loaded, those of the image encoder and those of all else apart.
    files: [Vec<FileEntry>; 2],
    /// The file after the one that is being loaded.
    ahead: RefCell<Option<Prefetched>>,
    total_bytes: u64,
    image_bytes: u64,
    /// Bytes of the files that are there completely.
    loaded_bytes: Cell<u64>,
    /// Bytes that were reported last: those of a file that came ahead count at once.
    reported_bytes: Cell<u64>,
    stage: Cell<Stage>,
    was_cached: Cell<bool>,
}

/// A file that came while the one before was hashed, by its hash.
#[derive(Debug)]
struct Prefetched {
    sha256: String,
    arrived: Result<Arrived>,
}

/// A file on the disk, being read already, and how many of its bytes were there before this load.
#[derive(Debug)]
struct Arrived {
    file: OpenedFile,
    stored_bytes: u64,
}

impl From<Fetched> for Arrived {
    fn from(Fetched { blob, stored_bytes }: Fetched) -> Self {
        Self {
            file: OpenedFile::new(blob),
            stored_bytes,
        }
    }
}

impl Download {
    /// A manifest: the one that the page names by its hash, from the store if it is there; else the one that the
    /// network gives, from the store only if that does not answer.
    pub(super) async fn open(
        manifest_url: &str,
        integrity: &str,
        control: &Control,
    ) -> Result<(Manifest, Self)> {
        let store = Store::open().await;
        let path = manifest_url.split('?').next().unwrap_or_default();
        let name = format!("manifest-{}", hex(&sha256(path.as_bytes()).await));
        let before = kept(&store, &name).await;
        let bytes = match before.clone() {
            Some(bytes) if has_hash(&bytes, integrity).await => bytes,
            before => match fetch_small(manifest_url).await {
                Ok(bytes) if integrity.is_empty() || has_hash(&bytes, integrity).await => bytes,
                Ok(_) => return Err(failed(manifest_url, OTHER_VERSION)),
                Err(error) if !integrity.is_empty() => return Err(error),
                Err(error) => before.ok_or(error)?,
            },
        };
        let manifest = Manifest::from_json(&bytes)?;
        if before.as_ref() != Some(&bytes) {
            keep(&store, &name, &bytes).await;
            remove_unlisted(&store, &before.unwrap_or_default(), &bytes).await;
        }
        let (image, others): (Vec<_>, _) = manifest
            .shards
            .iter()
            .partition(|shard| shard.part == Part::Image);
        let entries = |shards: Vec<&Shard>| -> Vec<_> {
            shards.iter().map(|shard| shard.entry.clone()).collect()
        };
        let mut of_captions = vec![manifest.tokenizer.clone()];
        of_captions.extend(entries(others));
        let image_bytes = image.iter().map(|shard| shard.entry.bytes);
        let download = Self {
            image_bytes: image_bytes.sum(),
            files: [entries(image), of_captions],
            ahead: RefCell::default(),
            manifest_url: manifest_url.to_owned(),
            is_pinned: !integrity.is_empty(),
            store,
            control: control.clone(),
            total_bytes: manifest.weights_bytes(),
            loaded_bytes: Cell::new(0),
            reported_bytes: Cell::new(0),
            stage: Cell::default(),
            was_cached: Cell::new(true),
        };
        Ok((manifest, download))
    }

    /// Keeps all files of a model in the store, without loading it; `on_file` is called after each.
    pub(super) async fn keep(
        manifest_url: &str,
        integrity: &str,
        mut on_file: impl AsyncFnMut(),
    ) -> Result<()> {
        // A load that is paused or was cancelled has a control of its own.
        let (manifest, download) = Self::open(manifest_url, integrity, &Control::default()).await?;
        let shards = manifest.shards.iter().map(|shard| &shard.entry);
        let golden = manifest.golden.iter().map(|golden| &golden.image);
        for entry in shards.chain([&manifest.tokenizer]).chain(golden) {
            let Arrived { file, stored_bytes } = download.transfer(entry, |_| {}).await?.into();
            let mut outcome = with_verified_hash(file, entry).await;
            if stored_bytes == 0 {
                outcome = download.with_version_hint(outcome);
            }
            if outcome.is_err() {
                download.store.remove(&entry.sha256).await;
            }
            outcome?;
            let kept = download.store.find(&entry.sha256).await;
            if kept.is_none_or(|blob| whole(blob.size()) != entry.bytes) {
                return Err(failed(&entry.file, "this browser has no room for it"));
            }
            on_file().await;
        }
        Ok(())
    }

    /// Sets the part of the model that is being loaded, and reports the progress of the load.
    pub(super) fn enter(&self, stage: Stage, loaded_bytes: u64) {
        self.stage.set(stage);
        self.loaded_bytes.set(loaded_bytes);
        self.report(0);
    }

    /// Whether no file came from the network so far.
    pub(super) fn was_cached(&self) -> bool {
        self.was_cached.get()
    }

    /// Bytes of a file, verified. A stored file with another hash is fetched again.
    async fn verified(&self, entry: &FileEntry) -> Result<FileBytes> {
        let Arrived { file, stored_bytes } = match self.ahead.take() {
            Some(ahead) if ahead.sha256 == entry.sha256 => ahead.arrived?,
            _ => self.fetch(entry, 0).await?,
        };
        // The browser hashes and reads in threads of its own, so the next file comes meanwhile.
        let outcome = match self.following(entry) {
            None => with_verified_hash(file, entry).await,
            Some(next) => {
                let arrived = self.fetch(next, entry.bytes);
                let (outcome, arrived) = both(with_verified_hash(file, entry), arrived).await;
                let sha256 = next.sha256.clone();
                self.ahead.replace(Some(Prefetched { sha256, arrived }));
                outcome
            }
        };
        if outcome.is_ok() {
            return outcome;
        }
        self.store.remove(&entry.sha256).await;
        if stored_bytes == 0 {
            return self.with_version_hint(outcome);
        }
        self.with_version_hint(with_verified_hash(self.fetch(entry, 0).await?.file, entry).await)
    }

    /// Outcome for a file that has just come from the network: with another hash than that in the manifest which the
    /// page names, it is of another version of the page.
    fn with_version_hint(&self, outcome: Result<FileBytes>) -> Result<FileBytes> {
        outcome.map_err(|error| match error {
            Error::Weights(reason) if self.is_pinned => {
                Error::Weights(format!("{reason}; {OTHER_VERSION}"))
            }
            error => error,
        })
    }

    /// The file that is loaded after this one.
    fn following(&self, entry: &FileEntry) -> Option<&FileEntry> {
        self.files.iter().find_map(|files| {
            let place = files.iter().position(|file| file.sha256 == entry.sha256);
            files.get(place? + 1)
        })
    }

    /// Fetches a file and reports its progress, counted after `bytes_before`: bytes that came earlier and do not count
    /// as loaded yet.
    async fn fetch(&self, entry: &FileEntry, bytes_before: u64) -> Result<Arrived> {
        let report = |n_bytes| self.report(bytes_before + n_bytes);
        let fetched = self.transfer(entry, report).await?;
        if fetched.stored_bytes < entry.bytes {
            self.was_cached.set(false);
        }
        Ok(fetched.into())
    }

    async fn transfer(&self, entry: &FileEntry, on_bytes: impl FnMut(u64)) -> Result<Fetched> {
        let mut address = beside(&self.manifest_url, &entry.file)?;
        // No cache on the way may answer with the file of this name that another version of the page had.
        address += &format!("?v={}", entry.sha256.get(..16).unwrap_or_default());
        let transfer = Transfer {
            address: &address,
            name: &entry.sha256,
            plan: &Plan::whole(entry.bytes),
            kept: StoragePrecision::AsSent,
            store: &self.store,
            control: &self.control,
        };
        transfer.run(on_bytes).await
    }

    fn report(&self, n_bytes: u64) {
        // The golden picture does not count.
        let loaded_bytes = (self.loaded_bytes.get() + n_bytes).min(self.total_bytes);
        let loaded_bytes = loaded_bytes.max(self.reported_bytes.get());
        self.reported_bytes.set(loaded_bytes);
        post_progress(Progress {
            stage: self.stage.get(),
            loaded_bytes,
            stage_end_bytes: if self.stage.get() == Stage::ImageEncoder {
                self.total_bytes
            } else {
                self.total_bytes - self.image_bytes
            },
            total_bytes: self.total_bytes,
        });
    }
}

impl Source for Download {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        let file = self.verified(entry).await?;
        let bytes = file.read(0..entry.bytes).await;
        bytes.map_err(|reason| failed(&entry.file, reason))
    }

    async fn read_verified(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        self.read(entry).await
    }

    async fn shard(
        &self,
        shard: &Shard,
        take: &mut dyn FnMut(StoredTensor) -> Result<()>,
    ) -> Result<()> {
        let unreadable = |reason: String| failed(&shard.entry.file, reason);
        let file = self.verified(&shard.entry).await?;
        let index = index_of(&file).await.map_err(unreadable)?;
        let scales: Vec<String> = shard.tensors.iter().filter_map(scales_name).collect();
        for entry in &shard.tensors {
            if scales.contains(&entry.name) {
                continue;
            }
            let bytes = file.read(index.range(&entry.name)?).await;
            let bytes = bytes.map_err(unreadable)?;
            let scales = match scales_name(entry) {
                Some(name) => Some(file.read(index.range(&name)?).await.map_err(unreadable)?),
                None => None,
            };
            take(stored(entry, bytes, scales.as_deref())?)?;
        }
        Ok(())
    }
}

/// Bytes of a file, if they have the hash that the manifest states.
async fn with_verified_hash(file: OpenedFile, entry: &FileEntry) -> Result<FileBytes> {
    let unreadable = |reason: String| failed(&entry.file, reason);
    let file = FileBytes::of(file).await.map_err(unreadable)?;
    verify_hash(&file.sha256().await.map_err(unreadable)?, entry)?;
    Ok(file)
}

/// Outputs of two futures that run side by side.
async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(|context| {
        if of_a.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(context)
        {
            of_a = Some(output);
        }
        if of_b.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(context)
        {
            of_b = Some(output);
        }
        match (of_a.take(), of_b.take()) {
            (Some(of_a), Some(of_b)) => Poll::Ready((of_a, of_b)),
            outputs => {
                (of_a, of_b) = outputs;
                Poll::Pending
            }
        }
    })
    .await
}

/// Removes what the manifest before listed and the new one does not. Hashes are found in the text: reading it as a
/// manifest once more would be kilobytes of program.
async fn remove_unlisted(store: &Store, before: &[u8], now: &[u8]) {
    let (before, now) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(now),
    );
    for entry in before.split("\"sha256\": \"").skip(1) {
        let hash = entry.split('"').next().unwrap_or_default();
        if !now.contains(hash) {
            store.remove(hash).await;
        }
    }
}

fn beside(manifest_url: &str, file: &str) -> Result<String> {
    let url = Url::new_with_base(file, manifest_url).map_err(|e| failed(file, reason(&e)))?;
    Ok(url.href())
}

/// Content of a small file in the store, if it is there and can be read.
pub(super) async fn kept(store: &Store, name: &str) -> Option<Vec<u8>> {
    let blob = store.find(name).await?;
    read(&blob, 0..whole(blob.size())).await.ok()
}

/// Keeps a small file in place of what was there.
pub(super) async fn keep(store: &Store, name: &str, bytes: &[u8]) {
    if let Some(mut writer) = store.append(name).await {
        // Without it the next visit fetches the file again.
        let written = writer.clear().and_then(|()| writer.write(&bytes.into()));
        if written.is_err() {
            drop(writer);
            store.remove(name).await;
        }
    }
}

/// Index of a safetensors file's tensors, read from its header.
pub(super) async fn index_of(file: &FileBytes) -> Result<Index, String> {
    let file_bytes = file.n_bytes();
    if file_bytes < LENGTH_BYTES {
        return Err(format!("not a safetensors file: {file_bytes} bytes"));
    }
    let length = file.read(0..LENGTH_BYTES).await?;
    let (lengths, _) = length.as_chunks();
    let header = header_range(lengths.first().copied().unwrap_or_default(), file_bytes);
    let json = file
        .read(header.map_err(|error| error.to_string())?)
        .await?;
    Index::read(&json, Some(file_bytes)).map_err(|error| error.to_string())
}

/// Whether bytes are those that the page names by their hash.
async fn has_hash(bytes: &[u8], integrity: &str) -> bool {
    integrity == format!("sha256-{}", base64::encode(sha256(bytes).await))
}

pub(super) fn failed(path: &str, reason: impl ToString) -> Error {
    Error::Io {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
