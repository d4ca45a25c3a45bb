//! Slices in, numbers out: how retrieval and uncertainty are judged. No tensors, no files.
//!
//! A number that the data do not determine (a correlation with a constant) is `None`, never NaN. Slices that belong
//! together and differ in length are read up to the shorter one.

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
/// Rank 0 is a hit at 1, the same as `argmax` finding a relevant item.
pub fn first_hit_rank<T: PartialOrd>(
    scores: &[T],
    is_relevant: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut best: Option<(usize, &T)> = None;
    for (i, score) in scores.iter().enumerate().filter(|(i, _)| is_relevant(*i)) {
        if best.is_none_or(|(_, top)| score > top) {
            best = Some((i, score));
        }
    }
    let (i_best, top) = best?;
    let before = |(i, score): (usize, &T)| score > top || (i < i_best && score == top);
    Some(
        scores
            .iter()
            .enumerate()
            .filter(|&item| before(item))
            .count(),
    )
}

/// Returns the share of queries whose best relevant item has a rank below `k`; 0 without queries.
///
/// `ranks` are those of [`first_hit_rank`], one a query.
#[must_use]
pub fn recall_at_k(ranks: &[usize], k: usize) -> f64 {
    share(ranks.iter().map(|&rank| rank < k))
}

/// Returns the recall in each of `n_levels` groups of queries, from the most certain to the most uncertain.
///
/// Queries are sorted by uncertainty ascending (stable), cut into groups of ⌊N/n⌋, and the remainder is dropped.
/// Empty if there are fewer queries than levels.
#[must_use]
pub fn recall_by_level(uncertainty: &[f64], is_correct: &[bool], n_levels: usize) -> Vec<f64> {
    let mut queries: Vec<_> = uncertainty.iter().zip(is_correct).collect();
    queries.sort_by(|a, b| a.0.total_cmp(b.0));
    let size = queries.len().checked_div(n_levels).unwrap_or(0);
    if size == 0 {
        return Vec::new();
    }
    let level = |group: &[(&f64, &bool)]| share(group.iter().map(|query| *query.1));
    queries
        .chunks_exact(size)
        .take(n_levels)
        .map(level)
        .collect()
}

/// Returns Spearman's rank correlation, with average ranks on ties; `None` if either side is constant or too short.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len().min(y.len());
    let (ranks_x, ranks_y) = (average_ranks(&x[..n]), average_ranks(&y[..n]));
    let moments = Moments::of(&ranks_x, &ranks_y)?;
    Some((moments.xy / (moments.xx.sqrt() * moments.yy.sqrt())).clamp(-1.0, 1.0))
}

/// Fits y ≈ intercept + slope · x; `None` if either side is constant or too short.
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

/// Returns the percentile (0 to 100) of `x` among ascending reference values: the share below plus half the share
/// equal. 50 without a reference.
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
