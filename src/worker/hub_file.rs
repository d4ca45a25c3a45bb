//! One file at the model hub: its header, each encoder's part of it and the small files beside it, every one held
//! against its hash, and purged where it is not what it should be.

use std::cell::RefCell;

use web_sys::Blob;

use super::control::Control;
use super::download::{failed, keep, kept};
use super::file_bytes::{FileBytes, hex, sha256};
use super::store::{Store, read, whole};
use super::transfer::{Fetched, Transfer, fetch_small};
use crate::error::{Error, Result, refuse};
use crate::protocol::Hub;
use crate::weights::f16_stream::StoragePrecision;
use crate::weights::hub_hashes::HubHashes;
use crate::weights::original::{CompanionFiles, Index, LENGTH_BYTES, header_range};
use crate::weights::plan::Plan;

/// Names that checkpoints have at the hub, the one that is preferred first.
const HUB_WEIGHTS: [&str; 3] = [
    "model.safetensors",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
];

/// Ending of the names of files of hashes in the store.
const HASHES: &str = "-hashes";
/// The name of the header in the store and among the hashes.
const HEADER: &str = "header";

/// One file at the hub; each encoder's part of it becomes a file in the store.
#[derive(Debug)]
pub(super) struct HubFile {
    folder: String,
    file: &'static str,
    /// Prefix of names in the store.
    key: String,
    store: Store,
    control: Control,
    hashes: RefCell<HubHashes>,
    pub(super) text: RefCell<Option<Blob>>,
    pub(super) image: RefCell<Option<Blob>>,
}

