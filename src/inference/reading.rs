//! Encodings of one caption or picture, and the cosines and log-likelihoods of a pair of them, in f64.

use crate::model::adapter::PerFamily;
use crate::numerics::Family;
use crate::preprocess::Tokens;
use crate::protocol::Familiarity;

/// Encoding of one caption: its tokens, its embedding and, with adapters, its distribution under each family.
#[derive(Debug, Clone, PartialEq)]
pub struct TextEncoding {
    /// The caption as the text tower saw it.
    pub tokens: Tokens,
    /// The features scaled to length one.
    pub embedding: Vec<f32>,
    /// Length of the features, a baseline for κ.
    pub features_norm: f64,
    /// The caption's distribution under each family; `None` for a model without adapters.
    pub distributions: Option<PerFamily<CaptionDistribution>>,
    /// Familiarity of the caption; `None` for a model without a detector.
    pub familiarity: Option<Familiarity>,
}

/// A caption's distribution on the sphere.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionDistribution {
    /// The concentration κ ≥ 0.
    pub concentration: f64,
    /// μ, a unit vector.
    pub mean_direction: Vec<f32>,
}

/// Encoding of one picture: a point on the sphere.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEncoding {
    /// The features scaled to length one: a point on the sphere.
    pub embedding: Vec<f32>,
    /// Familiarity of the picture by its features; `None` for a model without such a detector.
    pub familiarity: Option<Familiarity>,
}

/// Cosines of one caption with one picture or with another caption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairCosines {
    /// CLIP's own cosine between the two embeddings.
    pub cosine: f64,
    /// Cosine between the caption's mean direction and the picture under each family.
    pub mean_direction_cosine: Option<PerFamily<f64>>,
}

impl CaptionDistribution {
    /// The distribution of a natural parameter η = κμ.
    pub(super) fn from_natural_parameter(natural_parameter: &[f32]) -> Self {
        let (mean_direction, concentration) = unit(natural_parameter);
        Self {
            concentration,
            mean_direction,
        }
    }
}

impl TextEncoding {
    /// Compares the caption with a picture.
    #[must_use]
    pub fn compare(&self, image: &ImageEncoding) -> PairCosines {
        let cosine = |d: &CaptionDistribution| dot(&d.mean_direction, &image.embedding);
        let distributions = self.distributions.as_ref();
        PairCosines {
            cosine: dot(&self.embedding, &image.embedding),
            mean_direction_cosine: distributions.map(|both| both.as_ref().map(cosine)),
        }
    }

    /// Compares the caption with another one: their embeddings, and their mean directions under each family.
    #[must_use]
    pub fn relate(&self, other: &Self) -> PairCosines {
        let distributions = self
            .distributions
            .as_ref()
            .zip(other.distributions.as_ref());
        let cosines = |(own, others): (&PerFamily<CaptionDistribution>, &PerFamily<_>)| {
            let directions = |family| (&own.get(family).mean_direction, others.get(family));
            PerFamily::of(|family| {
                let (own, other): (_, &CaptionDistribution) = directions(family);
                dot(own, &other.mean_direction)
            })
        };
        PairCosines {
            cosine: dot(&self.embedding, &other.embedding),
            mean_direction_cosine: distributions.map(cosines),
        }
    }

    /// Log-likelihood ratio to uniform of a picture, in nats, with the exact normaliser.
    ///
    /// `None` for a model without adapters.
    #[must_use]
    pub fn nats(&self, family: Family, image: &ImageEncoding) -> Option<f64> {
        let distribution = self.distributions.as_ref()?.get(family);
        let cosine = dot(&distribution.mean_direction, &image.embedding);
        Some(family.log_likelihood_ratio(image.embedding.len(), distribution.concentration, cosine))
    }
}

/// Least length that a vector may have and still have a direction.
const MIN_NORM: f64 = 1e-12;

/// A vector's direction and its length, which is at least [`MIN_NORM`].
pub(super) fn unit(vector: &[f32]) -> (Vec<f32>, f64) {
    let norm = dot(vector, vector).sqrt().max(MIN_NORM);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "components of a unit vector fit, and f32 is what the device computed in"
    )]
    let direction = vector
        .iter()
        .map(|value| (f64::from(*value) / norm) as f32)
        .collect();
    (direction, norm)
}

/// Sum of products, accumulated in f64.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    debug_assert_eq!(a.len(), b.len(), "vectors of one space");
    let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    products.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_split_into_length_and_direction() {
        let distribution = CaptionDistribution::from_natural_parameter(&[3.0, 0.0, -4.0]);
        assert_eq!(distribution.concentration, 5.0, "a Pythagorean triple");
        let direction = distribution.mean_direction;
        assert_eq!(direction, [0.6, 0.0, -0.8], "divided by five");
    }

    #[test]
    fn a_vanishing_natural_parameter_has_no_direction_but_finite_numbers() {
        let distribution = CaptionDistribution::from_natural_parameter(&[0.0; 4]);
        let direction = distribution.mean_direction;
        assert_eq!(direction, [0.0; 4], "no direction");
    }
}
