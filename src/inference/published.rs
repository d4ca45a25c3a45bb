//! Published answers of a model: those that the original program gives with the genuine weights.

use serde::Deserialize;

use super::{ImageEncoding, TextEncoding};
use crate::error::{Error, Result};

/// CLIP's logit scale, by which cosines are multiplied before the softmax.
const LOGIT_SCALE: f64 = 100.0;

/// Answers of the original program for some captions and one picture, beside which an import is compared.
#[derive(Debug, Clone, Deserialize)]
pub struct Published {
    /// Captions whose embeddings are published.
    pub captions: Vec<String>,
    /// Lengths of their features before normalisation.
    pub text_norms: Vec<f64>,
    /// The first components of their unit embeddings.
    pub text_embeddings: Vec<Vec<f32>>,
    /// The first components of the picture's unit embedding.
    pub picture_embedding: Vec<f32>,
    /// Softmax over the captions for the picture.
    pub probabilities: Vec<f64>,
}

/// Greatest errors that are allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Greatest error of a component of a unit embedding, and relative error of a length.
    feature: f64,
    /// Greatest error of a probability. It moves by at most a quarter of what a logit moves, which is 100 times the
    /// cosine.
    probability: f64,
}

impl Tolerance {
    /// Tolerance for weights as they were published; `OpenAI` stores nearly all of them in f16.
    pub const ORIGINAL: Self = Self {
        feature: 1e-3,
        probability: 2e-3,
    };

    /// Tolerance for weights that were rounded to int8.
    pub const INT8: Self = Self {
        feature: 1e-2,
        probability: 2e-2,
    };
}

impl Published {
    /// `OpenAI`'s ViT-B/32.
    ///
    /// # Errors
    ///
    /// Never, unless the file in this crate was damaged.
    pub fn vit_b_32() -> Result<Self> {
        let published = serde_json::from_str(include_str!("vit_b_32.json"));
        published.map_err(|error| Error::Weights(format!("vit_b_32.json: {error}")))
    }

    /// The greatest error over what is allowed; at most 1 for the same weights.
    #[must_use]
    pub fn worst(
        &self,
        tolerance: Tolerance,
        texts: &[TextEncoding],
        picture: Option<&ImageEncoding>,
    ) -> f64 {
        let of_components = |found: &[f32], expected: &[f32]| {
            let errors = found.iter().zip(expected);
            let errors = errors.map(|(found, expected)| f64::from((found - expected).abs()));
            greatest(errors) / tolerance.feature
        };
        let embeddings = texts.iter().zip(&self.text_embeddings);
        let embeddings = embeddings.map(|(text, first)| of_components(&text.embedding, first));
        let norms = texts.iter().zip(&self.text_norms);
        let norms = norms.map(|(text, norm)| (text.features_norm - norm).abs() / norm);
        let norms = norms.map(|error| error / tolerance.feature);
        let worst = greatest(embeddings.chain(norms));
        let Some(picture) = picture else {
            return worst;
        };
        let cosines = texts.iter().map(|text| text.compare(picture).cosine);
        let probabilities = softmax(&cosines.collect::<Vec<_>>(), LOGIT_SCALE);
        let errors = probabilities.iter().zip(&self.probabilities);
        let errors = errors.map(|(found, expected)| (found - expected).abs());
        let embedding = of_components(&picture.embedding, &self.picture_embedding);
        worst
            .max(embedding)
            .max(greatest(errors) / tolerance.probability)
    }
}

fn softmax(values: &[f64], scale: f64) -> Vec<f64> {
    let greatest = values.iter().copied().fold(f64::MIN, f64::max);
    let weights = values
        .iter()
        .map(|value| (scale * (value - greatest)).exp());
    let sum: f64 = weights.clone().sum();
    weights.map(|weight| weight / sum).collect()
}

/// Infinite if any of them is not a number.
fn greatest(errors: impl Iterator<Item = f64>) -> f64 {
    let or_infinite = |error: f64| if error.is_nan() { f64::INFINITY } else { error };
    errors.map(or_infinite).fold(0.0, f64::max)
}
