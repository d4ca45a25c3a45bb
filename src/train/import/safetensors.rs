//! Safetensors files, one tensor at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::tensor_file::{TensorFile, unreadable};
use crate::error::{Error, Result, refuse, refuse_if};
use crate::weights::original::{Entry, Index, header_range};

/// An open safetensors file.
#[derive(Debug)]
pub(super) struct SafetensorsFile {
    path: PathBuf,
    file: File,
    index: Index,
}

impl SafetensorsFile {
    /// Opens a safetensors file; an error if its header is damaged or does not fit the length of the file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| unreadable(path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let file_bytes = file.metadata().map_err(failed)?.len();
        let invalid = |reason: &dyn std::fmt::Display| {
            Error::Weights(format!("{}: {reason}", path.display()))
        };
        let mut length = [0; 8];
        if file_bytes < 8 {
            let reason = format!("not a safetensors file: {file_bytes} bytes");
            return Err(invalid(&reason));
        }
        file.read_exact(&mut length).map_err(failed)?;
        let header = header_range(length, file_bytes).map_err(|error| invalid(&error))?;
        let mut json = Vec::new();
        let read = (&mut file)
            .take(header.end - header.start)
            .read_to_end(&mut json);
        read.map_err(failed)?;
        let index = Index::read(&json, Some(file_bytes)).map_err(|error| invalid(&error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            index,
        })
    }
}

impl TensorFile for SafetensorsFile {
    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.index.entries
    }

    fn read(&mut self, name: &str) -> Result<Vec<f32>> {
        let (Some(entry), Some(range)) =
            (self.index.entries.get(name), self.index.ranges.get(name))
        else {
            refuse!("{name}: missing");
        };
        let mut bytes = Vec::new();
        let start = SeekFrom::Start(range.start);
        let (file, n_bytes) = (&mut self.file, range.end - range.start);
        let read = file
            .seek(start)
            .and_then(|_| file.take(n_bytes).read_to_end(&mut bytes));
        read.map_err(|error| unreadable(&self.path, &error))?;
        refuse_if!(
            bytes.len() as u64 != range.end - range.start,
            "{name}: the file ended while it was read"
        );
        entry.dtype.decode(name, &bytes)
    }
}
