//! Retrieval with many captions for each picture.

use super::{
    LinearFit, compare, first_hit_rank, linear_fit, recall_at_k, recall_by_level, spearman,
};

/// Result of one query: its best item, and the rank of the first relevant one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The best item, the first of equals.
    pub best: usize,
    /// Number of items that stand before the best relevant one; the number of all items where none is relevant.
    pub rank: usize,
}

impl Hit {
    /// Result of a query with these scores; `relevant` are the indices of relevant items, ascending.
    pub fn of(scores: &[f32], relevant: impl IntoIterator<Item = usize>) -> Self {
        let mut best = 0;
        let mut top = f32::NEG_INFINITY;
        for (i, &score) in scores.iter().enumerate() {
            if score > top {
                (best, top) = (i, score);
            }
        }
        Self {
            best,
            rank: first_hit_rank(scores, relevant).unwrap_or(scores.len()),
        }
    }
}

/// Returns Recall@1, @5 and @10.
///
/// # Examples
/// ```
/// use kappascope::metrics::retrieval::{Hit, recalls};
/// let hits = [Hit::of(&[0.1, 0.9], [1]), Hit::of(&[0.9, 0.1], [1])];
/// // At 1, 5 and 10.
/// assert_eq!(recalls(&hits), [0.5, 1.0, 1.0]);
/// ```
#[must_use]
pub fn recalls(hits: &[Hit]) -> [f64; 3] {
    let ranks: Vec<usize> = hits.iter().map(|hit| hit.rank).collect();
    [1, 5, 10].map(|k| recall_at_k(&ranks, k))
}

/// Returns the sum of recalls in percent, ELIP's RSUM: six of them, at 1, 5 and 10 both ways.
#[must_use]
pub fn recall_sum(recalls: &[f64]) -> f64 {
    100.0 * recalls.iter().sum::<f64>()
}

/// Returns ELIP's mean impact of shifted data, MMI: the relative loss of the mean of shifted recalls against the
/// recall on clean data; `None` where that is zero or nothing was shifted.
#[must_use]
pub fn mean_impact(clean: f64, shifted: &[f64]) -> Option<f64> {
    let is_defined = clean > 0.0 && !shifted.is_empty();
    is_defined.then(|| (clean - super::mean(shifted)) / clean)
}

/// Recall over levels of uncertainty, and how well it falls.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Recall of each level, the most certain first; empty where uncertainty does not tell levels apart.
    pub recall: Vec<f64>,
    /// Rank correlation S of level and recall; −1 is ideal. `None` without levels, or where recall is the same in all.
    pub spearman: Option<f64>,
    /// The straight line through recall over level; its R² is blind to the sign of its slope. `None` as S is.
    pub line: Option<LinearFit>,
}

impl Levels {
    /// Cuts queries into levels as [`recall_by_level`] does.
    ///
    /// There are no levels where uncertainty says the same of all queries, or of so many that fewer than half of the
    /// neighbouring levels differ in it: S of the few that do would hang on single queries.
    ///
    /// # Examples
    /// ```
    /// use kappascope::metrics::retrieval::Levels;
    /// let is_correct = [true, true, false, false];
    /// let told = Levels::of(&[0.1, 0.2, 0.3, 0.4], &is_correct, 2);
    /// assert_eq!(told.recall, [1.0, 0.0]);
    /// assert_eq!(Levels::of(&[0.0; 4], &is_correct, 2).spearman, None);
    /// ```
    #[must_use]
    pub fn of(uncertainty: &[f64], is_correct: &[bool], n_levels: usize) -> Self {
        let n = uncertainty.len().min(is_correct.len());
        let recall = match tells_levels_apart(&uncertainty[..n], n_levels) {
            true => recall_by_level(uncertainty, is_correct, n_levels),
            false => Vec::new(),
        };
        let level: Vec<f64> = (0..recall.len()).map(|level| level as f64).collect();
        Self {
            spearman: spearman(&level, &recall),
            line: linear_fit(&level, &recall),
            recall,
        }
    }
}

