//! Loads: of the first model, of another one beside it, and what follows when one ends.

use super::blame::Captions;
use super::engine::{Job, Upgrade, WatchedEngine};
use super::event::{Action, EngineEvent, Start};
use super::machine::{Adapters, Supervisor};
use super::model::{EngineKind, LoadedModel, ModelSource};
use super::strikes::LoadKind;
use crate::explorer::world::World;
use crate::protocol::{Probes, Request, Response};

impl Supervisor {
    /// Starts with the model that is asked for, or with what has not killed its engine before.
    pub(super) fn start(&mut self, start: Start) {
        self.strikes.recall(start.notes);
        self.asked_kind = start.asked_kind;
        self.source = start.source;
        if let Some(obstacle) = start.obstacle {
            return self.emit(EngineEvent::Stopped(obstacle));
        }
        let kind = self.asked_kind.unwrap_or(EngineKind::Cpu);
        let is_out = |load| self.strikes.is_out(load, &self.source);
        let is_cpu_out = is_out(LoadKind::Cpu) || is_out(LoadKind::ImageEncoder);
        if !self.source.is_fallback() && is_cpu_out {
            self.source = ModelSource::FALLBACK;
            self.emit(EngineEvent::GivenUp(Some(
                "it stopped its engine twice before, so the page begins with the drawn scenes"
                    .to_owned(),
            )));
        }
        if self.source.is_fallback() && self.strikes.is_out(LoadKind::Cpu, &self.source) {
            return self.emit(EngineEvent::SafeMode);
        }
        self.load(kind);
    }

    /// Loads the model into a new engine; into a CPU engine if it killed the GPU engine before.
    pub(super) fn load(&mut self, kind: EngineKind) {
        let mut kind = kind;
        if kind == EngineKind::Gpu && self.strikes.is_out(LoadKind::Gpu, &self.source) {
            kind = EngineKind::Cpu;
            self.emit(EngineEvent::BackendChosen(
                "the GPU engine stopped twice while it loaded this model".to_owned(),
            ));
        }
        self.strikes.begin(kind.into(), &self.source);
        let engine = self.spawn(kind, self.source.clone());
        self.main = Some(engine);
        self.repost_queries();
    }

    /// Tries a model that comes with the page again, whatever happened before.
    pub(super) fn retry(&mut self) {
        if self.main.is_some() {
            return;
        }
        if !self.source.is_built_in() {
            self.source = ModelSource::FALLBACK;
        }
        for kind in LoadKind::ALL {
            self.strikes.clear(kind, &self.source);
        }
        self.n_deaths = 0;
        self.load(self.asked_kind.unwrap_or(EngineKind::Cpu));
    }

    /// Loads another model, which answers as soon as it can; its strikes are cleared, since the visitor asked for it.
    pub(super) fn change_model(&mut self, source: ModelSource) {
        self.end_next();
        for kind in LoadKind::ALL {
            self.strikes.clear(kind, &source);
        }
        self.strikes.begin(LoadKind::Cpu, &source);
        let engine = self.spawn(EngineKind::Cpu, source);
        self.next = Some(engine);
    }

    /// Loads another model that comes with the page; the earlier one is stopped at once.
    pub(super) fn open_world(&mut self, world: World) {
        self.end_next();
        self.end_main();
        self.source = ModelSource::BuiltIn(world);
        for kind in LoadKind::ALL {
            self.strikes.clear(kind, &self.source);
        }
        self.load(self.asked_kind.unwrap_or(EngineKind::Cpu));
    }

    /// The engine at work has loaded its model: first, again with adapters, or after a death.
    pub(super) fn loaded(&mut self, model: LoadedModel) {
        self.note_probe(&model);
        self.complete_job(&Job::Adapters);
        let Some(engine) = &mut self.main else { return };
        engine.model = Some(model.clone());
        let kind = engine.kind;
        self.strikes.clear(kind.into(), &self.source);
        self.emit(EngineEvent::Loaded(model));
    }

    /// The engine at work does not load its model; why, unless the visitor gave it up.
    pub(super) fn give_up_load(&mut self, message: Option<String>) {
        let Some(engine) = self.main.take() else {
            return;
        };
        self.terminate(&engine);
        self.strikes.end(engine.kind.into(), &engine.source);
        self.strikes.end(LoadKind::ImageEncoder, &engine.source);
        self.end_upgrade();
        self.queue.put_back();
        let was_at_work = engine.model.is_some();
        if engine.kind == EngineKind::Gpu && (was_at_work || engine.source.is_built_in()) {
            let message = message.unwrap_or_default();
            self.emit(EngineEvent::BackendChosen(format!(
                "the GPU engine was refused: {message}"
            )));
            self.load(EngineKind::Cpu);
        } else if !engine.source.is_fallback() {
            self.begin_with_fallback(message);
        } else {
            let message = message.unwrap_or_else(|| "its load was ended".to_owned());
            self.emit(EngineEvent::Stopped(message));
        }
    }

