//! Order of ladders of captions, from vague to specific, by any value that should rise along them.

use anyhow::{Result, ensure};

use super::recall::{recall_at, spearman_levels};
use crate::metrics::retrieval::Hit;
use crate::metrics::{auroc, average_precision, mean};
use crate::report::Hierarchy;
use crate::train::pairs::captions::word_count;
use crate::train::pairs::encoded::EncodedPairs;

/// Ladders of captions, `n_levels` rows each, the vaguest first.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedLadders {
    pub(super) pairs: EncodedPairs,
    pub(super) n_levels: usize,
}

impl EncodedLadders {
    /// Takes captions that stand ladder by ladder.
    ///
    /// # Errors
    ///
    /// Fewer than two levels, or captions left over.
    pub fn new(pairs: EncodedPairs, n_levels: usize) -> Result<Self> {
        let n_captions = pairs.captions.len();
        ensure!(
            n_levels > 1 && n_captions > 0 && n_captions.is_multiple_of(n_levels),
            "{n_captions} captions do not make ladders of {n_levels} levels"
        );
        Ok(Self { pairs, n_levels })
    }
}

/// Agreement of `specificity`, a value of each caption, with the order of the rungs; `hits` are those of the captions.
pub(super) fn hierarchy(ladders: &EncodedLadders, specificity: &[f64], hits: &[Hit]) -> Hierarchy {
    let texts = &ladders.pairs.captions.texts;
    let steps = |level: usize| {
        let vaguer = (level..texts.len()).step_by(ladders.n_levels);
        vaguer.map(|row| [row, row + 1])
    };
    let rises = |[vaguer, specific]: [usize; 2]| rise(specificity[vaguer], specificity[specific]);
    let levels = 0..ladders.n_levels - 1;
    let by_level: Vec<f64> = levels
        .clone()
        .map(|level| mean(&steps(level).map(rises).collect::<Vec<_>>()))
        .collect();
    let is_same_length = |[vaguer, specific]: &[usize; 2]| {
        word_count(&texts[*vaguer]) == word_count(&texts[*specific])
    };
    let same_length: Vec<f64> = levels
        .clone()
        .flat_map(steps)
        .filter(is_same_length)
        .map(rises)
        .collect();
    let (auc, precision): (Vec<f64>, Vec<f64>) = levels
        .filter_map(|level| {
            let [vaguer, specific] = [level, level + 1].map(|level| {
                let of_level = specificity.iter().copied();
                of_level
                    .skip(level)
                    .step_by(ladders.n_levels)
                    .collect::<Vec<_>>()
            });
            Some((
                auroc(&specific, &vaguer)?,
                average_precision(&specific, &vaguer)?,
            ))
        })
        .unzip();
    Hierarchy {
        adjacent_ordered: mean(&by_level),
        adjacent_ordered_by_level: by_level,
        same_length_ordered: (!same_length.is_empty()).then(|| mean(&same_length)),
        spearman: spearman_levels(hits, specificity),
        auc: mean(&auc),
        average_precision: mean(&precision),
    }
}

/// Recall at 10 of the most specific captions.
pub(super) fn full_caption_r10(ladders: &EncodedLadders, hits: &[Hit]) -> f64 {
    let full = hits.iter().copied();
    let full = full.skip(ladders.n_levels - 1).step_by(ladders.n_levels);
    recall_at(&full.collect::<Vec<_>>()).r10
}

