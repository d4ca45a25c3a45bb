//! Jobs of the engine at work, one at a time, and its answers.

use std::sync::Arc;

use super::engine::Job;
use super::event::{EngineEvent, ScoreRequest, ViewAnswer};
use super::machine::{Adapters, Supervisor};
use super::model::LoadedModel;
use crate::explorer::latest_queue::{Priority, SentRequest};
use crate::explorer::readings::cosines::CosineSnapshot;
use crate::explorer::readings::snapshot::Snapshot;
use crate::protocol::{Answer, Comparison, Request, Response};

impl Supervisor {
    /// Queues a request without its quarantined captions.
    pub(super) fn ask(&mut self, priority: Priority, mut request: ScoreRequest) {
        request.retain(|caption| !self.captions.is_quarantined(caption));
        if request.captions.is_empty() {
            let message = "every caption of it stopped the engine before".to_owned();
            return self.emit(EngineEvent::Failed(priority, message));
        }
        self.queue.ask(priority, request);
    }

    pub(super) fn give_adapters(&mut self, name: String, bytes: Arc<Vec<u8>>) {
        self.adapters = Adapters::FromFile {
            name,
            bytes,
            n_deaths: 0,
        };
        if let Some(engine) = &mut self.main {
            engine.has_adapters = false;
        }
    }

    /// Gives each engine that has nothing to do its next job.
    pub(super) fn pump(&mut self) {
        self.pump_upgrade();
        if !self.awaits_barrier {
            self.give_recorded();
        }
        let awaits_barrier = self.awaits_barrier;
        while !awaits_barrier && let Some((job, request)) = self.next_job() {
            let now = self.now;
            let Some(engine) = &mut self.main else { return };
            engine.ask(job, now);
            let serial = engine.serial;
            self.post(serial, request);
        }
    }

    /// The next job of the engine at work with its message; `None` where there is none, or the engine is busy.
    fn next_job(&mut self) -> Option<(Job, Request)> {
        let now = self.now;
        let engine = self.ready()?;
        if engine.job.is_some() {
            return None;
        }
        if !engine.loads_images
            && let Some(image) = engine.waiting_picture.take()
        {
            // The engine has the picture already, and reads it now.
            engine.ask(Job::Picture(image), now);
            return None;
        }
        if let Adapters::FromFile { bytes, .. } = &self.adapters
            && let Some(engine) = &mut self.main
            && !std::mem::replace(&mut engine.has_adapters, true)
        {
            let bytes = bytes.to_vec();
            return Some((Job::Adapters, Request::Adapt { bytes }));
        }
        if self.queue.sent().is_some() {
            return self.go_on_with_request();
        }
        let engine = self.main.as_ref()?;
        let next = self.queue.next();
        if let Some(request) = next
            && request.captions.len() > 1
            && let Some(caption) = self.captions.blamed_among(&request.captions)
        {
            // Nothing but the caption may be to blame, so a load of the image encoder ends first.
            let is_alone = engine.waiting_picture.is_none();
            return is_alone.then(|| (Job::Probe(caption.clone()), alone(caption)));
        }
        if let Some(picture) = self.next_picture(engine) {
            return Some((Job::Picture(picture.image.clone()), picture.request()));
        }
        let is_readable = |request: &ScoreRequest| {
            let mut waiting = engine
                .waiting_picture
                .iter()
                .chain(self.unread_names(engine));
            waiting.all(|image| !request.images.contains(image))
                && (engine.waiting_picture.is_none() || request.pictures.is_empty())
        };
        if next.is_some_and(is_readable) {
            self.main.as_mut()?.n_generated = 0;
            self.queue.send();
            return self.go_on_with_request();
        }
        let probes = std::mem::take(&mut self.upgrade.needs_probe);
        probes.then_some((Job::PictureProbe, Request::ProbePicture))
    }