    /// Goes on with the model that takes the place of one that does not come.
    pub(super) fn begin_with_fallback(&mut self, message: Option<String>) {
        self.forget_model();
        self.source = ModelSource::FALLBACK;
        self.emit(EngineEvent::GivenUp(message));
        if self.strikes.is_out(LoadKind::Cpu, &self.source) {
            return self.emit(EngineEvent::SafeMode);
        }
        self.load(self.asked_kind.unwrap_or(EngineKind::Cpu));
    }

    /// Handles a response of the engine that loads another model.
    pub(super) fn handle_next_response(&mut self, response: Response) {
        match response {
            Response::Progress(progress) => self.emit(EngineEvent::Progress(progress)),
            Response::Loaded(model) => self.change(LoadedModel::Adapted(model)),
            Response::LoadedBare(model) => self.change(LoadedModel::Bare(model)),
            Response::Refused { message } | Response::Failed { message, .. } => {
                self.dismiss_next(Some(message));
            }
            Response::Cancelled => self.dismiss_next(None),
            _ => {}
        }
    }

    /// Puts the other model to work: the earlier one is dropped, and all pictures are read again.
    fn change(&mut self, model: LoadedModel) {
        let Some(mut engine) = self.next.take() else {
            return;
        };
        self.end_main();
        self.source = engine.source.clone();
        self.strikes.clear(LoadKind::Cpu, &self.source);
        engine.model = Some(model.clone());
        self.main = Some(engine);
        self.repost_queries();
        self.note_probe(&model);
        self.emit(EngineEvent::Changed(model));
        // The page takes pictures off that this model does not know, before any is read.
        self.awaits_barrier = true;
        self.actions.push(Action::AddBarrier);
    }

    /// Ends the engine at work, and all that belongs to its model; what it was asked waits for the next.
    fn end_main(&mut self) {
        if let Some(before) = self.main.take() {
            self.terminate(&before);
            self.strikes.end(before.kind.into(), &before.source);
            self.strikes.end(LoadKind::ImageEncoder, &before.source);
        }
        self.end_upgrade();
        self.forget_model();
        self.queue.put_back();
    }

    /// Ends the load of another model.
    pub(super) fn dismiss_next(&mut self, message: Option<String>) {
        self.end_next();
        self.emit(EngineEvent::GivenUp(message));
    }

    fn end_next(&mut self) {
        if let Some(engine) = self.next.take() {
            self.terminate(&engine);
            self.strikes.end(LoadKind::Cpu, &engine.source);
        }
    }

    /// Pauses or resumes the load that runs.
    pub(super) fn post_to_load(&mut self, request: Request) {
        let now = self.now;
        let Some(engine) = self.next.as_mut().or(self.main.as_mut()) else {
            return;
        };
        engine.is_paused = request == Request::Pause;
        engine.heard_at = now;
        let serial = engine.serial;
        self.post(serial, request);
    }

    /// Ends the load that runs.
    pub(super) fn cancel(&mut self) {
        if self.next.is_some() {
            return self.dismiss_next(None);
        }
        let now = self.now;
        if let Some(engine) = &mut self.main {
            engine.cancelled_at = Some(now);
            engine.is_paused = false;
            let serial = engine.serial;
            self.post(serial, Request::Cancel);
        }
    }

    /// Forgets captions, adapters, probes and counts of the model that answered so far.
    fn forget_model(&mut self) {
        self.captions = Captions::default();
        self.adapters = Adapters::None;
        self.probes = None;
        self.upgrade = Upgrade::default();
        self.n_deaths = 0;
        for picture in &mut self.pictures {
            picture.n_deaths = 0;
        }
    }

    /// Keeps the embedding with which a second engine is compared where no golden values are known.
    fn note_probe(&mut self, model: &LoadedModel) {
        if let LoadedModel::Bare(model) = model {
            self.probes = Some(Probes {
                caption: model.probe.clone(),
                picture: None,
            });
        }
    }

    /// The engine at work, if it has its model.
    pub(super) fn ready(&mut self) -> Option<&mut WatchedEngine> {
        self.main.as_mut().filter(|engine| engine.model.is_some())
    }
}
