//! Safetensors files ↔ tensors on the host, and the check that a file is the one the manifest means.

use half::{bf16, f16};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use sha2::{Digest as _, Sha256};

use super::manifest::{FileEntry, TensorEntry};
use crate::error::{Error, Result};
use crate::model::parameters::TensorRecord;

/// How a shard stores its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Four bytes a value.
    F32,
    /// Two bytes a value; relative error up to 2⁻¹¹ within ±65504.
    F16,
}

/// Writes tensors as one safetensors file.
///
/// # Errors
///
/// A tensor whose values do not fill its shape, or that `precision` cannot hold.
pub fn write(records: &[TensorRecord], precision: Precision) -> Result<Vec<u8>> {
    let encoded = records
        .iter()
        .map(|record| Ok((record, encode(record, precision)?)))
        .collect::<Result<Vec<_>>>()?;
    let views = encoded
        .iter()
        .map(|(record, (dtype, bytes))| {
            TensorView::new(*dtype, record.shape.clone(), bytes)
                .map(|view| (record.name.as_str(), view))
                .map_err(|error| Error::Weights(format!("{}: {error}", record.name)))
        })
        .collect::<Result<Vec<_>>>()?;
    safetensors::serialize(views, None)
        .map_err(|error| Error::Weights(format!("safetensors: {error}")))
}

/// Reads every tensor of a safetensors file, in order of name.
///
/// # Errors
///
/// A file that is not safetensors, or a tensor that does not hold floats. `position_ids`, integers that some
/// checkpoints carry, are passed over.
pub fn read(bytes: &[u8]) -> Result<Vec<TensorRecord>> {
    let mut records = header(bytes)?
        .iter()
        .filter(|(name, _)| !name.ends_with("position_ids"))
        .map(|(name, view)| {
            Ok(TensorRecord {
                name: name.to_owned(),
                shape: view.shape().to_vec(),
                values: decode(name, &view)?,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    records.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(records)
}

/// What the header of a safetensors file says, in order of name.
///
/// # Errors
///
/// A file that is not safetensors.
pub fn describe(bytes: &[u8]) -> Result<Vec<TensorEntry>> {
    let mut entries: Vec<_> = header(bytes)?
        .iter()
        .map(|(name, view)| TensorEntry {
            name: name.to_owned(),
            dtype: format!("{:?}", view.dtype()),
            shape: view.shape().to_vec(),
        })
        .collect();
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
    if bytes.len() as u64 != entry.bytes {
        return Err(Error::Weights(format!(
            "{file}: {} bytes, the manifest says {}",
            bytes.len(),
            entry.bytes
        )));
    }
    let found = sha256(bytes);
    if found != entry.sha256 {
        return Err(Error::Weights(format!(
            "{file}: sha256 is {found}, the manifest says {}",
            entry.sha256
        )));
    }
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn header(bytes: &[u8]) -> Result<SafeTensors<'_>> {
    SafeTensors::deserialize(bytes)
        .map_err(|error| Error::Weights(format!("not a safetensors file: {error}")))
}

fn encode(record: &TensorRecord, precision: Precision) -> Result<(Dtype, Vec<u8>)> {
    let values = record.values.iter();
    match precision {
        Precision::F32 => Ok((
            Dtype::F32,
            values.flat_map(|value| value.to_le_bytes()).collect(),
        )),
        Precision::F16 => {
            let too_large = |value: &&f32| value.is_finite() && !f16::from_f32(**value).is_finite();
            if let Some(value) = values.clone().find(too_large) {
                return Err(Error::Weights(format!(
                    "{}: {value} does not fit in f16",
                    record.name
                )));
            }
            let bytes = values
                .flat_map(|value| f16::from_f32(*value).to_le_bytes())
                .collect();
            Ok((Dtype::F16, bytes))
        }
    }
}

fn decode(name: &str, view: &TensorView<'_>) -> Result<Vec<f32>> {
    let bytes = view.data();
    match view.dtype() {
        Dtype::F32 => Ok(values(bytes, f32::from_le_bytes)),
        Dtype::F16 => Ok(values(bytes, |bytes| f16::from_le_bytes(bytes).to_f32())),
        Dtype::BF16 => Ok(values(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32())),
        other => Err(Error::Weights(format!(
            "{name}: dtype is {other:?}, expected F32, F16 or BF16"
        ))),
    }
}

fn values<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| value(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<TensorRecord> {
        vec![
            TensorRecord {
                name: "a.weight".to_owned(),
                shape: vec![2, 3],
                values: vec![1.0, -2.5, 0.1, 3e-5, 65504.0, 0.0],
            },
            TensorRecord {
                name: "b".to_owned(),
                shape: vec![],
                values: vec![4.6],
            },
        ]
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
                assert!(
                    (found - expected).abs() <= tolerance,
                    "found {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn a_value_that_f16_cannot_hold_is_refused_by_name() {
        let mut records = records();
        records[0].values[1] = 1e5;
        let error = write(&records, Precision::F16).expect_err("1e5 is above 65504");
        assert_eq!(
            error.to_string(),
            "a.weight: 100000 does not fit in f16",
            "the message names the tensor"
        );
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
        assert_eq!(
            entry.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "of the standard"
        );
        assert_eq!(verify(b"abc", &entry), Ok(()), "the same bytes");
        let longer = verify(b"abcd", &entry).expect_err("one byte more");
        assert_eq!(
            longer.to_string(),
            "x: 4 bytes, the manifest says 3",
            "length"
        );
        let other = verify(b"abd", &entry).expect_err("another byte");
        assert!(
            other.to_string().starts_with("x: sha256 is a52d159f"),
            "hash first: {other}"
        );
    }

    #[test]
    fn a_truncated_file_is_refused() {
        let bytes = write(&records(), Precision::F32).expect("valid records");
        assert!(
            read(&bytes[..bytes.len() - 1]).is_err(),
            "the last byte is missing"
        );
    }
}
