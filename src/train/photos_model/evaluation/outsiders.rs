//! None of the above: how well pictures that are no photographs are told from photographs.
//!
//! Two values are compared: how likely a picture is under the caption that suits it best, of a set of captions that
//! stays the same, and how near it lies to pictures that the model knows.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::encoded::{EncodedOutsiders, EncodedPairs, rows};
use super::scores::{Scores, dot};
use crate::metrics::{auroc, mean};
use crate::report::OutsiderAuroc;
use crate::train::features::rows::Rows;

/// Nearest pictures whose mean cosine says how near a picture lies.
const N_NEAREST: usize = 10;

/// Tells outsiders by their best score. The captions that a photograph was described by are left out for it: no outsider
/// has captions of its own.
pub(super) fn by_best_score(
    pairs: &EncodedPairs,
    of_photographs: &Scores,
    outsiders: &EncodedOutsiders,
    score: impl Fn(&Rows) -> Scores,
) -> OutsiderAuroc {
    let mut photographs = vec![f64::NEG_INFINITY; pairs.n_images()];
    for (i_image, best) in photographs.iter_mut().enumerate() {
        let scores = of_photographs
            .of_image(i_image)
            .zip(&pairs.captions.pictures_of);
        let foreign = scores.filter(|(_, pictures)| !pictures.contains(&i_image));
        *best = foreign.fold(*best, |best, (score, _)| best.max(f64::from(score)));
    }
    auroc_by_kind(&photographs, outsiders, |pictures| {
        let scores = score(pictures);
        let best = |i_image| scores.of_image(i_image).fold(f32::NEG_INFINITY, f32::max);
        (0..pictures.n_rows()).map(|i| f64::from(best(i))).collect()
    })
}

/// Tells outsiders by the mean cosine of the nearest reference pictures.
pub(super) fn by_nearest_pictures(
    photographs: &Rows,
    outsiders: &EncodedOutsiders,
) -> OutsiderAuroc {
    let nearness = |pictures: &Rows| nearness(pictures, &outsiders.references);
    auroc_by_kind(&nearness(photographs), outsiders, nearness)
}

/// Areas under the ROC curve of a value that photographs should have more of.
fn auroc_by_kind(
    photographs: &[f64],
    outsiders: &EncodedOutsiders,
    value: impl Fn(&Rows) -> Vec<f64>,
) -> OutsiderAuroc {
    let (mut all, mut by_kind) = (Vec::new(), BTreeMap::new());
    for (kind, pictures) in &outsiders.kinds {
        let of_kind = value(pictures);
        by_kind.extend(auroc(photographs, &of_kind).map(|area| (kind.clone(), area)));
        all.extend(of_kind);
    }
    OutsiderAuroc {
        auroc: auroc(photographs, &all),
        by_kind,
    }
}

/// Mean cosine of each picture with the nearest references.
fn nearness(pictures: &Rows, references: &Rows) -> Vec<f64> {
    let pictures: Vec<&[f32]> = rows(pictures).collect();
    let near = pictures.par_iter().map(|picture| {
        let cosines = rows(references).map(|reference| f64::from(dot(picture, reference)));
        let mut cosines: Vec<f64> = cosines.collect();
        cosines.sort_unstable_by(|a, b| b.total_cmp(a));
        cosines.truncate(N_NEAREST);
        mean(&cosines)
    });
    near.collect()
}
