//! `evaluation.json`: measures of a model of the scenes, written by `train evaluate`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::family::PerFamily;

/// The whole of `evaluation.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Number of test scenes.
    pub n_scenes: usize,
    /// Seed of the test scenes.
    pub seed: u64,
    /// Shares of pictures that the detector calls out of distribution.
    #[serde(rename = "outside")]
    pub out_of_distribution: OutOfDistribution,
    /// Measures under each family.
    #[serde(flatten)]
    pub families: PerFamily<FamilyEvaluation>,
}

/// Shares of pictures that the detector calls out of distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutOfDistribution {
    /// Share of the test scenes: false alarms.
    pub scenes: f64,
    /// Share of the photographs that were given: hits.
    pub photos: Option<f64>,
    /// Photographs that were given.
    pub n_photos: usize,
}

/// Measures under one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyEvaluation {
    /// Recall@1 of full captions and the first thousand scenes, by likelihood.
    pub recall_at_1: BothWays,
    /// Recall@1 of captions in wordings that training never used.
    pub recall_at_1_new_wording: BothWays,
    /// Recall@1 of scenes with a composition that training never showed.
    pub recall_at_1_new_compositions: BothWays,
    /// Recall@1 of all of them by CLIP's cosine.
    pub recall_at_1_cosine: BothWays,
    /// Spearman correlation of recall with ten levels of uncertainty.
    pub spearman_levels: BothWays,
    /// Share of adjacent levels of one hierarchy whose 1/κ falls.
    pub adjacent_levels_ordered: f64,
    /// Accuracy on single-object scenes classified by captions alone, by likelihood, for each attribute.
    pub attribute_accuracy: BTreeMap<String, f64>,
    /// Accuracy on the same scenes by CLIP's cosine, for each attribute.
    pub attribute_accuracy_cosine: BTreeMap<String, f64>,
    /// Correlation of κ with the information of captions, for each group of captions.
    pub kappa_vs_bits: BTreeMap<String, BitsCorrelation>,
    /// Mean nats above uniform of the true picture, vaguest level first.
    pub nats_by_level: Vec<f64>,
    /// Mean information of the captions in bits, vaguest level first.
    pub bits_by_level: Vec<f64>,
    /// Mean κ of the captions, vaguest level first.
    pub kappa_by_level: Vec<f64>,
}

/// A measure in both directions of retrieval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BothWays<T = f64> {
    /// Captions as queries, pictures as the gallery.
    pub text_to_image: T,
    /// Pictures as queries, captions as the gallery.
    pub image_to_text: T,
}

/// Spearman correlations with `information_bits`, beside two baselines that need no adapter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BitsCorrelation {
    /// Rank correlation of κ with bits.
    pub kappa: f64,
    /// Correlation of the number of words.
    pub word_count: f64,
    /// Correlation of minus the norm of the text feature.
    pub minus_feature_norm: f64,
    /// Number of captions compared.
    pub n_captions: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_evaluations_are_written_as_they_were_read() {
        for committed in [
            include_str!("../../public/models/scenes/evaluation.json"),
            include_str!("../../public/models/scenes/evaluation-seed-0.json"),
            include_str!("../../public/models/scenes/evaluation-seed-2.json"),
        ] {
            let evaluation: Evaluation = serde_json::from_str(committed).expect("an evaluation");
            let written = serde_json::to_string_pretty(&evaluation).expect("plain data");
            assert_eq!(written.trim(), committed.trim(), "to the last digit");
        }
    }
}
