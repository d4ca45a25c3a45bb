//! A checkpoint of another program, out of a file that the visitor picked or at the model hub: only the tensors that
//! are needed are read, one after the other, the text encoder's first.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde::Deserialize;
use web_sys::Blob;

use super::control::Control;
use super::download::{failed, index_of};
use super::file_bytes::FileBytes;
use super::hub_file::HubFile;
use super::store::{read, whole};
use super::transfer::{Fetched, fetch_small};
use super::worker_scope::post_progress;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::inference::{Source, TensorRecord};
use crate::protocol::{DownloadSize, Hub, Progress, Stage};
use crate::weights::f16_stream::{StoragePrecision, check_held};
use crate::weights::manifest::{FORMAT, FileEntry, Manifest, Provenance};
use crate::weights::original::{
    CheckpointDescription, CompanionFiles, Index, Mapping, Shapes, TensorDtype, Towers, describe,
    is_text, license,
};
use crate::weights::plan::Plan;
use crate::weights::shard::file_entry;

/// A tensor of every text encoder.
const TEXT_TENSOR: &str = "text_model.embeddings.token_embedding.weight";
/// A tensor of every image encoder.
const IMAGE_TENSOR: &str = "vision_model.embeddings.patch_embedding.weight";

/// A checkpoint whose tensors can be read.
#[derive(Debug)]
pub(super) struct Original {
    place: Place,
    index: Index,
    mapping: Mapping,
    description: CheckpointDescription,
    text: Tower,
    image: Tower,
    loaded_bytes: Cell<u64>,
    was_cached: Cell<bool>,
}

/// The part of the file that is one encoder.
#[derive(Debug)]
struct Tower {
    plan: Plan,
    /// Precision in which it is kept when it comes from the hub.
    kept: StoragePrecision,
}

/// Place of the bytes: picked files, or the hub.
#[derive(Debug)]
enum Place {
    Local(Blob, Control),
    Hub(Rc<HubFile>),
}

impl Original {
    /// A checkpoint among the files that the visitor picked.
    pub(super) async fn picked(
        files: &BTreeMap<String, Blob>,
        control: &Control,
        device: &Device,
    ) -> Result<Self> {
        let is_weights = |name: &&String| name.ends_with(".safetensors");
        let mut weights = files.keys().filter(is_weights);
        let Some(name) = weights.next() else {
            return Err(Error::Weights(
                "no .safetensors file among those picked; train import reads other kinds"
                    .to_owned(),
            ));
        };
        if let Some(second) = weights.next() {
            return Err(Error::Weights(format!(
                "{name} and {second} were picked, expected one .safetensors file"
            )));
        }
        let blob = &files[name];
        let unreadable = |reason: String| failed(name, reason);
        let file = FileBytes::open(blob.clone()).await.map_err(unreadable)?;
        let index = index_of(&file).await.map_err(unreadable)?;
        let mut beside = CompanionFiles::default();
        for small in CompanionFiles::FILES
            .into_iter()
            .chain(CompanionFiles::OLD_TOKENIZER)
        {
            if let Some(blob) = files.get(small) {
                let bytes = read(blob, 0..whole(blob.size())).await;
                beside.put(small, bytes.map_err(|reason| failed(small, reason))?)?;
            }
        }
        let place = Place::Local(blob.clone(), control.clone());
        Self::new(place, index, &beside, device)
    }

    /// A checkpoint at the hub, of which the header and the small files are fetched.
    pub(super) async fn at_hub(hub: &Hub, control: &Control, device: &Device) -> Result<Self> {
        let (file, index) = HubFile::open(hub, control).await?;
        let file = Rc::new(file);
        let made = Self::of_hub_file(Rc::clone(&file), index, device).await;
        match &made {
            Ok(_) => file.remember().await,
            // A damaged small file or header must not make every later try fail.
            Err(_) => file.purge_small().await,
        }
        made
    }

