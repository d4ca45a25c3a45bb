//! Recall of captions and pictures, and how it falls over levels of uncertainty.

use crate::metrics::retrieval::{Hit, Levels, recalls};
use crate::report::{BothWays, RecallAt};
use crate::train::pairs::encoded::EncodedPairs;
use crate::train::pairs::scores::Scores;

/// Groups of equal size, from the most certain queries to the most uncertain.
const N_LEVELS: usize = 10;

/// Hits of captions among pictures, and of pictures among captions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecallHits {
    pub(super) of_captions: Vec<Hit>,
    pub(super) of_images: Vec<Hit>,
}

impl RecallHits {
    /// Counts every picture that a caption fits as right, and every caption that fits a picture.
    pub(super) fn of(pairs: &EncodedPairs, scores: &Scores) -> Self {
        let captions_of = pairs.captions.captions_of(pairs.n_images());
        Self {
            of_captions: scores.hits_of_captions(&pairs.captions.pictures_of),
            of_images: scores.hits_of_images(&captions_of),
        }
    }

    pub(super) fn recall(&self) -> BothWays<RecallAt> {
        BothWays {
            text_to_image: recall_at(&self.of_captions),
            image_to_text: recall_at(&self.of_images),
        }
    }

    /// Rank correlation S of recall with levels of uncertainty: of the captions themselves one way, of the captions
    /// that pictures retrieve the other. `specificity` of each caption falls with its uncertainty.
    pub(super) fn spearman_levels(&self, specificity: &[f64]) -> BothWays<Option<f64>> {
        let retrieved = self.of_images.iter().map(|hit| specificity[hit.best]);
        let retrieved: Vec<f64> = retrieved.collect();
        BothWays {
            text_to_image: spearman_levels(&self.of_captions, specificity),
            image_to_text: spearman_levels(&self.of_images, &retrieved),
        }
    }
}

/// Recall at 1, 5 and 10.
pub(super) fn recall_at(hits: &[Hit]) -> RecallAt {
    let [r1, r5, r10] = recalls(hits);
    RecallAt { r1, r5, r10 }
}

/// Rank correlation S of recall with ten levels of uncertainty; `None` where recall does not vary.
pub(super) fn spearman_levels(hits: &[Hit], specificity: &[f64]) -> Option<f64> {
    let uncertainty: Vec<f64> = specificity.iter().map(|value| -value).collect();
    let is_right: Vec<bool> = hits.iter().map(|hit| hit.rank == 0).collect();
    Levels::of(&uncertainty, &is_right, N_LEVELS).spearman
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(best: usize, rank: usize) -> Hit {
        Hit { best, rank }
    }

    #[test]
    fn recall_counts_queries_both_ways() {
        let found = RecallHits {
            of_captions: vec![hit(0, 0), hit(0, 4), hit(1, 9), hit(1, 12)],
            of_images: vec![hit(0, 0), hit(1, 1)],
        };
        let expected = BothWays {
            text_to_image: RecallAt {
                r1: 0.25,
                r5: 0.5,
                r10: 0.75,
            },
            image_to_text: RecallAt {
                r1: 0.5,
                r5: 1.0,
                r10: 1.0,
            },
        };
        assert_eq!(found.recall(), expected, "shares of four and of two");
    }

    #[test]
    fn recall_that_grows_with_specificity_has_a_correlation_of_minus_one() {
        // Captions 10 k … 10 k + 9 make a level, of which k are found.
        let rank = |i: usize| usize::from(i % 10 >= i / 10);
        let specificity: Vec<f64> = (0_u8..100).map(f64::from).collect();
        let found = RecallHits {
            of_captions: (0..100).map(|i| hit(0, rank(i))).collect(),
            // Pictures retrieve the captions in falling order and are right alike.
            of_images: (0..100).rev().map(|i| hit(i, rank(i))).collect(),
        };
        let expected = BothWays {
            text_to_image: Some(-1.0),
            image_to_text: Some(-1.0),
        };
        assert_eq!(found.spearman_levels(&specificity), expected, "S");
        let opposite: Vec<f64> = specificity.iter().map(|value| -value).collect();
        let found = found.spearman_levels(&opposite);
        assert_eq!(found.text_to_image, Some(1.0), "S of the opposite order");
    }

    #[test]
    fn recall_that_does_not_vary_has_no_correlation() {
        let hits = vec![hit(0, 0); 50];
        assert_eq!(spearman_levels(&hits, &[1.0; 50]), None, "S");
    }
}
