//! Slices in, numbers out: how retrieval and uncertainty are judged. No tensors, no files.
//!
//! A number that the data do not determine (a correlation with a constant) is `None`, never NaN. Slices that belong
//! together and differ in length are read up to the shorter one.

pub mod agreement;
#[cfg(test)]
mod fixture;
pub mod rejection;
pub mod retrieval;

use std::cmp::Ordering;

/// A straight line fitted by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearFit {
    /// Change of y for one unit of x. Its sign matters: `r_squared` is blind to it.
    pub slope: f64,
    /// Value of the line at x = 0.
    pub intercept: f64,
    /// Coefficient of determination, the squared Pearson correlation.
    pub r_squared: f64,
}

/// Returns how many items stand before the best relevant one when `scores` are sorted descending, equal scores in
/// order of their index; `None` if no item is relevant.
///
/// `relevant` are the indices of relevant items, ascending. Rank 0 is a hit at 1, the same as `argmax` finding a
/// relevant item.
///
/// # Examples
/// ```
/// use kappascope::metrics::first_hit_rank;
/// // Item 2 has the second best score.
/// assert_eq!(first_hit_rank(&[0.1, 0.9, 0.5], [2]), Some(1));
/// assert_eq!(first_hit_rank(&[0.1, 0.9, 0.5], []), None);
/// ```
pub fn first_hit_rank<T: PartialOrd>(
    scores: &[T],
    relevant: impl IntoIterator<Item = usize>,
) -> Option<usize> {
    let mut best: Option<(usize, &T)> = None;
    let relevant = relevant.into_iter();
    for (i, score) in relevant.filter_map(|i| Some((i, scores.get(i)?))) {
        if best.is_none_or(|(_, top)| score > top) {
            best = Some((i, score));
        }
    }
    let (i_best, top) = best?;
    let (earlier, later) = scores.split_at(i_best);
    let n_earlier = earlier.iter().filter(|score| *score >= top).count();
    Some(n_earlier + later.iter().filter(|score| *score > top).count())
}

/// Returns the share of queries whose best relevant item has a rank below `k`; 0 without queries.
///
/// `ranks` are those of [`first_hit_rank`], one a query.
///
/// # Examples
/// ```
/// use kappascope::metrics::recall_at_k;
/// // The ranks of four queries' hits, 0 the best.
/// assert_eq!(recall_at_k(&[0, 3, 0, 7], 1), 0.5);
/// assert_eq!(recall_at_k(&[0, 3, 0, 7], 5), 0.75);
/// ```
#[must_use]
pub fn recall_at_k(ranks: &[usize], k: usize) -> f64 {
    share(ranks.iter().map(|&rank| rank < k))
}

/// Returns the recall in each of `n_levels` groups of queries, from the most certain to the most uncertain.
///
/// Queries are sorted by uncertainty ascending and cut into groups of ⌊N/n⌋; the remainder is dropped. Where a cut
/// falls among queries of equal uncertainty, each counts as the mean of them all, which is what a random order gives on
/// average: the order in which queries are passed decides nothing. Empty if there are fewer queries than levels.
///
/// # Examples
/// ```
/// use kappascope::metrics::recall_by_level;
/// // The certain query finds; which of the three others, of whom one finds, stands in which level is not known.
/// let recall = recall_by_level(&[0.1, 0.5, 0.5, 0.5], &[true, true, false, false], 2);
/// assert_eq!(recall, [(1.0 + 1.0 / 3.0) / 2.0, 1.0 / 3.0]);
/// ```
#[must_use]
pub fn recall_by_level(uncertainty: &[f64], is_correct: &[bool], n_levels: usize) -> Vec<f64> {
    let mut queries: Vec<(f64, bool)> = uncertainty
        .iter()
        .copied()
        .zip(is_correct.iter().copied())
        .collect();
    queries.sort_by(|a, b| compare(a.0, b.0));
    let size = queries.len().checked_div(n_levels).unwrap_or(0);
    if size == 0 {
        return Vec::new();
    }
    let ties = queries.chunk_by(|a, b| compare(a.0, b.0).is_eq());
    let expected = |tie: &[(f64, bool)]| share(tie.iter().map(|query| query.1));
    let expected: Vec<f64> = ties
        .flat_map(|tie| std::iter::repeat_n(expected(tie), tie.len()))
        .collect();
    expected
        .chunks_exact(size)
        .take(n_levels)
        .map(mean)
        .collect()
}

