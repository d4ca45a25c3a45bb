//! Safetensors files ↔ tensors on the host, and the check that a file is the one the manifest means.

use std::collections::{BTreeMap, HashMap};

use half::{bf16, f16};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};
use sha2::{Digest as _, Sha256};

use super::manifest::{FileEntry, Shard, TensorEntry};
use super::original::values;
use crate::error::{Error, Result, refuse, refuse_if};
use crate::host::gemm::int8_rows;
use crate::host::stored::StoredValues;
use crate::model::parameters::{StoredTensor, TensorRecord};

/// Ending of the tensor that holds the scale of each row of an `I8` tensor.
const SCALE_ENDING: &str = ".scale";

/// Precision in which a shard stores its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Four bytes a value.
    F32,
    /// Two bytes a value; relative error up to 2⁻¹¹ within ±65504.
    F16,
    /// Matrices in one byte a value, as multiples of 1/127 of the greatest value of their row (an output of the
    /// layer, or a token); everything else in four. The scales are a tensor beside the matrix, `NAME.scale`.
    Int8,
}

impl Precision {
    /// Bytes that a tensor takes, its place in the header aside.
    #[must_use]
    pub fn tensor_bytes(self, name: &str, shape: &[usize]) -> usize {
        let n_values: usize = shape.iter().product();
        match self {
            Self::Int8 if is_quantised(name, shape) => n_values + 4 * shape[0],
            Self::F32 | Self::Int8 => 4 * n_values,
            Self::F16 => 2 * n_values,
        }
    }
}

/// Writes tensors as one safetensors file.
///
/// # Errors
///
/// A tensor whose values do not fill its shape, or that `precision` cannot hold.
pub fn write(records: &[TensorRecord], precision: Precision) -> Result<Vec<u8>> {
    write_with_metadata(records, precision, None)
}

