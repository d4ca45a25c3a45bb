//! A file of named tensors: what it says it holds, and the values one tensor at a time.

use std::collections::BTreeMap;
use std::path::Path;

use super::legacy::{LegacyFile, MAGIC};
use super::random::RandomCheckpoint;
use super::safetensors::SafetensorsFile;
use super::torch::TorchArchive;
use crate::error::{Error, Result};
use crate::weights::original::Entry;

/// Files of foreign tensors. Reading one never has more than one tensor in memory.
pub trait Checkpoint: std::fmt::Debug {
    /// Dtype and shape of each tensor.
    fn entries(&self) -> &BTreeMap<String, Entry>;

    /// The values of one tensor in row-major order.
    ///
    /// # Errors
    ///
    /// No tensor of this name, one that does not hold floats, or a file that cannot be read.
    fn read(&mut self, name: &str) -> Result<Vec<f32>>;

    /// A whole number that the file holds beside its tensors.
    fn integer(&self, _name: &str) -> Option<usize> {
        None
    }
}

/// Opens a checkpoint by what its first bytes say it is, not by its name.
///
/// # Errors
///
/// A file that cannot be read, is of no known kind, or contradicts itself.
pub fn open(path: &Path) -> Result<Box<dyn Checkpoint>> {
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    std::io::Read::read_to_end(&mut std::io::Read::take(&file, 16), &mut start)
        .map_err(|error| unreadable(path, &error))?;
    if start.starts_with(b"PK") {
        return Ok(Box::new(TorchArchive::open(path)?));
    }
    if start.starts_with(&MAGIC) {
        return Ok(Box::new(LegacyFile::open(path)?));
    }
    // A pickle begins with its protocol; the second byte of a header's length could be anything, its ninth is `{`.
    let is_pickle = start.first() == Some(&0x80) && start.get(8) != Some(&b'{');
    if is_pickle {
        return Err(Error::Weights(format!(
            "{}: a bare pickle, which is no file of torch.save; load it there and save it with torch.save",
            path.display()
        )));
    }
    Ok(Box::new(SafetensorsFile::open(path)?))
}

/// A checkpoint of random values with these names and shapes.
#[must_use]
pub fn random(shapes: Vec<(String, Vec<usize>)>, seed: u64) -> Box<dyn Checkpoint> {
    Box::new(RandomCheckpoint::new(shapes, seed))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
