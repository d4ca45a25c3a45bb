//! A loaded model and its encodings so far.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::control::{Control, LoadCommand};
use super::download::Download;
use super::engine::{Engine, LoadInputs};
use super::original::Original;
use super::queue::Queue;
use super::recent::Recent;
use super::self_test::{trusted, weight_format};
use super::weight_store::WeightStore;
use super::worker_scope::{heartbeat, is_short_of_memory, now_millis, post};
use crate::answer::{self, caption_tokens};
use crate::error::{Error, Result};
use crate::inference::{
    CAPTIONS_PER_PASS, ImageEncoding, SelfTest, Session, Source as _, TextEncoding,
};
use crate::preprocess::{DecodeBudget, decode_on_white};
use crate::protocol::{
    Answer, Comparison, Hub, ImageReading, Probes, RecordedPicture, Request, Response,
};
use crate::weights::adapter_file::AdapterFile;
use crate::weights::manifest::Manifest;

/// Bytes of a model beyond which the image encoder is loaded with the first picture that needs it.
const EAGER_BYTES: u64 = 16_000_000;
/// Message of a model that cannot be compared with anything.
const UNTESTED: &str = "no golden values are known of these weights, and no other engine has told what it makes of them";

#[derive(Debug)]
pub(super) struct Model {
    session: RefCell<Rc<Session>>,
    pub(super) weights: WeightStore,
    control: Control,
    /// Embeddings of the probes by another engine.
    pub(super) expected: Option<Probes>,
    pub(super) loaded: Engine,
    /// Whether both encoders were loaded at once.
    pub(super) is_eager: bool,
    /// Whether the page was told the time of a pass.
    pub(super) is_timed: Cell<bool>,
    texts: RefCell<Recent<TextEncoding>>,
    /// Milliseconds of the first pass over the golden captions, with which the engine begins.
    pub(super) cold_millis: Cell<Option<f64>>,
    images: RefCell<HashMap<String, ImageEncoding>>,
    /// Requests queued until the image encoder is loaded; `None` while it is not being loaded for a request.
    waiting: RefCell<Option<Vec<Request>>>,
}

impl Model {
    /// Loads the model behind a manifest and compares it with its golden values.
    pub(super) async fn beside(
        engine: &Engine,
        manifest_url: &str,
        integrity: &str,
        inputs: &LoadInputs,
    ) -> Result<(Self, Response)> {
        let start = now_millis();
        let (manifest, download) = Download::open(manifest_url, integrity, &inputs.control).await?;
        Self::load(
            engine,
            manifest,
            WeightStore::SameSite(download),
            inputs,
            start,
        )
        .await
    }

    /// Loads a model out of files that the visitor picked.
    pub(super) async fn picked(engine: &Engine, inputs: &LoadInputs) -> Result<(Self, Response)> {
        let start = now_millis();
        let files = inputs.picked.files();
        let original = Original::picked(&files, &inputs.control, &engine.device).await?;
        let manifest = original.manifest("picked", "a file of the visitor's");
        Self::load(
            engine,
            manifest,
            WeightStore::Original(original),
            inputs,
            start,
        )
        .await
    }

    /// Loads a model out of a checkpoint at the hub.
    pub(super) async fn at_hub(
        engine: &Engine,
        hub: &Hub,
        inputs: &LoadInputs,
    ) -> Result<(Self, Response)> {
        let start = now_millis();
        let original = Original::at_hub(hub, &inputs.control, &engine.device).await?;
        let name = hub.id.replace('/', "-");
        let mut manifest = original.manifest(&name, &hub.id);
        manifest.provenance.command = format!("{} at {}", hub.id, hub.revision);
        Self::load(
            engine,
            manifest,
            WeightStore::Original(original),
            inputs,
            start,
        )
        .await
    }

    /// Loads the text encoder, and the image encoder too if the model is small.
    async fn load(
        engine: &Engine,
        manifest: Manifest,
        weights: WeightStore,
        inputs: &LoadInputs,
        start: f64,
    ) -> Result<(Self, Response)> {
        let expected = inputs.expected.borrow().clone();
        if manifest.golden.is_none() && !engine.is_reference && expected.is_none() {
            return Err(Error::Engine(UNTESTED.to_owned()));
        }
        let is_eager =
            matches!(weights, WeightStore::SameSite(_)) && manifest.weights_bytes() <= EAGER_BYTES;
        let format = weight_format(engine, &manifest, &weights);
        let session = Session::open_text(
            manifest,
            &weights,
            &engine.device,
            format,
            weights.progress(),
        )
        .await?;
        let model = Self {
            session: RefCell::new(Rc::new(session)),
            weights,
            control: inputs.control.clone(),
            expected: expected.clone(),
            loaded: engine.clone(),
            is_eager,
            is_timed: Cell::default(),
            texts: RefCell::default(),
            cold_millis: Cell::default(),
            images: RefCell::default(),
            waiting: RefCell::default(),
        };
        heartbeat();
        let self_test = match is_eager {
            true => model.load_vision().await?,
            false => model.test_text().await?,
        };
        if !engine.is_reference {
            model.test_alone().await?;
        }
        heartbeat();
        let self_test = match (self_test, expected) {
            (None, Some(expected)) if !engine.is_reference => {
                let probe = model.probe().await?;
                Some(model.compare_with_reference(&probe, &expected.caption)?)
            }
            (self_test, _) => self_test,
        };
        heartbeat();
        let load_millis = now_millis() - start;
        // Weights without golden values come from far away or from a file, so that nobody waits for this.
        if !engine.is_reference || self_test.is_none() {
            model.time_pass().await?;
        }
        let response = model.model_card(self_test, load_millis).await?;
        Ok((model, response))
    }

