//! Products with a matrix that stays: packed once, when it is loaded, and multiplied by a kernel that reads it in
//! order.
//!
//! A general product packs both of its matrices each time, which takes a fifth of an answer; and its inner loop is what
//! a build was compiled for. An engine brings its own [`Kernel`]; [`portable`] is the one that runs everywhere.

use std::fmt;

use super::lanes::{Lanes, N_LANES, Real};

/// Columns of a panel: the sums of one row of the output that the inner loop holds.
pub const PANEL_COLUMNS: usize = N_LANES;

/// Greatest multiple of a column's scale; −128 stays unused, so that the code is symmetric.
const INT8_MAX: f32 = 127.0;

/// A function that computes a [`Product`] into its output.
pub type Kernel = fn(Product<'_>);

/// `rows · matrix + bias`, with the buffer for its output.
#[derive(Debug)]
pub struct Product<'a> {
    /// Left factor, `[n_rows, d_in]`, row by row.
    pub rows: &'a [f32],
    /// Right factor, `[d_in, columns]`, whose number of columns is a multiple of [`PANEL_COLUMNS`].
    pub panels: &'a Panels,
    /// Added to each row of the output, one for each column of the panels.
    pub bias: &'a [f32],
    /// Output buffer, `[n_rows, columns]`; its old values are not read.
    pub output: &'a mut [f32],
}

/// A matrix `[d_in, columns]` in panels of [`PANEL_COLUMNS`] columns, one panel after the other, each row by row.
pub struct Panels {
    /// Length of a column.
    pub d_in: usize,
    /// The columns' values, panel by panel.
    pub values: PanelValues,
}

/// Values of [`Panels`], as floats or in eight bits.
pub enum PanelValues {
    /// Floats of four bytes.
    Float(Vec<f32>),
    /// Whole multiples of a factor for each column.
    Int8 {
        /// The whole numbers, −127 to 127.
        multiples: Vec<i8>,
        /// A factor for each column, zero for those that only fill the last panel.
        scales: Vec<f32>,
    },
}

/// A packed matrix `[d_in, d_out]` and the kernel that multiplies by it.
#[derive(Debug)]
pub(crate) struct PackedMatrix {
    pub(crate) d_out: usize,
    pub(crate) panels: Panels,
    kernel: Kernel,
}

impl Panels {
    /// Packs a matrix that comes column by column, `[d_out, d_in]`; missing columns of the last panel are zeros.
    pub fn pack(columns: &[f32], d_in: usize) -> Self {
        let values = PanelValues::Float(interleaved(columns, d_in));
        Self { d_in, values }
    }

    /// Packs a matrix that comes row by row, with the columns that fill its last panel: `[d_in, n_panels · 8]`.
    pub(crate) fn pack_rows(rows: &[f32], d_in: usize) -> Self {
        let n_panels = rows.len() / d_in / PANEL_COLUMNS;
        let (eights, _) = rows.as_chunks::<PANEL_COLUMNS>();
        let columns = |i_panel| eights.iter().skip(i_panel).step_by(n_panels);
        let values = (0..n_panels).flat_map(columns).flatten().copied();
        Self {
            d_in,
            values: PanelValues::Float(values.collect()),
        }
    }

    /// Packs the matrix in eight bits a value, with a factor for each column.
    pub fn pack_int8(columns: &[f32], d_in: usize) -> Self {
        let (multiples, mut scales) = int8_rows(columns, d_in);
        scales.resize(scales.len().next_multiple_of(PANEL_COLUMNS), 0.0);
        let multiples = interleaved(&multiples, d_in);
        Self {
            d_in,
            values: PanelValues::Int8 { multiples, scales },
        }
    }

    /// Number of columns, with those that only fill the last panel.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        let n_values = match &self.values {
            PanelValues::Float(values) => values.len(),
            PanelValues::Int8 { multiples, .. } => multiples.len(),
        };
        n_values / self.d_in
    }
}

impl fmt::Debug for PanelValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Float(_) => "Float",
            Self::Int8 { .. } => "Int8",
        })
    }
}