/// Returns Spearman's rank correlation, with average ranks on ties; `None` if either side is constant or too short.
///
/// # Examples
/// ```
/// use kappascope::metrics::spearman;
/// // Any rising curve correlates perfectly; a constant determines nothing.
/// assert!((spearman(&[1.0, 2.0, 3.0], &[1.0, 8.0, 27.0]).unwrap() - 1.0).abs() < 1e-15);
/// assert_eq!(spearman(&[1.0, 2.0], &[5.0, 5.0]), None);
/// ```
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    let (ranks_x, ranks_y) = (average_ranks(&x[..n]), average_ranks(&y[..n]));
    let moments = Moments::of(&ranks_x, &ranks_y)?;
    Some((moments.xy / (moments.xx.sqrt() * moments.yy.sqrt())).clamp(-1.0, 1.0))
}

/// Fits y ≈ intercept + slope · x; `None` if either side is constant or too short.
///
/// # Examples
/// ```
/// use kappascope::metrics::linear_fit;
/// let line = linear_fit(&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]).unwrap();
/// assert_eq!((line.slope, line.intercept, line.r_squared), (2.0, 1.0, 1.0));
/// ```
#[must_use]
pub fn linear_fit(x: &[f64], y: &[f64]) -> Option<LinearFit> {
    let moments = Moments::of(x, y)?;
    let slope = moments.xy / moments.xx;
    Some(LinearFit {
        slope,
        intercept: moments.mean_y - slope * moments.mean_x,
        r_squared: (slope * moments.xy / moments.yy).min(1.0),
    })
}

/// Returns the coefficient of determination of [`linear_fit`]; blind to the slope's sign.
#[must_use]
pub fn r_squared(x: &[f64], y: &[f64]) -> Option<f64> {
    linear_fit(x, y).map(|fit| fit.r_squared)
}

/// Returns the probability that a random positive has a greater score than a random negative, ties counting half;
/// `None` if either is empty.
///
/// # Examples
/// ```
/// use kappascope::metrics::auroc;
/// // Of six pairs the positive is greater in five.
/// assert_eq!(auroc(&[0.9, 0.4], &[0.1, 0.2, 0.5]), Some(5.0 / 6.0));
/// ```
#[must_use]
pub fn auroc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    let (n_positive, n_negative) = (positives.len() as f64, negatives.len() as f64);
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let ranks = average_ranks(&[positives, negatives].concat());
    let sum: f64 = ranks[..positives.len()].iter().sum();
    Some((sum - n_positive * (n_positive - 1.0) / 2.0) / (n_positive * n_negative))
}

/// Returns the average precision of telling positives by their score: the mean over positives of the precision among
/// everything that scores as high, equal scores taken together; `None` if either is empty.
///
/// # Examples
/// ```
/// use kappascope::metrics::average_precision;
/// // The first positive stands first; the second, after one negative, makes two of three.
/// assert_eq!(average_precision(&[0.9, 0.4], &[0.1, 0.5]), Some((1.0 + 2.0 / 3.0) / 2.0));
/// ```
#[must_use]
pub fn average_precision(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let labelled = |values: &[f64], is_positive: bool| -> Vec<(f64, bool)> {
        values.iter().map(|value| (*value, is_positive)).collect()
    };
    let mut all = [labelled(positives, true), labelled(negatives, false)].concat();
    all.sort_by(|a, b| compare(b.0, a.0));
    let (mut n_above, mut n_found, mut sum) = (0.0, 0.0, 0.0);
    for tied in all.chunk_by(|a, b| compare(a.0, b.0).is_eq()) {
        let n_positive = tied.iter().filter(|(_, is_positive)| *is_positive).count() as f64;
        n_above += tied.len() as f64;
        n_found += n_positive;
        sum += n_positive * n_found / n_above;
    }
    Some(sum / positives.len() as f64)
}