    async fn of_hub_file(file: Rc<HubFile>, index: Index, device: &Device) -> Result<Self> {
        let mapping = Mapping::of(&index.entries)?;
        let mut beside = CompanionFiles::default();
        for small in CompanionFiles::needed(mapping.layout()) {
            if let Some(bytes) = file.small(small).await? {
                beside.put(small, bytes)?;
            }
        }
        Self::new(Place::Hub(file), index, &beside, device)
    }

    fn new(place: Place, index: Index, beside: &CompanionFiles, device: &Device) -> Result<Self> {
        let mapping = Mapping::of(&index.entries)?;
        let description = describe(&mapping, beside, |_| None)?;
        let towers = Towers::of(&description.clip, device);
        mapping.check_nothing_is_left(towers.names())?;
        let tower = |shapes: &Shapes| {
            let plan = mapping.plan(&index, shapes)?;
            let kept = mapping.kept(&index, shapes, &plan)?;
            Ok::<_, Error>(Tower { plan, kept })
        };
        Ok(Self {
            text: tower(&towers.text)?,
            image: tower(&towers.image)?,
            loaded_bytes: Cell::new(0),
            was_cached: Cell::new(true),
            place,
            index,
            mapping,
            description,
        })
    }

    /// The manifest of a model that stays where it is.
    pub(super) fn manifest(&self, name: &str, source: &str) -> Manifest {
        let owner = source.split_once('/').map(|(owner, _)| owner);
        let license = owner.and_then(license);
        Manifest {
            format: FORMAT,
            name: name.to_owned(),
            title: self.description.title(),
            license: license.map_or_else(|| "not known".to_owned(), str::to_owned),
            encoder: self.description.encoder(),
            logits: None,
            preprocess: self.description.preprocess.clone(),
            tokenizer: file_entry("tokenizer.json", &self.description.tokenizer),
            shards: Vec::new(),
            adapters: None,
            reference_uncertainty: None,
            out_of_distribution: None,
            unfamiliar: None,
            picture_sets: None,
            golden: None,
            provenance: Provenance {
                command: source.to_owned(),
                ..Provenance::default()
            },
        }
    }

    /// Bytes of the weights of both encoders, as they are fetched.
    pub(super) fn weights_bytes(&self) -> u64 {
        self.text.plan.bytes() + self.image.plan.bytes()
    }

    /// Whether nothing came from the network so far.
    pub(super) fn was_cached(&self) -> bool {
        self.was_cached.get()
    }

    /// The values of a tensor, which the file holds in these bytes.
    async fn values(&self, name: &str, range: Range<u64>, dtype: TensorDtype) -> Result<Vec<f32>> {
        let unreadable = |reason: String| failed(name, reason);
        match &self.place {
            Place::Local(blob, control) => {
                control.while_paused().await?;
                let n_bytes = range.end - range.start;
                let bytes = read(blob, range).await.map_err(unreadable)?;
                self.loaded_bytes.set(self.loaded_bytes.get() + n_bytes);
                self.report(name, self.loaded_bytes.get());
                dtype.decode(name, &bytes)
            }
            Place::Hub(file) => {
                let Tower { plan, kept } = self.tower(name);
                let blob = self.fetched(file, name).await?;
                let range = plan.locate(&range);
                let range = range.ok_or_else(|| unreadable("not fetched".to_owned()))?;
                let bytes = read(&blob, kept.range(&range)).await.map_err(unreadable)?;
                if *kept == StoragePrecision::AsSent {
                    return dtype.decode(name, &bytes);
                }
                let values = TensorDtype::F16.decode(name, &bytes)?;
                check_held(name, &values)?;
                Ok(values)
            }
        }
    }

    /// The part of the file that holds the encoder of this tensor.
    async fn fetched(&self, file: &HubFile, name: &str) -> Result<Blob> {
        let (fetched, before) = if is_text(name) {
            (&file.text, 0)
        } else {
            (&file.image, self.text.plan.bytes())
        };
        if let Some(blob) = &*fetched.borrow() {
            return Ok(blob.clone());
        }
        let Tower { plan, kept } = self.tower(name);
        let part = self.part(name);
        let fetch = file.part(&part, plan, *kept, |n_bytes| {
            self.report(name, before + n_bytes);
        });
        let Fetched { blob, stored_bytes } = fetch.await?;
        if stored_bytes < plan.bytes() {
            self.was_cached.set(false);
        }
        *fetched.borrow_mut() = Some(blob.clone());
        Ok(blob)
    }