impl fmt::Debug for Panels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Panels({} × {})", self.d_in, self.n_columns())
    }
}

impl PackedMatrix {
    pub(crate) fn new(panels: Panels, d_out: usize, kernel: Kernel) -> Self {
        Self {
            d_out,
            panels,
            kernel,
        }
    }

    /// Product of the rows and the packed matrix plus the bias, row by row.
    ///
    /// # Shapes
    ///
    /// - `rows`: `[n_rows, d_in]`
    /// - `bias`: one for each column of the panels
    /// - output: `[n_rows, d_out]`
    pub(crate) fn multiply_rows(&self, rows: &[f32], bias: &[f32]) -> Vec<f32> {
        let n_columns = self.panels.n_columns();
        let mut output = vec![0.0; rows.len() / self.panels.d_in * n_columns];
        (self.kernel)(Product {
            rows,
            panels: &self.panels,
            bias,
            output: &mut output,
        });
        if n_columns != self.d_out {
            let rows = output.chunks(n_columns);
            output = rows.flat_map(|row| &row[..self.d_out]).copied().collect();
        }
        output
    }
}

/// Rows as multiples of a factor each, which makes the greatest of a row 127, and those factors.
pub fn int8_rows(values: &[f32], row_width: usize) -> (Vec<i8>, Vec<f32>) {
    let (mut multiples, mut scales) = (Vec::with_capacity(values.len()), Vec::new());
    for row in values.chunks(row_width.max(1)) {
        let sizes = row.iter().map(|value| value.abs());
        let scale = sizes.fold(0.0, f32::max) / INT8_MAX;
        scales.push(scale);
        multiples.extend(row.iter().map(|value| int8(*value, scale)));
    }
    (multiples, scales)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to what an i8 holds; zero over zero becomes zero"
)]
fn int8(value: f32, scale: f32) -> i8 {
    (value / scale).round().clamp(-INT8_MAX, INT8_MAX) as i8
}

/// Columns of a length in panels, `[panel, row, column]`.
fn interleaved<T: Copy + Default>(columns: &[T], d_in: usize) -> Vec<T> {
    let n_values = columns.len().next_multiple_of(PANEL_COLUMNS * d_in);
    // Pages of memory that nothing has written to yet cost most of packing, so each is written once.
    let mut values = Vec::with_capacity(n_values);
    let mut panel = vec![[T::default(); PANEL_COLUMNS]; d_in];
    for columns in columns.chunks(PANEL_COLUMNS * d_in) {
        if columns.len() < PANEL_COLUMNS * d_in {
            panel.fill([T::default(); PANEL_COLUMNS]);
        }
        for (at, column) in columns.chunks(d_in).enumerate() {
            for (row, value) in panel.iter_mut().zip(column) {
                row[at] = *value;
            }
        }
        values.extend_from_slice(panel.as_flattened());
    }
    values
}

/// The kernel that runs everywhere.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn portable(product: Product<'_>) {
    let Product {
        rows,
        panels,
        bias,
        output,
    } = product;
    let (bias, _) = bias.as_chunks();
    match &panels.values {
        PanelValues::Float(values) => {
            let finish = |sums, i_panel: usize| sums + Lanes::from(bias[i_panel]);
            multiply(rows, panels.d_in, values, Lanes::from, finish, output);
        }
        PanelValues::Int8 { multiples, scales } => {
            let (scales, _) = scales.as_chunks();
            let finish = |sums, i_panel: usize| {
                sums * Lanes::from(scales[i_panel]) + Lanes::from(bias[i_panel])
            };
            multiply(rows, panels.d_in, multiples, Lanes::from, finish, output);
        }
    }
}

