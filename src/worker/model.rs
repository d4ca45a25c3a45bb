//! A loaded model and what it has encoded so far.

use std::collections::HashMap;

use super::Engine;
use super::download::Download;
use super::recent::Recent;
use super::scope::{now_millis, post};
use crate::answer::{self, caption_reading, pair_reading};
use crate::error::{Error, Result};
use crate::inference::{ImageEncoding, SelfTest, Session, TextEncoding};
use crate::preprocess::decode;
use crate::protocol::{Answer, ImageReading, ModelCard, Progress, Response};

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
        let engine = answer::Engine {
            name: engine.name.to_owned(),
            device: engine.device_words.clone(),
            from_cache: download.was_cached(),
            load_millis: warm_start - start,
            warm_millis: now_millis() - warm_start,
        };
        let card = answer::model_card(&session, self_test, engine)?;
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
            familiarity: answer::familiarity(&self.session, &decoded.rgb),
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
            .flat_map(|text| encodings.iter().map(|image| pair_reading(text, image)));
        let pairs = pairs.collect::<Result<_>>()?;
        let captions = captions
            .into_iter()
            .zip(&texts)
            .map(|(caption, text)| caption_reading(caption, text))
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

/// A picture's side; the decoder lets none through that does not fit.
fn side(n_pixels: usize) -> u32 {
    u32::try_from(n_pixels).unwrap_or(u32::MAX)
}
