//! Where a model's files come from.

use std::future::{Future, ready};

use crate::error::{Error, Result};
use crate::model::parameters::TensorRecord;
use crate::weights::manifest::FileEntry;

/// A place that holds the files of one manifest: a folder, a server, a cache.
pub trait Source {
    /// The bytes of a file. They need not be verified: the session does that.
    fn read(&self, entry: &FileEntry) -> impl Future<Output = Result<Vec<u8>>>;

    /// One tensor of a model that has no shards, because it is read out of another program's file.
    fn tensor(&self, name: &str, _shape: &[usize]) -> impl Future<Output = Result<TensorRecord>> {
        ready(Err(Error::Weights(format!("{name}: in no shard"))))
    }
}
