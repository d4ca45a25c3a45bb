//! Scores of all pairs of captions and pictures: the cosine, or nats above uniform.

use std::borrow::Cow;

use rayon::prelude::*;

use super::encoded::{EncodedPairs, rows};
use crate::family::Family;
use crate::metrics::retrieval::Hit;
use crate::train::features::rows::Rows;

/// Partial sums of a dot product, which a processor adds at the same time.
const LANES: usize = 8;

/// Scores of captions × pictures, caption by caption.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::train) struct Scores {
    values: Vec<f32>,
    n_images: usize,
}

impl Scores {
    /// Cosines of unit vectors.
    ///
    /// # Shapes
    /// `[n_captions, embed_dim]` and `[n_images, embed_dim]` become `[n_captions, n_images]`.
    pub(in crate::train) fn cosines(captions: &Rows, images: &Rows) -> Self {
        let captions: Vec<&[f32]> = rows(captions).collect();
        let of_caption = |caption: &&[f32]| -> Vec<f32> {
            rows(images).map(|image| dot(caption, image)).collect()
        };
        let values: Vec<Vec<f32>> = captions.par_iter().map(of_caption).collect();
        Self {
            values: values.concat(),
            n_images: images.n_rows(),
        }
    }

    /// Nats above uniform at these cosines, `concentrations` being κ of each caption.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "ranked in single precision, as the cosines are"
    )]
    pub(in crate::train) fn nats(
        &self,
        family: Family,
        concentrations: &[f64],
        embed_dim: usize,
    ) -> Self {
        let mut values = self.values.clone();
        let of_captions = values.par_chunks_exact_mut(self.n_images.max(1));
        of_captions.zip(concentrations).for_each(|(row, &kappa)| {
            let normalizer = family.log_normalizer_ratio(embed_dim, kappa);
            for score in row {
                let statistic = family.sufficient_statistic(f64::from(*score));
                *score = (kappa * statistic + normalizer) as f32;
            }
        });
        Self {
            values,
            n_images: self.n_images,
        }
    }

    pub(in crate::train) fn at(&self, i_caption: usize, i_image: usize) -> f64 {
        f64::from(self.values[i_caption * self.n_images + i_image])
    }

    /// Scores of one picture with each caption.
    pub(in crate::train) fn of_image(&self, i_image: usize) -> impl Iterator<Item = f32> {
        self.values
            .iter()
            .copied()
            .skip(i_image)
            .step_by(self.n_images)
    }

    /// Hit of each caption among the pictures, with the rows of the pictures that it fits.
    pub(in crate::train) fn hits_of_captions(&self, pictures_of: &[Vec<usize>]) -> Vec<Hit> {
        let of_captions = self.values.par_chunks_exact(self.n_images.max(1));
        let hits = of_captions.zip(pictures_of);
        hits.map(|(scores, pictures)| Hit::of(scores, pictures.iter().copied()))
            .collect()
    }

    /// Hit of each picture among the captions, with the rows of the captions that fit it.
    pub(in crate::train) fn hits_of_images(&self, captions_of: &[Vec<usize>]) -> Vec<Hit> {
        let hits = captions_of.par_iter().enumerate();
        hits.map(|(i_image, captions)| {
            let scores: Vec<f32> = self.of_image(i_image).collect();
            Hit::of(&scores, captions.iter().copied())
        })
        .collect()
    }
}

/// Pairs with the cosines of their embeddings, which most scores start from.
#[derive(Debug)]
pub(in crate::train) struct ScoredPairs<'a> {
    pub(in crate::train) pairs: &'a EncodedPairs,
    pub(in crate::train) cosines: Scores,
}

impl<'a> ScoredPairs<'a> {
    pub(in crate::train) fn of(pairs: &'a EncodedPairs) -> Self {
        Self {
            cosines: Scores::cosines(&pairs.embeddings, &pairs.images),
            pairs,
        }
    }

