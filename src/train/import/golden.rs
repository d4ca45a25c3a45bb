//! What is known of models from elsewhere: the answers that the original program gives with the genuine weights.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::job::Dtype;
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::preprocess::decode;
use crate::weights::manifest::Origin;

/// Ids at the hub and SHA-256 of files that hold `OpenAI`'s ViT-B/32: the pinned `pytorch_model.bin`, and `ViT-B-32.pt`,
/// whose address names its hash.
const GENUINE: [&str; 3] = [
    "openai/clip-vit-base-patch32",
    "a63082132ba4f97a80bea76823f544493bffa8082296d62d71581a4feff1576f",
    "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af",
];

/// CLIP's logit scale, by which cosines are multiplied before the softmax.
const LOGIT_SCALE: f64 = 100.0;

/// Answers of the original program.
#[derive(Debug, Clone, Deserialize)]
pub struct Published {
    /// Captions.
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

/// How a model did on the published answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// These are the genuine weights; `without_picture` if only captions could be compared.
    Genuine {
        /// Greatest error, in units of what is allowed.
        worst: f64,
        /// Whether no golden picture was at hand.
        without_picture: bool,
    },
    /// Some other model.
    Unknown,
}

/// Greatest errors of a stored precision.
#[derive(Debug, Clone, Copy)]
struct Tolerance {
    /// Of a component of a unit embedding, and of a length over itself.
    feature: f64,
    /// Of a probability. It moves by a quarter of what a logit moves, which is 100 times the cosine.
    probability: f64,
}

impl Tolerance {
    fn of(dtype: Dtype) -> Self {
        match dtype {
            // OpenAI stores nearly everything in f16.
            Dtype::F32 | Dtype::F16 => Self {
                feature: 1e-3,
                probability: 2e-3,
            },
            Dtype::Int8 => Self {
                feature: 1e-2,
                probability: 2e-2,
            },
        }
    }
}

impl Published {
    /// `OpenAI`'s ViT-B/32.
    ///
    /// # Errors
    ///
    /// Never, unless the file in this crate was damaged.
    pub fn vit_b_32() -> Result<Self> {
        serde_json::from_str(include_str!("vit_b_32.json")).context("vit_b_32.json")
    }

    /// The greatest error over what `dtype` allows; at most 1 for the same weights.
    #[must_use]
    pub fn worst(
        &self,
        dtype: Dtype,
        texts: &[TextEncoding],
        picture: Option<&ImageEncoding>,
    ) -> f64 {
        let tolerance = Tolerance::of(dtype);
        let of_components = |found: &[f32], expected: &[f32]| {
            let errors = found.iter().zip(expected);
            let errors = errors.map(|(found, expected)| f64::from((found - expected).abs()));
            greatest(errors) / tolerance.feature
        };
        let embeddings = texts.iter().zip(&self.text_embeddings);
        let embeddings = embeddings.map(|(text, first)| of_components(&text.embedding, first));
        let norms = texts
            .iter()
            .zip(&self.text_norms)
            .map(|(text, norm)| (text.features_norm - norm).abs() / norm / tolerance.feature);
        let worst = greatest(embeddings.chain(norms));
        let Some(picture) = picture else {
            return worst;
        };
        let cosines: Vec<f64> = texts
            .iter()
            .map(|text| text.compare(picture).cosine)
            .collect();
        let probabilities = softmax(&cosines, LOGIT_SCALE);
        let errors = probabilities.iter().zip(&self.probabilities);
        let errors = errors.map(|(found, expected)| (found - expected).abs());
        worst
            .max(of_components(&picture.embedding, &self.picture_embedding))
            .max(greatest(errors) / tolerance.probability)
    }
}

/// Compares an imported model with what is known.
///
/// # Errors
///
/// A model that says it is genuine and answers differently, or a golden picture that cannot be read.
pub fn judge(
    session: &Session,
    dtype: Dtype,
    origin: Option<&Origin>,
    picture: Option<&Path>,
) -> Result<Verdict> {
    let published = Published::vit_b_32()?;
    let claims = origin.is_some_and(claims_to_be_genuine);
    let texts = pollster::block_on(session.encode_text(&published.captions))?;
    let picture = match picture {
        Some(path) => {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            Some(pollster::block_on(
                session.encode_image(&decode(&bytes)?.rgb),
            )?)
        }
        None => None,
    };
    let worst = published.worst(dtype, &texts, picture.as_ref());
    let without_picture = picture.is_none();
    match (worst <= 1.0, claims) {
        (true, _) => Ok(Verdict::Genuine {
            worst,
            without_picture,
        }),
        (false, false) => Ok(Verdict::Unknown),
        (false, true) => bail!(
            "the source is OpenAI's ViT-B/32, but the answers to {:?} miss the published ones by {worst:.1} times what {dtype:?} allows",
            published.captions
        ),
    }
}

/// Whether a checkpoint is `OpenAI`'s ViT-B/32 by where it comes from or by its hash.
pub(super) fn claims_to_be_genuine(origin: &Origin) -> bool {
    let names = [&origin.source, &origin.checkpoint.sha256];
    names.into_iter().any(|name| GENUINE.contains(&&**name))
}

/// The golden picture, where this machine has it: CLIP's own drawing of its training, which is not this project's to
/// give away.
#[must_use]
pub fn picture_at_hand() -> Option<PathBuf> {
    let data = std::env::var_os("KAPPASCOPE_SHARED_DATA");
    let data = data.map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let picture = data.join("clip_reference/data/CLIP.png");
    picture.is_file().then_some(picture)
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Genuine {
                worst,
                without_picture,
            } => {
                let percent = 100.0 * worst;
                write!(
                    formatter,
                    "golden check: these are OpenAI's ViT-B/32, greatest error {percent:.0} % of what is allowed"
                )?;
                if *without_picture {
                    write!(
                        formatter,
                        "; captions only, the picture needs --golden-picture CLIP.png"
                    )?;
                }
                Ok(())
            }
            Self::Unknown => write!(formatter, "golden check: no golden known for these weights"),
        }
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
    errors.fold(0.0, |greatest, error| {
        if error.is_nan() {
            f64::INFINITY
        } else {
            greatest.max(error)
        }
    })
}
