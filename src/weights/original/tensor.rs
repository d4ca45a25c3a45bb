//! Type and shape of one tensor in a foreign file, and the decoding of its bytes.

use half::bf16;

use crate::error::{Result, refuse};
use crate::host::stored::f16_values;

/// Type and shape of one tensor, as a file's header has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Type in which values are stored.
    pub dtype: TensorDtype,
    /// Shape; empty for a scalar.
    pub shape: Vec<usize>,
}

/// Type in which values are stored in a foreign file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorDtype {
    /// Floats of eight bytes.
    F64,
    /// Floats of four bytes.
    F32,
    /// Two bytes, eleven bits of them significant.
    F16,
    /// The upper half of four bytes.
    Bf16,
    /// Another type, which no parameter of a CLIP has, of this many bytes.
    Other {
        /// Bytes that each value takes.
        bytes: usize,
    },
}

impl TensorDtype {
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
    ///
    /// # Errors
    ///
    /// A tensor that holds no floats; the message names it.
    pub fn decode(self, name: &str, bytes: &[u8]) -> Result<Vec<f32>> {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "weights are used in f32")]
            Self::F64 => Ok(values(bytes, |value| f64::from_le_bytes(value) as f32)),
            Self::F32 => Ok(values(bytes, f32::from_le_bytes)),
            Self::F16 => Ok(f16_values(bytes)),
            Self::Bf16 => Ok(values(bytes, |value| bf16::from_le_bytes(value).to_f32())),
            Self::Other { .. } => {
                refuse!("{name}: does not hold floats, expected F16, BF16, F32 or F64")
            }
        }
    }
}

pub(in crate::weights) fn values<const N: usize>(
    bytes: &[u8],
    value: impl Fn([u8; N]) -> f32,
) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| value(*chunk)).collect()
}

/// The number of values of a shape.
///
/// # Errors
///
/// A shape that no memory could hold; the message names the tensor.
pub fn n_values(name: &str, shape: &[usize]) -> Result<usize> {
    let mut sizes = shape.iter();
    let n_values = sizes.try_fold(1_usize, |product, size| product.checked_mul(*size));
    match n_values.filter(|n_values| n_values.checked_mul(8).is_some()) {
        Some(n_values) => Ok(n_values),
        None => refuse!("{name}: shape {shape:?} is larger than any memory"),
    }
}