    pub(super) fn session(&self) -> Rc<Session> {
        Rc::clone(&self.session.borrow())
    }

    /// Loads the image encoder, if it is not there, and compares the whole model with its golden values. One that fails
    /// is dropped, so that it answers nothing and the next picture loads another.
    async fn load_vision(&self) -> Result<Option<SelfTest>> {
        let tested = self.load_and_test_vision().await;
        if tested.is_err() {
            let without = self.session().without_vision();
            *self.session.borrow_mut() = Rc::new(without);
        }
        tested
    }

    async fn load_and_test_vision(&self) -> Result<Option<SelfTest>> {
        let session = self.session();
        session
            .load_vision(&self.weights, self.weights.progress())
            .await?;
        heartbeat();
        // The visitor may have given adapters to the model meanwhile.
        let session = self.session();
        let Some(golden) = &session.manifest().golden else {
            self.test_published_picture().await?;
            self.test_picture().await?;
            return Ok(None);
        };
        let image = self.weights.read(&golden.image).await?;
        let texts = self.golden_texts(&golden.captions).await?;
        let self_test = session.self_test_image(&texts, &image, self.loaded.tolerance);
        trusted(self_test.await?).map(Some)
    }

    /// The name in the store of adapters for this model.
    pub(super) fn adapters_file(&self) -> String {
        let session = self.session();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = session.manifest().name.chars().map(plain).collect();
        format!("adapters-{name}.safetensors")
    }

    /// Gives the encoder the adapters of a file, if they answer with it as they did when they were fitted.
    pub(super) async fn adapt(&self, bytes: &[u8]) -> Result<Response> {
        let start = now_millis();
        let file = AdapterFile::read(bytes)?;
        let (captions, concentration) = (
            file.about.captions.clone(),
            file.about.concentration.clone(),
        );
        let adapted = self.session().with_adapters(file).await?;
        let self_test = adapted.self_test_adapters(&captions, concentration).await?;
        if !self_test.passed() {
            return Err(Error::Weights(format!(
                "these adapters belong to another encoder: with this one κ is off by a factor of up to {:.2}, at most {} is \
                 allowed",
                1.0 + self_test.max_relative_error,
                1.0 + self_test.tolerance
            )));
        }
        *self.session.borrow_mut() = Rc::new(adapted);
        *self.texts.borrow_mut() = Recent::default();
        let load_millis = now_millis() - start;
        self.model_card(Some(self_test), load_millis).await
    }

    /// Whether a request has to wait for the image encoder, which then is on its way: a picture to be read, or captions
    /// to be compared with one that waits itself.
    pub(super) fn must_wait(&self, request: &Request) -> bool {
        match (request, &*self.waiting.borrow()) {
            // While requests wait, an image encoder that is there is being tested.
            (Request::AddImage { .. }, Some(_)) => true,
            (Request::AddImage { .. }, None) => !self.session.borrow().has_vision(),
            (Request::Score { images, .. }, Some(waiting)) => waiting.iter().any(|waiting| {
                matches!(waiting, Request::AddImage { image, .. } if images.contains(image))
            }),
            _ => false,
        }
    }

    /// Queues a request until the image encoder is loaded; other captions are answered meanwhile.
    pub(super) fn wait(self: &Rc<Self>, request: Request, queue: &Queue) {
        if matches!(request, Request::AddImage { .. }) {
            post(&Response::ImageEncoderLoads);
        }
        let mut waiting = self.waiting.borrow_mut();
        if let Some(waiting) = &mut *waiting {
            return waiting.push(request);
        }
        *waiting = Some(vec![request]);
        // A load that was cancelled starts again.
        self.control.set(LoadCommand::Run);
        let (model, queue) = (Rc::clone(self), queue.clone());
        spawn_local(async move {
            let loaded = model.load_vision().await;
            let waiting = model.waiting.take().unwrap_or_default();
            match loaded {
                Ok(_) => {
                    post(&Response::ImageEncoderLoaded);
                    queue.put_first(waiting);
                }
                // Wrong numbers count against the engine, not against the picture.
                Err(error @ Error::Engine(_)) if !model.loaded.is_reference => {
                    post(&Response::Refused {
                        message: error.to_string(),
                    });
                }
                Err(error) => waiting
                    .into_iter()
                    .filter_map(|request| unanswered(request, &error))
                    .for_each(|response| post(&response)),
            }
        });
    }