/// Returns the percentile (0 to 100) of `x` among ascending reference values: the share below plus half the share
/// equal. 50 without a reference.
///
/// # Examples
/// ```
/// use kappascope::metrics::percentile_of;
/// let reference = [0.1, 0.2, 0.3, 0.4];
/// assert!(percentile_of(&reference, 0.35) > percentile_of(&reference, 0.15));
/// ```
#[must_use]
pub fn percentile_of(sorted: &[f64], x: f64) -> f64 {
    if sorted.is_empty() {
        return 50.0;
    }
    let below = sorted.partition_point(|&value| value < x);
    let up_to = sorted.partition_point(|&value| value <= x);
    50.0 * (below + up_to) as f64 / sorted.len() as f64
}

/// Returns the quantile at `fraction` (0 to 1) of ascending values, interpolated linearly as `NumPy` does by default;
/// `None` if there are none.
///
/// # Examples
/// ```
/// use kappascope::metrics::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
/// assert_eq!(quantile(&[], 0.5), None);
/// ```
#[must_use]
pub fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = fraction.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "floor of a position within the slice"
    )]
    let lower = (position as usize).min(last);
    let upper = (lower + 1).min(last);
    let (low, high) = (sorted[lower], sorted[upper]);
    Some(low + (high - low) * (position - lower as f64))
}