    /// The next step of the request that is out: one of the pictures generated for it, or the captions.
    fn go_on_with_request(&mut self) -> Option<(Job, Request)> {
        let SentRequest { id, request, .. } = self.queue.sent()?;
        let engine = self.main.as_mut()?;
        if let Some((image, bytes)) = request.pictures.get(engine.n_generated) {
            engine.n_generated += 1;
            let (image, bytes) = (image.clone(), bytes.to_vec());
            let job = Job::GeneratedPicture(image.clone());
            return Some((job, Request::AddImage { image, bytes }));
        }
        let score = Request::Score {
            id: *id,
            captions: request.captions.clone(),
            images: request.images.clone(),
            relates: request.relates,
        };
        Some((Job::Score, score))
    }

    /// Handles a response of the engine at work.
    pub(super) fn handle_main_response(&mut self, response: Response) {
        match response {
            Response::Progress(progress) => self.emit(EngineEvent::Progress(progress)),
            Response::Loaded(model) => self.loaded(LoadedModel::Adapted(model)),
            Response::LoadedBare(model) => self.loaded(LoadedModel::Bare(model)),
            Response::Refused { message } => self.give_up_load(Some(message)),
            Response::Cancelled => self.give_up_load(None),
            Response::DownloadSize(size) => {
                self.query_done(|query| matches!(query, Request::QueryDownloadSize(_)));
                self.emit(EngineEvent::DownloadSize(size));
            }
            Response::Stored(stored) => {
                self.query_done(|query| {
                    matches!(query, Request::ListStored | Request::DeleteStored)
                });
                self.emit(EngineEvent::Stored(stored));
            }
            Response::ModelsStored(stored) => {
                self.query_done(|query| matches!(query, Request::StoreModels(_)));
                self.emit(EngineEvent::ModelsStored(stored));
            }
            Response::DeviceMeasured(timings) => {
                self.query_done(|query| *query == Request::MeasureDevice);
                self.emit(EngineEvent::DeviceMeasured(timings));
            }
            Response::PictureProbed { embedding } => self.picture_probed(embedding),
            Response::KeptAdapters { bytes } => self.adapters_were_kept(bytes),
            Response::AdapterRefused { message } => self.adapters_refused(message),
            Response::ImageEncoderLoads => self.image_encoder_loads(),
            Response::ImageEncoderLoaded => self.image_encoder_loaded(),
            Response::ImageAdded(reading) => self.picture_read(reading),
            Response::ImageRefused { image, message } => self.picture_refused(image, message),
            Response::Scored(answer) => self.scored(answer),
            Response::Compared(comparison) => self.compared(comparison),
            Response::Failed { message, .. } => self.failed(message),
            Response::Started
            | Response::Heartbeat
            | Response::PassTimed { .. }
            | Response::Crashed { .. }
            | Response::Lost { .. } => {}
        }
    }

    /// Completes this job of the engine at work; `false` if it is not the one that the engine was given.
    pub(super) fn complete_job(&mut self, job: &Job) -> bool {
        let is_done = self
            .main
            .as_mut()
            .is_some_and(|engine| engine.complete_job(job));
        if is_done {
            self.n_deaths = 0;
        }
        is_done
    }

    fn adapters_were_kept(&mut self, bytes: Vec<u8>) {
        match self.adapters {
            Adapters::None => {
                self.give_adapters("given at an earlier visit".to_owned(), Arc::new(bytes));
            }
            Adapters::FromFile { .. } => {}
            Adapters::Dropped => {
                let serial = self.main.as_ref().map_or(0, |engine| engine.serial);
                self.post(serial, Request::ForgetAdapters);
            }
        }
    }

    fn adapters_refused(&mut self, message: String) {
        self.complete_job(&Job::Adapters);
        if let Adapters::FromFile { name, .. } = std::mem::take(&mut self.adapters) {
            self.emit(EngineEvent::AdapterRefused(name, message));
        }
    }