    /// Name of the kept part of the hub's file that holds the encoder of this tensor.
    fn part(&self, name: &str) -> String {
        let part = if is_text(name) { "text" } else { "image" };
        match self.tower(name).kept {
            StoragePrecision::AsSent => part.to_owned(),
            StoragePrecision::F16 => format!("{part}-f16"),
        }
    }

    /// Deletes the part from the hub that holds the encoder of this tensor, with its hash, because it cannot be right.
    async fn forget(&self, name: &str) {
        if let Place::Hub(file) = &self.place {
            let fetched = if is_text(name) {
                &file.text
            } else {
                &file.image
            };
            fetched.borrow_mut().take();
            file.forget(&self.part(name)).await;
        }
    }

    /// Deletes the part from the hub that holds the text encoder, with its hash, because it does not answer as it
    /// should.
    pub(super) async fn forget_text(&self) {
        self.forget(TEXT_TENSOR).await;
    }

    /// Deletes the part from the hub that holds the image encoder, with its hash, because it does not answer as it
    /// should.
    pub(super) async fn forget_image(&self) {
        self.forget(IMAGE_TENSOR).await;
    }

    fn tower(&self, name: &str) -> &Tower {
        if is_text(name) {
            &self.text
        } else {
            &self.image
        }
    }

    fn report(&self, name: &str, loaded_bytes: u64) {
        let total_bytes = self.weights_bytes();
        let (stage, stage_end_bytes) = if is_text(name) {
            (Stage::TextEncoder, self.text.plan.bytes())
        } else {
            (Stage::ImageEncoder, total_bytes)
        };
        post_progress(Progress {
            stage,
            loaded_bytes: loaded_bytes.min(stage_end_bytes),
            stage_end_bytes,
            total_bytes,
        });
    }
}

/// Bytes of both encoders of a checkpoint at the hub; only its header is fetched. The answer names the commit.
pub(super) async fn query_download_size(mut hub: Hub, control: &Control) -> Result<DownloadSize> {
    if hub.revision.is_empty() {
        hub.revision = newest_commit(&hub).await?;
    }
    let (_, index) = HubFile::open(&hub, control).await?;
    let (text_bytes, image_bytes) = index.tower_bytes();
    Ok(DownloadSize {
        hub,
        text_bytes,
        image_bytes,
    })
}

/// Answer of the hub to a query for a revision.
#[derive(Debug, Deserialize)]
struct Commit {
    sha: String,
}

/// The commit at which a model at the hub stands now.
async fn newest_commit(hub: &Hub) -> Result<String> {
    let address = format!("{}/api/models/{}/revision/main", hub.origin, hub.id);
    let json = fetch_small(&address).await?;
    let commit: Commit = serde_json::from_slice(&json).map_err(|error| Error::Io {
        path: address,
        reason: error.to_string(),
    })?;
    Ok(commit.sha)
}

impl Source for Original {
    async fn read(&self, _entry: &FileEntry) -> Result<Vec<u8>> {
        Ok(self.description.tokenizer.clone())
    }

    async fn tensor(&self, name: &str, shape: &[usize]) -> Result<TensorRecord> {
        let piece = self.mapping.find(name, shape)?;
        let range = self.index.range(piece.foreign())?;
        let dtype = self.index.entries[piece.foreign()].dtype;
        if let Place::Hub(file) = &self.place {
            // Bytes with another hash are refused here, and the hash that is known stays.
            self.fetched(file, name).await?;
        }
        let record = self.values(name, range, dtype).await;
        let record = record.and_then(|values| piece.record(values));
        if matches!(record, Err(Error::Weights(_))) {
            self.forget(name).await;
        }
        record
    }
}