/// `output = finish(rows · panel, i_panel)` for each panel. Four rows are multiplied side by side, so that no sum waits
/// for the one before it.
#[inline(always)]
fn multiply<T: Copy>(
    rows: &[f32],
    d_in: usize,
    panels: &[T],
    widen: impl Fn([T; N_LANES]) -> Lanes + Copy,
    finish: impl Fn(Lanes, usize) -> Lanes,
    output: &mut [f32],
) {
    let n_panels = panels.len() / d_in / PANEL_COLUMNS;
    let (output, _) = output.as_chunks_mut::<PANEL_COLUMNS>();
    for (i_panel, panel) in panels.chunks(PANEL_COLUMNS * d_in).enumerate() {
        let (panel, _) = panel.as_chunks();
        let mut outputs = output.iter_mut().skip(i_panel).step_by(n_panels);
        let mut write = |sums| {
            if let Some(output) = outputs.next() {
                *output = finish(sums, i_panel).into();
            }
        };
        let fours = rows.chunks_exact(4 * d_in);
        let rest = fours.remainder();
        for four in fours {
            let (upper, lower) = four.split_at(2 * d_in);
            let (upper, lower) = (upper.split_at(d_in), lower.split_at(d_in));
            let (upper, lower) = four_rows_times_panel(upper, lower, panel, widen);
            write(upper.0);
            write(upper.1);
            write(lower.0);
            write(lower.1);
        }
        for row in rest.chunks_exact(d_in) {
            write(row_times_panel(row, panel, widen));
        }
    }
}

#[inline(always)]
fn row_times_panel<T: Copy>(
    row: &[f32],
    panel: &[[T; PANEL_COLUMNS]],
    widen: impl Fn([T; PANEL_COLUMNS]) -> Lanes,
) -> Lanes {
    let mut sums = Lanes::of(0.0);
    for (value, weights) in row.iter().zip(panel) {
        sums = sums + Lanes::of(*value) * widen(*weights);
    }
    sums
}

/// [`row_times_panel`] of four rows, with the same bits.
#[inline(always)]
fn four_rows_times_panel<T: Copy>(
    upper: (&[f32], &[f32]),
    lower: (&[f32], &[f32]),
    panel: &[[T; PANEL_COLUMNS]],
    widen: impl Fn([T; PANEL_COLUMNS]) -> Lanes,
) -> ((Lanes, Lanes), (Lanes, Lanes)) {
    let zero = Lanes::of(0.0);
    let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
    let upper = upper.0.iter().zip(upper.1);
    let lower = lower.0.iter().zip(lower.1);
    for ((weights, (of_a, of_b)), (of_c, of_d)) in panel.iter().zip(upper).zip(lower) {
        let weights = widen(*weights);
        a = a + Lanes::of(*of_a) * weights;
        b = b + Lanes::of(*of_b) * weights;
        c = c + Lanes::of(*of_c) * weights;
        d = d + Lanes::of(*of_d) * weights;
    }
    ((a, b), (c, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f32> {
        (0..n)
            .map(|i| ((i * 37 % 19) as f32 - 9.0) / 50.0)
            .collect()
    }

    #[test]
    fn a_packed_product_is_the_sum_of_its_terms() {
        let [n_rows, d_in, d_out] = [3, 7, 11];
        let (rows, columns) = (numbers(n_rows * d_in), numbers(d_in * d_out));
        let panels = Panels::pack(&columns, d_in);
        assert_eq!(panels.n_columns(), 16, "two panels");
        let bias: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let mut output = vec![f32::NAN; n_rows * 16];
        portable(Product {
            rows: &rows,
            panels: &panels,
            bias: &bias,
            output: &mut output,
        });
        for (i, found) in output.into_iter().enumerate() {
            let (row, column) = (i / 16, i % 16);
            let weight = |l: usize| columns.get(column * d_in + l).filter(|_| column < d_out);
            let terms = (0..d_in).map(|l| rows[row * d_in + l] * weight(l).unwrap_or(&0.0));
            let expected = terms.sum::<f32>() + bias[column];
            assert!(
                (found - expected).abs() < 1e-6,
                "row {row}, column {column}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn a_row_of_zeros_stays_one() {
        let (multiples, scales) = int8_rows(&[0.0, 0.0, 1.0, -2.0], 2);
        assert_eq!(multiples, [0, 0, 64, -127], "multiples");
        assert_eq!(scales[0], 0.0, "nothing to scale");
    }
}
