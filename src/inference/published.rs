//! Published answers of a model: those that the original program gives with the genuine weights.

use serde::Deserialize;

use super::{ImageEncoding, TextEncoding};
use crate::error::{Error, Result};
use crate::preprocess::{RgbPixels, decode};

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
    /// Answers of `OpenAI`'s ViT-B/32 that this crate holds.
    ///
    /// # Errors
    ///
    /// Never, unless the file in this crate was damaged.
    pub fn vit_b_32() -> Result<Self> {
        let published = serde_json::from_str(include_str!("vit_b_32.json"));
        published.map_err(|error| Error::Weights(format!("vit_b_32.json: {error}")))
    }

    /// Picture whose embedding is published: `CLIP.png` of `openai/CLIP`, resized and cropped by its authors' program.
    ///
    /// That program leaves out alpha after the resize, which [`decode()`] does before it: from the file itself the same
    /// picture would be another one.
    ///
    /// # Errors
    ///
    /// Never, unless the file in this crate was damaged.
    pub fn picture() -> Result<RgbPixels> {
        Ok(decode(include_bytes!("vit_b_32.webp"))?.rgb)
    }

    /// Root mean square of the errors of the published picture's embedding, over [`Tolerance::INT8`]; at most 1 for the
    /// same image encoder.
    ///
    /// The mean and the wider tolerance, whatever the format of the weights: a genuine image encoder must not be
    /// refused for one component. Another image encoder is at about 5.
    #[must_use]
    pub fn picture_error(&self, picture: &ImageEncoding) -> f64 {
        let expected = &self.picture_embedding;
        let Some(found) = picture.embedding.get(..expected.len()) else {
            return f64::INFINITY;
        };
        let errors = found.iter().zip(expected);
        let squares = errors.map(|(found, expected)| f64::from(found - expected).powi(2));
        let mean = squares.sum::<f64>() / expected.len() as f64;
        mean.sqrt() / Tolerance::INT8.feature
    }

    /// Refuses an image encoder that claims to be `OpenAI`'s ViT-B/32, by its embedding of [`picture`](Self::picture).
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for an embedding that is not the published one.
    pub fn check_picture(&self, picture: &ImageEncoding) -> Result<()> {
        let error = self.picture_error(picture);
        // Not a number is no small error either.
        if error <= 1.0 {
            return Ok(());
        }
        Err(Error::Engine(format!(
            "these weights say that they are OpenAI's ViT-B/32, but the embedding of a picture misses the published one \
             by {error:.1} times what is allowed"
        )))
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

#[cfg(test)]
mod tests {
    use burn::tensor::{Tensor, TensorData};

    use super::*;
    use crate::device::cpu;
    use crate::inference::reading::unit;
    use crate::model::clip::ClipConfig;
    use crate::model::encoder::EncoderConfig;
    use crate::preprocess::ImagePreprocess;

    /// Sum of the picture's values, by Pillow.
    const PICTURE_SUM: u64 = 13_899_842;

    fn published() -> Published {
        Published::vit_b_32().expect("a file of this crate")
    }

    fn picture() -> RgbPixels {
        Published::picture().expect("a file of this crate")
    }

    fn encoding(embedding: Vec<f32>) -> ImageEncoding {
        ImageEncoding {
            embedding,
            familiarity: None,
        }
    }

    /// Embedding of the picture by random weights, in ViT-B/32's sizes but for the number of layers.
    fn random_encoding(seed: u64) -> ImageEncoding {
        let mut config = ClipConfig::vit_b_32();
        config.vision_cfg.layers = 2;
        let device = cpu();
        device.seed(seed);
        let vision = EncoderConfig::Clip(config).init_vision(&device);
        let pixels = ImagePreprocess::clip(224).apply(&picture());
        let pixels = TensorData::new(pixels, [1, 3, 224, 224]);
        let features = vision.forward(Tensor::from_data(pixels, &device));
        let features = features.into_data();
        encoding(unit(features.as_slice().expect("floats")).0)
    }

    #[test]
    fn the_published_picture_is_seen_as_it_is() {
        let picture = picture();
        assert_eq!((picture.width, picture.height), (224, 224), "a square");
        let sum: u64 = picture.pixels.iter().map(|value| u64::from(*value)).sum();
        assert_eq!(sum, PICTURE_SUM, "the pixels that Pillow wrote");
        let seen = ImagePreprocess::clip(224).resize(&picture);
        assert_eq!(seen.pixels, picture.pixels, "a resize to the same size");
    }

    #[test]
    fn a_random_image_encoder_is_not_openais() {
        for seed in [1, 2] {
            let found = random_encoding(seed);
            let error = published().picture_error(&found);
            assert!(error > 3.0, "seed {seed}: {error} times what is allowed");
            let refused = published().check_picture(&found).expect_err("random");
            assert!(refused.to_string().contains("OpenAI's"), "{refused}");
        }
    }

    #[test]
    fn an_embedding_near_the_published_one_is_openais() {
        let mut embedding = published().picture_embedding;
        embedding.resize(512, 0.04);
        for (i_component, value) in embedding.iter_mut().enumerate() {
            *value += if i_component % 2 == 0 { 0.009 } else { -0.009 };
        }
        let near = encoding(embedding.clone());
        assert_eq!(published().check_picture(&near), Ok(()), "within 0.01");
        embedding[3] = f32::NAN;
        let broken = encoding(embedding);
        assert!(published().check_picture(&broken).is_err(), "no number");
    }

    #[test]
    fn an_embedding_of_few_dimensions_is_not_openais() {
        let few = encoding(published().picture_embedding[..8].to_vec());
        assert_eq!(published().picture_error(&few), f64::INFINITY, "8 of 512");
    }
}