/// Returns the arithmetic mean; 0 of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the standard deviation with divisor N, as reported over seeds; 0 of nothing.
#[must_use]
pub fn population_sd(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

/// Centred second moments of two slices, both with some spread.
struct Moments {
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Moments {
    fn of(x: &[f64], y: &[f64]) -> Option<Self> {
        let n = x.len().min(y.len());
        let (mean_x, mean_y) = (mean(&x[..n]), mean(&y[..n]));
        let mut moments = Self {
            mean_x,
            mean_y,
            xx: 0.0,
            yy: 0.0,
            xy: 0.0,
        };
        for (x, y) in x.iter().zip(y) {
            let (x, y) = (x - mean_x, y - mean_y);
            moments.xx += x * x;
            moments.yy += y * y;
            moments.xy += x * y;
        }
        let has_spread = is_varied(&x[..n]) && is_varied(&y[..n]);
        (has_spread && moments.xx > 0.0 && moments.yy > 0.0).then_some(moments)
    }
}

/// Exact, where a variance of equal values could be a rounding error above zero.
fn is_varied(values: &[f64]) -> bool {
    values.iter().any(|value| *value != values[0])
}

/// Ranks from 0, equal values sharing the mean of theirs.
fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| compare(values[i], values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|&i, &j| compare(values[i], values[j]).is_eq()) {
        let rank = start as f64 + (tied.len() - 1) as f64 / 2.0;
        for &i in tied {
            ranks[i] = rank;
        }
        start += tied.len();
    }
    ranks
}

/// Total order in which −0 equals 0.
fn compare(x: f64, y: f64) -> Ordering {
    x.partial_cmp(&y).unwrap_or_else(|| x.total_cmp(&y))
}

fn share(outcomes: impl ExactSizeIterator<Item = bool>) -> f64 {
    let n = outcomes.len().max(1);
    outcomes.filter(|&hit| hit).count() as f64 / n as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::fixture::{assert_close, numbers};
    use super::{
        auroc, average_precision, first_hit_rank, linear_fit, mean, percentile_of, population_sd,
        quantile, r_squared, recall_at_k, recall_by_level, spearman,
    };

    /// `SciPy` and `NumPy` compute in f64 too, in another order.
    const TOLERANCE: f64 = 1e-13;

    fn fixture() -> Value {
        super::fixture::fixture("numerics.json")["metrics"].clone()
    }

    fn pairs(value: &Value) -> Vec<(f64, f64)> {
        let list = value.as_array().expect("a list of pairs");
        list.iter()
            .map(|pair| (numbers(pair)[0], numbers(pair)[1]))
            .collect()
    }

    #[test]
    fn correlation_line_and_moments_agree_with_scipy() {
        let fixture = fixture();
        let (x, y) = (numbers(&fixture["x"]), numbers(&fixture["y"]));
        let fit = linear_fit(&x, &y).expect("x and y vary");
        assert_close(
            "spearman",
            spearman(&x, &y).expect("x and y vary"),
            &fixture["spearman"],
        );
        assert_close("slope", fit.slope, &fixture["slope"]);
        assert_close("intercept", fit.intercept, &fixture["intercept"]);
        assert_close(
            "r squared",
            r_squared(&x, &y).expect("x and y vary"),
            &fixture["r_squared"],
        );
        assert_close("mean", mean(&x), &fixture["mean"]);
        assert_close(
            "standard deviation",
            population_sd(&x),
            &fixture["population_sd"],
        );
    }

    #[test]
    fn the_area_under_the_curve_agrees_with_scipy() {
        let fixture = fixture();
        let (positives, negatives) = (
            numbers(&fixture["positives"]),
            numbers(&fixture["negatives"]),
        );
        let found = auroc(&positives, &negatives).expect("both are there");
        assert_close("auroc", found, &fixture["auroc"]);
    }

    #[test]
    fn the_average_precision_agrees_with_scikit_learn() {
        let fixture = super::fixture::fixture("metrics.json");
        let [positives, negatives] =
            ["precision_positives", "precision_negatives"].map(|name| numbers(&fixture[name]));
        let found = average_precision(&positives, &negatives).expect("both are there");
        assert_close("average precision", found, &fixture["average_precision"]);
        assert_eq!(average_precision(&[], &negatives), None, "no positives");
    }

    #[test]
    fn percentiles_and_quantiles_agree_with_scipy_and_numpy() {
        let fixture = fixture();
        let mut sorted = numbers(&fixture["x"]);
        sorted.sort_by(f64::total_cmp);
        for (point, expected) in pairs(&fixture["percentiles"]) {
            let found = percentile_of(&sorted, point);
            assert!(
                (found - expected).abs() < TOLERANCE * 100.0,
                "{point}: {found} {expected}"
            );
        }
        for (fraction, expected) in pairs(&fixture["quantiles"]) {
            let found = quantile(&sorted, fraction).expect("there are values");
            assert!(
                (found - expected).abs() < TOLERANCE,
                "{fraction}: {found} {expected}"
            );
        }
    }

    #[test]
    fn the_rank_counts_better_items_and_earlier_equals() {
        let scores = [0.3, 0.9, 0.5, 0.9, 0.1];
        let rank = |relevant: &[usize]| first_hit_rank(&scores, relevant.iter().copied());
        assert_eq!(rank(&[1]), Some(0), "the first of two equal best items");
        assert_eq!(rank(&[3]), Some(1), "the second of two equal best items");
        assert_eq!(rank(&[2, 4]), Some(2), "the better of two relevant items");
        assert_eq!(rank(&[]), None, "nothing relevant");
    }

    #[test]
    fn recall_counts_ranks_below_k() {
        let ranks = [0, 3, 1, 0, 9];
        let found = [1, 2, 5, 10].map(|k| recall_at_k(&ranks, k));
        assert_eq!(found, [0.4, 0.6, 0.8, 1.0], "recall at 1, 2, 5 and 10");
        assert_eq!(recall_at_k(&[], 1), 0.0, "recall of nothing");
    }

    #[test]
    fn levels_go_from_certain_to_uncertain_and_drop_the_remainder() {
        let uncertainty = [0.9, 0.1, 0.5, 0.2, 0.6, 0.3, 1.5];
        let is_correct = [false, true, false, true, true, true, true];
        let recall = recall_by_level(&uncertainty, &is_correct, 3);
        assert_eq!(
            recall,
            [1.0, 0.5, 0.5],
            "pairs (.1 .2), (.3 .5), (.6 .9); 1.5 is dropped"
        );
        assert!(
            recall_by_level(&uncertainty, &is_correct, 8).is_empty(),
            "more levels than queries"
        );
        assert!(
            recall_by_level(&uncertainty, &is_correct, 0).is_empty(),
            "no level"
        );
    }

    #[test]
    fn queries_of_equal_uncertainty_count_alike_in_whatever_order_they_come() {
        let uncertainty = [0.2, 0.1, 0.2, 0.2, 0.1, 0.2];
        let orders = [
            [true, true, false, false, false, false],
            [false, false, false, false, true, true],
        ];
        for is_correct in orders {
            let recall = recall_by_level(&uncertainty, &is_correct, 3);
            assert_eq!(
                recall,
                [0.5, 0.25, 0.25],
                "one of two, then one of four: {is_correct:?}"
            );
        }
    }

    #[test]
    fn the_published_lattice_of_rank_correlations_is_met() {
        let levels: Vec<f64> = (0..10).map(f64::from).collect();
        let mut recall: Vec<f64> = levels.iter().map(|level| 1.0 - level / 20.0).collect();
        assert_eq!(
            spearman(&levels, &recall),
            Some(-1.0),
            "strictly falling recall"
        );
        recall.swap(4, 5);
        let one_swap = spearman(&levels, &recall).expect("recall varies");
        assert!(
            (one_swap + 0.987_878_787_878_788).abs() < TOLERANCE,
            "one adjacent swap: {one_swap}"
        );
    }

    #[test]
    fn what_the_data_do_not_determine_is_none() {
        let (flat, rising) = ([0.1 + 0.2; 3], [1.0, 2.0, 3.0]);
        assert_eq!(
            spearman(&flat, &rising),
            None,
            "correlation with a constant"
        );
        assert_eq!(linear_fit(&flat, &rising), None, "a line over one point");
        assert_eq!(linear_fit(&rising, &flat), None, "share of no variance");
        assert_eq!(spearman(&[], &[]), None, "correlation of nothing");
        assert_eq!(auroc(&[], &rising), None, "no positives");
        assert_eq!(quantile(&[], 0.5), None, "quantile of nothing");
        assert_eq!(percentile_of(&[], 0.5), 50.0, "percentile among nothing");
        assert_eq!(
            (mean(&[]), population_sd(&[])),
            (0.0, 0.0),
            "moments of nothing"
        );
    }

    #[test]
    fn the_slope_tells_what_r_squared_hides() {
        let (x, y) = ([0.0, 1.0, 2.0], [5.0, 3.0, 1.0]);
        let fit = linear_fit(&x, &y).expect("x and y vary");
        assert_eq!(
            (fit.slope, fit.intercept, fit.r_squared),
            (-2.0, 5.0, 1.0),
            "a falling line"
        );
    }

    proptest! {
        #[test]
        fn rank_statistics_ignore_monotone_changes_of_scale(
            values in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 3..40),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let cubed: Vec<f64> = x.iter().map(|x| x.powi(3) + x).collect();
            prop_assert_eq!(spearman(&x, &y), spearman(&cubed, &y), "spearman");
            let shifted = |values: &[f64]| values.iter().map(|x| 2.0 * x + 1.0).collect::<Vec<_>>();
            prop_assert_eq!(auroc(&x, &y), auroc(&shifted(&x), &shifted(&y)), "auroc");
        }

        #[test]
        fn swapping_the_classes_mirrors_the_area(
            x in prop::collection::vec(-3_i32..3, 1..30),
            y in prop::collection::vec(-3_i32..3, 1..30),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = (x.into_iter().map(f64::from).collect(), y.into_iter().map(f64::from).collect());
            let sum = auroc(&x, &y).expect("both are there") + auroc(&y, &x).expect("both are there");
            prop_assert!((sum - 1.0).abs() < TOLERANCE, "the two areas add to {sum}");
        }

        #[test]
        fn levels_average_to_the_recall_when_nothing_is_dropped(
            queries in prop::collection::vec((0.0..1.0_f64, any::<bool>()), 1..8),
        ) {
            let (uncertainty, is_correct): (Vec<f64>, Vec<bool>) = queries.into_iter().unzip();
            let levels = recall_by_level(&uncertainty, &is_correct, is_correct.len());
            let hits = is_correct.iter().filter(|&&hit| hit).count() as f64;
            prop_assert!((mean(&levels) - hits / is_correct.len() as f64).abs() < TOLERANCE, "{levels:?}");
        }

        #[test]
        fn no_input_makes_a_metric_panic(
            x in prop::collection::vec(any::<f64>(), 0..20),
            y in prop::collection::vec(any::<f64>(), 0..20),
            k in 0_usize..25,
        ) {
            let is_correct: Vec<bool> = y.iter().map(|y| *y > 0.0).collect();
            let _ = (spearman(&x, &y), linear_fit(&x, &y), auroc(&x, &y));
            let _ = (first_hit_rank(&x, (0..k).step_by(2)), quantile(&x, y.len() as f64 / 20.0), percentile_of(&x, 0.0));
            prop_assert!(recall_by_level(&x, &is_correct, k).len() <= k, "as many levels as asked for at most");
        }
    }
}
