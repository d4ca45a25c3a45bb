//! Source of a model's files: a folder, a server or a cache.

use std::future::{Future, ready};

use crate::error::{Error, Result};
use crate::model::parameters::TensorRecord;
use crate::weights::manifest::{FileEntry, Shard};
use crate::weights::shard::{read_each, verify};

/// A place that holds the files of one manifest: a folder, a server, a cache.
pub trait Source {
    /// The bytes of a file. They need not be verified: the session does that.
    fn read(&self, entry: &FileEntry) -> impl Future<Output = Result<Vec<u8>>>;

    /// Hands out every tensor of a shard, which is verified before the first.
    ///
    /// A source that can read parts of files need not have the shard in memory as a whole.
    fn shard(
        &self,
        shard: &Shard,
        take: &mut dyn FnMut(TensorRecord) -> Result<()>,
    ) -> impl Future<Output = Result<()>> {
        async move {
            let bytes = self.read(&shard.entry).await?;
            verify(&bytes, &shard.entry)?;
            read_each(&bytes, take)
        }
    }

    /// One tensor of a model that has no shards, because it is read out of another program's file.
    fn tensor(&self, name: &str, _shape: &[usize]) -> impl Future<Output = Result<TensorRecord>> {
        ready(Err(Error::Weights(format!("{name}: in no shard"))))
    }
}