/// Whether at least half of the neighbouring levels hold different values.
///
/// # Examples
/// ```
/// use kappascope::metrics::retrieval::tells_levels_apart;
/// assert!(tells_levels_apart(&[0.1, 0.2, 0.3, 0.4], 2));
/// assert!(!tells_levels_apart(&[0.0; 4], 2));
/// ```
#[must_use]
pub fn tells_levels_apart(uncertainty: &[f64], n_levels: usize) -> bool {
    let mut sorted = uncertainty.to_vec();
    sorted.sort_by(|a, b| compare(*a, *b));
    let size = sorted.len().checked_div(n_levels).unwrap_or(0);
    let n_neighbours = n_levels.saturating_sub(1);
    let differ = (0..n_neighbours).filter(|level| {
        let both = level * size..(level + 2) * size;
        let ends = sorted
            .get(both.start)
            .zip(sorted.get(both.end.saturating_sub(1)));
        ends.is_some_and(|(least, most)| compare(*least, *most).is_ne())
    });
    2 * differ.count() >= n_neighbours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::fixture::{assert_close, fixture, numbers};

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the fixture's numbers are f32"
    )]
    fn floats(value: &serde_json::Value) -> Vec<f32> {
        numbers(value).into_iter().map(|x| x as f32).collect()
    }

    #[test]
    fn recalls_of_many_captions_a_picture_agree_with_numpy() {
        let fixture = fixture("metrics.json");
        let scores = floats(&fixture["scores"]);
        let owners = fixture["image_of_text"].clone();
        let owners: Vec<usize> = serde_json::from_value(owners).expect("whole numbers");
        let (owners, n_texts) = (owners.as_slice(), owners.len());
        let own = |image: usize| (0..n_texts).filter(move |&text| owners[text] == image);
        let of_images = scores.chunks(n_texts).enumerate();
        let of_images: Vec<Hit> = of_images.map(|(i, row)| Hit::of(row, own(i))).collect();
        let of_text = |text: usize| {
            let column = scores.iter().copied().skip(text).step_by(n_texts);
            Hit::of(&column.collect::<Vec<f32>>(), [owners[text]])
        };
        let of_texts: Vec<Hit> = (0..n_texts).map(of_text).collect();
        for (hits, name) in [(of_images, "image_recalls"), (of_texts, "text_recalls")] {
            assert_eq!(recalls(&hits).to_vec(), numbers(&fixture[name]), "{name}");
        }
    }

    #[test]
    fn levels_agree_with_scipy() {
        let fixture = fixture("metrics.json");
        let uncertainty = numbers(&fixture["uncertainty"]);
        let is_correct = numbers(&fixture["is_correct"]);
        let is_correct: Vec<bool> = is_correct.iter().map(|x| *x > 0.5).collect();
        let found = Levels::of(&uncertainty, &is_correct, 10);
        assert_eq!(found.recall, numbers(&fixture["levels"]), "recall by level");
        let line = found.line.expect("recall varies");
        let spearman = found.spearman.expect("recall varies");
        assert_close("S", spearman, &fixture["levels_spearman"]);
        assert_close("slope", line.slope, &fixture["levels_slope"]);
        assert_close("R²", line.r_squared, &fixture["levels_r_squared"]);
    }

    /// A hundred queries, of which the first `n_distinct` have uncertainties of their own, the others all the greatest.
    fn levels_of_distinct(n_distinct: usize) -> Levels {
        let uncertainty: Vec<f64> = (0..100).map(|i| i.min(n_distinct) as f64).collect();
        // The row order alone would make recall fall: the first half is found.
        let is_correct: Vec<bool> = (0..100).map(|i| i < 50).collect();
        Levels::of(&uncertainty, &is_correct, 10)
    }

    #[test]
    fn an_uncertainty_that_says_the_same_of_all_orders_nothing() {
        for n_distinct in [0, 1, 40] {
            let found = levels_of_distinct(n_distinct);
            let expected = Levels {
                recall: Vec::new(),
                spearman: None,
                line: None,
            };
            assert_eq!(found, expected, "{n_distinct} of a hundred differ");
        }
    }

    #[test]
    fn ties_that_leave_half_of_the_levels_apart_share_what_they_found() {
        let found = levels_of_distinct(50);
        let expected = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(found.recall, expected, "five levels of single values");
        let spearman = found.spearman.expect("levels that differ");
        assert!(spearman < -0.8, "it falls: {spearman}");
        let apart = levels_of_distinct(100);
        assert_eq!(apart.recall, found.recall, "without ties the same here");
    }

    #[test]
    fn the_impact_of_shifted_data_is_the_papers() {
        // ELIP's table 1: CLIP's image retrieval at 1 falls from 35.3 to 30.4, 27.7 and 24.2, an impact of 22.3 %.
        let found = mean_impact(35.3, &[30.4, 27.7, 24.2]).expect("a recall");
        assert!((found - 0.223).abs() < 5e-4, "found {found}");
        assert_eq!(mean_impact(0.0, &[0.1]), None, "no recall to lose");
    }

    #[test]
    fn the_sum_of_perfect_recalls_is_six_hundred() {
        assert_eq!(recall_sum(&[1.0; 6]), 600.0, "percent");
    }
}
