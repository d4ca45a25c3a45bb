//! One engine: which model it has, what it is doing, and when it was last heard.

use std::collections::BTreeSet;

use super::model::{EngineKind, LoadedModel, ModelSource};
use crate::protocol::RecordedPicture;

/// Milliseconds without an answer after which an engine is slow, and the visitor may stop it.
const SLOW_MILLIS: f64 = 20_000.0;
/// Warm passes without an answer after which an engine is slow, where those take longer.
const SLOW_FACTOR: f64 = 10.0;
/// Factor on the time that makes an engine slow, after which a silent engine is replaced.
const REPLACED_FACTOR: f64 = 3.0;
/// Milliseconds of silence after which a load, which may wait for the network, is given up.
const LOAD_SILENCE_MILLIS: f64 = 300_000.0;
/// Factor on the time that makes an engine slow, after which an answer is given up even if heartbeats come.
const ENDLESS_FACTOR: f64 = 60.0;
/// Milliseconds within which a cancelled load should end by itself.
const CANCEL_MILLIS: f64 = 5_000.0;

/// An engine as the supervisor sees it: its model, its job, and the times at which it was asked and heard.
#[derive(Debug, Clone)]
pub(super) struct WatchedEngine {
    pub(super) serial: u64,
    pub(super) kind: EngineKind,
    /// The model that it loads or has.
    pub(super) source: ModelSource,
    pub(super) model: Option<LoadedModel>,
    /// Milliseconds of a warm pass, once it has told them.
    pub(super) pass_millis: Option<f64>,
    pub(super) is_paused: bool,
    /// The one thing that it was asked and has not answered.
    pub(super) job: Option<Job>,
    /// The picture that waits for the image encoder.
    pub(super) waiting_picture: Option<String>,
    /// Whether the image encoder is being loaded.
    pub(super) loads_images: bool,
    pub(super) has_read: BTreeSet<String>,
    pub(super) has_adapters: bool,
    /// Pictures of the request that is out which it was given.
    pub(super) n_generated: usize,
    /// Times when it was asked and when it was last heard, in milliseconds.
    pub(super) asked_at: f64,
    pub(super) heard_at: f64,
    pub(super) cancelled_at: Option<f64>,
}

/// The GPU engine in the background.
#[derive(Debug, Default)]
pub(super) struct Upgrade {
    pub(super) engine: Option<WatchedEngine>,
    /// Whether it was tried with this model.
    pub(super) is_tried: bool,
    /// Whether the engine at work is to be asked for the embedding that it is compared with.
    pub(super) needs_probe: bool,
}

/// Job that an engine was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Job {
    /// The request that is out.
    Score,
    /// A caption that was blamed, alone.
    Probe(String),
    /// A picture of the page to be read.
    Picture(String),
    /// A picture to be read that has left the page since.
    GonePicture(String),
    /// A picture to be read that was generated for the request that is out.
    GeneratedPicture(String),
    Adapters,
    /// The embedding of the picture by which engines are compared.
    PictureProbe,
}

impl WatchedEngine {
    pub(super) fn new(serial: u64, kind: EngineKind, source: ModelSource, now: f64) -> Self {
        Self {
            serial,
            kind,
            source,
            model: None,
            pass_millis: None,
            is_paused: false,
            job: None,
            waiting_picture: None,
            loads_images: false,
            has_read: BTreeSet::new(),
            has_adapters: false,
            n_generated: 0,
            asked_at: now,
            heard_at: now,
            cancelled_at: None,
        }
    }

    pub(super) fn is_on_cpu(&self) -> bool {
        self.kind == EngineKind::Cpu
    }

    /// Takes note that it was asked something.
    pub(super) fn ask(&mut self, job: Job, now: f64) {
        (self.asked_at, self.heard_at) = (now, now);
        self.job = Some(job);
    }

    /// Completes this job; `false` if it is not the one that the engine was given.
    pub(super) fn complete_job(&mut self, job: &Job) -> bool {
        self.job.take_if(|own| own == job).is_some()
    }

    /// Completes a picture that was read or refused; `false` if the engine was not asked about this one.
    pub(super) fn complete_picture(&mut self, image: &str) -> bool {
        let waiting = self.waiting_picture.take_if(|waiting| waiting == image);
        let is_it = |job: &mut Job| matches!(job, Job::Picture(own) if own == image);
        waiting.is_some() || self.job.take_if(is_it).is_some()
    }

    /// The pictures among these that it has not read and need not read, since they were recorded with its model's image
    /// encoder; from now on they count as read.
    pub(super) fn take_recorded<'a>(
        &mut self,
        pictures: impl Iterator<Item = &'a RecordedPicture>,
    ) -> Vec<RecordedPicture> {
        let Some(model) = &self.model else {
            return Vec::new();
        };
        let recorded: Vec<_> = pictures
            .filter(|picture| !self.has_read.contains(&picture.reading.image))
            .filter(|picture| picture.encoder == model.image_encoder())
            .cloned()
            .collect();
        let images = recorded.iter().map(|picture| picture.reading.image.clone());
        self.has_read.extend(images);
        recorded
    }

    /// Takes note that a picture left the page.
    pub(super) fn forget_picture(&mut self, image: &str) {
        self.has_read.remove(image);
        self.waiting_picture.take_if(|waiting| waiting == image);
        if let Some(Job::Picture(own)) = &self.job
            && own == image
        {
            self.job = Some(Job::GonePicture(image.to_owned()));
        }
    }

    /// Whether weights are on their way, which may take as long as the network does.
    fn is_loading(&self) -> bool {
        self.model.is_none() || self.loads_images
    }

    /// Whether the visitor may stop it.
    pub(super) fn is_slow(&self, now: f64) -> bool {
        if self.job.is_some() && self.model.is_some() {
            return now - self.asked_at >= self.slow_millis();
        }
        self.is_loading() && !self.is_paused && now - self.heard_at >= SLOW_MILLIS
    }

    /// Reason to replace the engine because it is silent; `None` while its silence is within the limits.
    pub(super) fn is_overdue(&self, now: f64) -> Option<String> {
        let silence = now - self.heard_at;
        let limit = if self.model.is_some() && self.job.is_some() {
            let slow = self.slow_millis();
            if now - self.asked_at >= ENDLESS_FACTOR * slow {
                return Some(without_answer(now - self.asked_at));
            }
            REPLACED_FACTOR * slow
        } else if self.is_loading() && !self.is_paused {
            LOAD_SILENCE_MILLIS
        } else {
            f64::INFINITY
        };
        (silence >= limit).then(|| without_answer(silence))
    }

    /// Whether a load that was cancelled does not end by itself.
    pub(super) fn ignores_cancel(&self, now: f64) -> bool {
        let is_late = |at: f64| now - at >= CANCEL_MILLIS;
        self.model.is_none() && self.cancelled_at.is_some_and(is_late)
    }

    fn slow_millis(&self) -> f64 {
        SLOW_MILLIS.max(SLOW_FACTOR * self.pass_millis.unwrap_or_default())
    }
}

fn without_answer(millis: f64) -> String {
    format!("it gave no answer for {:.0} seconds", millis / 1e3)
}
