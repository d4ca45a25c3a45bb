//! Simulated engines that die, hang and lose their GPU, under a simulated clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::simulated_answers::{answer, comparison, loaded, reading};
use crate::explorer::latest_queue::Priority;
use crate::explorer::supervisor::{
    Action, EngineEvent, EngineKind, Event, LoadNote, LoadNotes, ModelSource, PagePicture,
    ScoreRequest, Start, Supervisor,
};
use crate::protocol::{RecordedPicture, Request, Response, Stored};

/// CLIP, whose image encoder comes with the first picture.
pub(super) const CLIP: ModelSource = ModelSource::SameSite("clip");
/// The image encoder of the built-in models.
pub(super) const OWN_ENCODER: &str = "own";

/// Faults of the simulated engines, by what brings each about.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatedFaults {
    /// Captions, pictures and adapters (by their first byte) that kill whichever engine gets them.
    pub(super) killers: BTreeSet<String>,
    /// Captions and pictures that the engine which gets them never answers.
    pub(super) hangers: BTreeSet<String>,
    pub(super) killing_adapters: BTreeSet<u8>,
    /// Loads that kill: the source's key, and on which engine.
    pub(super) killing_loads: BTreeSet<(String, EngineKind)>,
    pub(super) hanging_loads: BTreeSet<(String, EngineKind)>,
    /// Models whose image encoder kills.
    pub(super) killing_image_encoders: BTreeSet<String>,
    /// Posts to engines fail that hold this caption.
    pub(super) unpostable: BTreeSet<String>,
    pub(super) gpu_millis: Option<f64>,
}

#[derive(Debug)]
struct SimulatedEngine {
    kind: EngineKind,
    source: ModelSource,
    has_model: bool,
    is_adapted: bool,
    has_vision: bool,
    is_timed: bool,
    images: BTreeSet<String>,
    is_hung: bool,
}

#[derive(Debug, Default)]
pub(super) struct SimulatedPage {
    pub(super) supervisor: Supervisor,
    pub(super) faults: SimulatedFaults,
    pub(super) now: f64,
    /// Adapters that the browser keeps for CLIP from an earlier visit.
    pub(super) kept_adapters: Option<Vec<u8>>,
    engines: BTreeMap<u64, SimulatedEngine>,
    events: VecDeque<Event>,
    pub(super) reported: Vec<EngineEvent>,
    pub(super) notes: Vec<LoadNote>,
    /// Captions about which the page asks anew whenever a picture was read.
    pub(super) shown: Vec<String>,
    /// Every request that an engine got.
    pub(super) posted: Vec<(EngineKind, Request)>,
    pub(super) loads: Vec<(EngineKind, ModelSource)>,
}

impl SimulatedPage {
    pub(super) fn new(faults: SimulatedFaults) -> Self {
        Self {
            faults,
            ..Self::default()
        }
    }

    /// A page that starts with a remembered CLIP.
    pub(super) fn with_clip(faults: SimulatedFaults) -> Self {
        Self::started(faults, CLIP, LoadNotes::default())
    }

    /// A page that starts with this model.
    pub(super) fn started(faults: SimulatedFaults, source: ModelSource, notes: LoadNotes) -> Self {
        let mut world = Self::new(faults);
        world.start(source, notes);
        world
    }

    /// The page starts with this model.
    pub(super) fn start(&mut self, source: ModelSource, notes: LoadNotes) {
        self.happens(Event::Start(Start {
            source,
            asked_kind: None,
            notes,
            obstacle: None,
        }));
    }

    /// A page with the built-in model.
    pub(super) fn built_in(faults: SimulatedFaults) -> Self {
        Self::started(faults, ModelSource::FALLBACK, LoadNotes::default())
    }

    /// Sends an event, and then performs all that follows from it at the same moment.
    pub(super) fn happens(&mut self, event: Event) {
        self.events.push_back(event);
        while let Some(event) = self.events.pop_front() {
            for action in self.supervisor.handle(self.now, event) {
                self.perform(action);
            }
        }
    }

