//! The header of a safetensors file, read strictly.
//!
//! The format: eight bytes of header length, the header as JSON, the values. The crate `safetensors` wants the whole
//! file in memory and takes the last of two tensors of one name; here both are refused.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess, Visitor};

use super::tensor::{Entry, TensorDtype, n_values};
use crate::error::{Error, Result, refuse, refuse_if};

/// Longest header that is read; that of ViT-B/32 has 44 kB.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// Bytes of the header's length, at the beginning of the file.
pub const LENGTH_BYTES: u64 = 8;

/// Tensors of a safetensors file: their types, shapes and byte ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Type and shape of each tensor.
    pub entries: BTreeMap<String, Entry>,
    /// Bytes of the file that hold each tensor's values.
    pub ranges: BTreeMap<String, Range<u64>>,
}

/// Bytes of the file that are its header, after its first eight.
///
/// # Errors
///
/// A length that no safetensors file of this size has.
pub fn header_range(length: [u8; 8], file_bytes: u64) -> Result<Range<u64>> {
    let header_bytes = u64::from_le_bytes(length);
    let fits = file_bytes >= LENGTH_BYTES && header_bytes <= file_bytes - LENGTH_BYTES;
    refuse_if!(
        header_bytes > MAX_HEADER_BYTES || !fits,
        "not a safetensors file: a header of {header_bytes} bytes in a file of {file_bytes}"
    );
    Ok(LENGTH_BYTES..LENGTH_BYTES + header_bytes)
}

impl Index {
    /// Reads the header of a safetensors file and checks it.
    ///
    /// Without a size, the file is taken to end with its last tensor.
    ///
    /// # Errors
    ///
    /// A header that is no JSON of the kind, names a tensor twice, or whose tensors do not fill the file exactly.
    pub fn read(json: &[u8], file_bytes: Option<u64>) -> Result<Self> {
        let header: Header = serde_json::from_slice(json)
            .map_err(|error| Error::Weights(format!("header: {error}")))?;
        let data_start = LENGTH_BYTES + json.len() as u64;
        let ends = header.0.values().map(|tensor| tensor.data_offsets.1);
        let data_bytes = ends.max().unwrap_or_default();
        let file_bytes = file_bytes.unwrap_or_else(|| data_start.saturating_add(data_bytes));
        let ranges = ranges(&header.0, data_start, file_bytes)?;
        let mut entries = BTreeMap::new();
        for (name, tensor) in header.0 {
            let dtype = dtype(&name, &tensor.dtype)?;
            let shape = tensor.shape;
            entries.insert(name, Entry { dtype, shape });
        }
        Ok(Self { entries, ranges })
    }

    /// Bytes of the text encoder's and the image encoder's tensors, recognised by their names in all known layouts.
    #[must_use]
    pub fn tower_bytes(&self) -> (u64, u64) {
        let is_image = |name: &str| name.starts_with("vis");
        let bytes = |of_image: bool| {
            let ranges = self.ranges.iter();
            let towers = ranges.filter(|(name, _)| is_image(name) == of_image);
            towers.map(|(_, range)| range.end - range.start).sum()
        };
        (bytes(false), bytes(true))
    }

    /// Bytes of the file that hold a tensor.
    ///
    /// # Errors
    ///
    /// The file does not hold it.
    pub fn range(&self, name: &str) -> Result<Range<u64>> {
        let range = self.ranges.get(name).cloned();
        range.ok_or_else(|| Error::Weights(format!("{name}: missing")))
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
            let tensor = map.next_value::<HeaderTensor>();
            let tensor = tensor.map_err(|error| A::Error::custom(format!("{name}: {error}")))?;
            if tensors.insert(name.clone(), tensor).is_some() {
                return Err(A::Error::custom(format!("{name}: given twice")));
            }
        }
        Ok(Header(tensors))
    }
}

/// Byte range of each tensor: one after the other, without gaps, to the end of the file.
fn ranges(
    tensors: &BTreeMap<String, HeaderTensor>,
    data_start: u64,
    file_bytes: u64,
) -> Result<BTreeMap<String, Range<u64>>> {
    let data_bytes = file_bytes.saturating_sub(data_start);
    let mut in_order: Vec<_> = tensors.iter().collect();
    in_order.sort_by_key(|(_, tensor)| tensor.data_offsets);
    let (mut end, mut before) = (0, "the header");
    for (name, tensor) in in_order {
        let (from, to) = tensor.data_offsets;
        let (kind, shape) = (&tensor.dtype, &tensor.shape);
        let size = (n_values(name, shape)? * dtype(name, kind)?.bytes()) as u64;
        let is_in_file = from <= to && to <= data_bytes;
        refuse_if!(
            !is_in_file,
            "{name}: lies at bytes {from}..{to}, the file holds {data_bytes}"
        );
        let found = to - from;
        refuse_if!(
            found != size,
            "{name}: {found} bytes, but {kind} of shape {shape:?} takes {size}"
        );
        refuse_if!(from < end, "{name}: overlaps {before}");
        refuse_if!(from > end, "{name}: {} unused bytes before it", from - end);
        (end, before) = (to, name);
    }
    let n_left = data_bytes.saturating_sub(end);
    refuse_if!(n_left > 0, "{n_left} bytes after the last tensor, {before}");
    let range = |(name, tensor): (&String, &HeaderTensor)| {
        let (from, to) = tensor.data_offsets;
        (name.clone(), data_start + from..data_start + to)
    };
    Ok(tensors.iter().map(range).collect())
}

fn dtype(name: &str, dtype: &str) -> Result<TensorDtype> {
    match dtype {
        "F64" => Ok(TensorDtype::F64),
        "F32" => Ok(TensorDtype::F32),
        "F16" => Ok(TensorDtype::F16),
        "BF16" => Ok(TensorDtype::Bf16),
        "I64" | "U64" => Ok(TensorDtype::Other { bytes: 8 }),
        "I32" | "U32" => Ok(TensorDtype::Other { bytes: 4 }),
        "I16" | "U16" => Ok(TensorDtype::Other { bytes: 2 }),
        "I8" | "U8" | "BOOL" => Ok(TensorDtype::Other { bytes: 1 }),
        _ => refuse!("{name}: dtype {dtype:?} is not known, expected F16, BF16, F32 or F64"),
    }
}