    /// Takes the encodings of pictures that were recorded with the image encoder of this model.
    pub(super) fn add_recorded(&self, pictures: Vec<RecordedPicture>) {
        let encoded = pictures.into_iter().map(|picture| {
            let encoding = ImageEncoding {
                embedding: picture.embedding,
                familiarity: picture.reading.familiarity,
            };
            (picture.reading.image, encoding)
        });
        self.images.borrow_mut().extend(encoded);
    }

    /// Decodes and encodes a picture.
    pub(super) async fn add_image(&self, image: &str, bytes: &[u8]) -> Result<ImageReading> {
        let session = self.session();
        let budget = if is_short_of_memory() {
            DecodeBudget::SHORT_MEMORY
        } else {
            DecodeBudget::FULL
        };
        let mut decoded = decode_on_white(&budget, bytes)?;
        let cut = session.manifest().preprocess.cut_note(&decoded.rgb);
        decoded.notes.extend(cut.map(str::to_owned));
        let encoding = session.encode_image(&decoded.rgb).await?;
        let reading = ImageReading {
            image: image.to_owned(),
            width: side(decoded.rgb.width),
            height: side(decoded.rgb.height),
            notes: decoded.notes,
            familiarity: answer::familiarity(&session, &decoded.rgb, &encoding),
        };
        self.images.borrow_mut().insert(image.to_owned(), encoding);
        Ok(reading)
    }

    pub(super) fn remove_image(&self, image: &str) {
        self.images.borrow_mut().remove(image);
        if let Some(waiting) = &mut *self.waiting.borrow_mut() {
            waiting.retain(
                |request| !matches!(request, Request::AddImage { image: known, .. } if known == image),
            );
        }
    }

    /// Captions against those of the pictures that are known.
    pub(super) async fn score(
        &self,
        id: u64,
        captions: Vec<String>,
        images: Vec<String>,
        relates: bool,
    ) -> Result<Response> {
        let start = now_millis();
        let texts = self.encode(&captions).await?;
        let known = self.images.borrow();
        let (images, encodings): (Vec<String>, Vec<&ImageEncoding>) = images
            .into_iter()
            .filter_map(|image| known.get(&image).map(|encoding| (image.clone(), encoding)))
            .unzip();
        if self.session().logit_scale().is_none() {
            let pairs = texts
                .iter()
                .flat_map(|text| encodings.iter().map(move |image| text.compare(image)));
            return Ok(Response::Compared(Comparison {
                id,
                captions: captions
                    .into_iter()
                    .zip(&texts)
                    .map(|(caption, text)| caption_tokens(caption, text))
                    .collect(),
                images,
                cosines: pairs.map(|pair| pair.cosine).collect(),
                millis: now_millis() - start,
            }));
        }
        let answer = answer::answer(captions, &texts, images, &encodings, relates)?;
        Ok(Response::Scored(Answer {
            id,
            millis: now_millis() - start,
            ..answer
        }))
    }

    /// The captions' encodings in order; only those not used lately are computed.
    pub(super) async fn encode(&self, captions: &[String]) -> Result<Vec<TextEncoding>> {
        let session = self.session();
        let mut known: Vec<Option<TextEncoding>> = captions
            .iter()
            .map(|caption| self.texts.borrow_mut().find(caption))
            .collect();
        let mut missing: Vec<String> = captions
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(caption, _)| caption.clone())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let mut computed = HashMap::new();
        // As many as share a pass, so that the numbers are those of one call.
        for pass in missing.chunks(CAPTIONS_PER_PASS) {
            let encodings = session.encode_text(pass).await?;
            computed.extend(pass.iter().cloned().zip(encodings));
            heartbeat();
        }
        for (caption, known) in captions.iter().zip(&mut known) {
            if known.is_none() {
                *known = computed.get(caption).cloned();
            }
        }
        // Encodings by adapters that were replaced meanwhile are not remembered.
        if Rc::ptr_eq(&session, &self.session.borrow()) {
            let mut texts = self.texts.borrow_mut();
            let remember = |(caption, encoding)| texts.remember(caption, encoding);
            computed.into_iter().for_each(remember);
        }
        known
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(left_out)
    }
}

pub(super) fn left_out() -> Error {
    Error::Engine("the engine left out a caption".to_owned())
}

/// Response to a request that was queued for an image encoder that could not be loaded; `None` for other requests.
fn unanswered(request: Request, error: &Error) -> Option<Response> {
    let message = format!("the image encoder was not loaded: {error}");
    match request {
        Request::AddImage { image, .. } => Some(Response::ImageRefused { image, message }),
        Request::Score { id, .. } => Some(Response::Failed {
            id: Some(id),
            message,
        }),
        _ => None,
    }
}

/// A picture's side; the decoder lets none through that does not fit.
fn side(n_pixels: usize) -> u32 {
    u32::try_from(n_pixels).unwrap_or(u32::MAX)
}
