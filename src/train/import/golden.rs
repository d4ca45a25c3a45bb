//! Compares an imported model with the answers that the original program gives with the genuine weights.

use std::path::Path;

use crate::inference::{Published, Session, Tolerance};
use crate::train::data::Picture;
use crate::weights::manifest::CheckpointOrigin;
use crate::weights::shard::Precision;
use anyhow::{Result, bail};

/// Ids at the hub and SHA-256 of files that hold `OpenAI`'s ViT-B/32: the pinned `pytorch_model.bin`, and
/// `ViT-B-32.pt`, whose address names its hash.
const GENUINE: [&str; 3] = [
    "openai/clip-vit-base-patch32",
    "a63082132ba4f97a80bea76823f544493bffa8082296d62d71581a4feff1576f",
    "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af",
];

/// Whether a model gives the published answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The weights are genuine; `without_picture` if only captions could be compared.
    Genuine {
        /// Greatest error, over the tolerance.
        worst: f64,
        /// Whether no golden picture was given.
        without_picture: bool,
    },
    /// Another model, for which no answers are published.
    Unknown,
}

/// Compares an imported model with the published answers.
///
/// # Errors
///
/// A model that says it is genuine and answers differently, or a golden picture that cannot be read.
pub fn judge(
    session: &Session,
    precision: Precision,
    origin: Option<&CheckpointOrigin>,
    picture: Option<&Path>,
) -> Result<Verdict> {
    let published = Published::vit_b_32()?;
    let claims = origin.is_some_and(claims_to_be_genuine);
    let texts = pollster::block_on(session.encode_text(&published.captions))?;
    let encode = |path: &Path| -> Result<_> {
        let picture = Picture::File(path.to_owned()).read()?;
        Ok(pollster::block_on(session.encode_image(&picture))?)
    };
    let picture = picture.map(encode).transpose()?;
    let tolerance = match precision {
        Precision::F32 | Precision::F16 => Tolerance::ORIGINAL,
        Precision::Int8 => Tolerance::INT8,
    };
    let worst = published.worst(tolerance, &texts, picture.as_ref());
    let without_picture = picture.is_none();
    match (worst <= 1.0, claims) {
        (true, _) => Ok(Verdict::Genuine {
            worst,
            without_picture,
        }),
        (false, false) => Ok(Verdict::Unknown),
        (false, true) => bail!(
            "the source is OpenAI's ViT-B/32, but the answers to {:?} miss the published ones by {worst:.1} times what \
             {precision:?} allows",
            published.captions
        ),
    }
}

/// Whether a checkpoint is `OpenAI`'s ViT-B/32 by where it comes from or by its hash.
pub(super) fn claims_to_be_genuine(origin: &CheckpointOrigin) -> bool {
    let names = [&origin.source, &origin.checkpoint.sha256];
    names.into_iter().any(|name| GENUINE.contains(&&**name))
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Genuine {
                worst,
                without_picture,
            } => {
                let note = "; captions only, the picture needs --golden-picture CLIP.png";
                let (percent, note) = (100.0 * worst, if *without_picture { note } else { "" });
                write!(
                    formatter,
                    "golden check: these are OpenAI's ViT-B/32, greatest error {percent:.0} % of what is allowed{note}"
                )
            }
            Self::Unknown => write!(formatter, "golden check: no golden known for these weights"),
        }
    }
}
