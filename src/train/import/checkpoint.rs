//! A file of named tensors: what it says it holds, and the values one tensor at a time.

use std::collections::BTreeMap;
use std::path::Path;

use half::{bf16, f16};

use super::random::RandomCheckpoint;
use super::safetensors::SafetensorsFile;
use super::torch::TorchArchive;
use crate::error::{Error, Result};

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

/// What a file's header says of one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// How values are stored.
    pub dtype: Dtype,
    /// Shape; empty for a scalar.
    pub shape: Vec<usize>,
}

/// How values are stored in a foreign file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// Eight bytes.
    F64,
    /// Four bytes.
    F32,
    /// Two bytes, eleven bits of them significant.
    F16,
    /// The upper half of four bytes.
    Bf16,
    /// Something that no parameter of a CLIP is, of this many bytes.
    Other {
        /// Bytes a value.
        bytes: usize,
    },
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
    // A pickle begins with its protocol; the second byte of a header's length could be anything, its ninth is `{`.
    let is_pickle = start.first() == Some(&0x80) && start.get(8) != Some(&b'{');
    if is_pickle {
        return Err(Error::Weights(format!(
            "{}: written by PyTorch before 1.6 or as a bare pickle; load it there and save it again with torch.save",
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

impl Dtype {
    /// Bytes of one value.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Other { bytes } => bytes,
        }
    }

    /// The values in these bytes.
    pub(super) fn decode(self, name: &str, bytes: &[u8]) -> Result<Vec<f32>> {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "weights are used in f32")]
            Self::F64 => Ok(values(bytes, |value| f64::from_le_bytes(value) as f32)),
            Self::F32 => Ok(values(bytes, f32::from_le_bytes)),
            Self::F16 => Ok(values(bytes, |value| f16::from_le_bytes(value).to_f32())),
            Self::Bf16 => Ok(values(bytes, |value| bf16::from_le_bytes(value).to_f32())),
            Self::Other { .. } => Err(Error::Weights(format!(
                "{name}: does not hold floats, expected F16, BF16, F32 or F64"
            ))),
        }
    }
}

fn values<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| value(*chunk)).collect()
}

/// The number of values of a shape, unless no memory could hold them.
pub(super) fn n_values(name: &str, shape: &[usize]) -> Result<usize> {
    shape
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size))
        .filter(|n_values| n_values.checked_mul(8).is_some())
        .ok_or_else(|| Error::Weights(format!("{name}: shape {shape:?} is larger than any memory")))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
