//! A loaded model and what it has encoded so far.

use std::collections::HashMap;

use super::Engine;
use super::control::Control;
use super::download::Download;
use super::files::Picked;
use super::original::Original;
use super::recent::Recent;
use super::scope::now_millis;
use crate::answer::{self, caption_reading, caption_tokens, pair_reading};
use crate::error::{Error, Result};
use crate::inference::{
    ImageEncoding, Published, SelfTest, Session, Source, TensorRecord, TextEncoding, Tolerance,
};
use crate::preprocess::decode;
use crate::protocol::{Answer, Comparison, Hub, ImageReading, Response};
use crate::weights::manifest::{FileEntry, Manifest, Part, Shard};

/// An image encoder of more bytes than this is loaded with the first picture only.
const EAGER_IMAGE_BYTES: u64 = 16_000_000;

#[derive(Debug)]
pub(super) struct Model {
    session: Session,
    origin: Origin,
    tolerance: f64,
    texts: Recent<TextEncoding>,
    images: HashMap<String, ImageEncoding>,
}

/// Where the weights are.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "an engine has one, whose size is that of its weights"
)]
enum Origin {
    Beside(Download),
    Original(Original),
}

impl Source for Origin {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        match self {
            Self::Beside(download) => download.read(entry).await,
            Self::Original(original) => original.read(entry).await,
        }
    }

    async fn shard(
        &self,
        shard: &Shard,
        take: &mut dyn FnMut(TensorRecord) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Beside(download) => download.shard(shard, take).await,
            Self::Original(original) => original.shard(shard, take).await,
        }
    }

    async fn tensor(&self, name: &str, shape: &[usize]) -> Result<TensorRecord> {
        match self {
            Self::Beside(download) => download.tensor(name, shape).await,
            Self::Original(original) => original.tensor(name, shape).await,
        }
    }
}

impl Origin {
    fn progress(&self) -> impl FnMut(&str, u64, u64) {
        move |stage: &str, loaded_bytes, _| {
            // A checkpoint of another program tells by itself how far it has come.
            if let Self::Beside(download) = self {
                download.enter(stage, loaded_bytes);
            }
        }
    }

    fn was_cached(&self) -> bool {
        match self {
            Self::Beside(download) => download.was_cached(),
            Self::Original(original) => original.was_cached(),
        }
    }

    fn weights_bytes(&self, manifest: &Manifest) -> u64 {
        match self {
            Self::Beside(_) => manifest.weights_bytes(),
            Self::Original(original) => original.weights_bytes(),
        }
    }
}

impl Model {
    /// Loads the model behind a manifest and holds it against its golden values.
    pub(super) async fn beside(
        engine: &Engine,
        manifest_url: &str,
        control: &Control,
    ) -> Result<(Self, Response)> {
        let start = now_millis();
        let (manifest, download) = Download::open(manifest_url, control).await?;
        Self::load(engine, manifest, Origin::Beside(download), start).await
    }

    /// Loads a model out of files that the visitor picked.
    pub(super) async fn picked(engine: &Engine, picked: &Picked) -> Result<(Self, Response)> {
        let start = now_millis();
        let files = picked.files();
        let original = Original::picked(&files, &engine.device).await?;
        let manifest = original.manifest("picked", "a file of the visitor's");
        Self::original(engine, manifest, original, start).await
    }

    /// Loads a model out of a checkpoint at the hub.
    pub(super) async fn at_hub(
        engine: &Engine,
        hub: &Hub,
        control: &Control,
    ) -> Result<(Self, Response)> {
        let start = now_millis();
        let original = Original::at_hub(hub, control, &engine.device).await?;
        let name = hub.id.replace('/', "-");
        let mut manifest = original.manifest(&name, &hub.id);
        manifest.provenance.command = format!("{} at {}", hub.id, hub.revision);
        Self::original(engine, manifest, original, start).await
    }

    async fn original(
        engine: &Engine,
        manifest: Manifest,
        original: Original,
        start: f64,
    ) -> Result<(Self, Response)> {
        if !engine.is_reference {
            return Err(Error::Engine(
                "no golden values are known of these weights, so that only the CPU engine can be trusted with them"
                    .to_owned(),
            ));
        }
        Self::load(engine, manifest, Origin::Original(original), start).await
    }

    /// Loads the text encoder, and the image encoder too if it is small.
    async fn load(
        engine: &Engine,
        manifest: Manifest,
        origin: Origin,
        start: f64,
    ) -> Result<(Self, Response)> {
        let image_bytes = manifest.shards(Part::Image).map(|shard| shard.entry.bytes);
        let image_bytes: u64 = image_bytes.sum();
        let is_eager = matches!(origin, Origin::Beside(_)) && image_bytes <= EAGER_IMAGE_BYTES;
        let session =
            Session::open_text(manifest, &origin, &engine.device, origin.progress()).await?;
        let mut model = Self {
            session,
            origin,
            tolerance: engine.tolerance,
            texts: Recent::default(),
            images: HashMap::new(),
        };
        let self_test = if is_eager {
            model.load_vision().await?
        } else {
            model.test_text().await?
        };
        let loaded_millis = now_millis() - start;
        let response = model.introduce(engine, self_test, loaded_millis).await?;
        Ok((model, response))
    }

