//! Order of ladders of captions, from vague to specific, by any value that should rise along them.

use super::captions::word_count;
use super::encoded::EncodedLadders;
use super::recall::{recall_at, spearman_levels};
use crate::metrics::retrieval::Hit;
use crate::metrics::{auroc, average_precision, mean};
use crate::report::Hierarchy;

/// How well `specificity`, a value of each caption, orders the rungs; `hits` are what the captions found.
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
