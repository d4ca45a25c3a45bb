//! None of the above: detection of pictures that are not photographs.
//!
//! Two values are compared: how likely a picture is under the caption that suits it best, of a set of captions that
//! stays the same, and how near it lies to pictures that the model knows.

use std::collections::BTreeMap;

use anyhow::Result;
use rayon::prelude::*;

use crate::metrics::{auroc, mean};
use crate::report::OutsiderAuroc;
use crate::train::features::rows::Rows;
use crate::train::pairs::encoded::{EncodedPairs, check, rows, unit};
use crate::train::pairs::scores::{Scores, dot};

/// Number of nearest pictures whose mean cosine is a picture's nearness.
const N_NEAREST: usize = 10;

/// Pictures that are not photographs, and the photographs by which the nearest picture is found.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedOutsiders {
    /// Unit vectors of the pictures of each kind.
    pub(super) kinds: Vec<(String, Rows)>,
    /// Embeddings of the photographs, `[n_photographs, embed_dim]`, unit vectors.
    pub(super) references: Rows,
}

impl EncodedOutsiders {
    /// Takes pictures of each kind, and `references`: photographs that are not among those measured on, such as those
    /// that the model was trained on. All in the shared space; rows need not be normalised.
    ///
    /// # Errors
    ///
    /// A kind without pictures, or widths that differ.
    pub fn new(kinds: Vec<(String, Rows)>, references: Rows) -> Result<Self> {
        let width = references.width;
        check("references", &references, references.n_rows(), width)?;
        for (kind, pictures) in &kinds {
            check(kind, pictures, pictures.n_rows(), width)?;
        }
        let kinds = kinds.into_iter();
        Ok(Self {
            kinds: kinds
                .map(|(kind, pictures)| (kind, unit(pictures)))
                .collect(),
            references: unit(references),
        })
    }
}

/// Tells outsiders by their best score. The captions that a photograph was described by are left out for it: no
/// outsider has captions of its own.
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

/// Detection of outsiders by the mean cosine of the nearest reference pictures.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::PerFamily;
    use crate::train::pairs::captions::RetrievalCaptions;
    use crate::train::pairs::encoded::Distributions;

    /// A unit vector of the plane at each angle.
    fn at(degrees: &[f32]) -> Rows {
        let rows = degrees.iter().map(|angle| angle.to_radians().sin_cos());
        Rows {
            values: rows.flat_map(|(y, x)| [x, y]).collect(),
            width: 2,
        }
    }

    fn pairs() -> EncodedPairs {
        let captions = RetrievalCaptions {
            texts: vec!["a".to_owned(), "b".to_owned()],
            pictures_of: vec![vec![0], vec![1]],
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: vec![1.0; 2],
            mean_directions: None,
        });
        EncodedPairs::new(at(&[0.0, 40.0]), captions, at(&[0.0, 40.0]), distributions)
            .expect("fits")
    }

    fn outsiders() -> EncodedOutsiders {
        let kinds = [("far", at(&[180.0])), ("near", at(&[20.0, 170.0]))];
        let kinds = kinds.map(|(kind, pictures)| (kind.to_owned(), pictures));
        EncodedOutsiders::new(kinds.into(), at(&[0.0, 40.0, 50.0])).expect("fits")
    }

    #[test]
    fn pictures_of_another_width_are_refused_by_their_kind() {
        let kinds = vec![("noise".to_owned(), at(&[0.0]))];
        let references = Rows {
            values: vec![1.0; 3],
            width: 3,
        };
        let error = EncodedOutsiders::new(kinds, references).expect_err("two columns");
        let error = error.to_string();
        assert!(
            error.starts_with("noise: (1, 2) rows and columns"),
            "{error}"
        );
    }

    #[test]
    fn photographs_do_not_count_their_own_captions() {
        let pairs = pairs();
        let of = |pictures: &Rows| Scores::cosines(&pairs.embeddings, pictures);
        // Photographs are 40° from the other's caption; of the near ones one is 20° off, the other 130°.
        let found = by_best_score(&pairs, &of(&pairs.images), &outsiders(), of);
        let expected = BTreeMap::from([("far".to_owned(), 1.0), ("near".to_owned(), 0.5)]);
        assert_eq!(found.by_kind, expected, "area by kind");
        assert_eq!(found.auroc, Some(4.0 / 6.0), "of six pairs four");
    }

    #[test]
    fn near_pictures_are_nearer_than_far_ones() {
        // Mean cosines with 0°, 40° and 50°: .80 at 0°, .92 at 40°; .91 at 20°, −.80 at 180°, −.73 at 170°.
        let found = by_nearest_pictures(&pairs().images, &outsiders());
        let expected = BTreeMap::from([("far".to_owned(), 1.0), ("near".to_owned(), 0.75)]);
        assert_eq!(found.by_kind, expected, "area by kind");
    }
}