impl HubFile {
    /// Finds the checkpoint of a model and fetches its header.
    pub(super) async fn open(hub: &Hub, control: &Control) -> Result<(Self, Index)> {
        let Hub {
            origin,
            id,
            revision,
        } = hub;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        if !id.chars().chain(revision.chars()).all(plain) {
            refuse!("{id} at {revision}: no id and commit of the model hub");
        }
        let (store, key) = (Store::open().await, hub.key());
        let hashes = kept_hashes(&store, &format!("hub-{key}{HASHES}")).await;
        let mut hub_file = Self {
            folder: format!("{origin}/{id}/resolve/{revision}"),
            file: HUB_WEIGHTS[0],
            key,
            store,
            control: control.clone(),
            hashes: RefCell::new(hashes.unwrap_or_else(|| HubHashes::new(id, revision))),
            text: RefCell::default(),
            image: RefCell::default(),
        };
        let mut first_error = None;
        for file in HUB_WEIGHTS {
            hub_file.file = file;
            match hub_file.index().await {
                Ok(index) => return Ok((hub_file, index)),
                Err(error @ Error::Absent { .. }) => {
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(first_error.unwrap_or(Error::Cancelled))
    }

    /// The header; bytes that are no such header are not kept. Where they were kept before, they are fetched once more.
    async fn index(&self) -> Result<Index> {
        let was_kept = self.store.find(&self.stored(HEADER)).await.is_some();
        let mut index = self.read_index().await;
        if was_kept && matches!(index, Err(Error::Weights(_))) {
            self.purge(HEADER).await;
            index = self.read_index().await;
        }
        if index.is_err() {
            self.purge(HEADER).await;
        }
        index
    }

    /// The header, first its length and then the rest of it.
    async fn read_index(&self) -> Result<Index> {
        let start = self.start(LENGTH_BYTES).await?;
        let header = header_range(length(&start), u64::MAX)?;
        let start = self.start(header.end).await?;
        let json = start.split_first_chunk::<8>().map(|(_, json)| json);
        let index = Index::read(json.unwrap_or_default(), None)?;
        self.check(HEADER, &hex(&sha256(&start).await))?;
        Ok(index)
    }

    /// The first bytes of the file.
    async fn start(&self, n_bytes: u64) -> Result<Vec<u8>> {
        let (address, name) = (self.address(self.file), self.stored(HEADER));
        // A longer start that an earlier visit kept would be cleared as of another plan.
        if let Some(blob) = self.store.find(&name).await
            && whole(blob.size()) > n_bytes
        {
            let bytes = read(&blob, 0..n_bytes).await;
            return bytes.map_err(|reason| failed(&name, reason));
        }
        let transfer = Transfer {
            address: &address,
            name: &name,
            plan: &Plan::whole(n_bytes),
            kept: StoragePrecision::AsSent,
            store: &self.store,
            control: &self.control,
        };
        let blob = transfer.run(|_| {}).await?.blob;
        let bytes = read(&blob, 0..whole(blob.size())).await;
        bytes.map_err(|reason| failed(&address, reason))
    }

    /// A small file, if the model has it. One that is kept and is not what it was is fetched once more.
    pub(super) async fn small(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let name = self.stored(file);
        let stored = kept(&self.store, &name).await;
        let mut refusal = None;
        if let Some(bytes) = stored.filter(|bytes| !bytes.is_empty()) {
            match self.check(file, &hex(&sha256(&bytes).await)) {
                Ok(()) => return Ok(Some(bytes)),
                Err(error) => refusal = Some(error),
            }
            self.purge(file).await;
        }
        let Some(bytes) = self.fetch_small(file).await? else {
            // Defaults must not take the place of a file that was there.
            return refusal.map_or(Ok(None), Err);
        };
        self.check(file, &hex(&sha256(&bytes).await))?;
        keep(&self.store, &name, &bytes).await;
        Ok(Some(bytes))
    }

    /// A small file from the hub, if it has it.
    async fn fetch_small(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let fetched = match self.control.may_fetch().await {
            Ok(()) => fetch_small(&self.address(file)).await,
            Err(error) => Err(error),
        };
        match fetched {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::Absent { .. }) => {
                self.hashes.borrow_mut().note_absent(file)?;
                Ok(None)
            }
            // Where the hub cannot be asked, what it said before stands.
            Err(_) if self.hashes.borrow().is_absent(file) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The part of the file that is one encoder, which is kept under this name. Where bytes of an earlier visit are not
    /// what they should be, all of it is fetched once more.
    pub(super) async fn part(
        &self,
        part: &str,
        plan: &Plan,
        precision: StoragePrecision,
        mut on_bytes: impl FnMut(u64),
    ) -> Result<Fetched> {
        let (address, name) = (self.address(self.file), self.stored(part));
        let transfer = Transfer {
            address: &address,
            name: &name,
            plan,
            kept: precision,
            store: &self.store,
            control: &self.control,
        };
        let mut fetched = transfer.run(&mut on_bytes).await?;
        let mut sha256 = part_sha256(part, &fetched.blob).await?;
        if fetched.stored_bytes > 0 && self.check(part, &sha256).is_err() {
            self.purge(part).await;
            fetched = transfer.run(&mut on_bytes).await?;
            sha256 = part_sha256(part, &fetched.blob).await?;
        }
        if let Err(error) = self.check(part, &sha256) {
            self.purge(part).await;
            return Err(error);
        }
        self.remember().await;
        Ok(fetched)
    }

    fn check(&self, what: &str, sha256: &str) -> Result<()> {
        self.hashes.borrow_mut().check(what, sha256)
    }

    /// Keeps the hashes of the files that came, with which the next visit compares.
    pub(super) async fn remember(&self) {
        let json = serde_json::to_vec(&*self.hashes.borrow());
        if let Ok(json) = json {
            keep(&self.store, &format!("hub-{}{HASHES}", self.key), &json).await;
        }
    }

    /// Deletes a file or a part, so that the next try fetches it again; its hash stays known.
    async fn purge(&self, what: &str) {
        self.store.remove(&self.stored(what)).await;
    }

    /// Deletes a part and its hash, because these bytes cannot be an encoder's.
    pub(super) async fn forget(&self, part: &str) {
        self.purge(part).await;
        self.hashes.borrow_mut().forget(part);
        self.remember().await;
    }

    /// Deletes the header and the small files.
    pub(super) async fn purge_small(&self) {
        for what in CompanionFiles::FILES.into_iter().chain([HEADER]) {
            self.purge(what).await;
        }
    }

    fn address(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    fn stored(&self, what: &str) -> String {
        format!("hub-{}-{}-{what}", self.key, self.file)
    }
}

/// Hashes of the files from the hub that are kept, and why each is trusted: a line for each file.
pub(super) async fn lines_of_hashes(store: &Store) -> String {
    let mut lines = String::new();
    for file in store.list().await {
        let is_hashes = file.name.starts_with("hub-") && file.name.ends_with(HASHES);
        if is_hashes && let Some(hashes) = kept_hashes(store, &file.name).await {
            lines += &hashes.lines();
        }
    }
    lines
}

async fn kept_hashes(store: &Store, name: &str) -> Option<HubHashes> {
    let json = kept(store, name).await?;
    serde_json::from_slice(&json).ok()
}

/// SHA-256 of a part. One that cannot be read stays, because that may be for want of memory.
async fn part_sha256(part: &str, blob: &Blob) -> Result<String> {
    let unreadable = |reason: String| failed(part, reason);
    let bytes = FileBytes::open(blob.clone()).await;
    let sha256 = bytes.map_err(unreadable)?.sha256().await;
    sha256.map_err(unreadable)
}

/// The first eight bytes.
fn length(bytes: &[u8]) -> [u8; 8] {
    let (lengths, _) = bytes.as_chunks();
    lengths.first().copied().unwrap_or_default()
}
