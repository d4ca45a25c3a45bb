//! Spherical k-means (Dhillon & Modha 2001, [Concept decompositions](https://doi.org/10.1023/A:1007612920971)).
//!
//! Centres are compared with where single pictures would let too much pass: among any hundred photographs there are
//! some of a sign or an empty sky, which a drawing or a gradient resembles.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::index::sample;

use crate::train::features::rows::Rows;
use crate::train::pairs::scores::dot;

/// Rounds of assigning rows and moving centres.
const ROUNDS: usize = 20;

/// Centres of clusters of `rows`, `[n, width]`, unit vectors; none of no rows. A centre without rows stays where it is.
///
/// # Panics
///
/// With more centres than rows.
pub(super) fn centres(rows: &Rows, n: usize, seed: u64) -> Rows {
    let (n_rows, width) = (rows.n_rows(), rows.width);
    let rows: Vec<Vec<f32>> = (0..n_rows).map(|i| unit(rows.row(i))).collect();
    let first = sample(&mut ChaCha8Rng::seed_from_u64(seed), n_rows, n);
    let mut centres: Vec<Vec<f32>> = first.iter().map(|i| rows[i].clone()).collect();
    for _ in 0..ROUNDS {
        let mut sums = vec![vec![0.0; width]; n];
        for row in &rows {
            let sum = &mut sums[nearest(row, &centres)];
            sum.iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
        }
        for (centre, sum) in centres.iter_mut().zip(sums) {
            if sum.iter().any(|value| *value != 0.0) {
                *centre = unit(&sum);
            }
        }
    }
    Rows {
        values: centres.concat(),
        width,
    }
}

fn nearest(row: &[f32], centres: &[Vec<f32>]) -> usize {
    let cosines = centres.iter().map(|centre| dot(row, centre)).enumerate();
    let best = cosines.max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(0, |(i, _)| i)
}

/// A row scaled to length one.
pub(super) fn unit(row: &[f32]) -> Vec<f32> {
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    let length = length.max(f32::MIN_POSITIVE);
    row.iter().map(|value| value / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cluster_has_its_centre_whatever_the_lengths() {
        let angles = [0.0, 2.0, 4.0, 90.0, 92.0, 94.0, 200.0, 202.0, 204.0_f32];
        let vectors = angles.iter().enumerate().flat_map(|(i, angle)| {
            let (y, x) = angle.to_radians().sin_cos();
            [x, y].map(|value| value * (1.0 + i as f32 % 3.0))
        });
        let rows = Rows {
            values: vectors.collect(),
            width: 2,
        };
        assert_eq!(centres(&Rows::empty(2), 0, 0).n_rows(), 0, "of nothing");
        let found = centres(&rows, 3, 0);
        let mut found: Vec<f32> = (0..3)
            .map(|i| found.row(i)[1].atan2(found.row(i)[0]).to_degrees())
            .collect();
        found.sort_by(f32::total_cmp);
        for (found, expected) in found.iter().zip([-158.0, 2.0, 92.0]) {
            assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
        }
    }
}
