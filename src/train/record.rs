//! Answers for the page's first paint: what the model says of the starting captions and the first pictures.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::export::picture;
use super::gallery::hung_scenes;
use crate::explorer::START_CAPTIONS;
use crate::inference::{CPU_TOLERANCE, ImageEncoding, Session, TextEncoding};
use crate::protocol::{
    Answer, CaptionReading, Familiarity, ImageReading, ModelCard, PairReading, PerFamily, Recorded,
    SelfTest,
};

/// Pictures that hang at the start.
const N_PICTURES: usize = 6;

/// Writes `start.json`.
///
/// # Errors
///
/// The model has no adapters, or the file cannot be written.
pub fn write(session: &Session, folder: &Path) -> Result<()> {
    let captions = START_CAPTIONS.map(str::to_owned);
    let started = Instant::now();
    let texts = pollster::block_on(session.encode_text(&captions))?;
    let hung = hung_scenes().into_iter().take(N_PICTURES);
    let (names, pictures): (Vec<_>, Vec<_>) = hung
        .map(|(id, scene)| (id.to_owned(), picture(&scene)))
        .unzip();
    let images = pollster::block_on(session.encode_images(&pictures))?;
    let pairs = texts
        .iter()
        .flat_map(|text| images.iter().map(move |image| pair(text, image)));
    let answer = Answer {
        id: 0,
        captions: captions
            .into_iter()
            .zip(&texts)
            .map(caption)
            .collect::<Result<_>>()?,
        images: names.clone(),
        pairs: pairs.collect::<Result<_>>()?,
        millis: started.elapsed().as_secs_f64() * 1e3,
    };
    let images = names.into_iter().zip(&images).zip(&pictures);
    let images = images.map(|((image, encoding), picture)| ImageReading {
        image,
        width: u32::try_from(picture.width).unwrap_or(u32::MAX),
        height: u32::try_from(picture.height).unwrap_or(u32::MAX),
        notes: Vec::new(),
        familiarity: familiarity(session, encoding),
    });
    let recorded = Recorded {
        card: card(session)?,
        images: images.collect(),
        answer,
    };
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("start.json"), serde_json::to_string(&recorded)?)?;
    Ok(())
}

fn caption((caption, text): (String, &TextEncoding)) -> Result<CaptionReading> {
    let laws = text.laws.as_ref().context("a model with adapters")?;
    Ok(CaptionReading {
        caption,
        concentration: PerFamily {
            vmf: laws.vmf.concentration,
            power_spherical: laws.power_spherical.concentration,
        },
        n_tokens: text.tokens.n_tokens,
        truncated: text.tokens.truncated,
        unknown_words: text.tokens.unknown_words.clone(),
    })
}

fn pair(text: &TextEncoding, image: &ImageEncoding) -> Result<PairReading> {
    let pair = text.compare(image);
    let cosine = pair
        .mean_direction_cosine
        .context("a model with adapters")?;
    let mean_direction_cosine = PerFamily {
        vmf: cosine.vmf,
        power_spherical: cosine.power_spherical,
    };
    Ok(PairReading {
        cosine: pair.cosine,
        mean_direction_cosine,
    })
}

fn familiarity(session: &Session, image: &ImageEncoding) -> Option<Familiarity> {
    let threshold = session.manifest().outside.as_ref()?.threshold;
    let nats = session.familiarity(image)?;
    Some(Familiarity {
        nats,
        threshold,
        outside: nats < threshold,
    })
}

fn card(session: &Session) -> Result<ModelCard> {
    let manifest = session.manifest();
    let scale = session.logit_scale().context("a model with adapters")?;
    let reference = manifest
        .reference_uncertainty
        .clone()
        .context("a model with adapters")?;
    let made = &manifest.provenance;
    Ok(ModelCard {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        embed_dim: manifest.clip.embed_dim,
        logit_scale: PerFamily {
            vmf: scale.vmf,
            power_spherical: scale.power_spherical,
        },
        reference_uncertainty: PerFamily {
            vmf: reference.vmf,
            power_spherical: reference.power_spherical,
        },
        provenance: format!(
            "{} (seed {}, commit {}, {})",
            made.command, made.seed, made.commit, made.date
        ),
        engine: "recorded".to_owned(),
        device: "the native program".to_owned(),
        self_test: SelfTest {
            max_relative_error: 0.0,
            tolerance: CPU_TOLERANCE,
        },
        weights_bytes: manifest.weights_bytes(),
        from_cache: false,
        load_millis: 0.0,
        warm_millis: 0.0,
    })
}
