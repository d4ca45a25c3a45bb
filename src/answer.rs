//! Results of inference as messages of the protocol.
//!
//! Used by the engines in the page and by the program that records answers for its first paint, so a recorded answer
//! and a live one are built by the same code.

use crate::error::{Error, Result};
use crate::inference::{ImageEncoding, PairCosines, Session, TextEncoding};
use crate::preprocess::{ResizeMode, RgbPixels};
use crate::protocol::{
    Answer, BareCard, CaptionReading, CaptionTokens, CompactDirection, Familiarity, ModelCard,
    PairReading, Respelling, SelfTest,
};

/// Captions against pictures and, if that was asked, against each other; its number and its time are the caller's.
///
/// # Errors
///
/// The model has no adapters.
pub fn answer(
    captions: Vec<String>,
    texts: &[TextEncoding],
    images: Vec<String>,
    encodings: &[&ImageEncoding],
    relates: bool,
) -> Result<Answer> {
    let pairs = texts
        .iter()
        .flat_map(|text| encodings.iter().map(move |image| text.compare(image)));
    let related = if relates { texts } else { &[] };
    let relations = related
        .iter()
        .flat_map(|text| related.iter().map(move |other| text.relate(other)));
    let described = captions.into_iter().zip(texts);
    Ok(Answer {
        captions: described
            .map(|(caption, text)| caption_reading(caption, text))
            .collect::<Result<_>>()?,
        images,
        pairs: pairs.map(pair_reading).collect::<Result<_>>()?,
        relations: relations.map(pair_reading).collect::<Result<_>>()?,
        ..Answer::default()
    })
}

/// Reading of a caption for the page: its concentration κ under each family, its tokens and its mean direction.
///
/// # Errors
///
/// The model has no adapters.
pub fn caption_reading(caption: String, text: &TextEncoding) -> Result<CaptionReading> {
    let distributions = text.distributions.as_ref().ok_or_else(no_adapters)?;
    Ok(CaptionReading {
        caption,
        concentration: distributions
            .as_ref()
            .map(|distribution| distribution.concentration),
        n_tokens: text.tokens.n_tokens,
        truncated: text.tokens.truncated,
        unknown_words: text.tokens.unknown_words.clone(),
        respellings: respellings(text),
        familiarity: text.familiarity,
        mean_direction: distributions
            .as_ref()
            .map(|distribution| CompactDirection::of(&distribution.mean_direction)),
    })
}

fn respellings(text: &TextEncoding) -> Vec<Respelling> {
    let respelling = |(word, meant): &(String, String)| Respelling {
        word: word.clone(),
        meant: meant.clone(),
    };
    text.tokens.respellings.iter().map(respelling).collect()
}

fn pair_reading(pair: PairCosines) -> Result<PairReading> {
    let cosine = pair.mean_direction_cosine.ok_or_else(no_adapters)?;
    Ok(PairReading {
        cosine: pair.cosine,
        mean_direction_cosine: cosine,
    })
}

/// Tokens and unknown words of a caption, for a model without adapters.
#[must_use]
pub fn caption_tokens(caption: String, text: &TextEncoding) -> CaptionTokens {
    CaptionTokens {
        caption,
        n_tokens: text.tokens.n_tokens,
        truncated: text.tokens.truncated,
        unknown_words: text.tokens.unknown_words.clone(),
        respellings: respellings(text),
    }
}

/// Card of a model without adapters: its name, origin and licence, its engine, and its embedding of the probe caption.
#[must_use]
pub fn bare_card(
    session: &Session,
    self_test: Option<SelfTest>,
    is_vit_b_32: bool,
    probe: Vec<f32>,
    engine: EngineFacts,
) -> BareCard {
    let manifest = session.manifest();
    let made = &manifest.provenance;
    let origin = made.origin.as_ref().map(|origin| match &origin.revision {
        Some(revision) => format!("{} at {revision}", origin.source),
        None => origin.source.clone(),
    });
    BareCard {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        embed_dim: manifest.encoder.embed_dim(),
        provenance: origin.unwrap_or_else(|| made.command.clone()),
        weights: manifest.weights(),
        image_encoder: manifest.image_encoder(),
        license: manifest.license.clone(),
        engine: engine.name,
        device: engine.device,
        self_test,
        is_vit_b_32,
        weights_bytes: engine.weights_bytes,
        has_vision: session.has_vision(),
        from_cache: engine.from_cache,
        load_millis: engine.load_millis,
        probe,
    }
}

/// Familiarity of a picture: by the share of its pixels that have a ground's colour, where the model knows its grounds,
/// else by its encoding; `None` where the model has neither detector.
#[must_use]
pub fn familiarity(
    session: &Session,
    picture: &RgbPixels,
    encoding: &ImageEncoding,
) -> Option<Familiarity> {
    let detector = session.manifest().out_of_distribution.as_ref();
    let by_colours = detector.and_then(|detector| {
        let share = session.ground_share(picture)?;
        Some(Familiarity::new(share, detector.threshold))
    });
    by_colours.or(encoding.familiarity)
}

/// Name and device of an engine, with the size of its weights and its times.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineFacts {
    /// Short name: `cpu`, `gpu`, or `recorded`.
    pub name: String,
    /// Name of the device, for people.
    pub device: String,
    /// Sum of the weights in bytes.
    pub weights_bytes: u64,
    /// Whether the weights came from a cache.
    pub from_cache: bool,
    /// Milliseconds from the start until the weights were ready.
    pub load_millis: f64,
}

/// Card of a model with adapters: its name, scales and reference uncertainty, its engine, and the outcome of its
/// self-test.
///
/// # Errors
///
/// The model has no adapters.
pub fn model_card(
    session: &Session,
    self_test: SelfTest,
    engine: EngineFacts,
) -> Result<ModelCard> {
    let manifest = session.manifest();
    let logit_scale = session.logit_scale().ok_or_else(no_adapters)?;
    let reference = manifest
        .reference_uncertainty
        .clone()
        .ok_or_else(no_adapters)?;
    let made = &manifest.provenance;
    Ok(ModelCard {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        embed_dim: manifest.encoder.embed_dim(),
        logit_scale,
        reference_uncertainty: reference,
        picture_sets: manifest.picture_sets.clone(),
        squashes_pictures: manifest.preprocess.resize_mode == ResizeMode::Squash,
        provenance: format!(
            "{} (seed {}, commit {}, {})",
            made.command, made.seed, made.commit, made.date
        ),
        weights: manifest.weights(),
        image_encoder: manifest.image_encoder(),
        engine: engine.name,
        device: engine.device,
        self_test,
        weights_bytes: engine.weights_bytes,
        from_cache: engine.from_cache,
        load_millis: engine.load_millis,
    })
}

fn no_adapters() -> Error {
    Error::Weights("the model has no adapters, so no caption has a κ".to_owned())
}
