//! `PyTorch`'s files before 1.6: pickles one after the other, then the values of each storage.
//!
//! The pickles are a magic number, the format's version, the machine's sizes, the tensors, and the keys of the
//! storages in the order in which they follow, each after its number of values (`_legacy_load` of
//! `torch/serialization.py`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::pickle::{self, PickleLeaves};
use super::tensor_file::{TensorFile, unreadable};
use super::torch::{check_extent, gather};
use crate::error::{Error, Result};
use crate::weights::original::Entry;

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

/// Open file, with the tensors that its pickles describe.
#[derive(Debug)]
pub(super) struct LegacyFile {
    path: PathBuf,
    file: File,
    entries: BTreeMap<String, Entry>,
    leaves: PickleLeaves,
    /// Byte of the file at which the values of each storage begin.
    starts: BTreeMap<String, u64>,
}

impl LegacyFile {
    /// Reads the pickles and finds the storages.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        let mut start = Vec::new();
        let read = (&file).take(MAX_PICKLE_BYTES).read_to_end(&mut start);
        read.map_err(|error| unreadable(path, &error))?;
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
            let mut count = [0; 8];
            self.read_at(position, &mut count)?;
            let (found, expected) = (u64::from_le_bytes(count), storage.n_values);
            if found != expected as u64 {
                let reason = format!("storage {key} has {found} values, expected {expected}");
                return Err(self.invalid(&reason));
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
            // The product cannot overflow: a storage that was found lies in the file.
            let bytes = || (storage.n_values * storage.dtype.bytes()) as u64;
            let end = self.starts.get(&storage.key).map(|start| start + bytes());
            if end.is_none_or(|end| end > file_bytes) {
                return Err(self.invalid(&format!("{name}: its values are not in the file")));
            }
            check_extent(name, tensor)?;
            let (dtype, shape) = (storage.dtype, tensor.shape.clone());
            self.entries.insert(name.clone(), Entry { dtype, shape });
        }
        Ok(())
    }

    fn read_at(&self, position: u64, bytes: &mut [u8]) -> Result<()> {
        let mut file = &self.file;
        let read = file
            .seek(SeekFrom::Start(position))
            .and_then(|_| file.read_exact(bytes));
        read.map_err(|error| unreadable(&self.path, &error))
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
        let mut bytes = vec![0; storage.n_values * storage.dtype.bytes()];
        self.read_at(start.ok_or_else(missing)?, &mut bytes)?;
        Ok(gather(storage.dtype.decode(name, &bytes)?, tensor))
    }
}
