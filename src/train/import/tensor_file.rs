//! A file of named tensors: their types and shapes, and the values one tensor at a time.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::weights::original::Entry;

/// Files of foreign tensors. Reading one never has more than one tensor in memory.
pub trait TensorFile: std::fmt::Debug {
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

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
