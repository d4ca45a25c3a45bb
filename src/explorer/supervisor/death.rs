//! Death of an engine: what it is blamed on, and which engine takes its place.

use super::engine::{Job, WatchedEngine};
use super::event::EngineEvent;
use super::machine::{Adapters, Supervisor, is};
use super::model::EngineKind;
use super::strikes::{LoadKind, MAX_STRIKES};
use crate::explorer::latest_queue::SentRequest;

/// Number of deaths in a row, with nothing to blame and nothing done between them, after which the page stops trying.
const MAX_DEATHS: u8 = 3;
/// Number of deaths blamed on a picture or an adapter file after which it is dropped.
const MAX_BLAMED_DEATHS: u8 = 2;

impl Supervisor {
    /// An engine died, or is given up for dead.
    pub(super) fn died(&mut self, serial: u64, message: String) {
        self.ended(serial, message, true);
    }

    /// An engine lost its GPU, for which nothing that it was asked is to blame.
    pub(super) fn lost(&mut self, serial: u64, message: String) {
        self.ended(serial, format!("the GPU was lost: {message}"), false);
    }

    fn ended(&mut self, serial: u64, message: String, blames_request: bool) {
        if is(&self.upgrade.engine, serial) {
            self.end_upgrade();
            self.strikes.strike(LoadKind::Upgrade, &self.source);
            self.emit(EngineEvent::BackendChosen(format!(
                "the GPU engine stopped: {message}"
            )));
        } else if is(&self.next, serial) {
            if let Some(engine) = &self.next {
                self.strikes.strike(LoadKind::Cpu, &engine.source);
            }
            self.dismiss_next(Some(message));
        } else if is(&self.main, serial)
            && let Some(engine) = self.main.take()
        {
            self.terminate(&engine);
            self.end_upgrade();
            if engine.model.is_none() {
                self.load_died(&engine, message);
            } else {
                self.work_died(engine, message, blames_request);
            }
        }
    }

    /// The visitor does not wait any longer: what is loaded is given up, and what is computed ends as if its engine had
    /// died.
    pub(super) fn stop(&mut self) {
        const WORDS: &str = "it was stopped, since it did not answer";
        match &self.main {
            Some(engine) if engine.model.is_some() => self.died(engine.serial, WORDS.to_owned()),
            Some(_) => self.give_up_load(Some(WORDS.to_owned())),
            None => {}
        }
    }

    /// A model killed its engine while it was loaded: it is tried twice, and on the GPU once.
    fn load_died(&mut self, engine: &WatchedEngine, message: String) {
        let n_strikes = self.strikes.strike(engine.kind.into(), &engine.source);
        if engine.kind == EngineKind::Gpu {
            self.emit(EngineEvent::BackendChosen(format!(
                "the GPU engine stopped while it loaded this model: {message}"
            )));
            self.load(EngineKind::Cpu);
        } else if n_strikes < MAX_STRIKES {
            self.emit(EngineEvent::Restarted(message));
            self.load(EngineKind::Cpu);
        } else if engine.source.is_fallback() {
            self.stop_trying(message);
        } else {
            self.begin_with_fallback(Some(twice("loading it", &message)));
        }
    }

    /// An engine at work died: finds who is to blame, and starts another one on the CPU.
    fn work_died(&mut self, mut engine: WatchedEngine, message: String, blames_request: bool) {
        self.n_deaths += 1;
        let waiting = engine.waiting_picture.take();
        let job = engine.job.take();
        match job.or_else(|| {
            waiting
                .clone()
                .filter(|_| !engine.loads_images)
                .map(Job::Picture)
        }) {
            Some(Job::Score) => self.score_died(&message, blames_request && waiting.is_none()),
            Some(Job::Probe(caption)) if blames_request => self.quarantine(caption, &message),
            Some(Job::Picture(image)) if blames_request => self.blame_picture(&image, &message),
            Some(Job::GeneratedPicture(_)) => self.request_died(&message),
            Some(Job::Adapters) if blames_request => self.blame_adapters(&message),
            _ => {}
        }
        // A request that was out, with one of its pictures being read, is queued again.
        self.queue.put_back();
        if engine.loads_images {
            let n_strikes = self.strikes.strike(LoadKind::ImageEncoder, &engine.source);
            if n_strikes >= MAX_STRIKES && !engine.source.is_fallback() {
                let words = twice("loading its image encoder", &message);
                return self.begin_with_fallback(Some(words));
            }
        }
        if self.n_deaths > MAX_DEATHS {
            return self.stop_trying(message);
        }
        self.emit(EngineEvent::Restarted(message));
        self.load(EngineKind::Cpu);
    }

    /// Stops all engines until the visitor asks for another try; the page says so, which answers everything that waits.
    fn stop_trying(&mut self, message: String) {
        self.emit(EngineEvent::Stopped(message));
    }

    /// An engine died with captions: one that was blamed before and alone is quarantined; else they are blamed.
    fn score_died(&mut self, message: &str, is_alone: bool) {
        let Some(SentRequest { request, .. }) = self.queue.sent() else {
            return;
        };
        let captions = request.captions.clone();
        if let [caption] = captions.as_slice()
            && self.captions.blamed_among(&captions).is_some()
            && is_alone
        {
            return self.quarantine(caption.clone(), message);
        }
        if !self.captions.blame(&captions) {
            self.request_died(message);
        }
    }

    /// An engine died with a request of which no part is to blame.
    fn request_died(&mut self, message: &str) {
        if let Some(SentRequest { priority, .. }) = self.queue.put_back_once() {
            let message = twice("this request", message);
            self.emit(EngineEvent::Failed(priority, message));
        }
    }

    /// Sets a caption aside, and answers the rest of what was asked.
    fn quarantine(&mut self, caption: String, message: &str) {
        self.n_deaths = 0;
        self.captions.quarantine(&caption);
        self.queue.put_back();
        let emptied = self.queue.retain(|request| {
            request.retain(|other| *other != caption);
            !request.captions.is_empty()
        });
        let message = twice("this caption", message);
        self.emit(EngineEvent::Quarantined {
            caption,
            message: message.clone(),
        });
        for (priority, _) in emptied {
            self.emit(EngineEvent::Failed(priority, message.clone()));
        }
    }

    /// Puts the picture at the end of those to be read, or takes it off the page.
    fn blame_picture(&mut self, image: &str, message: &str) {
        let mut places = self.pictures.iter();
        let Some(place) = places.position(|picture| picture.image == image) else {
            return;
        };
        let mut picture = self.pictures.remove(place);
        picture.n_deaths += 1;
        let reaches_limit = picture.n_deaths >= MAX_BLAMED_DEATHS;
        self.pictures.push(picture);
        if reaches_limit {
            self.n_deaths = 0;
            self.drop_picture(image.to_owned(), twice("reading it", message));
        }
    }

    /// Gives the adapters to the next engine, or to none any more.
    fn blame_adapters(&mut self, message: &str) {
        let Adapters::FromFile { name, n_deaths, .. } = &mut self.adapters else {
            return;
        };
        *n_deaths += 1;
        if *n_deaths >= MAX_BLAMED_DEATHS {
            let name = std::mem::take(name);
            self.n_deaths = 0;
            self.adapters = Adapters::Dropped;
            self.emit(EngineEvent::AdapterRefused(
                name,
                twice("using it", message),
            ));
        }
    }
}

fn twice(what: &str, message: &str) -> String {
    format!("{what} stopped the engine twice ({message})")
}