    /// The model's card, with the time of one warm pass.
    async fn introduce(
        &self,
        engine: &Engine,
        self_test: Option<SelfTest>,
        load_millis: f64,
    ) -> Result<Response> {
        let warm_start = now_millis();
        if let Some(golden) = &self.session.manifest().golden {
            if self.session.has_vision() {
                let image = self.origin.read(&golden.image).await?;
                self.session
                    .golden_readings(&golden.captions, &image)
                    .await?;
            } else {
                self.session.encode_text(&golden.captions).await?;
            }
        }
        let card = answer::Engine {
            name: engine.name.to_owned(),
            device: engine.device_words.clone(),
            from_cache: self.origin.was_cached(),
            load_millis,
            warm_millis: now_millis() - warm_start,
        };
        match (self_test, self.session.logit_scale()) {
            (Some(self_test), Some(_)) => {
                let card = answer::model_card(&self.session, self_test, card)?;
                Ok(Response::Loaded(Box::new(card)))
            }
            _ => {
                let weights_bytes = self.origin.weights_bytes(self.session.manifest());
                let is_vit_b_32 = self.is_vit_b_32().await?;
                let card =
                    answer::bare_card(&self.session, self_test, is_vit_b_32, weights_bytes, card);
                Ok(Response::LoadedBare(Box::new(card)))
            }
        }
    }

    /// Loads the image encoder, if it is not there, and holds the whole model against its golden values.
    async fn load_vision(&mut self) -> Result<Option<SelfTest>> {
        self.session
            .load_vision(&self.origin, self.origin.progress())
            .await?;
        let Some(golden) = &self.session.manifest().golden else {
            return Ok(None);
        };
        let image = self.origin.read(&golden.image).await?;
        let self_test = self.session.self_test(&image, self.tolerance).await?;
        trusted(self_test).map(Some)
    }

    async fn test_text(&self) -> Result<Option<SelfTest>> {
        if self.session.manifest().golden.is_none() {
            return Ok(None);
        }
        trusted(self.session.self_test_text(self.tolerance).await?).map(Some)
    }

    /// Whether captions are answered as `OpenAI`'s ViT-B/32 is known to.
    ///
    /// # Errors
    ///
    /// A model that says it is that one and answers otherwise.
    async fn is_vit_b_32(&self) -> Result<bool> {
        let Origin::Original(_) = self.origin else {
            return Ok(false);
        };
        let published = Published::vit_b_32()?;
        let texts = self.session.encode_text(&published.captions).await?;
        let worst = published.worst(Tolerance::ORIGINAL, &texts, None);
        let claims = self.session.manifest().name == Hub::vit_b_32().id.replace('/', "-");
        if claims && worst > 1.0 {
            return Err(Error::Engine(format!(
                "these weights say that they are OpenAI's ViT-B/32, but their answers miss the published ones by {worst:.1} \
                 times what is allowed"
            )));
        }
        Ok(worst <= 1.0)
    }

    pub(super) async fn add_image(&mut self, image: &str, bytes: &[u8]) -> Result<ImageReading> {
        let decoded = decode(bytes)?;
        if !self.session.has_vision() {
            self.load_vision().await?;
        }
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

    /// Captions against those of the pictures that are known.
    pub(super) async fn score(
        &mut self,
        id: u64,
        captions: Vec<String>,
        images: Vec<String>,
    ) -> Result<Response> {
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
            .flat_map(|text| encodings.iter().map(move |image| (text, *image)));
        let captions = captions.into_iter().zip(&texts);
        if self.session.logit_scale().is_none() {
            return Ok(Response::Compared(Comparison {
                id,
                captions: captions
                    .map(|(caption, text)| caption_tokens(caption, text))
                    .collect(),
                images,
                cosines: pairs
                    .map(|(text, image)| text.compare(image).cosine)
                    .collect(),
                millis: now_millis() - start,
            }));
        }
        Ok(Response::Scored(Answer {
            id,
            captions: captions
                .map(|(caption, text)| caption_reading(caption, text))
                .collect::<Result<_>>()?,
            images,
            pairs: pairs
                .map(|(text, image)| pair_reading(text, image))
                .collect::<Result<_>>()?,
            millis: now_millis() - start,
        }))
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

/// An engine's self-test, if it was passed.
fn trusted(self_test: SelfTest) -> Result<SelfTest> {
    if self_test.passed() {
        return Ok(self_test);
    }
    let SelfTest {
        max_relative_error,
        tolerance,
    } = self_test;
    Err(Error::Engine(format!(
        "this engine's numbers are wrong on this device: relative error {max_relative_error:.1e} on the model's golden \
         values, at most {tolerance:.0e} is allowed"
    )))
}

/// A picture's side; the decoder lets none through that does not fit.
fn side(n_pixels: usize) -> u32 {
    u32::try_from(n_pixels).unwrap_or(u32::MAX)
}
