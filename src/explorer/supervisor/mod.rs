//! Engines' life and death: which engine runs, what it is asked, and what follows when it dies or does not answer.
//!
//! A state machine: events → actions. It has no clock and no worker of its own; the page performs its actions and tells
//! it what happens, so that all of it is tested natively with engines that die, hang and answer late.
//!
//! An engine at work has one job at a time, so that a death has one suspect. A suspect is asked again once, alone, by the
//! next engine; whoever kills that one, too, is set aside and named: a caption is quarantined, a picture or an adapter file
//! is dropped, and a model's load is counted as a strike, which is kept from visit to visit. Every request ends with an
//! answer, with a message that it failed, or with the message that no engine runs.

mod blame;
mod death;
mod engine;
mod event;
mod load;
mod model;
mod strikes;
#[cfg(test)]
mod tests;
mod upgrade;
mod work;

use std::sync::Arc;

pub use event::{Action, EngineEvent, Event, ScoreRequest, Start, ViewAnswer};
pub use model::{EngineKind, LoadedModel, ModelSource};
pub use strikes::{LoadId, LoadKind, LoadNote, LoadNotes, Unended};

use super::latest_queue::LatestQueue;
use crate::protocol::{Probes, Request, Response};
use blame::Captions;
use engine::Engine;
use strikes::Strikes;
use upgrade::Upgrade;

/// Between two events no more time counts than this: a page that slept was not kept waiting by its engine.
const MAX_GAP_MILLIS: f64 = 5_000.0;
/// Loads that go on are noted again after so long.
const REFRESH_MILLIS: f64 = 10_000.0;
/// A question that is not about captions is given up after so long.
const QUERY_MILLIS: f64 = 120_000.0;

/// Keeps one engine at work.
#[derive(Debug)]
pub struct Supervisor {
    /// The engine at work, or the one that is to be.
    main: Option<Engine>,
    /// An engine that loads another model while the one at work answers.
    next: Option<Engine>,
    /// The GPU engine beside the CPU engine at work.
    upgrade: Upgrade,
    source: ModelSource,
    asked_kind: Option<EngineKind>,
    queue: LatestQueue<ScoreRequest>,
    captions: Captions,
    pictures: Vec<Picture>,
    adapters: Adapters,
    /// Questions that are not about captions, and when they were asked.
    queries: Vec<(Request, f64)>,
    /// What the first engine makes of the inputs by which engines are compared.
    probes: Option<Probes>,
    strikes: Strikes,
    /// Deaths without anything done between them.
    n_deaths: u8,
    is_held: bool,
    is_slow: bool,
    last_serial: u64,
    /// The last event's time, and milliseconds that the page was awake.
    last_millis: Option<f64>,
    now: f64,
    refreshed_at: f64,
    actions: Vec<Action>,
}

/// A picture of the page.
#[derive(Debug, Clone)]
struct Picture {
    image: String,
    bytes: Arc<Vec<u8>>,
    /// Engines that died while reading it, alone.
    n_deaths: u8,
}

/// Adapters that the visitor gave the model.
#[derive(Debug, Clone, Default)]
enum Adapters {
    #[default]
    None,
    Given {
        name: String,
        bytes: Arc<Vec<u8>>,
        /// Engines that died of them.
        n_deaths: u8,
    },
    /// They stopped the engine twice; what the browser keeps of them is deleted.
    Dropped,
}

impl Default for Supervisor {
    fn default() -> Self {
        Self {
            main: None,
            next: None,
            upgrade: Upgrade::default(),
            source: ModelSource::BuiltIn,
            asked_kind: None,
            queue: LatestQueue::default(),
            captions: Captions::default(),
            pictures: Vec::new(),
            adapters: Adapters::default(),
            queries: Vec::new(),
            probes: None,
            strikes: Strikes::default(),
            n_deaths: 0,
            is_held: false,
            is_slow: false,
            last_serial: 0,
            last_millis: None,
            now: 0.0,
            refreshed_at: 0.0,
            actions: Vec::new(),
        }
    }
}

