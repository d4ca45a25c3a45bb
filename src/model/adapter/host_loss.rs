//! The symmetric cross-entropy on the CPU: value and slope in three sweeps over the table of logits, on all cores,
//! where a chain of tensors would sweep over it more than twenty times on one.
//!
//! The order of every sum is fixed, so that a loss does not depend on the number of cores.

use burn::tensor::{Tensor, TensorData};

use crate::device::{each_chunk_of_two, host_values};
use crate::model::vector::exp;

/// Rows that one task takes.
const ROWS_PER_TASK: usize = 64;
/// Sums that are kept side by side, so that several are added at once.
const N_SUMS: usize = 16;

/// Half of the mean logsumexp over rows and half of that over columns, less the mean of the diagonal.
pub(super) fn info_nce(logits: Tensor<2>) -> Tensor<1> {
    let [n, _] = logits.dims();
    let values = host_values(logits.clone().detach());
    let (mean, mut slope) = mean_log_sum_exp(&values, n);
    let diagonal = values.iter().step_by(n + 1).map(|logit| f64::from(*logit));
    let value = mean - diagonal.sum::<f64>() / n as f64;
    for at in slope.iter_mut().step_by(n + 1) {
        *at -= 1.0 / n as f32;
    }
    with_slope(logits, value, slope)
}

/// Half of the mean logsumexp over rows and half of that over columns.
pub(super) fn symmetric_log_sum_exp(logits: Tensor<2>) -> Tensor<1> {
    let [n, _] = logits.dims();
    let (value, slope) = mean_log_sum_exp(&host_values(logits.clone().detach()), n);
    with_slope(logits, value, slope)
}

/// Loss `[1]` of this value, whose gradient by the logits is registered as `slope`, `n × n` values row by row.
#[expect(
    clippy::cast_possible_truncation,
    reason = "losses are f32, as all that is trained"
)]
fn with_slope(logits: Tensor<2>, value: f64, slope: Vec<f32>) -> Tensor<1> {
    let slope = Tensor::<2>::from_data(TensorData::new(slope, logits.dims()), &logits.device());
    let along = (logits * slope).sum();
    let at = along.clone().detach();
    along - at + value as f32
}

/// Half of the mean logsumexp over rows and half of that over columns of an `n × n` table, and its slope there.
fn mean_log_sum_exp(logits: &[f32], n: usize) -> (f64, Vec<f32>) {
    let size = [(ROWS_PER_TASK * n).max(1); 2];
    let mut slope = vec![0.0; logits.len()];
    let maxima = each_chunk_of_two(&mut slope, logits, size, |_, rows| column_maxima(rows, n));
    let greatest = column_maxima(&maxima.concat(), n);
    let parts = each_chunk_of_two(&mut slope, logits, size, |shares, rows| {
        row_shares(rows, &greatest, shares)
    });

    let mut sums = vec![0.0; n];
    for (_, of_task) in &parts {
        add(&mut sums, of_task);
    }
    let of_columns = greatest.iter().zip(&sums);
    let of_columns = of_columns.map(|(greatest, sum)| f64::from(greatest + sum.ln()));
    let of_rows: f64 = parts.iter().map(|(sum, _)| sum).sum();
    let mean = (of_rows + of_columns.sum::<f64>()) * 0.5 / n as f64;

    let factor = 0.5 / n as f32;
    let of_sum: Vec<f32> = sums.iter().map(|sum| factor / sum).collect();
    each_chunk_of_two(&mut slope, logits, size, |slope, rows| {
        add_column_shares(rows, &greatest, &of_sum, factor, slope);
    });
    (mean, slope)
}

/// The greatest of each column.
fn column_maxima(rows: &[f32], n: usize) -> Vec<f32> {
    let mut greatest = vec![f32::NEG_INFINITY; n];
    for row in rows.chunks_exact(n) {
        raise(&mut greatest, row);
    }
    greatest
}

fn raise(greatest: &mut [f32], others: &[f32]) {
    for (greatest, other) in greatest.iter_mut().zip(others) {
        *greatest = greatest.max(*other);
    }
}

/// The softmax of each row; the sum of the rows' logsumexp, and each column's sum of exponentials above its greatest.
fn row_shares(rows: &[f32], greatest: &[f32], shares: &mut [f32]) -> (f64, Vec<f32>) {
    let n = greatest.len();
    let mut of_columns = vec![0.0; n];
    let mut of_rows = 0.0;
    for (row, shares) in rows.chunks_exact(n).zip(shares.chunks_exact_mut(n)) {
        let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (share, logit) in shares.iter_mut().zip(row) {
            *share = exp(logit - top);
        }
        let sum = sum_of(shares);
        of_rows += f64::from(top + sum.ln());
        for share in &mut *shares {
            *share /= sum;
        }
        for ((sum, logit), greatest) in of_columns.iter_mut().zip(row).zip(greatest) {
            *sum += exp(logit - greatest);
        }
    }
    (of_rows, of_columns)
}

/// Adds the softmax of the columns to that of the rows, which makes the slope: half of both over the number of rows.
fn add_column_shares(
    rows: &[f32],
    greatest: &[f32],
    of_sum: &[f32],
    factor: f32,
    slope: &mut [f32],
) {
    let n = greatest.len();
    for (row, slope) in rows.chunks_exact(n).zip(slope.chunks_exact_mut(n)) {
        let columns = greatest.iter().zip(of_sum);
        for ((slope, logit), (greatest, of_sum)) in slope.iter_mut().zip(row).zip(columns) {
            *slope = *slope * factor + exp(logit - greatest) * of_sum;
        }
    }
}

fn sum_of(values: &[f32]) -> f32 {
    let mut sums = [0.0; N_SUMS];
    let (whole, rest) = values.as_chunks::<N_SUMS>();
    for values in whole {
        add(&mut sums, values);
    }
    sums.iter().chain(rest).sum()
}

fn add(sums: &mut [f32], values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Distribution;

    use super::*;
    use crate::device::cpu;

    #[test]
    fn a_loss_does_not_depend_on_the_number_of_cores() {
        let device = cpu();
        let logits = Tensor::<2>::random([200, 200], Distribution::Default, &device);
        let values = host_values(logits);
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(n_threads)
                .build();
            pool.expect("threads")
                .install(|| mean_log_sum_exp(&values, 200))
        };
        assert_eq!(on(1), on(3));
    }
}