    /// The last answer is of these captions, without pictures.
    #[track_caller]
    pub(super) fn assert_answered(&self, captions: &[&str], what: &str) {
        let captions = captions.iter().map(|caption| (*caption).to_owned());
        let expected = Some((captions.collect(), Vec::new()));
        assert_eq!(self.last_answer(), expected, "{what}");
    }

    pub(super) fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.now += 1e3;
            self.happens(Event::Tick);
        }
    }

    pub(super) fn ask(&mut self, captions: &[&str]) {
        self.ask_about(Priority::Matrix, captions, &[]);
    }

    pub(super) fn ask_about(&mut self, priority: Priority, captions: &[&str], images: &[&str]) {
        let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
        let request = ScoreRequest {
            keys: (1..).take(captions.len()).collect(),
            captions: owned(captions),
            images: owned(images),
            ..ScoreRequest::default()
        };
        self.happens(Event::Ask(priority, request));
    }

    pub(super) fn add_picture(&mut self, image: &str) {
        self.happens(Event::AddPicture(PagePicture {
            image: image.to_owned(),
            bytes: Arc::default(),
            recorded: None,
        }));
    }

    /// Adds a picture that was recorded with this image encoder; the built-in models have [`OWN_ENCODER`].
    pub(super) fn add_recorded(&mut self, image: &str, encoder: &str) {
        let recorded = RecordedPicture {
            encoder: vec![encoder.to_owned()],
            reading: reading(image.to_owned()),
            embedding: vec![1.0],
        };
        self.happens(Event::AddPicture(PagePicture {
            image: image.to_owned(),
            bytes: Arc::default(),
            recorded: Some(Arc::new(recorded)),
        }));
    }

    /// Number of requests that ask an engine to read a file of a picture, and of those that give it recorded ones.
    pub(super) fn n_read(&self) -> (usize, usize) {
        let count = |is_it: fn(&Request) -> bool| {
            let posted = self.posted.iter();
            posted.filter(|(_, request)| is_it(request)).count()
        };
        (
            count(|request| matches!(request, Request::AddImage { .. })),
            count(|request| matches!(request, Request::AddRecorded(_))),
        )
    }

    /// The engine that was started last loses its GPU.
    pub(super) fn lose_gpu(&mut self) {
        let mut engines = self.engines.iter();
        let gpu = engines.rfind(|(_, e)| e.kind == EngineKind::Gpu);
        let serial = *gpu.expect("a GPU engine runs").0;
        let message = "destroyed".to_owned();
        self.happens(Event::Response(serial, Response::Lost { message }));
    }

    /// The engine that was started last dies of itself.
    pub(super) fn kill(&mut self) {
        let serial = *self.engines.last_key_value().expect("an engine runs").0;
        self.happens(Event::Died(serial, "killed".to_owned()));
    }

    pub(super) fn n_engines(&self) -> usize {
        self.engines.len()
    }

    /// Number of times that engines got this caption.
    pub(super) fn n_sent(&self, caption: &str) -> usize {
        let has = |request: &Request| matches!(request, Request::Score { captions, .. } if captions.iter().any(|c| c == caption));
        let posted = self.posted.iter();
        posted.filter(|(_, request)| has(request)).count()
    }

    /// The captions of the last answer of the matrix, and its pictures.
    pub(super) fn last_answer(&self) -> Option<(Vec<String>, Vec<String>)> {
        self.reported.iter().rev().find_map(|event| match event {
            EngineEvent::Answered(snapshot) => {
                let captions = &snapshot.answer.captions;
                let captions = captions.iter().map(|reading| reading.caption.clone());
                Some((captions.collect(), snapshot.answer.images.clone()))
            }
            EngineEvent::Compared(compared) => {
                let captions = &compared.comparison.captions;
                let captions = captions.iter().map(|tokens| tokens.caption.clone());
                Some((captions.collect(), compared.comparison.images.clone()))
            }
            _ => None,
        })
    }

    pub(super) fn quarantined(&self) -> Vec<&str> {
        let reported = self.reported.iter();
        reported
            .filter_map(|event| match event {
                EngineEvent::Quarantined { caption, .. } => Some(caption.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(super) fn count(&self, is_it: impl Fn(&EngineEvent) -> bool) -> usize {
        self.reported.iter().filter(|event| is_it(event)).count()
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Spawn(serial, kind) => {
                let engine = SimulatedEngine {
                    kind,
                    source: ModelSource::FALLBACK,
                    has_model: false,
                    is_adapted: false,
                    has_vision: false,
                    is_timed: false,
                    images: BTreeSet::new(),
                    is_hung: false,
                };
                let former = self.engines.insert(serial, engine);
                assert!(former.is_none(), "{serial} is used twice");
                self.says(serial, Response::Started);
            }
            Action::Load(serial, source) => self.load(serial, source),
            Action::Post(serial, request) => self.post(serial, request),
            Action::Terminate(serial) => {
                let engine = self.engines.remove(&serial);
                assert!(engine.is_some(), "{serial} does not run");
            }
            Action::ProbeGpu => {
                let found = self.faults.gpu_millis.map(|_| ());
                let found = found.ok_or_else(|| "no GPU".to_owned());
                self.events.push_back(Event::GpuProbed(found));
            }
            Action::AddBarrier => self.events.push_back(Event::BarrierReached),
            Action::Keep(note) => self.notes.push(note),
            Action::Report(event) => {
                let is_picture = matches!(event, EngineEvent::Picture(_));
                self.reported.push(event);
                if is_picture && !self.shown.is_empty() {
                    self.asks_about_shown();
                }
            }
        }
    }

    /// The matrix asks about its captions and the pictures that were read, after the reports of this moment.
    fn asks_about_shown(&mut self) {
        let images = self.reported.iter().filter_map(|event| match event {
            EngineEvent::Picture(reading) => Some(reading.image.clone()),
            _ => None,
        });
        let request = ScoreRequest {
            keys: (1..).take(self.shown.len()).collect(),
            captions: self.shown.clone(),
            images: images.collect(),
            ..ScoreRequest::default()
        };
        self.events.push_back(Event::Ask(Priority::Matrix, request));
    }

    fn says(&mut self, serial: u64, response: Response) {
        self.events.push_back(Event::Response(serial, response));
    }

    fn dies(&mut self, serial: u64) {
        let message = "unreachable".to_owned();
        let crashed = Response::Crashed {
            message: message.clone(),
        };
        self.says(serial, crashed);
        self.events.push_back(Event::Died(serial, message));
    }

    fn load(&mut self, serial: u64, source: ModelSource) {
        let engine = self.engines.get_mut(&serial).expect("it runs");
        engine.source = source.clone();
        let (kind, key) = (engine.kind, (source.key(), engine.kind));
        self.loads.push((kind, source));
        if self.faults.killing_loads.contains(&key) {
            return self.dies(serial);
        }
        if self.faults.hanging_loads.contains(&key) {
            engine.is_hung = true;
            return;
        }
        engine.has_model = true;
        engine.is_adapted = engine.source.is_built_in();
        engine.has_vision = engine.source.is_built_in();
        let is_bare = !engine.is_adapted;
        self.loaded(serial);
        if let Some(bytes) = self.kept_adapters.clone().filter(|_| is_bare) {
            self.says(serial, Response::KeptAdapters { bytes });
        }
    }

    fn loaded(&mut self, serial: u64) {
        let engine = &self.engines[&serial];
        let is_adapted = engine.is_adapted;
        let image_encoder = image_encoder(&engine.source);
        if engine.kind == EngineKind::Gpu || !engine.source.is_built_in() {
            self.times_pass(serial);
        }
        self.says(serial, loaded(is_adapted, image_encoder));
    }

    /// Says once how long a pass takes.
    fn times_pass(&mut self, serial: u64) {
        let engine = self.engines.get_mut(&serial).expect("it runs");
        if std::mem::replace(&mut engine.is_timed, true) {
            return;
        }
        let millis = match engine.kind {
            EngineKind::Cpu => 10.0,
            EngineKind::Gpu => self.faults.gpu_millis.unwrap_or(1.0),
        };
        self.says(serial, Response::PassTimed { millis });
    }

    fn post(&mut self, serial: u64, request: Request) {
        let engine = self.engines.get_mut(&serial).expect("it runs");
        self.posted.push((engine.kind, request.clone()));
        if engine.is_hung {
            return;
        }
        let words: Vec<String> = match &request {
            Request::Score { captions, .. } => captions.clone(),
            Request::AddImage { image, .. } => vec![image.clone()],
            _ => Vec::new(),
        };
        let has = |names: &BTreeSet<String>| words.iter().any(|word| names.contains(word));
        let kills = matches!(&request, Request::Adapt { bytes } if bytes.first().is_some_and(|b| self.faults.killing_adapters.contains(b)));
        if has(&self.faults.unpostable) {
            let message = "DataCloneError".to_owned();
            return self.events.push_back(Event::Died(serial, message));
        }
        if has(&self.faults.killers) || kills {
            return self.dies(serial);
        }
        if has(&self.faults.hangers) {
            engine.is_hung = true;
            return;
        }
        self.answer(serial, request);
    }

    fn answer(&mut self, serial: u64, request: Request) {
        let engine = self.engines.get_mut(&serial).expect("it runs");
        match request {
            Request::AddImage { image, .. } => self.read(serial, image),
            Request::AddRecorded(pictures) => {
                assert!(engine.has_model, "pictures come after the model");
                for RecordedPicture {
                    encoder, reading, ..
                } in pictures
                {
                    let own = image_encoder(&engine.source);
                    assert_eq!(encoder, own, "another encoder's picture was given");
                    engine.images.insert(reading.image);
                }
            }
            Request::RemoveImage { image } => {
                engine.images.remove(&image);
            }
            Request::Score {
                id,
                captions,
                images,
                ..
            } => {
                let is_known = |image: &String| engine.images.contains(image);
                let images = images.into_iter().filter(is_known).collect();
                let response = if engine.is_adapted {
                    Response::Scored(answer(id, captions, images))
                } else {
                    Response::Compared(comparison(id, captions, images))
                };
                self.says(serial, response);
                self.times_pass(serial);
            }
            Request::Adapt { .. } => {
                engine.is_adapted = true;
                self.loaded(serial);
            }
            Request::ForgetAdapters => self.kept_adapters = None,
            Request::ProbePicture => {
                let embedding = vec![1.0];
                self.says(serial, Response::PictureProbed { embedding });
            }
            Request::ListStored | Request::DeleteStored => {
                self.says(serial, Response::Stored(Stored::default()));
            }
            Request::Cancel if !engine.has_model => self.says(serial, Response::Cancelled),
            _ => {}
        }
    }

    fn read(&mut self, serial: u64, image: String) {
        let engine = self.engines.get_mut(&serial).expect("it runs");
        let loads = !std::mem::replace(&mut engine.has_vision, true);
        engine.images.insert(image.clone());
        let killers = &self.faults.killing_image_encoders;
        let kills = killers.contains(&engine.source.key());
        if loads {
            self.says(serial, Response::ImageEncoderLoads);
            if kills {
                return self.dies(serial);
            }
            self.says(serial, Response::ImageEncoderLoaded);
        }
        self.says(serial, Response::ImageAdded(reading(image)));
    }
}

/// SHA-256 of the shards of a model's image encoder, which built-in models share.
fn image_encoder(source: &ModelSource) -> Vec<String> {
    let own = source.is_built_in().then(|| OWN_ENCODER.to_owned());
    own.into_iter().collect()
}