impl Supervisor {
    /// What is to be done now that this happened, in order; `now_millis` never decreases.
    pub fn handle(&mut self, now_millis: f64, event: Event) -> Vec<Action> {
        let gap = now_millis - self.last_millis.replace(now_millis).unwrap_or(now_millis);
        self.now += gap.clamp(0.0, MAX_GAP_MILLIS);
        self.happened(event);
        self.watch();
        self.pump();
        let notes = self.strikes.take_notes();
        self.actions.extend(notes.into_iter().map(Action::Keep));
        std::mem::take(&mut self.actions)
    }

    /// The model that answers, or is the first to.
    #[must_use]
    pub fn source(&self) -> &ModelSource {
        &self.source
    }

    fn happened(&mut self, event: Event) {
        match event {
            Event::Start(start) => self.start(start),
            Event::Ask(priority, request) => self.ask(priority, request),
            Event::AddPicture(image, bytes) => self.add_picture(image, bytes),
            Event::RemovePicture(image) => self.remove_picture(&image),
            Event::ChangeModel(source) => self.change_model(source),
            Event::GiveAdapters(name, bytes) => self.give_adapters(name, bytes),
            Event::Pause => self.tell_load(Request::Pause),
            Event::Resume => self.tell_load(Request::Resume),
            Event::Cancel => self.cancel(),
            Event::Query(request) => self.query(request),
            Event::Stop => self.stop(),
            Event::Retry => self.retry(),
            Event::Leave => self.strikes.leave(),
            Event::Passed => self.is_held = false,
            Event::Said(serial, response) => self.said(serial, response),
            Event::Died(serial, message) => self.died(serial, message),
            Event::GpuProbed(found) => self.gpu_probed(found),
            Event::Tick => {}
        }
    }

    /// Hears an engine: the one at work, the one with another model, or the one in the background.
    fn said(&mut self, serial: u64, response: Response) {
        let now = self.now;
        match self.engine(serial) {
            Some(engine) => engine.heard_at = now,
            None => return,
        }
        match response {
            Response::Started => self.have_load(serial),
            Response::Heartbeat => {}
            Response::Crashed { message } => self.died(serial, message),
            Response::Lost { message } => self.lost(serial, message),
            response if is(&self.main, serial) => self.main_said(response),
            response if is(&self.next, serial) => self.next_said(response),
            response => self.upgrade_said(response),
        }
    }

    fn engine(&mut self, serial: u64) -> Option<&mut Engine> {
        let engines = [&mut self.main, &mut self.next, &mut self.upgrade.engine];
        let mut engines = engines.into_iter().flatten();
        engines.find(|engine| engine.serial == serial)
    }

    fn spawn(&mut self, kind: EngineKind, source: ModelSource) -> Engine {
        self.last_serial += 1;
        self.actions.push(Action::Spawn(self.last_serial, kind));
        Engine::new(self.last_serial, kind, source, self.now)
    }

    fn terminate(&mut self, engine: &Engine) {
        self.actions.push(Action::Terminate(engine.serial));
    }

    fn post(&mut self, serial: u64, request: Request) {
        self.actions.push(Action::Post(serial, request));
    }

    fn tell(&mut self, event: EngineEvent) {
        self.actions.push(Action::Tell(event));
    }

    /// Looks at the clock: replaces what is silent for too long, and says what is slow.
    fn watch(&mut self) {
        let now = self.now;
        let overdue = |engine: &Option<Engine>| {
            let engine = engine.as_ref()?;
            Some((engine.serial, engine.is_overdue(now)?))
        };
        let overdue = [&self.main, &self.next, &self.upgrade.engine].map(overdue);
        for (serial, reason) in overdue.into_iter().flatten() {
            self.died(serial, reason);
        }
        let main = self.main.as_ref();
        if main.is_some_and(|engine| engine.ignores_cancel(now)) {
            self.give_up_load(None);
        }
        let is_slow = self.main.as_ref().is_some_and(|engine| engine.is_slow(now));
        if std::mem::replace(&mut self.is_slow, is_slow) != is_slow {
            self.tell(EngineEvent::IsSlow(is_slow));
        }
        self.give_up_queries();
        if now - self.refreshed_at >= REFRESH_MILLIS {
            self.refreshed_at = now;
            self.strikes.refresh();
        }
    }
}

fn is(engine: &Option<Engine>, serial: u64) -> bool {
    engine
        .as_ref()
        .is_some_and(|engine| engine.serial == serial)
}