/// 1 where a value rises, 0 where it falls, ½ where it stays.
fn rise(from: f64, to: f64) -> f64 {
    match to.partial_cmp(&from) {
        Some(std::cmp::Ordering::Greater) => 1.0,
        Some(std::cmp::Ordering::Equal) => 0.5,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::family::PerFamily;
    use crate::train::features::rows::Rows;
    use crate::train::pairs::captions::RetrievalCaptions;
    use crate::train::pairs::encoded::Distributions;

    const N_LEVELS: usize = 3;

    /// Ladders of three rungs: "animal", "dog" and "a brown dog".
    fn ladders(n: usize) -> EncodedLadders {
        EncodedLadders::new(rungs(n), N_LEVELS).expect("whole ladders")
    }

    fn rungs(n: usize) -> EncodedPairs {
        let rungs = ["animal", "dog", "a brown dog"].map(str::to_owned);
        let captions = RetrievalCaptions {
            texts: rungs.iter().cloned().cycle().take(n * N_LEVELS).collect(),
            pictures_of: (0..n * N_LEVELS).map(|row| vec![row / N_LEVELS]).collect(),
        };
        let ones = |rows: usize| Rows {
            values: vec![1.0; rows],
            width: 1,
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: vec![1.0; n * N_LEVELS],
            mean_directions: None,
        });
        let pairs = EncodedPairs::new(ones(n), captions, ones(n * N_LEVELS), distributions);
        pairs.expect("fits")
    }

    fn missed(n: usize) -> Vec<Hit> {
        vec![Hit { best: 0, rank: 10 }; n * N_LEVELS]
    }

    #[test]
    fn captions_left_over_are_refused_with_both_numbers() {
        let error = EncodedLadders::new(rungs(1), 2).expect_err("three captions");
        let expected = "3 captions do not make ladders of 2 levels";
        assert_eq!(error.to_string(), expected, "ladders");
    }

    #[test]
    fn rungs_in_order_are_counted_and_equal_ones_half() {
        let found = hierarchy(&ladders(2), &[1.0, 2.0, 3.0, 4.0, 4.0, 0.0], &missed(2));
        assert_eq!(
            found.adjacent_ordered_by_level,
            [0.75, 0.5],
            "½ (1 + ½), ½ (1 + 0)"
        );
        assert_eq!(found.adjacent_ordered, 0.625, "of four steps");
        assert_eq!(found.same_length_ordered, Some(0.75), "animal → dog");
        // "dog" 2, 4 against "animal" 1, 4: 2 > 1, 4 > 1, 4 = 4. "a brown dog" 3, 0 against "dog": 3 > 2.
        assert_eq!(
            found.auc,
            (2.5 / 4.0 + 1.0 / 4.0) / 2.0,
            "mean of two areas"
        );
        assert_eq!(found.spearman, None, "nothing is found at any level");
    }

    #[test]
    fn a_perfect_order_reaches_every_bound_and_its_opposite_the_other() {
        let perfect: Vec<f64> = (0..12).map(|row| f64::from(row % 3)).collect();
        let found = hierarchy(&ladders(4), &perfect, &missed(4));
        let bounds = [found.adjacent_ordered, found.auc, found.average_precision];
        assert_eq!(bounds, [1.0; 3], "{found:?}");
        assert_eq!(found.same_length_ordered, Some(1.0), "{found:?}");
        let opposite: Vec<f64> = perfect.iter().map(|value| -value).collect();
        let found = hierarchy(&ladders(4), &opposite, &missed(4));
        assert_eq!((found.adjacent_ordered, found.auc), (0.0, 0.0), "{found:?}");
    }

    #[test]
    fn full_captions_alone_count_for_recall() {
        let mut hits = missed(2);
        hits[2].rank = 9;
        hits[3].rank = 0;
        assert_eq!(full_caption_r10(&ladders(2), &hits), 0.5, "one of two");
    }

    proptest! {
        #[test]
        fn monotone_changes_of_kappa_change_nothing(
            kappas in prop::collection::vec(0.1..50.0_f64, 12),
            ranks in prop::collection::vec(0_usize..2, 12),
        ) {
            let hits: Vec<Hit> = ranks.into_iter().map(|rank| Hit { best: 0, rank }).collect();
            let of = |change: fn(f64) -> f64| {
                let changed: Vec<f64> = kappas.iter().map(|kappa| change(*kappa)).collect();
                hierarchy(&ladders(4), &changed, &hits)
            };
            let found = of(|kappa| kappa);
            prop_assert_eq!(&found, &of(|kappa| -1.0 / kappa), "−1/κ");
            prop_assert_eq!(&found, &of(f64::ln), "ln κ");
        }
    }
}
