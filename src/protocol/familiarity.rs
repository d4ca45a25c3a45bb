//! Familiarity of a picture or a caption: how like the training data it is.

use serde::{Deserialize, Serialize};

/// Whether a picture or a caption is like those that the model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Familiarity {
    /// Score by the model's own detector: greater for what is more familiar.
    #[serde(alias = "ground_share")]
    pub score: f64,
    /// Score below which a picture or caption is out of distribution.
    pub threshold: f64,
    /// Whether it is out of distribution: `score < threshold`.
    #[serde(rename = "outside")]
    pub is_out_of_distribution: bool,
}

impl Familiarity {
    /// Judges a score by the threshold below which it is out of distribution.
    #[must_use]
    pub fn new(score: f64, threshold: f64) -> Self {
        Self {
            score,
            threshold,
            is_out_of_distribution: score < threshold,
        }
    }
}
