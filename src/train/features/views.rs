//! Spread of the unit features of a picture's augmented views: how far its feature moves under augmentation.

use super::rows::{Embedded, Rows};

/// Features of the pictures alone, from rows in which each picture is followed by its `n_views` views, with the spread
/// of the views.
pub(in crate::train) fn separated(seen: Embedded, n_views: usize) -> Embedded {
    if n_views == 0 {
        return seen;
    }
    let features = seen.features;
    let groups = features.values.chunks_exact((1 + n_views) * features.width);
    let views = groups.map(|group| spread(&group[features.width..], features.width));
    Embedded {
        view_spread: Rows {
            values: views.collect(),
            width: 1,
        },
        features: first_of_each(&features, 1 + n_views),
        activations: first_of_each(&seen.activations, 1 + n_views),
    }
}

/// 1 − R̄ of features of one picture, where R̄ is the length of the mean of the unit features: 0 where all point the
/// same way, near 1 where they point everywhere.
#[expect(
    clippy::cast_possible_truncation,
    reason = "f32 is what features are kept in"
)]
fn spread(features: &[f32], width: usize) -> f32 {
    let mut sum = vec![0.0; width];
    for feature in features.chunks_exact(width) {
        let length = length(feature.iter().map(|value| f64::from(*value)));
        for (sum, value) in sum.iter_mut().zip(feature) {
            *sum += f64::from(*value) / length;
        }
    }
    let n = (features.len() / width) as f64;
    (1.0 - length(sum.into_iter()) / n).max(0.0) as f32
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

fn first_of_each(rows: &Rows, group: usize) -> Rows {
    let groups = rows.values.chunks_exact((group * rows.width).max(1));
    let first = groups.flat_map(|group| group[..rows.width].iter().copied());
    Rows {
        values: first.collect(),
        width: rows.width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f32], width: usize) -> Rows {
        Rows {
            values: values.to_vec(),
            width,
        }
    }

    #[test]
    fn views_that_are_alike_have_no_spread_and_views_that_scatter_have_some() {
        let features = [
            // A picture whose views differ in length alone, one whose views stand at right angles, one whose views are
            // opposite.
            [9.0, 9.0],
            [0.1, 0.3],
            [0.2, 0.6],
            [1.0, 0.0],
            [2.0, 0.0],
            [0.0, 3.0],
            [5.0, 0.0],
            [1.0, 1.0],
            [-1.0, -1.0],
        ]
        .concat();
        let activations: Vec<f32> = (0_u8..9).map(f32::from).collect();
        let seen = Embedded::new(rows(&features, 2), rows(&activations, 1));
        let found = separated(seen, 2);
        assert_eq!(found.features.values, [9.0, 9.0, 1.0, 0.0, 5.0, 0.0]);
        assert_eq!(found.activations.values, [0.0, 3.0, 6.0], "the pictures'");
        let expected = [0.0, 1.0 - std::f32::consts::FRAC_1_SQRT_2, 1.0];
        for (found, expected) in found.view_spread.values.iter().zip(expected) {
            let error = (found - expected).abs();
            assert!(error < 1e-6, "{found}, expected {expected}");
        }
        assert!(found.has_views(), "three of them");
    }

    #[test]
    fn without_views_nothing_is_separated() {
        let seen = Embedded::new(rows(&[1.0, 2.0], 1), rows(&[3.0, 4.0], 1));
        let found = separated(seen.clone(), 0);
        assert_eq!(found, seen, "as it was");
        assert!(!found.has_views(), "there are none");
    }
}
