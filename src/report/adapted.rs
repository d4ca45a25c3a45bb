//! `evaluation.json` of an encoder that `train adapt` gave its κ: recall and its fall with 1/κ on pictures held out.

use serde::{Deserialize, Serialize};

use super::{BothWays, RecallAt};
use crate::family::PerFamily;

/// The whole of `evaluation.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptedReport {
    /// Data set, as results name it.
    pub dataset: String,
    /// Seed of the adapters.
    pub seed: u64,
    /// Pictures that the adapters were fitted on.
    pub n_training_pictures: usize,
    /// Number of captions of these training pictures.
    pub n_training_captions: usize,
    /// Pictures that were measured on.
    pub n_pictures: usize,
    /// Number of captions of these measured pictures.
    pub n_captions: usize,
    /// Measures under each family.
    #[serde(flatten)]
    pub families: PerFamily<AdaptedFamily>,
    /// Measures by the cosine of the encoder's embeddings, which has no κ.
    pub cosine: AdaptedCosine,
}

/// Recall under one family, and its rank correlation with 1/κ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptedFamily {
    /// Recall of the measured pictures and captions, both ways, ranked by likelihood.
    pub recall: BothWays<RecallAt>,
    /// Rank correlation S of recall at 1 with ten levels of 1/κ; −1 is ideal, `null` where recall does not vary.
    pub spearman_levels: BothWays<Option<f64>>,
}

/// Recall of the encoder alone, by cosine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaptedCosine {
    /// Recall of the measured pictures and captions, both ways, ranked by cosine.
    pub recall: BothWays<RecallAt>,
}