    /// Nats above uniform of each pair.
    pub(in crate::train) fn nats(&self, family: Family) -> Scores {
        let pairs = self.pairs;
        let cosines = match &pairs.distributions.get(family).mean_directions {
            None => Cow::Borrowed(&self.cosines),
            Some(directions) => Cow::Owned(Scores::cosines(directions, &pairs.images)),
        };
        cosines.nats(family, pairs.concentrations(family), pairs.embeddings.width)
    }
}

/// Dot product of two rows of one width.
pub(in crate::train) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(x, y)| x * y);
    sums.iter().sum::<f32>() + rest.sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::super::captions::RetrievalCaptions;
    use super::super::encoded::Distributions;
    use super::*;
    use crate::family::PerFamily;

    /// Two captions and three pictures in a space of eleven dimensions.
    fn pairs(mean_directions: Option<Rows>) -> EncodedPairs {
        let wave = |n: usize, step: f32| Rows {
            values: (0_u8..)
                .take(n * 11)
                .map(|i| (f32::from(i) * step).sin())
                .collect(),
            width: 11,
        };
        let captions = RetrievalCaptions {
            texts: vec!["a".to_owned(), "b".to_owned()],
            pictures_of: vec![vec![0], vec![2]],
        };
        let distributions = PerFamily::of(|_| Distributions {
            concentrations: vec![3.0, 40.0],
            mean_directions: mean_directions.clone(),
        });
        EncodedPairs::new(wave(3, 0.7), captions, wave(2, 0.3), distributions).expect("fits")
    }

    #[test]
    fn nats_are_those_of_the_distributions() {
        let pairs = pairs(None);
        let scored = ScoredPairs::of(&pairs);
        for family in Family::ALL {
            let nats = scored.nats(family);
            for (i_caption, kappa) in [3.0, 40.0].into_iter().enumerate() {
                for i_image in 0..3 {
                    let (caption, image) = (
                        rows(&pairs.embeddings).nth(i_caption),
                        rows(&pairs.images).nth(i_image),
                    );
                    let products = caption
                        .into_iter()
                        .flatten()
                        .zip(image.into_iter().flatten());
                    let cosine = products.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
                    let expected = family.log_likelihood_ratio(11, kappa, cosine);
                    let found = nats.at(i_caption, i_image);
                    // Forty times the rounding of a cosine in single precision.
                    assert!(
                        (found - expected).abs() < 1e-4,
                        "{family:?}: {found}, expected {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn directions_of_their_own_take_the_place_of_the_embeddings() {
        let turned = Rows {
            values: [5.0, 0.0]
                .map(|x| [[0.0; 10].as_slice(), &[x + 1.0]].concat())
                .concat(),
            width: 11,
        };
        let (own, moved) = (pairs(None), pairs(Some(turned)));
        let (own, moved) = (ScoredPairs::of(&own), ScoredPairs::of(&moved));
        assert_eq!(
            own.cosines, moved.cosines,
            "the cosine stays the embeddings'"
        );
        let nats = moved.nats(Family::VonMisesFisher);
        assert_ne!(
            nats,
            own.nats(Family::VonMisesFisher),
            "the likelihood does not"
        );
        let last = f64::from(moved.pairs.images.values[10]);
        let expected = Family::VonMisesFisher.log_likelihood_ratio(11, 3.0, last);
        assert!(
            (nats.at(0, 0) - expected).abs() < 1e-5,
            "of length 6, normalised"
        );
    }

    #[test]
    fn columns_are_the_scores_of_a_picture() {
        let pairs = pairs(None);
        let cosines = Scores::cosines(&pairs.embeddings, &pairs.images);
        let column: Vec<f64> = cosines.of_image(1).map(f64::from).collect();
        assert_eq!(
            column,
            [cosines.at(0, 1), cosines.at(1, 1)],
            "one a caption"
        );
    }
}
