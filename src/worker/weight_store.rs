//! The weights of a loaded model: in shards beside the page, or in another program's checkpoint.

use super::download::Download;
use super::original::Original;
use crate::error::Result;
use crate::inference::{Source, StoredTensor, TensorRecord};
use crate::protocol::Stage;
use crate::weights::manifest::{FileEntry, Manifest, Shard};

/// Source of a model's weights.
#[derive(Debug)]
pub(super) enum WeightStore {
    SameSite(Download),
    Original(Original),
}

impl Source for WeightStore {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        match self {
            Self::SameSite(download) => download.read(entry).await,
            Self::Original(original) => original.read(entry).await,
        }
    }

    async fn read_verified(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        match self {
            Self::SameSite(download) => download.read_verified(entry).await,
            Self::Original(original) => original.read_verified(entry).await,
        }
    }

    async fn shard(
        &self,
        shard: &Shard,
        take: &mut dyn FnMut(StoredTensor) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::SameSite(download) => download.shard(shard, take).await,
            Self::Original(original) => original.shard(shard, take).await,
        }
    }

    async fn tensor(&self, name: &str, shape: &[usize]) -> Result<TensorRecord> {
        match self {
            Self::SameSite(download) => download.tensor(name, shape).await,
            Self::Original(original) => original.tensor(name, shape).await,
        }
    }
}

impl WeightStore {
    pub(super) fn progress(&self) -> impl FnMut(Stage, u64, u64) {
        move |stage: Stage, loaded_bytes, _| {
            // A checkpoint of another program reports its progress by itself.
            if let Self::SameSite(download) = self {
                download.enter(stage, loaded_bytes);
            }
        }
    }

    pub(super) fn was_cached(&self) -> bool {
        match self {
            Self::SameSite(download) => download.was_cached(),
            Self::Original(original) => original.was_cached(),
        }
    }

    pub(super) fn weights_bytes(&self, manifest: &Manifest) -> u64 {
        match self {
            Self::SameSite(_) => manifest.weights_bytes(),
            Self::Original(original) => original.weights_bytes(),
        }
    }
}
