//! Where a model's files come from.

use std::future::Future;

use crate::error::Result;
use crate::weights::manifest::FileEntry;

/// A place that holds the files of one manifest: a folder, a server, a cache.
pub trait Source {
    /// The bytes of a file. They need not be verified: the session does that.
    fn read(&self, entry: &FileEntry) -> impl Future<Output = Result<Vec<u8>>>;
}
