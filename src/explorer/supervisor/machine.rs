//! The state machine: its state, what each event leads to, and the clock.

use std::sync::Arc;

use super::blame::Captions;
use super::engine::{Upgrade, WatchedEngine};
use super::event::{Action, EngineEvent, Event, ScoreRequest};
use super::model::{EngineKind, ModelSource};
use super::strikes::Strikes;
use crate::explorer::latest_queue::LatestQueue;
use crate::protocol::{Probes, RecordedPicture, Request, Response};

/// Most milliseconds that count between two events: a page that slept was not kept waiting by its engine.
const MAX_GAP_MILLIS: f64 = 5_000.0;
/// Milliseconds after which loads that go on are noted again.
const REFRESH_MILLIS: f64 = 10_000.0;
/// Milliseconds after which a query, which is never about captions, is given up.
pub(super) const QUERY_MILLIS: f64 = 120_000.0;

/// State machine that keeps one engine at work: events in, actions for the page out.
#[derive(Debug, Default)]
pub struct Supervisor {
    /// The engine at work, or the one that is to be.
    pub(super) main: Option<WatchedEngine>,
    /// An engine that loads another model while the one at work answers.
    pub(super) next: Option<WatchedEngine>,
    /// The GPU engine beside the CPU engine at work.
    pub(super) upgrade: Upgrade,
    pub(super) source: ModelSource,
    pub(super) asked_kind: Option<EngineKind>,
    pub(super) queue: LatestQueue<ScoreRequest>,
    pub(super) captions: Captions,
    pub(super) pictures: Vec<OwnPicture>,
    pub(super) adapters: Adapters,
    /// Questions that are not about captions, and when they were asked.
    pub(super) queries: Vec<(Request, f64)>,
    /// Embeddings by the first engine of the inputs on which engines are compared.
    pub(super) probes: Option<Probes>,
    pub(super) strikes: Strikes,
    /// Deaths without anything done between them.
    pub(super) n_deaths: u8,
    /// Whether no job is given before the page has answered the reports so far.
    pub(super) awaits_barrier: bool,
    pub(super) is_slow: bool,
    pub(super) last_serial: u64,
    /// The last event's time, and milliseconds that the page was awake.
    pub(super) last_millis: Option<f64>,
    pub(super) now: f64,
    pub(super) refreshed_at: f64,
    pub(super) actions: Vec<Action>,
}

/// A picture of the page.
#[derive(Debug, Clone)]
pub(super) struct OwnPicture {
    pub(super) image: String,
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) recorded: Option<Arc<RecordedPicture>>,
    /// Engines that died while reading it, alone.
    pub(super) n_deaths: u8,
}

/// Adapters that the visitor gave the model.
#[derive(Debug, Clone, Default)]
pub(super) enum Adapters {
    #[default]
    None,
    FromFile {
        name: String,
        bytes: Arc<Vec<u8>>,
        /// Number of engines that died while they used the adapters.
        n_deaths: u8,
    },
    /// Adapters that stopped the engine twice; the browser's copy of them is deleted.
    Dropped,
}

impl Supervisor {
    /// Actions that follow from an event, in order; `now_millis` never decreases.
    pub fn handle(&mut self, now_millis: f64, event: Event) -> Vec<Action> {
        let gap = now_millis - self.last_millis.replace(now_millis).unwrap_or(now_millis);
        self.now += gap.clamp(0.0, MAX_GAP_MILLIS);
        self.dispatch(event);
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

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Start(start) => self.start(start),
            Event::Ask(priority, request) => self.ask(priority, request),
            Event::AddPicture(picture) => self.add_picture(picture),
            Event::RemovePicture(image) => self.remove_picture(&image),
            Event::ChangeModel(source) => self.change_model(source),
            Event::OpenWorld(world) => self.open_world(world),
            Event::GiveAdapters(name, bytes) => self.give_adapters(name, bytes),
            Event::Pause => self.post_to_load(Request::Pause),
            Event::Resume => self.post_to_load(Request::Resume),
            Event::Cancel => self.cancel(),
            Event::Query(request) => self.query(request),
            Event::Stop => self.stop(),
            Event::Retry => self.retry(),
            Event::Leave => self.strikes.leave(),
            Event::BarrierReached => self.awaits_barrier = false,
            Event::Response(serial, response) => self.handle_response(serial, response),
            Event::Died(serial, message) => self.died(serial, message),
            Event::GpuProbed(found) => self.gpu_probed(found),
            Event::Tick => {}
        }
    }

    /// Handles a response of any engine: the one at work, the one with another model, or the one in the background.
    fn handle_response(&mut self, serial: u64, response: Response) {
        let now = self.now;
        match self.engine(serial) {
            Some(engine) => engine.heard_at = now,
            None => return,
        }
        match response {
            Response::Started | Response::Heartbeat => {}
            Response::PassTimed { millis } => self.pass_timed(serial, millis),
            Response::Crashed { message } => self.died(serial, message),
            Response::Lost { message } => self.lost(serial, message),
            response if is(&self.main, serial) => self.handle_main_response(response),
            response if is(&self.next, serial) => self.handle_next_response(response),
            response => self.handle_upgrade_response(response),
        }
    }

    pub(super) fn engine(&mut self, serial: u64) -> Option<&mut WatchedEngine> {
        let engines = [&mut self.main, &mut self.next, &mut self.upgrade.engine];
        let mut engines = engines.into_iter().flatten();
        engines.find(|engine| engine.serial == serial)
    }

    /// Starts an engine and tells it to load a model, which it does once its program runs.
    pub(super) fn spawn(&mut self, kind: EngineKind, source: ModelSource) -> WatchedEngine {
        self.last_serial += 1;
        let serial = self.last_serial;
        self.actions.push(Action::Spawn(serial, kind));
        if let (EngineKind::Gpu, Some(probes)) = (kind, self.probes.clone()) {
            self.post(serial, Request::Expect(probes));
        }
        self.actions.push(Action::Load(serial, source.clone()));
        WatchedEngine::new(serial, kind, source, self.now)
    }

    pub(super) fn terminate(&mut self, engine: &WatchedEngine) {
        self.actions.push(Action::Terminate(engine.serial));
    }

    pub(super) fn post(&mut self, serial: u64, request: Request) {
        self.actions.push(Action::Post(serial, request));
    }

    pub(super) fn emit(&mut self, event: EngineEvent) {
        self.actions.push(Action::Report(event));
    }

    /// Checks the clock: replaces engines that are silent for too long, and reports slow ones.
    fn watch(&mut self) {
        let now = self.now;
        let overdue = |engine: &Option<WatchedEngine>| {
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
            self.emit(EngineEvent::IsSlow(is_slow));
        }
        self.give_up_queries();
        if now - self.refreshed_at >= REFRESH_MILLIS {
            self.refreshed_at = now;
            self.strikes.refresh();
        }
    }
}

pub(super) fn is(engine: &Option<WatchedEngine>, serial: u64) -> bool {
    engine
        .as_ref()
        .is_some_and(|engine| engine.serial == serial)
}