    fn scored(&mut self, answer: Answer) {
        let Some(sent) = self.answered(answer.id) else {
            return;
        };
        let engine = self.main.as_ref();
        let model = engine.and_then(|engine| engine.model.clone());
        let Some(LoadedModel::Adapted(card)) = model else {
            return self.emit(EngineEvent::Failed(
                sent.priority,
                "an engine without adapters answered as if it had some".to_owned(),
            ));
        };
        self.emit(match sent.priority {
            Priority::Matrix => EngineEvent::Answered(Box::new(Snapshot {
                card: *card,
                keys: sent.request.keys,
                answer,
                recorded: false,
            })),
            Priority::Captions | Priority::GeneratedPictures => {
                EngineEvent::ViewAnswered(Box::new(ViewAnswer {
                    request: sent.request,
                    card: *card,
                    answer,
                }))
            }
        });
    }

    fn compared(&mut self, comparison: Comparison) {
        let Some(sent) = self.answered(comparison.id) else {
            return;
        };
        self.emit(match sent.priority {
            Priority::Matrix => EngineEvent::Compared(Box::new(CosineSnapshot {
                keys: sent.request.keys,
                comparison,
            })),
            priority => EngineEvent::Failed(priority, "the model has no adapters".to_owned()),
        });
    }

    /// The request that this answers, unless a later one replaced it; `None` for captions that were sent alone.
    fn answered(&mut self, id: u64) -> Option<SentRequest<ScoreRequest>> {
        if id == PROBE_ID {
            let engine = self.main.as_mut()?;
            if let Some(Job::Probe(caption)) =
                engine.job.take_if(|job| matches!(job, Job::Probe(_)))
            {
                self.captions.clear(&caption);
                self.n_deaths = 0;
            }
            return None;
        }
        if self.queue.sent()?.id != id {
            return None;
        }
        self.complete_job(&Job::Score);
        let sent = self.queue.arrived(id)?;
        match sent.request.captions.as_slice() {
            [caption] => self.captions.clear(caption),
            captions => self.captions.answered(captions),
        }
        Some(sent).filter(|sent| !self.queue.is_outdated(sent))
    }

    /// The engine's job failed; the engine goes on.
    fn failed(&mut self, message: String) {
        let Some(job) = self.main.as_mut().and_then(|engine| engine.job.take()) else {
            return self.emit(EngineEvent::Failure(message));
        };
        match job {
            Job::Score | Job::GeneratedPicture(_) => {
                let id = self.queue.sent().map_or(0, |sent| sent.id);
                self.request_failed(id, message);
            }
            // The engine survived the caption, so the request may be sent.
            Job::Probe(caption) => self.captions.clear(&caption),
            Job::Picture(image) => self.drop_picture(image, message),
            Job::GonePicture(_) => {}
            Job::Adapters => self.adapters_refused(message),
            Job::PictureProbe => self.emit(EngineEvent::BackendChosen(message)),
        }
    }

    pub(super) fn request_failed(&mut self, id: u64, message: String) {
        if let Some(sent) = self.queue.arrived(id)
            && !self.queue.is_outdated(&sent)
        {
            self.emit(EngineEvent::Failed(sent.priority, message));
        }
    }
}

/// The number of captions that are sent alone; requests count from 1.
const PROBE_ID: u64 = 0;

fn alone(caption: String) -> Request {
    Request::Score {
        id: PROBE_ID,
        captions: vec![caption],
        images: Vec::new(),
        relates: false,
    }
}

impl ScoreRequest {
    /// Keeps the captions of which this is true, with their keys.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let is_kept: Vec<bool> = self.captions.iter().map(|caption| keep(caption)).collect();
        let kept = |i: usize| is_kept.get(i).copied().unwrap_or(true);
        let mut places = 0..;
        self.keys.retain(|_| places.next().is_some_and(kept));
        let mut places = 0..;
        self.captions.retain(|_| places.next().is_some_and(kept));
    }
}