/// Bytes of a shard as [`write`] gives them, with a text under a name in the header.
///
/// # Errors
///
/// As [`write`].
pub(super) fn write_with_metadata(
    records: &[TensorRecord],
    precision: Precision,
    metadata: Option<(&str, String)>,
) -> Result<Vec<u8>> {
    let mut encoded = Vec::with_capacity(records.len());
    for record in records {
        encoded.extend(encode(record, precision)?);
    }
    let views = encoded.iter().map(|tensor| {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
        let view = view.map_err(|error| Error::Weights(format!("{}: {error}", tensor.name)))?;
        Ok((tensor.name.as_str(), view))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let metadata = metadata.map(|(name, text)| HashMap::from([(name.to_owned(), text)]));
    let file = safetensors::serialize(views, metadata);
    file.map_err(|error| Error::Weights(format!("safetensors: {error}")))
}

/// Reads every tensor of a safetensors file, in order of name.
///
/// # Errors
///
/// A file that is not safetensors, a tensor that holds neither floats nor int8, or int8 without its scales.
/// `position_ids`, integers that some checkpoints carry, are passed over.
pub fn read(bytes: &[u8]) -> Result<Vec<TensorRecord>> {
    let mut records = Vec::new();
    read_each(bytes, |tensor| {
        records.push(tensor.widened());
        Ok(())
    })?;
    Ok(records)
}

/// Hands out every tensor of a safetensors file, in order of name; only one of them is in memory beside the file.
///
/// # Errors
///
/// As [`read`], and whatever `take` refuses.
pub fn read_each(bytes: &[u8], mut take: impl FnMut(StoredTensor) -> Result<()>) -> Result<()> {
    let tensors = header(bytes)?;
    let is_scale = |name: &str| {
        let matrix = name.strip_suffix(SCALE_ENDING);
        let matrix = matrix.and_then(|name| tensors.tensor(name).ok());
        matrix.is_some_and(|matrix| matrix.dtype() == Dtype::I8)
    };
    let is_read = |name: &str| !name.ends_with("position_ids") && !is_scale(name);
    let mut views: Vec<_> = tensors.iter().filter(|(name, _)| is_read(name)).collect();
    views.sort_by_key(|(name, _)| *name);
    views.into_iter().try_for_each(|(name, view)| {
        let entry = entry(name, &view);
        let scales = scales_name(&entry).and_then(|name| tensors.tensor(&name).ok());
        let scales = scales.map(|view| view.data());
        take(stored(&entry, view.data().to_vec(), scales)?)
    })
}

/// The tensor that has the scales of the rows of an int8 one.
#[must_use]
pub fn scales_name(entry: &TensorEntry) -> Option<String> {
    (entry.dtype == "I8").then(|| format!("{}{SCALE_ENDING}", entry.name))
}

/// A tensor, of the bytes of its values and, if they are int8, of those of its scales.
///
/// # Errors
///
/// Values that are neither floats nor int8, or int8 without a scale for each row.
pub fn stored(entry: &TensorEntry, bytes: Vec<u8>, scales: Option<&[u8]>) -> Result<StoredTensor> {
    let TensorEntry { name, dtype, shape } = entry;
    let values = match &**dtype {
        "F32" => StoredValues::Float(values(&bytes, f32::from_le_bytes)),
        "F16" => StoredValues::Half(bytes),
        "BF16" => {
            let wide = |bytes| bf16::from_le_bytes(bytes).to_f32();
            StoredValues::Float(values(&bytes, wide))
        }
        "I8" => StoredValues::Int8 {
            multiples: bytes,
            scales: row_scales(entry, scales)?,
        },
        other => refuse!("{name}: dtype is {other}, expected F32, F16 or BF16"),
    };
    let (name, shape) = (name.clone(), shape.clone());
    Ok(StoredTensor {
        name,
        shape,
        values,
    })
}

/// The scale of each row of an int8 tensor.
fn row_scales(entry: &TensorEntry, scales: Option<&[u8]>) -> Result<Vec<f32>> {
    let TensorEntry { name, shape, .. } = entry;
    let Some(scales) = scales else {
        refuse!("{name}{SCALE_ENDING}: missing, but {name} is int8");
    };
    let scales = values(scales, f32::from_le_bytes);
    let n_rows = shape.first().copied().unwrap_or_default();
    refuse_if!(
        scales.len() != n_rows,
        "{name}{SCALE_ENDING}: {} scales, expected {n_rows}",
        scales.len()
    );
    Ok(scales)
}

/// Puts tensors together that were too large for one file: their pieces, groups of rows, share a name and follow
/// each other.
///
/// # Errors
///
/// Two tensors of one name that are not pieces of one matrix.
pub fn join(records: Vec<TensorRecord>) -> Result<Vec<TensorRecord>> {
    let mut joined: Vec<StoredTensor> = Vec::with_capacity(records.len());
    for piece in records.into_iter().map(StoredTensor::from) {
        match joined.iter_mut().find(|whole| whole.name == piece.name) {
            Some(whole) => append(whole, piece)?,
            None => joined.push(piece),
        }
    }
    Ok(joined.into_iter().map(StoredTensor::widened).collect())
}

/// Appends the rows of a piece to those of the pieces before it.
fn append(whole: &mut StoredTensor, piece: StoredTensor) -> Result<()> {
    let is_piece = matches!(
        (&whole.shape[..], &piece.shape[..]),
        ([_, row @ ..], [_, other @ ..]) if row == other && !row.is_empty()
    );
    refuse_if!(
        !is_piece,
        "{}: given twice, as {:?} and as {:?}, which are not pieces of one matrix",
        piece.name,
        whole.shape,
        piece.shape
    );
    whole.shape[0] += piece.shape[0];
    let row_width = piece.row_width();
    whole.values.append(piece.values, row_width);
    Ok(())
}

/// Holds back tensors that are cut over several shards until their last piece is there.
#[derive(Debug)]
pub struct Joiner<'a> {
    n_missing: BTreeMap<&'a str, usize>,
    held: BTreeMap<String, StoredTensor>,
}

impl<'a> Joiner<'a> {
    /// A joiner of the tensors that the manifest lists in these shards.
    pub fn new(shards: impl IntoIterator<Item = &'a Shard>) -> Self {
        let mut n_missing = BTreeMap::new();
        for tensor in shards.into_iter().flat_map(|shard| &shard.tensors) {
            *n_missing.entry(&*tensor.name).or_default() += 1;
        }
        let held = BTreeMap::new();
        Self { n_missing, held }
    }

    /// Takes a tensor or a piece of one, and gives the whole once it is there.
    ///
    /// # Errors
    ///
    /// A tensor that the manifest does not name so often, or pieces that do not fit.
    pub fn put(&mut self, tensor: StoredTensor) -> Result<Option<StoredTensor>> {
        let whole = match self.held.remove(&tensor.name) {
            Some(mut whole) => {
                append(&mut whole, tensor)?;
                whole
            }
            None => tensor,
        };
        match self.n_missing.get_mut(&*whole.name) {
            Some(1) => Ok(Some(whole)),
            Some(n_missing) if *n_missing > 1 => {
                *n_missing -= 1;
                self.held.insert(whole.name.clone(), whole);
                Ok(None)
            }
            _ => refuse!(
                "{}: not among the tensors that the manifest names",
                whole.name
            ),
        }
    }
}

/// Names, types and shapes in the header of a safetensors file, in order of name.
///
/// # Errors
///
/// A file that is not safetensors.
pub fn describe(bytes: &[u8]) -> Result<Vec<TensorEntry>> {
    let tensors = header(bytes)?;
    let entries = tensors.iter().map(|(name, view)| entry(name, &view));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The manifest's entry for a file with these bytes.
#[must_use]
pub fn file_entry(file: &str, bytes: &[u8]) -> FileEntry {
    FileEntry {
        file: file.to_owned(),
        bytes: bytes.len() as u64,
        sha256: sha256(bytes),
    }
}

/// Checks that these bytes are the file the manifest means.
///
/// # Errors
///
/// Another length or another SHA-256 than the manifest says.
pub fn verify(bytes: &[u8], entry: &FileEntry) -> Result<()> {
    let FileEntry { file, .. } = entry;
    refuse_if!(
        bytes.len() as u64 != entry.bytes,
        "{file}: {} bytes, the manifest says {}",
        bytes.len(),
        entry.bytes
    );
    verify_hash(&sha256(bytes), entry)
}

/// Checks that a file with this SHA-256 is the one the manifest means.
///
/// # Errors
///
/// Another SHA-256 than the manifest says.
pub fn verify_hash(found: &str, entry: &FileEntry) -> Result<()> {
    let FileEntry { file, .. } = entry;
    refuse_if!(
        found != entry.sha256,
        "{file}: sha256 is {found}, the manifest says {}",
        entry.sha256
    );
    Ok(())
}

/// SHA-256 of these bytes, as 64 hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text under a name in the header of a safetensors file, if there is one.
///
/// # Errors
///
/// A file that is not safetensors.
pub(super) fn metadata(bytes: &[u8], name: &str) -> Result<Option<String>> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| unreadable(&error))?;
    let texts = header.metadata().as_ref();
    Ok(texts.and_then(|texts| texts.get(name).cloned()))
}

