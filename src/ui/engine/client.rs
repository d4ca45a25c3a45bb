//! The supervisor with its workers: events go in one after the other, actions are performed in order.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::rc::Rc;

use gloo_timers::callback::Interval;
use js_sys::{Uint8Array, WebAssembly};
use leptos::web_sys;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use super::gpu;
use super::load_notes;
use super::worker_handle::WorkerHandle;
use crate::explorer::{
    Action, EngineEvent, EngineKind, Event, ModelChoice, ModelSource, Start, Supervisor,
};
use crate::protocol::Request;
use crate::ui::dom::browser;

/// Between two looks at the clock.
const TICK_MILLIS: u32 = 1_000;
/// The smallest module that needs WebAssembly's SIMD instructions, as the engines do.
const SIMD_MODULE: [u8; 31] = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
    15, 253, 98, 11,
];

/// The page's connection to its engines; clones share it.
#[derive(Clone)]
pub(in crate::ui) struct Client(Rc<Shared>);

struct Shared {
    supervisor: RefCell<Supervisor>,
    workers: RefCell<BTreeMap<u64, WorkerHandle>>,
    /// The visitor's choices of files, by their number.
    picked: RefCell<Vec<Vec<File>>>,
    /// Key of the source from which the visitor had something fetched in this visit; every other waits for a click.
    clicked: RefCell<String>,
    events: RefCell<VecDeque<Event>>,
    is_handling: Cell<bool>,
    /// The model that was begun with.
    begun: RefCell<Option<ModelSource>>,
    listener: RefCell<Listener>,
}

/// The page that hears of its engines.
enum Listener {
    /// There is none yet: what was reported is kept for it.
    Absent(Vec<EngineEvent>),
    Present(Rc<dyn Fn(EngineEvent)>),
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

/// The engine that `?backend=` asks for.
pub(in crate::ui) fn asked_kind() -> Option<EngineKind> {
    match browser::query("backend")?.as_str() {
        "cpu" => Some(EngineKind::Cpu),
        "gpu" => Some(EngineKind::Gpu),
        _ => None,
    }
}

impl Client {
    /// A client without an engine yet.
    pub(in crate::ui) fn new() -> Self {
        Self(Rc::new(Shared {
            supervisor: RefCell::default(),
            workers: RefCell::default(),
            picked: RefCell::default(),
            clicked: RefCell::default(),
            events: RefCell::default(),
            is_handling: Cell::default(),
            begun: RefCell::default(),
            listener: RefCell::new(Listener::Absent(Vec::new())),
        }))
    }

    /// Reports what became of engines so far, and all that becomes of them from now on, to the page.
    pub(in crate::ui) fn report_to(&self, listener: impl Fn(EngineEvent) + 'static) {
        let listener: Rc<dyn Fn(EngineEvent)> = Rc::new(listener);
        let present = Listener::Present(Rc::clone(&listener));
        if let Listener::Absent(events) = self.0.listener.replace(present) {
            events.into_iter().for_each(|event| listener(event));
        }
    }

    fn report(&self, event: EngineEvent) {
        let listener = match &mut *self.0.listener.borrow_mut() {
            Listener::Absent(events) => return events.push(event),
            Listener::Present(listener) => Rc::clone(listener),
        };
        listener(event);
    }

    /// Starts an engine with this model, if this browser can run one and no earlier crash forbids it. Does nothing if
    /// this model was begun with already; a world's model takes the place of another one.
    pub(in crate::ui) fn start(&self, source: ModelSource) {
        let begun = self.0.begun.borrow_mut().replace(source.clone());
        match (begun, &source) {
            (Some(begun), source) if begun == *source => return,
            (Some(_), ModelSource::BuiltIn(world)) => return self.handle(Event::OpenWorld(*world)),
            _ => {}
        }
        self.handle(Event::Start(Start {
            source,
            asked_kind: asked_kind(),
            notes: load_notes::recall(),
            obstacle: obstacle(),
        }));
        let (ticks, leaves) = (self.clone(), self.clone());
        Interval::new(TICK_MILLIS, move || ticks.handle(Event::Tick)).forget();
        browser::listen("pagehide", move || leaves.handle(Event::Leave));
    }

    /// Sends an event to the supervisor and performs the actions that follow. Events that come meanwhile wait their
    /// turn.
    pub(in crate::ui) fn handle(&self, event: Event) {
        let shared = &self.0;
        shared.events.borrow_mut().push_back(event);
        if shared.is_handling.replace(true) {
            return;
        }
        while let Some(event) = self.next_event() {
            let now = browser::now_millis();
            let actions = shared.supervisor.borrow_mut().handle(now, event);
            for action in actions {
                self.perform(action);
            }
        }
        shared.is_handling.set(false);
    }

    fn next_event(&self) -> Option<Event> {
        self.0.events.borrow_mut().pop_front()
    }

