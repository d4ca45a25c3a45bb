//! Mean and deviation of features over a training set.

use crate::train::features::rows::Rows;

/// Added to a deviation, so that a feature that is always the same divides by no zero.
const MIN_DEVIATION: f64 = 1e-6;

/// Mean and standard deviation of each column.
#[expect(clippy::cast_possible_truncation, reason = "features are used in f32")]
pub(super) fn statistics(rows: &Rows) -> (Vec<f32>, Vec<f32>) {
    let n_rows = rows.n_rows() as f64;
    let (mut mean, mut squares) = (vec![0.0; rows.width], vec![0.0; rows.width]);
    for row in rows.values.chunks_exact(rows.width) {
        for (sum, value) in mean.iter_mut().zip(row) {
            *sum += f64::from(*value) / n_rows;
        }
    }
    for row in rows.values.chunks_exact(rows.width) {
        for ((sum, value), mean) in squares.iter_mut().zip(row).zip(&mean) {
            *sum += (f64::from(*value) - mean).powi(2) / n_rows;
        }
    }
    let deviation = squares
        .iter()
        .map(|square: &f64| square.sqrt() + MIN_DEVIATION);
    (
        mean.iter().map(|mean| *mean as f32).collect(),
        deviation.map(|deviation| deviation as f32).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_standardised_by_the_training_set() {
        let features = Rows {
            values: vec![1.0, 5.0, 3.0, 5.0],
            width: 2,
        };
        let (mean, deviation) = statistics(&features);
        assert_eq!(mean, [2.0, 5.0], "of each column");
        assert!((deviation[0] - 1.0).abs() < 1e-5, "{deviation:?}");
        assert!(deviation[1] > 0.0, "nothing is divided by zero");
    }
}