fn header(bytes: &[u8]) -> Result<SafeTensors<'_>> {
    SafeTensors::deserialize(bytes).map_err(|error| unreadable(&error))
}

fn unreadable(error: &SafeTensorError) -> Error {
    Error::Weights(format!("not a safetensors file: {error}"))
}

/// A tensor in the file's encoding: name, type, shape and bytes.
struct EncodedTensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn encode(record: &TensorRecord, precision: Precision) -> Result<Vec<EncodedTensor>> {
    let (dtype, bytes) = match precision {
        Precision::Int8 if is_quantised(&record.name, &record.shape) => return quantise(record),
        Precision::F32 | Precision::Int8 => (Dtype::F32, f32_bytes(&record.values)),
        Precision::F16 => (Dtype::F16, f16_bytes(record)?),
    };
    Ok(vec![EncodedTensor {
        name: record.name.clone(),
        dtype,
        shape: record.shape.clone(),
        bytes,
    }])
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn f16_bytes(record: &TensorRecord) -> Result<Vec<u8>> {
    let values = record.values.iter();
    let too_large = |value: &&f32| value.is_finite() && !f16::from_f32(**value).is_finite();
    if let Some(value) = values.clone().find(too_large) {
        refuse!("{}: {value} does not fit in f16", record.name);
    }
    Ok(values
        .flat_map(|value| f16::from_f32(*value).to_le_bytes())
        .collect())
}

/// Whether [`Precision::Int8`] stores this tensor in int8. Position embeddings are few, and some of their channels
/// are so much greater than the others that a row has no common scale.
fn is_quantised(name: &str, shape: &[usize]) -> bool {
    shape.len() >= 2 && !name.contains(".position_embedding")
}

fn quantise(record: &TensorRecord) -> Result<Vec<EncodedTensor>> {
    let TensorRecord {
        name,
        shape,
        values,
    } = record;
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        refuse!("{name}: {value} does not fit in int8");
    }
    let (multiples, scales) = int8_rows(values, shape[1..].iter().product());
    let bytes = multiples.into_iter().flat_map(i8::to_le_bytes).collect();
    Ok(vec![
        EncodedTensor {
            name: name.clone(),
            dtype: Dtype::I8,
            shape: shape.clone(),
            bytes,
        },
        EncodedTensor {
            name: format!("{name}{SCALE_ENDING}"),
            dtype: Dtype::F32,
            shape: vec![scales.len()],
            bytes: f32_bytes(&scales),
        },
    ])
}