    /// The model that answers, or is the first to.
    pub(in crate::ui) fn model(&self) -> ModelChoice {
        self.0.supervisor.borrow().source().model()
    }

    /// Files that the visitor picked, as the source of a model.
    pub(in crate::ui) fn pick(&self, files: Vec<File>) -> ModelSource {
        let mut picked = self.0.picked.borrow_mut();
        picked.push(files);
        ModelSource::Files(picked.len() as u64 - 1)
    }

    /// Takes note of a click by which weights may be fetched from this source.
    pub(in crate::ui) fn allow_fetching(&self, source: &ModelSource) {
        self.0.clicked.replace(source.key());
    }

    /// Takes note of a click on the model at work that needs its image encoder.
    pub(in crate::ui) fn allow_image_encoder(&self) {
        let source = self.0.supervisor.borrow().source().clone();
        self.allow_fetching(&source);
        let serials: Vec<u64> = self.0.workers.borrow().keys().copied().collect();
        for serial in serials {
            self.post(serial, &Request::FetchMissing, &[]);
        }
    }

    /// Forbids downloads from other places until the visitor's next click.
    pub(in crate::ui) fn forbid_fetching(&self) {
        self.0.clicked.take();
    }

    fn must_not_fetch(&self, source: &ModelSource) -> bool {
        let is_elsewhere = matches!(source, ModelSource::SameSite(_) | ModelSource::Hub(_));
        is_elsewhere && *self.0.clicked.borrow() != source.key()
    }

    fn perform(&self, action: Action) {
        match action {
            Action::Spawn(serial, kind) => self.spawn(serial, kind),
            Action::Load(serial, source) => {
                if self.must_not_fetch(&source) {
                    self.post(serial, &Request::FetchNothing, &[]);
                }
                let (request, files) = self.load_request(&source);
                self.post(serial, &request, &files);
            }
            Action::Post(serial, request) => self.post(serial, &request, &[]),
            Action::Terminate(serial) => {
                let worker = self.0.workers.borrow_mut().remove(&serial);
                if let Some(worker) = worker {
                    worker.terminate();
                    // Its message may be the one that is handled now, so its handler is dropped afterwards.
                    spawn_local(async move { drop(worker) });
                }
            }
            Action::ProbeGpu => {
                let client = self.clone();
                spawn_local(async move { client.handle(Event::GpuProbed(gpu::probe().await)) });
            }
            Action::AddBarrier => {
                // Behind the page's effects, which the reports so far have woken.
                let client = self.clone();
                spawn_local(async move { client.handle(Event::BarrierReached) });
            }
            Action::Keep(note) => load_notes::keep(&note),
            Action::Report(event) => self.report(event),
        }
    }

    fn spawn(&self, serial: u64, kind: EngineKind) {
        let (hears, sees) = (self.clone(), self.clone());
        let spawned = WorkerHandle::spawn(
            kind,
            move |response| match response {
                Ok(response) => hears.handle(Event::Response(serial, response)),
                Err(reason) => hears.handle(Event::Died(serial, reason)),
            },
            move |reason| sees.handle(Event::Died(serial, reason)),
        );
        match spawned {
            Ok(worker) => {
                self.0.workers.borrow_mut().insert(serial, worker);
            }
            Err(reason) => self.handle(Event::Died(serial, reason)),
        }
    }

    fn post(&self, serial: u64, request: &Request, files: &[File]) {
        let workers = self.0.workers.borrow();
        let posted = workers
            .get(&serial)
            .map(|worker| worker.post(request, files));
        drop(workers);
        if let Some(Err(reason)) = posted {
            self.handle(Event::Died(serial, reason));
        }
    }

    /// Request to load a model, with the files that are posted beside it.
    fn load_request(&self, source: &ModelSource) -> (Request, Vec<File>) {
        let beside = |path: &str| {
            let manifest = browser::page_file(path);
            Request::Load {
                manifest_url: manifest.address,
                integrity: manifest.integrity,
            }
        };
        match source {
            ModelSource::BuiltIn(world) => (beside(world.manifest()), Vec::new()),
            ModelSource::SameSite(path) => (beside(path), Vec::new()),
            ModelSource::Hub(hub) => (Request::LoadHub(hub.clone()), Vec::new()),
            ModelSource::Files(number) => {
                let picked = self.0.picked.borrow();
                let at = usize::try_from(*number).unwrap_or(usize::MAX);
                let files = picked.get(at).cloned().unwrap_or_default();
                let names = files.iter().map(File::name).collect();
                (Request::LoadFiles { names }, files)
            }
        }
    }
}

/// Reason why no engine can run in this browser; `None` where one can.
fn obstacle() -> Option<String> {
    let module = Uint8Array::from(&SIMD_MODULE[..]);
    let has_simd = WebAssembly::validate(&module).unwrap_or(false);
    let reason = "this browser lacks WebAssembly SIMD, with which the model computes";
    (!has_simd).then(|| reason.to_owned())
}
