//! Recall of captions and pictures, and how it falls over levels of uncertainty.

use super::encoded::EncodedPairs;
use super::scores::Scores;
use crate::metrics::retrieval::{Hit, Levels, recalls};
use crate::report::{BothWays, RecallAt};

/// Groups of equal size, from the most certain queries to the most uncertain.
const N_LEVELS: usize = 10;

/// What captions found among pictures, and pictures among captions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) of_captions: Vec<Hit>,
    pub(super) of_images: Vec<Hit>,
}

impl Found {
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

    /// Rank correlation S of recall with levels of uncertainty: of the captions themselves one way, of the captions that
    /// pictures retrieve the other. `specificity` of each caption falls with its uncertainty.
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