fn entry(name: &str, view: &TensorView<'_>) -> TensorEntry {
    TensorEntry {
        name: name.to_owned(),
        dtype: format!("{:?}", view.dtype()),
        shape: view.shape().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<TensorRecord> {
        let matrix = [1.0, -2.5, 0.1, 3e-5, 65504.0, 0.0];
        vec![
            tensor("a.weight", &[2, 3], &matrix),
            tensor("b", &[], &[4.6]),
        ]
    }

    fn tensor(name: &str, shape: &[usize], values: &[f32]) -> TensorRecord {
        TensorRecord {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn what_is_written_as_f32_is_read_back_exactly() {
        let bytes = write(&records(), Precision::F32).expect("valid records");
        assert_eq!(read(&bytes), Ok(records()), "f32 holds every f32");
    }

    #[test]
    fn what_is_written_as_f16_is_read_back_to_eleven_bits() {
        let bytes = write(&records(), Precision::F16).expect("valid records");
        for (found, expected) in read(&bytes).expect("valid file").iter().zip(records()) {
            for (found, expected) in found.values.iter().zip(expected.values) {
                // Below 2⁻¹⁴ numbers are subnormal, with an absolute spacing of 2⁻²⁴.
                let tolerance = expected.abs() / 2048.0 + 2.0_f32.powi(-25);
                let error = (found - expected).abs();
                assert!(error <= tolerance, "found {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn a_value_that_f16_cannot_hold_is_refused_by_name() {
        let mut records = records();
        records[0].values[1] = 1e5;
        let error = write(&records, Precision::F16).expect_err("1e5 is above 65504");
        let expected = "a.weight: 100000 does not fit in f16";
        assert_eq!(error.to_string(), expected, "the message names the tensor");
    }

    #[test]
    fn what_is_written_as_int8_is_read_back_to_half_a_step_of_its_row() {
        let matrix = tensor("a.weight", &[3, 2], &[127.0, -63.4, 0.0, 0.0, -1e-6, 4e-7]);
        let bytes = write(&[matrix], Precision::Int8).expect("valid records");
        let read = read(&bytes).expect("valid file");
        assert_eq!(read.len(), 1, "the scales are not a tensor of their own");
        assert_eq!(read[0].shape, [3, 2], "the matrix's shape");
        let expected = [127.0, -63.0, 0.0, 0.0, -1e-6, 51.0 / 127.0 * 1e-6];
        for (found, expected) in read[0].values.iter().zip(expected) {
            let is_near = (found - expected).abs() <= 1e-6 * expected.abs();
            assert!(is_near, "found {found}, expected {expected}");
        }
    }

    #[test]
    fn int8_leaves_vectors_scalars_and_positions_as_they_are() {
        let mut records = records();
        records[0].name = "text_model.embeddings.position_embedding.weight".to_owned();
        let bytes = write(&records, Precision::Int8).expect("valid records");
        records.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(read(&bytes), Ok(records), "stored as f32");
    }

    #[test]
    fn an_int8_tensor_without_its_scales_is_named() {
        let view = TensorView::new(Dtype::I8, vec![1, 2], &[1, 2]).expect("two bytes");
        let bytes = safetensors::serialize([("a", view)], None).expect("valid");
        let error = read(&bytes).expect_err("no scales");
        let expected = "a.scale: missing, but a is int8";
        assert_eq!(error.to_string(), expected, "names both");
    }

    #[test]
    fn the_size_of_a_file_is_known_before_it_is_written() {
        for precision in [Precision::F32, Precision::F16, Precision::Int8] {
            let bytes = write(&records(), precision).expect("valid records");
            let header_bytes = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
            let sizes = records().into_iter();
            let sizes = sizes.map(|record| precision.tensor_bytes(&record.name, &record.shape));
            let expected = sizes.sum::<usize>() as u64 + header_bytes;
            assert_eq!(bytes.len() as u64, expected, "{precision:?}");
        }
    }

    #[test]
    fn pieces_of_a_matrix_are_joined_in_order() {
        let piece = |shape: &[usize], values: &[f32]| tensor("a", shape, values);
        let pieces = vec![
            piece(&[1, 2], &[1.0, 2.0]),
            piece(&[2, 2], &[3.0, 4.0, 5.0, 6.0]),
        ];
        let whole = piece(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(join(pieces), Ok(vec![whole]), "three rows");
        let twice = join(vec![piece(&[2], &[1.0, 2.0]), piece(&[2], &[1.0, 2.0])]);
        let error = twice.expect_err("a vector is never cut");
        let expected = "a: given twice, as [2] and as [2], which are not pieces of one matrix";
        assert_eq!(error.to_string(), expected, "the message names it");
    }

    #[test]
    fn the_header_names_dtypes_and_shapes() {
        let bytes = write(&records(), Precision::F16).expect("valid records");
        let entries = describe(&bytes).expect("valid file");
        assert_eq!(entries[0].dtype, "F16", "dtype as in the header");
        assert_eq!(entries[0].shape, [2, 3], "shape as in the header");
    }

    #[test]
    fn a_file_is_verified_by_length_and_sha256() {
        // The SHA-256 of "abc", from FIPS 180-4.
        let entry = file_entry("x", b"abc");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(entry.sha256, expected, "of the standard");
        assert_eq!(verify(b"abc", &entry), Ok(()), "the same bytes");
        let longer = verify(b"abcd", &entry).expect_err("one byte more");
        assert_eq!(
            longer.to_string(),
            "x: 4 bytes, the manifest says 3",
            "length"
        );
        let other = verify(b"abd", &entry)
            .expect_err("another byte")
            .to_string();
        assert!(
            other.starts_with("x: sha256 is a52d159f"),
            "hash first: {other}"
        );
    }

    #[test]
    fn a_truncated_file_is_refused() {
        let bytes = write(&records(), Precision::F32).expect("valid records");
        let cut = read(&bytes[..bytes.len() - 1]);
        assert!(cut.is_err(), "the last byte is missing");
    }
}
