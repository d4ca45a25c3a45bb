//! `PyTorch`'s files before 1.6: pickles one after the other, then the values of each storage.
//!
//! The pickles are a magic number, the format's version, the machine's sizes, the tensors, and the keys of the
//! storages in the order in which they follow, each after its number of values (`_legacy_load` of
//! `torch/serialization.py`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::pickle::{self, Leaves};
use super::tensor_file::{TensorFile, unreadable};
use super::torch::{check_extent, gather};
use crate::error::{Error, Result};
use crate::weights::original::{Entry, TensorDtype};

/// The whole first pickle: protocol 2, a number of ten bytes, the end.
pub(super) const MAGIC: [u8; 15] = [
    0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.',
];

/// Pickles between the magic number and the tensors: the version and the machine's sizes.
const N_PREFACES: usize = 2;

/// Bytes in which all pickles must lie; those of EfficientNet-Lite0 take 50 kB.
const MAX_PICKLE_BYTES: u64 = 16 << 20;

/// Bytes of a storage's number of values.
const COUNT_BYTES: u64 = 8;

/// An open file.
#[derive(Debug)]
pub(super) struct LegacyFile {
    path: PathBuf,
    file: File,
    entries: BTreeMap<String, Entry>,
    leaves: Leaves,
    /// Where the values of each storage begin.
    starts: BTreeMap<String, u64>,
}

impl LegacyFile {
    /// Reads the pickles and finds the storages.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let mut start = Vec::new();
        (&file)
            .take(MAX_PICKLE_BYTES)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(path, &error))?;
        let mut position = MAGIC.len();
        for _ in 0..N_PREFACES {
            position += pickle::read_first(&start[position..])?.1;
        }
        let (leaves, n_bytes) = pickle::read_first(&start[position..])?;
        position += n_bytes;
        let (keys, n_bytes) = pickle::read_texts(&start[position..])?;
        let mut legacy = Self {
            path: path.to_owned(),
            file,
            entries: BTreeMap::new(),
            leaves,
            starts: BTreeMap::new(),
        };
        legacy.find_storages(&keys, (position + n_bytes) as u64)?;
        legacy.check()?;
        Ok(legacy)
    }

    fn find_storages(&mut self, keys: &[String], mut position: u64) -> Result<()> {
        let tensors = self.leaves.tensors.values();
        let storages = tensors.map(|tensor| (tensor.storage.key.clone(), tensor.storage.clone()));
        let storages: BTreeMap<_, _> = storages.collect();
        for key in keys {
            let Some(storage) = storages.get(key) else {
                return Err(self.invalid(&format!("no tensor has the storage {key}")));
            };
            let n_values = u64::from_le_bytes(self.bytes_at(position)?);
            if n_values != storage.n_values as u64 {
                return Err(self.invalid(&format!(
                    "storage {key} has {n_values} values, expected {}",
                    storage.n_values
                )));
            }
            self.starts.insert(key.clone(), position + COUNT_BYTES);
            let bytes = storage.n_values.checked_mul(storage.dtype.bytes());
            let end = bytes.and_then(|bytes| position.checked_add(COUNT_BYTES + bytes as u64));
            position = end.ok_or_else(|| self.invalid("a storage larger than any file"))?;
        }
        Ok(())
    }

    /// Every tensor must lie within its storage, and every storage in the file.
    fn check(&mut self) -> Result<()> {
        let metadata = self.file.metadata();
        let file_bytes = metadata
            .map_err(|error| unreadable(&self.path, &error))?
            .len();
        for (name, tensor) in &self.leaves.tensors {
            let storage = &tensor.storage;
            // A storage that was found is no larger than any file.
            let end = self
                .starts
                .get(&storage.key)
                .map(|start| start + (storage.n_values * storage.dtype.bytes()) as u64);
            if end.is_none_or(|end| end > file_bytes) {
                return Err(self.invalid(&format!("{name}: its values are not in the file")));
            }
            check_extent(name, tensor)?;
            let (dtype, shape) = (storage.dtype, tensor.shape.clone());
            self.entries.insert(name.clone(), Entry { dtype, shape });
        }
        Ok(())
    }

    fn bytes_at<const N: usize>(&self, position: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(position))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|error| unreadable(&self.path, &error))?;
        Ok(bytes)
    }

    fn values_at(
        &self,
        name: &str,
        start: u64,
        dtype: TensorDtype,
        n_values: usize,
    ) -> Result<Vec<f32>> {
        let mut bytes = vec![0; n_values * dtype.bytes()];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|error| unreadable(&self.path, &error))?;
        dtype.decode(name, &bytes)
    }

    fn invalid(&self, reason: &str) -> Error {
        Error::Weights(format!("{}: {reason}", self.path.display()))
    }
}

impl TensorFile for LegacyFile {
    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn read(&mut self, name: &str) -> Result<Vec<f32>> {
        let missing = || Error::Weights(format!("{name}: missing"));
        let tensor = self.leaves.tensors.get(name).ok_or_else(missing)?;
        let storage = &tensor.storage;
        let start = self.starts.get(&storage.key).copied();
        let start = start.ok_or_else(missing)?;
        let values = self.values_at(name, start, storage.dtype, storage.n_values)?;
        Ok(gather(values, tensor))
    }
}
