//! The GPU engine beside the CPU engine: loaded, compared, and put to work if it is faster on this device.

use super::engine::Job;
use super::event::{Action, EngineEvent};
use super::machine::{OwnPicture, Supervisor};
use super::model::{EngineKind, LoadedModel};
use super::pictures::recorded;
use super::strikes::LoadKind;
use crate::protocol::{ImageReading, Request, Response};

impl Supervisor {
    /// Finds out whether a GPU engine is worth a try, once for each model.
    pub(super) fn probe_gpu(&mut self) {
        if self.asked_kind.is_some() || self.n_deaths > 0 {
            return;
        }
        if std::mem::replace(&mut self.upgrade.is_tried, true) {
            return;
        }
        if self.strikes.is_out(LoadKind::Upgrade, &self.source) {
            return self.emit(EngineEvent::BackendChosen(
                "the GPU engine stopped twice while it loaded this model".to_owned(),
            ));
        }
        self.actions.push(Action::ProbeGpu);
    }

    pub(super) fn gpu_probed(&mut self, found: Result<(), String>) {
        // The answer may concern another model, or an engine that is gone.
        if !self.upgrade.is_tried || self.upgrade.engine.is_some() || self.ready().is_none() {
            return;
        }
        match found {
            Err(reason) => self.emit(EngineEvent::BackendChosen(reason)),
            Ok(()) => self.begin_upgrade(),
        }
    }

    /// Starts the GPU engine; without golden values, it needs the embedding of a picture to be compared with.
    fn begin_upgrade(&mut self) {
        let lacks_picture = self.probes.as_ref().is_some_and(|p| p.picture.is_none());
        if lacks_picture && !self.source.is_built_in() {
            self.upgrade.needs_probe = true;
        } else {
            self.open_upgrade();
        }
    }

    /// The embedding of the picture by which engines are compared is known.
    pub(super) fn picture_probed(&mut self, embedding: Vec<f32>) {
        if let Some(engine) = &mut self.main {
            engine.complete_job(&Job::PictureProbe);
        }
        if let Some(probes) = &mut self.probes {
            probes.picture = Some(embedding);
            self.open_upgrade();
        }
    }

    pub(super) fn open_upgrade(&mut self) {
        self.strikes.begin(LoadKind::Upgrade, &self.source);
        let engine = self.spawn(EngineKind::Gpu, self.source.clone());
        self.upgrade.engine = Some(engine);
    }

    /// Handles a response of the engine in the background.
    pub(super) fn handle_upgrade_response(&mut self, response: Response) {
        match response {
            Response::Loaded(model) => self.compare(LoadedModel::Adapted(model)),
            Response::LoadedBare(model) => self.compare(LoadedModel::Bare(model)),
            Response::Refused { message } | Response::Failed { message, .. } => {
                self.dismiss_upgrade(&message);
            }
            Response::ImageAdded(ImageReading { image, .. })
            | Response::ImageRefused { image, .. } => {
                if let Some(engine) = &mut self.upgrade.engine
                    && !engine.complete_job(&Job::GonePicture(image.clone()))
                    && engine.complete_picture(&image)
                {
                    engine.has_read.insert(image);
                }
            }
            _ => {}
        }
    }

    /// Keeps the GPU engine if it is faster on this device.
    fn compare(&mut self, model: LoadedModel) {
        self.strikes.clear(LoadKind::Upgrade, &self.source);
        let cpu = self.cpu_millis();
        let Some(engine) = &mut self.upgrade.engine else {
            return;
        };
        match engine.pass_millis.zip(cpu) {
            Some((gpu, cpu)) if gpu < cpu => engine.model = Some(model),
            Some((gpu, cpu)) => self.dismiss_upgrade(&format!(
                "the GPU takes {gpu:.0} ms where the CPU takes {cpu:.0}"
            )),
            None => self.dismiss_upgrade("the two engines could not be compared"),
        }
    }

    /// Milliseconds of a pass of the CPU engine, with which a GPU engine is compared.
    fn cpu_millis(&self) -> Option<f64> {
        self.main.as_ref()?.pass_millis
    }

    /// An engine has told how long a pass takes. From then on the CPU engine, with a model that comes with the page, is
    /// compared with a GPU engine.
    pub(super) fn pass_timed(&mut self, serial: u64, millis: f64) {
        if let Some(engine) = self.engine(serial) {
            engine.pass_millis = Some(millis);
        }
        let is_on_cpu = self
            .main
            .as_ref()
            .is_some_and(|engine| engine.serial == serial && engine.is_on_cpu());
        if is_on_cpu && self.source.is_built_in() {
            self.probe_gpu();
        }
    }

    /// Gives the GPU engine the next picture, or puts it to work once it has read all of them.
    pub(super) fn pump_upgrade(&mut self) {
        let now = self.now;
        let Some(engine) = &mut self.upgrade.engine else {
            return;
        };
        if engine.model.is_none() || engine.job.is_some() {
            return;
        }
        let serial = engine.serial;
        let taken = engine.take_recorded(recorded(&self.pictures));
        let unread = |picture: &&OwnPicture| !engine.has_read.contains(&picture.image);
        let next = self.pictures.iter().find(unread);
        let next = next.map(|picture| (picture.image.clone(), picture.request()));
        if let Some((image, _)) = &next {
            engine.ask(Job::Picture(image.clone()), now);
        }
        if !taken.is_empty() {
            self.post(serial, Request::AddRecorded(taken));
        }
        match next {
            Some((_, request)) => self.post(serial, request),
            None => self.promote_upgrade(),
        }
    }

    /// Puts the GPU engine to work; what was asked meanwhile is asked again.
    fn promote_upgrade(&mut self) {
        let Some(engine) = self.upgrade.engine.take() else {
            return;
        };
        let (model, gpu) = (engine.model.clone(), engine.pass_millis);
        let cpu = self.cpu_millis();
        if let Some(before) = self.main.replace(engine) {
            self.terminate(&before);
            self.strikes.end(LoadKind::ImageEncoder, &before.source);
        }
        self.queue.put_back();
        self.repost_queries();
        if let (Some(model), Some(gpu), Some(cpu)) = (model, gpu, cpu) {
            self.emit(EngineEvent::BackendChosen(format!(
                "it takes {gpu:.0} ms where the CPU takes {cpu:.0}"
            )));
            self.emit(EngineEvent::Loaded(model));
        }
    }

    /// Ends the engine in the background, and says why.
    pub(super) fn dismiss_upgrade(&mut self, reason: &str) {
        self.end_upgrade();
        self.emit(EngineEvent::BackendChosen(reason.to_owned()));
    }

    pub(super) fn end_upgrade(&mut self) {
        if let Some(engine) = self.upgrade.engine.take() {
            self.terminate(&engine);
            self.strikes.end(LoadKind::Upgrade, &engine.source);
        }
    }
}
