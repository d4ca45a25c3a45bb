//! Opens a checkpoint in whichever format it is.

use std::path::Path;

use super::legacy::{LegacyFile, MAGIC};
use super::random::RandomCheckpoint;
use super::safetensors::SafetensorsFile;
use super::tensor_file::{TensorFile, unreadable};
use super::torch::TorchArchive;
use crate::error::{Result, refuse_if};

/// Opens a checkpoint in the format that its first bytes show, whatever its name.
///
/// # Errors
///
/// A file that cannot be read, is of no known kind, or contradicts itself.
pub fn open(path: &Path) -> Result<Box<dyn TensorFile>> {
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
    refuse_if!(
        is_pickle,
        "{}: a bare pickle, not a file of torch.save; load it in Python and save it with torch.save",
        path.display()
    );
    Ok(Box::new(SafetensorsFile::open(path)?))
}

/// A checkpoint of random values with these names and shapes.
#[must_use]
pub fn random(shapes: Vec<(String, Vec<usize>)>, seed: u64) -> Box<dyn TensorFile> {
    Box::new(RandomCheckpoint::new(shapes, seed))
}
