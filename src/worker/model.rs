//! A loaded model and what it has encoded so far.

use std::collections::HashMap;

use super::Engine;
use super::download::Download;
use super::recent::Recent;
use super::scope::{now_millis, post};
use crate::error::{Error, Result};
use crate::inference::{ImageEncoding, SelfTest, Session, TextEncoding};
use crate::preprocess::decode;
use crate::protocol::{
    self, Answer, CaptionReading, Familiarity, ImageReading, ModelCard, PairReading, Progress,
    Response,
};
use crate::weights::manifest::Manifest;

#[derive(Debug)]
pub(super) struct Model {
    session: Session,
    texts: Recent<TextEncoding>,
    images: HashMap<String, ImageEncoding>,
}

impl Model {
    /// Loads the model behind a manifest and holds it against its golden values.
    pub(super) async fn load(engine: &Engine, manifest_url: &str) -> Result<(Self, ModelCard)> {
        let start = now_millis();
        let (manifest, download) = Download::open(manifest_url).await?;
        let on_progress = |stage: &str, loaded_bytes, total_bytes| {
            download.set_stage(stage);
            post(&Response::Progress(Progress {
                stage: stage.to_owned(),
                loaded_bytes,
                total_bytes,
            }));
        };
        let session = Session::open(manifest, &download, &engine.device, on_progress).await?;
        let golden = download.file(&session.manifest().golden.image).await?;
        let self_test = session.self_test(&golden, engine.tolerance).await?;
        if !self_test.passed() {
            return Err(unfaithful(self_test));
        }
        let warm_start = now_millis();
        session
            .golden_readings(&session.manifest().golden.captions, &golden)
            .await?;
        let times = Times {
            load_millis: warm_start - start,
            warm_millis: now_millis() - warm_start,
        };
        let card = card(engine, &session, self_test, times, download.was_cached())?;
        Ok((
            Self {
                session,
                texts: Recent::default(),
                images: HashMap::new(),
            },
            card,
        ))
    }

    pub(super) async fn add_image(&mut self, image: &str, bytes: &[u8]) -> Result<ImageReading> {
        let decoded = decode(bytes)?;
        let encoding = self.session.encode_image(&decoded.rgb).await?;
        let reading = ImageReading {
            image: image.to_owned(),
            width: side(decoded.rgb.width),
            height: side(decoded.rgb.height),
            notes: decoded.notes,
            familiarity: self.familiarity(&encoding),
        };
        self.images.insert(image.to_owned(), encoding);
        Ok(reading)
    }

    pub(super) fn remove_image(&mut self, image: &str) {
        self.images.remove(image);
    }

    pub(super) async fn score(
        &mut self,
        id: u64,
        captions: Vec<String>,
        images: Vec<String>,
    ) -> Result<Answer> {
        let start = now_millis();
        let texts = self.encode(&captions).await?;
        let (images, encodings): (Vec<String>, Vec<&ImageEncoding>) = images
            .into_iter()
            .filter_map(|image| {
                self.images
                    .get(&image)
                    .map(|encoding| (image.clone(), encoding))
            })
            .unzip();
        let pairs = texts
            .iter()
            .flat_map(|text| encodings.iter().map(|image| pair(text, image)));
        let pairs = pairs.collect::<Result<_>>()?;
        let captions = captions
            .into_iter()
            .zip(&texts)
            .map(|(caption, text)| reading(caption, text))
            .collect::<Result<_>>()?;
        Ok(Answer {
            id,
            captions,
            images,
            pairs,
            millis: now_millis() - start,
        })
    }

    /// The captions' encodings in order; only those not used lately are computed, in one pass.
    async fn encode(&mut self, captions: &[String]) -> Result<Vec<TextEncoding>> {
        let mut known: Vec<Option<TextEncoding>> = captions
            .iter()
            .map(|caption| self.texts.find(caption))
            .collect();
        let mut missing: Vec<String> = captions
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(caption, _)| caption.clone())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let computed: HashMap<String, TextEncoding> = self
            .session
            .encode_text(&missing)
            .await
            .map(|encodings| missing.into_iter().zip(encodings).collect())?;
        for (caption, known) in captions.iter().zip(&mut known) {
            if known.is_none() {
                *known = computed.get(caption).cloned();
            }
        }
        for (caption, encoding) in computed {
            self.texts.remember(caption, encoding);
        }
        known
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(|| Error::Engine("the engine left out a caption".to_owned()))
    }

    fn familiarity(&self, image: &ImageEncoding) -> Option<Familiarity> {
        let threshold = self.session.manifest().outside.as_ref()?.threshold;
        let nats = self.session.familiarity(image)?;
        Some(Familiarity {
            nats,
            threshold,
            outside: nats < threshold,
        })
    }
}

struct Times {
    load_millis: f64,
    warm_millis: f64,
}

fn card(
    engine: &Engine,
    session: &Session,
    self_test: SelfTest,
    times: Times,
    from_cache: bool,
) -> Result<ModelCard> {
    let manifest = session.manifest();
    let no_adapters = || {
        Error::Weights(format!(
            "{}: the model has no adapters, so no caption has a κ",
            manifest.name
        ))
    };
    let logit_scale = session.logit_scale().ok_or_else(no_adapters)?;
    let reference = manifest
        .reference_uncertainty
        .clone()
        .ok_or_else(no_adapters)?;
    Ok(ModelCard {
        name: manifest.name.clone(),
        title: manifest.title.clone(),
        embed_dim: manifest.clip.embed_dim,
        logit_scale: protocol::PerFamily {
            vmf: logit_scale.vmf,
            power_spherical: logit_scale.power_spherical,
        },
        reference_uncertainty: protocol::PerFamily {
            vmf: reference.vmf,
            power_spherical: reference.power_spherical,
        },
        provenance: provenance(manifest),
        engine: engine.name.to_owned(),
        device: engine.device_words.clone(),
        self_test: protocol::SelfTest {
            max_relative_error: self_test.max_relative_error,
            tolerance: self_test.tolerance,
        },
        weights_bytes: manifest.weights_bytes(),
        from_cache,
        load_millis: times.load_millis,
        warm_millis: times.warm_millis,
    })
}

fn provenance(manifest: &Manifest) -> String {
    let made = &manifest.provenance;
    format!(
        "{} (seed {}, commit {}, {})",
        made.command, made.seed, made.commit, made.date
    )
}

fn unfaithful(self_test: SelfTest) -> Error {
    let SelfTest {
        max_relative_error,
        tolerance,
    } = self_test;
    Error::Engine(format!(
        "this engine's numbers are wrong on this device: relative error {max_relative_error:.1e} on the model's golden \
         values, at most {tolerance:.0e} is allowed"
    ))
}

fn reading(caption: String, text: &TextEncoding) -> Result<CaptionReading> {
    let laws = text.laws.as_ref().ok_or_else(lost_adapters)?;
    Ok(CaptionReading {
        caption,
        concentration: protocol::PerFamily {
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
    let cosine = pair.mean_direction_cosine.ok_or_else(lost_adapters)?;
    Ok(PairReading {
        cosine: pair.cosine,
        mean_direction_cosine: protocol::PerFamily {
            vmf: cosine.vmf,
            power_spherical: cosine.power_spherical,
        },
    })
}

/// [`card`] refuses a model without adapters.
fn lost_adapters() -> Error {
    Error::Engine("the model lost its adapters".to_owned())
}

/// A picture's side; the decoder lets none through that does not fit.
fn side(n_pixels: usize) -> u32 {
    u32::try_from(n_pixels).unwrap_or(u32::MAX)
}
