//! Measured numbers, and the trend of recall over levels of uncertainty.

use std::collections::BTreeMap;

use crate::metrics::retrieval::Levels;
use crate::report::{LevelStatistic, Metric};

/// Groups of equal size, from the most certain queries to the most uncertain; also the fewest queries that must find
/// for S, R² and slope to say something: one a level.
pub(super) const LEVELS: usize = 10;

/// Measured numbers of one method on one data set.
pub type Numbers = BTreeMap<Metric, f64>;

/// S, R² and slope of recall over levels.
pub(super) fn trend_numbers(levels: &Levels, metric: impl Fn(LevelStatistic) -> Metric) -> Numbers {
    let line = levels.line;
    let statistics = [
        (LevelStatistic::Spearman, levels.spearman),
        (LevelStatistic::RSquared, line.map(|line| line.r_squared)),
        (LevelStatistic::Slope, line.map(|line| line.slope)),
    ];
    let statistics = statistics.into_iter();
    statistics
        .filter_map(|(statistic, value)| Some((metric(statistic), value?)))
        .collect()
}
