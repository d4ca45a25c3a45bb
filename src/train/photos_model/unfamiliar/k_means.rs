//! Clusters of unit vectors: spherical k-means.

use anyhow::{Result, ensure};
use burn::tensor::Device;
use rand::seq::index::sample;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::train::features::rows::Rows;

/// Rounds of assigning rows to centres and moving centres to their rows.
const N_ROUNDS: usize = 8;
/// Rows that are compared with all centres at once.
const ROWS_PER_PASS: usize = 8192;

/// `n_centres` unit vectors, each the direction of the mean of the unit vectors that are nearest to it.
///
/// # Errors
///
/// Fewer rows than centres, or a device that fails.
pub(super) fn k_means(rows: &Rows, n_centres: usize, seed: u64, device: &Device) -> Result<Rows> {
    let n_rows = rows.n_rows();
    ensure!(
        n_rows >= n_centres,
        "{n_rows} rows, at least {n_centres} were expected"
    );
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let first = sample(&mut rng, n_rows, n_centres);
    let mut centres = Rows {
        values: first
            .iter()
            .flat_map(|row| rows.row(row).to_vec())
            .collect(),
        width: rows.width,
    };
    for _ in 0..N_ROUNDS {
        let mut sums = Rows {
            values: vec![0.0; centres.values.len()],
            width: rows.width,
        };
        for (row, (centre, _)) in nearest(rows, &centres, device)?.into_iter().enumerate() {
            let sum = &mut sums.values[centre * rows.width..][..rows.width];
            sum.iter_mut()
                .zip(rows.row(row))
                .for_each(|(sum, value)| *sum += value);
        }
        let of_centres = centres.values.chunks_exact_mut(rows.width);
        for (centre, sum) in of_centres.zip(unit(sums).values.chunks_exact(rows.width)) {
            // A centre without rows stays where it is.
            if sum.iter().any(|value| *value != 0.0) {
                centre.copy_from_slice(sum);
            }
        }
    }
    Ok(centres)
}

/// Of each unit vector, the place of the centre with the greatest cosine, and this cosine.
///
/// # Errors
///
/// The device fails.
pub(super) fn nearest(rows: &Rows, centres: &Rows, device: &Device) -> Result<Vec<(usize, f32)>> {
    let centres = centres.to_device(device).transpose();
    let mut found = Vec::with_capacity(rows.n_rows());
    for values in rows.values.chunks(ROWS_PER_PASS * rows.width) {
        let rows = Rows {
            values: values.to_vec(),
            width: rows.width,
        };
        let cosines = rows.to_device(device).matmul(centres.clone());
        let (cosines, places) = cosines.max_dim_with_indices(1);
        let places = places.into_data().convert::<i64>().try_into_vec::<i64>()?;
        let places = places
            .into_iter()
            .map(|place| usize::try_from(place).unwrap_or_default());
        found.extend(places.zip(cosines.into_data().try_into_vec::<f32>()?));
    }
    Ok(found)
}

/// Rows scaled to length one; rows of zeros stay.
pub(super) fn unit(mut rows: Rows) -> Rows {
    for row in rows.values.chunks_exact_mut(rows.width) {
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        row.iter_mut()
            .for_each(|value| *value /= length.max(f32::MIN_POSITIVE));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn centres_lie_in_the_middle_of_their_clusters() {
        let around = |[x, y]: [f32; 2]| [[x, y + 0.2], [3.0 * x, 3.0 * (y - 0.2)]].concat();
        let rows = unit(Rows {
            values: [[1.0, 0.0], [-1.0, 0.0]].map(around).concat(),
            width: 2,
        });
        let seeds = (0..20).map(|seed| k_means(&rows, 2, seed, &cpu()).expect("enough rows"));
        let lie = |centres: &Rows| {
            let ends = [centres.row(0)[0], centres.row(1)[0]];
            ends.iter().all(|x| x.abs() > 0.999) && ends[0] * ends[1] < 0.0
        };
        assert!(seeds.filter(lie).count() > 5, "from most starts");
        k_means(&rows, 5, 0, &cpu()).expect_err("more centres than rows");
    }
}
