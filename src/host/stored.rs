//! Values of a tensor as a file holds them: widened to floats of four bytes late, or row by row where they are needed.

use std::fmt;

use bytemuck::must_cast;

use super::lanes::{Lanes, N_LANES, Real as _};

/// Values of a tensor in row-major order.
#[derive(Clone, PartialEq)]
pub enum StoredValues {
    /// Four bytes a value.
    Float(Vec<f32>),
    /// Two bytes a value, the lower one first.
    Half(Vec<u8>),
    /// One byte a value, a multiple of the scale of its row.
    Int8 {
        /// The multiples, each an `i8`.
        multiples: Vec<u8>,
        /// The scale of each row.
        scales: Vec<f32>,
    },
}

impl StoredValues {
    /// Number of values of the whole tensor.
    #[must_use]
    pub fn n_values(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Half(bytes) => bytes.len() / 2,
            Self::Int8 { multiples, .. } => multiples.len(),
        }
    }

    /// Appends the rows of another matrix of this width.
    pub fn append(&mut self, other: Self, row_width: usize) {
        match (self, other) {
            (Self::Half(bytes), Self::Half(other)) => bytes.extend(other),
            (
                Self::Int8 { multiples, scales },
                Self::Int8 {
                    multiples: other_multiples,
                    scales: other_scales,
                },
            ) => {
                multiples.extend(other_multiples);
                scales.extend(other_scales);
            }
            (Self::Float(values), other) => values.extend(other.widened(row_width)),
            (own, other) => {
                let mut values = std::mem::replace(own, Self::Float(Vec::new())).widened(row_width);
                values.extend(other.widened(row_width));
                *own = Self::Float(values);
            }
        }
    }

    /// The values in four bytes each.
    #[must_use]
    pub fn widened(self, row_width: usize) -> Vec<f32> {
        match self {
            Self::Float(values) => values,
            Self::Half(bytes) => f16_values(&bytes),
            Self::Int8 { multiples, scales } => {
                // Row by row, so that each page of the new memory is written once.
                let mut floats = Vec::with_capacity(multiples.len());
                let row_width = row_width.max(1);
                let mut wide = vec![0.0; row_width];
                for (row, scale) in multiples.chunks(row_width).zip(scales) {
                    let wide = &mut wide[..row.len()];
                    widen_int8(row, scale, wide);
                    floats.extend_from_slice(wide);
                }
                floats
            }
        }
    }

    /// These rows one after the other, in four bytes each value.
    ///
    /// # Panics
    ///
    /// If there are fewer rows.
    #[must_use]
    pub fn rows(&self, rows: &[usize], row_width: usize) -> Vec<f32> {
        let mut floats = vec![0.0; rows.len() * row_width];
        for (row, wide) in rows.iter().zip(floats.chunks_mut(row_width.max(1))) {
            let values = row * row_width..(row + 1) * row_width;
            match self {
                Self::Float(all) => wide.copy_from_slice(&all[values]),
                Self::Half(bytes) => widen_halves(&bytes[2 * values.start..2 * values.end], wide),
                Self::Int8 { multiples, scales } => {
                    widen_int8(&multiples[values], scales[*row], wide);
                }
            }
        }
        floats
    }
}

impl fmt::Debug for StoredValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Float(_) => "Float",
            Self::Half(_) => "Half",
            Self::Int8 { .. } => "Int8",
        };
        write!(formatter, "{kind}({} values)", self.n_values())
    }
}

/// Floats of two bytes each in four.
pub(crate) fn f16_values(bytes: &[u8]) -> Vec<f32> {
    let mut floats = vec![0.0; bytes.len() / 2];
    widen_halves(bytes, &mut floats);
    floats
}

#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn widen_halves(bytes: &[u8], floats: &mut [f32]) {
    widen(bytes, floats, Lanes::of_halves);
}

#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn widen_int8(multiples: &[u8], scale: f32, floats: &mut [f32]) {
    widen(multiples, floats, |eight: [u8; N_LANES]| {
        Lanes::from(must_cast::<_, [i8; N_LANES]>(eight)) * Lanes::of(scale)
    });
}

/// Floats of `N` bytes for eight of them; what is left at the end is followed by zeros, of which none is kept.
#[inline(always)]
fn widen<const N: usize>(bytes: &[u8], floats: &mut [f32], of_bytes: impl Fn([u8; N]) -> Lanes) {
    let (eights, rest) = bytes.as_chunks();
    let (written, last) = floats.as_chunks_mut::<N_LANES>();
    for (written, eight) in written.iter_mut().zip(eights) {
        *written = of_bytes(*eight).into();
    }
    let mut padded = [0; N];
    padded[..rest.len()].copy_from_slice(rest);
    let values: [f32; N_LANES] = of_bytes(padded).into();
    last.copy_from_slice(&values[..last.len()]);
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const WIDTH: usize = 5;

    /// Rows in each of the three forms.
    fn matrix() -> impl Strategy<Value = StoredValues> {
        let rows = vec(vec(-127_i8..=127, WIDTH), 1..6);
        (rows, 0..3).prop_map(|(rows, form)| {
            let n_rows = 0_u8..u8::try_from(rows.len()).expect("few rows");
            let values = rows.into_iter().flatten();
            match form {
                0 => StoredValues::Float(values.map(|value| f32::from(value) / 3.0).collect()),
                1 => StoredValues::Half(
                    values
                        .flat_map(|value| f16::from_f32(f32::from(value) / 3.0).to_le_bytes())
                        .collect(),
                ),
                _ => StoredValues::Int8 {
                    multiples: values.map(i8::cast_unsigned).collect(),
                    scales: n_rows.map(|row| 0.1 + f32::from(row)).collect(),
                },
            }
        })
    }

    proptest! {
        #[test]
        fn rows_that_are_looked_up_are_those_of_the_widened_matrix(stored in matrix(), picks: Vec<prop::sample::Index>) {
            let all = stored.clone().widened(WIDTH);
            let n_rows = all.len() / WIDTH;
            let rows: Vec<usize> = picks.iter().map(|pick| pick.index(n_rows)).collect();
            let expected: Vec<f32> = rows.iter().flat_map(|row| all[row * WIDTH..][..WIDTH].to_vec()).collect();
            prop_assert_eq!(stored.rows(&rows, WIDTH), expected);
        }

        #[test]
        fn pieces_of_any_form_make_one_matrix(first in matrix(), second in matrix()) {
            let expected = [first.clone().widened(WIDTH), second.clone().widened(WIDTH)].concat();
            let mut whole = first;
            whole.append(second, WIDTH);
            prop_assert_eq!(whole.n_values(), expected.len());
            prop_assert_eq!(whole.widened(WIDTH), expected);
        }
    }
}
