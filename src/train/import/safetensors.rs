//! Safetensors files, read strictly and one tensor at a time.
//!
//! The format: eight bytes of header length, the header as JSON, the values. The crate `safetensors` wants the whole
//! file in memory and takes the last of two tensors of one name; here both are refused.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Error as _, MapAccess, Visitor};

use super::checkpoint::{Checkpoint, Dtype, Entry, n_values, unreadable};
use crate::error::{Error, Result};

/// Longest header that is read; that of ViT-B/32 has 44 kB.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// An open safetensors file.
#[derive(Debug)]
pub(super) struct SafetensorsFile {
    path: PathBuf,
    file: File,
    data_start: u64,
    entries: BTreeMap<String, Entry>,
    ranges: BTreeMap<String, Range<u64>>,
}

impl SafetensorsFile {
    /// Reads and checks the header.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| unreadable(path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let file_bytes = file.metadata().map_err(failed)?.len();
        let invalid = |reason: String| Error::Weights(format!("{}: {reason}", path.display()));
        let mut length = [0; 8];
        if file_bytes < 8 {
            return Err(invalid(format!(
                "not a safetensors file: {file_bytes} bytes"
            )));
        }
        file.read_exact(&mut length).map_err(failed)?;
        let header_bytes = u64::from_le_bytes(length);
        if header_bytes > MAX_HEADER_BYTES || header_bytes > file_bytes - 8 {
            return Err(invalid(format!(
                "not a safetensors file: a header of {header_bytes} bytes in a file of {file_bytes}"
            )));
        }
        let mut json = Vec::new();
        (&mut file)
            .take(header_bytes)
            .read_to_end(&mut json)
            .map_err(failed)?;
        let header: Header =
            serde_json::from_slice(&json).map_err(|error| invalid(format!("header: {error}")))?;
        let data_start = 8 + header_bytes;
        let ranges = ranges(&header.0, file_bytes - data_start)
            .map_err(|error| invalid(error.to_string()))?;
        let mut entries = BTreeMap::new();
        for (name, tensor) in header.0 {
            let dtype = dtype(&name, &tensor.dtype)?;
            let shape = tensor.shape;
            entries.insert(name, Entry { dtype, shape });
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            data_start,
            entries,
            ranges,
        })
    }
}

impl Checkpoint for SafetensorsFile {
    fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }

    fn read(&mut self, name: &str) -> Result<Vec<f32>> {
        let (Some(entry), Some(range)) = (self.entries.get(name), self.ranges.get(name)) else {
            return Err(Error::Weights(format!("{name}: missing")));
        };
        let mut bytes = Vec::new();
        let start = SeekFrom::Start(self.data_start + range.start);
        self.file
            .seek(start)
            .and_then(|_| {
                (&mut self.file)
                    .take(range.end - range.start)
                    .read_to_end(&mut bytes)
            })
            .map_err(|error| unreadable(&self.path, &error))?;
        if bytes.len() as u64 != range.end - range.start {
            return Err(Error::Weights(format!(
                "{name}: the file ended while it was read"
            )));
        }
        entry.dtype.decode(name, &bytes)
    }
}

/// One tensor in the header.
#[derive(Debug, Deserialize)]
struct HeaderTensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// The header without its metadata.
struct Header(BTreeMap<String, HeaderTensor>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Header;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object with a member for each tensor")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let mut tensors = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                map.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            let tensor: HeaderTensor = map
                .next_value()
                .map_err(|error| A::Error::custom(format!("{name}: {error}")))?;
            if tensors.insert(name.clone(), tensor).is_some() {
                return Err(A::Error::custom(format!("{name}: given twice")));
            }
        }
        Ok(Header(tensors))
    }
}

/// Where each tensor lies: one after the other, without gaps, to the end of the file.
fn ranges(
    tensors: &BTreeMap<String, HeaderTensor>,
    data_bytes: u64,
) -> Result<BTreeMap<String, Range<u64>>> {
    let mut in_order: Vec<_> = tensors.iter().collect();
    in_order.sort_by_key(|(_, tensor)| tensor.data_offsets);
    let (mut end, mut before) = (0, "the header");
    for (name, tensor) in in_order {
        let (from, to) = tensor.data_offsets;
        let invalid = |reason: String| Err(Error::Weights(format!("{name}: {reason}")));
        let n_values = n_values(name, &tensor.shape)?;
        let size = (n_values * dtype(name, &tensor.dtype)?.bytes()) as u64;
        if to > data_bytes || from > to {
            return invalid(format!(
                "lies at bytes {from}..{to}, the file holds {data_bytes}"
            ));
        }
        if to - from != size {
            return invalid(format!(
                "{} bytes, but {} of shape {:?} takes {size}",
                to - from,
                tensor.dtype,
                tensor.shape
            ));
        }
        if from < end {
            return invalid(format!("overlaps {before}"));
        }
        if from > end {
            return invalid(format!("{} unused bytes before it", from - end));
        }
        (end, before) = (to, name);
    }
    if end == data_bytes {
        Ok(tensors
            .iter()
            .map(|(name, tensor)| {
                let (from, to) = tensor.data_offsets;
                (name.clone(), from..to)
            })
            .collect())
    } else {
        Err(Error::Weights(format!(
            "{} bytes after the last tensor, {before}",
            data_bytes - end
        )))
    }
}

fn dtype(name: &str, dtype: &str) -> Result<Dtype> {
    match dtype {
        "F64" => Ok(Dtype::F64),
        "F32" => Ok(Dtype::F32),
        "F16" => Ok(Dtype::F16),
        "BF16" => Ok(Dtype::Bf16),
        "I64" | "U64" => Ok(Dtype::Other { bytes: 8 }),
        "I32" | "U32" => Ok(Dtype::Other { bytes: 4 }),
        "I16" | "U16" => Ok(Dtype::Other { bytes: 2 }),
        "I8" | "U8" | "BOOL" => Ok(Dtype::Other { bytes: 1 }),
        _ => Err(Error::Weights(format!(
            "{name}: dtype {dtype:?} is not known, expected F16, BF16, F32 or F64"
        ))),
    }
}
