//! `evaluation.json` of a model of photographs: measures by `train photos`, for each seed and over the seeds.
//!
//! A measure that the data do not determine, such as a correlation with a constant, is `null`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::BothWays;
use crate::family::PerFamily;

/// The whole of `evaluation.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhotosReport {
    /// Mean and spread of each measure over the seeds.
    pub summary: PhotosSummary,
    /// Measures of the model of each seed, in the order in which they were trained.
    pub seeds: Vec<PhotosEvaluation>,
}

/// Mean and spread of each measure over the seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhotosSummary {
    /// Number of trained models, one a seed.
    pub n_seeds: usize,
    /// Each measure by the path of its keys in a [`PhotosEvaluation`], such as `vmf.recall.text_to_image.r1`.
    ///
    /// A measure that is `null` for one of the seeds is not there.
    pub measures: BTreeMap<String, Spread>,
}

/// Mean and spread of a measure over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean over the seeds, in the unit of the measure.
    pub mean: f64,
    /// Population standard deviation over the seeds, in the unit of the measure.
    pub sd: f64,
}

/// Measures of one trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhotosEvaluation {
    /// Seed of the training.
    pub seed: u64,
    /// Number of Flickr8k's test pictures.
    pub n_pictures: usize,
    /// Number of captions that people wrote for these pictures.
    pub n_captions: usize,
    /// Captions of all levels: one of each test picture with its vaguer truths, a text as often as pictures have it.
    pub n_captions_of_all_levels: usize,
    /// Measures under each family.
    #[serde(flatten)]
    pub families: PerFamily<PhotosFamily>,
    /// Measures by the cosine of the embeddings, which has no κ.
    pub cosine: CosineMeasures,
    /// Baselines that order captions without an adapter.
    pub baselines: OrderBaselines,
    /// Area under the ROC curve of how near a picture lies to pictures that the model was trained on, by outsiders'
    /// kind; the second candidate beside the likelihood.
    pub nearest_pictures: OutsiderAuroc,
}

/// Measures under one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhotosFamily {
    /// Recall of Flickr8k's test pictures and captions, by likelihood.
    pub recall: BothWays<RecallAt>,
    /// Rank correlation S of recall with ten levels of 1/κ, Flickr8k's captions alone; −1 is ideal.
    pub spearman_levels: BothWays<Option<f64>>,
    /// Rank correlation S with captions of all levels, each of which looks for the one picture that it was made from,
    /// whatever others it fits: vague ones fail by construction.
    pub spearman_levels_all: BothWays<Option<f64>>,
    /// Measures on `HierarCaps`, which was never trained on.
    pub hierarcaps: LadderMeasures,
    /// Agreement with experts who judged captions against Flickr8k's test pictures.
    pub expert: Agreement,
    /// Detection of pictures that are not photographs ("none of the above") by their best likelihood.
    pub outsiders: OutsiderAuroc,
    /// Loss by weights of eight bits; `null` where only one precision was measured.
    pub int8: Option<Quantized>,
}

/// Recall at 1, 5 and 10.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RecallAt {
    /// Share of queries whose best item is right.
    pub r1: f64,
    /// Share of queries with a right item among the best five.
    pub r5: f64,
    /// Share of queries with a right item among the best ten.
    pub r10: f64,
}

/// Measures on ladders of captions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderMeasures {
    /// Agreement of κ with the order of the rungs.
    #[serde(flatten)]
    pub hierarchy: Hierarchy,
    /// Recall at 10 of the full captions among all pictures.
    pub r10: f64,
}

/// Agreement of a value that should rise with a caption's specificity with the order of the rungs of ladders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hierarchy {
    /// Share of neighbouring rungs of one ladder in which the value rises, equal ones counting half.
    pub adjacent_ordered: f64,
    /// Share for each pair of neighbouring levels, the vaguest first.
    pub adjacent_ordered_by_level: Vec<f64>,
    /// Share among neighbouring rungs with the same number of words; `null` where there are none.
    pub same_length_ordered: Option<f64>,
    /// Rank correlation S of text→image recall with ten levels of uncertainty over all rungs; −1 is ideal.
    pub spearman: Option<f64>,
    /// Area under the ROC curve of telling the captions of a level from those of the next vaguer one, across ladders;
    /// mean over the neighbouring levels.
    pub auc: f64,
    /// Average precision of the same decision.
    pub average_precision: f64,
}

/// Agreement with people on how well a caption describes a picture: Kendall's `τ_c`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Kendall's `τ_c` of nats above uniform with the judgements.
    pub tau_c_nats: Option<f64>,
    /// Kendall's `τ_c` of the cosine of the embeddings with the judgements.
    pub tau_c_cosine: Option<f64>,
}

/// Area under the ROC curve of telling pictures that are not photographs from Flickr8k's test pictures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OutsiderAuroc {
    /// Area under the ROC curve, all kinds together.
    pub auroc: Option<f64>,
    /// Area for each kind of outsider.
    pub by_kind: BTreeMap<String, f64>,
}

/// Loss by weights of eight bits against those of 32.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantized {
    /// Rank correlation of κ over the captions.
    pub kappa_spearman: Option<f64>,
    /// Loss of recall at 1, of the direction that loses more; below 0 where both gain.
    pub r1_loss: f64,
}

/// Measures by the cosine of the embeddings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CosineMeasures {
    /// Recall of Flickr8k's test pictures and captions.
    pub recall: BothWays<RecallAt>,
    /// Recall at 10 of `HierarCaps`' full captions among its pictures.
    pub hierarcaps_r10: f64,
    /// Detection of pictures that are not photographs by their best cosine.
    pub outsiders: OutsiderAuroc,
}

/// Baselines that order captions without an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderBaselines {
    /// Number of words of the caption.
    pub word_count: OrderBaseline,
    /// Length of the caption's embedding before it is normalised. The opposite order has 1 − share, and −S.
    pub feature_norm: OrderBaseline,
}

/// Measures of a baseline used instead of κ; pictures are ranked by the cosine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderBaseline {
    /// Rank correlation S of recall with ten levels of the baseline, as [`PhotosFamily::spearman_levels`].
    pub spearman_levels: BothWays<Option<f64>>,
    /// Rank correlation S with captions of all levels, as [`PhotosFamily::spearman_levels_all`].
    pub spearman_levels_all: BothWays<Option<f64>>,
    /// Agreement of the baseline with the order of `HierarCaps`' rungs, as [`PhotosFamily::hierarcaps`].
    pub hierarcaps: Hierarchy,
}
