//! Source of a model's files: a folder, a server or a cache.

use std::future::{Future, ready};

use crate::error::{Error, Result};
use crate::model::parameters::{StoredTensor, TensorRecord};
use crate::weights::manifest::{FileEntry, Shard};
use crate::weights::shard::{read_each, verify};

/// A place that holds the files of one manifest: a folder, a server, a cache.
pub trait Source {
    /// The bytes of a file. They need not be verified.
    fn read(&self, entry: &FileEntry) -> impl Future<Output = Result<Vec<u8>>>;

    /// The bytes of a file, verified. A source whose [`read`](Self::read) verifies them need not do so twice.
    fn read_verified(&self, entry: &FileEntry) -> impl Future<Output = Result<Vec<u8>>> {
        async move {
            let bytes = self.read(entry).await?;
            verify(&bytes, entry)?;
            Ok(bytes)
        }
    }

    /// Hands out every tensor of a shard, which is verified before the first.
    ///
    /// A source that can read parts of files need not have the shard in memory as a whole.
    fn shard(
        &self,
        shard: &Shard,
        take: &mut dyn FnMut(StoredTensor) -> Result<()>,
    ) -> impl Future<Output = Result<()>> {
        async move {
            let bytes = self.read_verified(&shard.entry).await?;
            read_each(&bytes, take)
        }
    }

    /// One tensor of a model that has no shards, because it is read out of another program's file.
    fn tensor(&self, name: &str, _shape: &[usize]) -> impl Future<Output = Result<TensorRecord>> {
        ready(Err(Error::Weights(format!("{name}: in no shard"))))
    }
}
