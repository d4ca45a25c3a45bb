//! Agreement of two orders of the same things, where one of them has few steps.

use super::compare;

/// Returns Kendall's `τ_c` (Stuart's): concordant minus discordant pairs, scaled so that ±1 can be reached whatever the
/// number of different values; `None` if either side is constant or too short.
///
/// ```text
/// τ_c = 2 (P − Q) / (n² (m − 1) / m)        m: the smaller number of different values
/// ```
///
/// P and Q count pairs that both sides order alike and unlike; pairs that are equal on a side count for neither. In
/// O(n log n) by the merges of a sort (Knight 1966).
///
/// # Examples
/// ```
/// use kappascope::metrics::agreement::kendall_tau_c;
/// // Scores that rise with people's judgements, of which there are only two.
/// assert_eq!(kendall_tau_c(&[0.1, 0.2, 0.7, 0.9], &[1.0, 1.0, 4.0, 4.0]), Some(1.0));
/// assert_eq!(kendall_tau_c(&[0.1, 0.2], &[3.0, 3.0]), None);
/// ```
#[must_use]
pub fn kendall_tau_c(x: &[f64], y: &[f64]) -> Option<f64> {
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    pairs.sort_by(|a, b| compare(a.0, b.0).then(compare(a.1, b.1)));
    let n = pairs.len() as f64;
    let n_tied_x = tied(pairs.chunk_by(|a, b| compare(a.0, b.0).is_eq()));
    let n_tied_both =
        tied(pairs.chunk_by(|a, b| compare(a.0, b.0).is_eq() && compare(a.1, b.1).is_eq()));
    let n_different_x = pairs.chunk_by(|a, b| compare(a.0, b.0).is_eq()).count();
    let mut by_y: Vec<f64> = pairs.into_iter().map(|pair| pair.1).collect();
    let n_discordant = sort_counting_inversions(&mut by_y) as f64;
    let n_tied_y = tied(by_y.chunk_by(|a, b| compare(*a, *b).is_eq()));
    let n_different_y = by_y.chunk_by(|a, b| compare(*a, *b).is_eq()).count();
    let m = n_different_x.min(n_different_y) as f64;
    let n_pairs = n * (n - 1.0) / 2.0;
    let difference = n_pairs - n_tied_x - n_tied_y + n_tied_both - 2.0 * n_discordant;
    (m > 1.0).then(|| 2.0 * difference / (n * n * (m - 1.0) / m))
}

/// Pairs within groups of equal values.
fn tied<'a, T: 'a>(groups: impl Iterator<Item = &'a [T]>) -> f64 {
    let pairs = groups.map(|group| group.len() as f64 * (group.len() as f64 - 1.0) / 2.0);
    pairs.sum()
}

/// Sorts ascending and returns how many pairs stood in falling order.
fn sort_counting_inversions(values: &mut Vec<f64>) -> u64 {
    let mut merged = Vec::with_capacity(values.len());
    let mut n_inversions = 0;
    let mut width = 1;
    while width < values.len() {
        merged.clear();
        for pair in values.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            n_inversions += merge(left, right, &mut merged);
        }
        std::mem::swap(values, &mut merged);
        width *= 2;
    }
    n_inversions
}

/// Merges two sorted runs and returns how many values of the left are greater than one of the right.
fn merge(left: &[f64], right: &[f64], merged: &mut Vec<f64>) -> u64 {
    let (mut left, mut n_inversions) = (left.iter().peekable(), 0);
    for value in right {
        while let Some(smaller) = left.next_if(|x| compare(**x, *value).is_le()) {
            merged.push(*smaller);
        }
        n_inversions += left.len() as u64;
        merged.push(*value);
    }
    merged.extend(left);
    n_inversions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::fixture::{assert_close, fixture, numbers};

    #[test]
    fn agreement_with_few_steps_agrees_with_scipy() {
        let fixture = fixture("metrics.json");
        let (scores, judgements) = (
            numbers(&fixture["agreement_score"]),
            numbers(&fixture["agreement_judgement"]),
        );
        let found = kendall_tau_c(&scores, &judgements).expect("both vary");
        assert_close("tau_c", found, &fixture["agreement_tau_c"]);
    }

    proptest! {
        #[test]
        fn merging_counts_what_comparing_all_pairs_counts(
            values in prop::collection::vec((-4_i32..4, -2_i32..2), 2..40),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) =
                values.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).unzip();
            let mut difference = 0.0;
            for i in 0..x.len() {
                for j in 0..i {
                    difference += (x[i] - x[j]).signum() * (y[i] - y[j]).signum()
                        * f64::from(u8::from(x[i] != x[j] && y[i] != y[j]));
                }
            }
            let different = |values: &[f64]| {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted.dedup();
                sorted.len() as f64
            };
            let m = different(&x).min(different(&y));
            let expected = (m > 1.0).then(|| 2.0 * difference / ((x.len() as f64).powi(2) * (m - 1.0) / m));
            let found = kendall_tau_c(&x, &y);
            let is_close = found.zip(expected).is_none_or(|(a, b)| (a - b).abs() < 1e-12);
            prop_assert!(is_close && found.is_some() == expected.is_some(), "{:?} {:?}", found, expected);
        }

        #[test]
        fn monotone_changes_of_scale_change_nothing(
            values in prop::collection::vec((-5.0..5.0_f64, 1_u8..5), 2..40),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = values.into_iter().map(|(x, y)| (x, f64::from(y))).unzip();
            let scaled: Vec<f64> = x.iter().map(|x| 2.0 * x + 1.0).collect();
            prop_assert_eq!(kendall_tau_c(&x, &y), kendall_tau_c(&scaled, &y), "τ_c");
        }
    }
}
