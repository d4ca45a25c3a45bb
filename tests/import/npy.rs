//! `NumPy`'s files of one array, as others publish embeddings.

use half::f16;
use kappascope::error::{Error, Result};

/// What every file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";

/// An array of floats in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    /// Length of each dimension, the outermost first.
    pub(crate) shape: Vec<usize>,
    /// Values in row-major order, as f32 whatever the file holds.
    pub(crate) values: Vec<f32>,
}

/// Reads an array of little-endian f16, f32 or f64; the format is `NEP 1` of `NumPy`.
///
/// # Errors
///
/// Another kind of file or of values, Fortran's order, or fewer or more values than the shape says.
pub(crate) fn read(bytes: &[u8]) -> Result<Array> {
    let (header, data) = split(bytes).ok_or_else(|| invalid("not a whole npy file"))?;
    if !header.contains("'fortran_order': False") {
        return Err(invalid("not in C order"));
    }
    let shape = shape(header).ok_or_else(|| invalid("its header has no shape"))?;
    let values = match field(header, "'descr': '", "'") {
        Some("<f2") => values(data, |value| f16::from_le_bytes(value).to_f32()),
        Some("<f4") => values(data, f32::from_le_bytes),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "embeddings are used in f32"
        )]
        Some("<f8") => values(data, |value| f64::from_le_bytes(value) as f32),
        other => {
            return Err(invalid(&format!(
                "its values are {other:?}, expected little-endian floats"
            )));
        }
    };
    let expected = shape
        .iter()
        .try_fold(1_usize, |product, size| product.checked_mul(*size));
    match values {
        Some(values) if Some(values.len()) == expected => Ok(Array { shape, values }),
        _ => Err(invalid(&format!(
            "{} bytes for the shape {shape:?}",
            data.len()
        ))),
    }
}

fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (version, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<2>()?;
    let (length, rest) = if version[0] == 1 {
        let (length, rest) = rest.split_first_chunk::<2>()?;
        (usize::from(u16::from_le_bytes(*length)), rest)
    } else {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        (u32::from_le_bytes(*length) as usize, rest)
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

fn field<'a>(header: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let sizes = field(header, "'shape': (", ")")?.split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

fn values<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Option<Vec<f32>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty()
        .then(|| chunks.iter().map(|chunk| value(*chunk)).collect())
}

fn invalid(reason: &str) -> Error {
    Error::Weights(format!("NumPy array: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).expect("a short header");
        [
            MAGIC,
            &[1, 0],
            &length.to_le_bytes(),
            header.as_bytes(),
            data,
        ]
        .concat()
    }

    #[test]
    fn halves_and_singles_are_read() {
        // 1.0 and −2.0 in half precision.
        let array = read(&file("<f2", "False", "(2, 1)", &[0x00, 0x3c, 0x00, 0xc0]));
        let array = array.expect("a valid file");
        assert_eq!(array.shape, [2, 1], "shape");
        assert_eq!(array.values, [1.0, -2.0], "values");
        let array = read(&file("<f4", "False", "(1,)", &2.5_f32.to_le_bytes()));
        assert_eq!(array.expect("a valid file").values, [2.5], "values");
    }

    #[test]
    fn what_is_no_such_array_is_refused() {
        let one = 2.5_f32.to_le_bytes();
        let cases = [
            file("<f4", "False", "(2,)", &one),
            file("<f4", "True", "(1,)", &one),
            file("<i4", "False", "(1,)", &one),
            file("<f4", "False", "(9999999999, 9999999999)", &one),
            b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
            Vec::new(),
        ];
        for case in cases {
            assert!(read(&case).is_err(), "{case:?}");
        }
    }
}
