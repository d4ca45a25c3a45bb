//! Pictures of the page, and what the engine at work has read of them.

use super::engine::{Job, WatchedEngine};
use super::event::{Action, EngineEvent, PagePicture};
use super::machine::{OwnPicture, Supervisor};
use super::strikes::LoadKind;
use crate::protocol::{ImageReading, RecordedPicture, Request};

impl Supervisor {
    pub(super) fn add_picture(&mut self, picture: PagePicture) {
        let PagePicture {
            image,
            bytes,
            recorded,
        } = picture;
        self.pictures.push(OwnPicture {
            image,
            bytes,
            recorded,
            n_deaths: 0,
        });
    }

    pub(super) fn remove_picture(&mut self, image: &str) {
        self.pictures.retain(|picture| picture.image != image);
        for engine in [&mut self.main, &mut self.upgrade.engine] {
            let Some(engine) = engine.as_mut().filter(|engine| engine.model.is_some()) else {
                continue;
            };
            engine.forget_picture(image);
            let image = image.to_owned();
            let request = Request::RemoveImage { image };
            self.actions.push(Action::Post(engine.serial, request));
        }
    }

    /// The picture that the engine at work is to read next; none while one waits for the image encoder.
    pub(super) fn next_picture(&self, engine: &WatchedEngine) -> Option<&OwnPicture> {
        let unread = |picture: &&OwnPicture| !engine.has_read.contains(&picture.image);
        let is_free = engine.waiting_picture.is_none();
        self.pictures.iter().find(unread).filter(|_| is_free)
    }

    pub(super) fn unread_names<'a>(
        &'a self,
        engine: &'a WatchedEngine,
    ) -> impl Iterator<Item = &'a String> {
        let names = self.pictures.iter().map(|picture| &picture.image);
        names.filter(|image| !engine.has_read.contains(*image))
    }

    /// The picture that the engine was to read waits for the image encoder; captions are answered meanwhile.
    pub(super) fn image_encoder_loads(&mut self) {
        self.strikes.begin(LoadKind::ImageEncoder, &self.source);
        let Some(engine) = &mut self.main else { return };
        engine.loads_images = true;
        if let Some(Job::Picture(image)) = &engine.job {
            engine.waiting_picture = Some(image.clone());
        }
        engine
            .job
            .take_if(|job| matches!(job, Job::Picture(_) | Job::GonePicture(_)));
    }

    pub(super) fn image_encoder_loaded(&mut self) {
        self.strikes.clear(LoadKind::ImageEncoder, &self.source);
        if let Some(engine) = &mut self.main {
            engine.loads_images = false;
        }
    }

    /// Whether the engine at work was to read this picture of the page, and now has.
    fn picture_done(&mut self, image: &str) -> bool {
        let Some(engine) = &mut self.main else {
            return false;
        };
        let is_done = engine.complete_picture(image);
        if is_done {
            self.n_deaths = 0;
        }
        is_done
    }

    /// Gives the engine at work the pictures that were recorded with its image encoder.
    pub(super) fn give_recorded(&mut self) {
        let Some(engine) = &mut self.main else { return };
        let serial = engine.serial;
        let taken = engine.take_recorded(recorded(&self.pictures));
        if taken.is_empty() {
            return;
        }
        let readings = taken.iter().map(|picture| picture.reading.clone());
        let readings: Vec<_> = readings.collect();
        self.post(serial, Request::AddRecorded(taken));
        for reading in readings {
            self.emit(EngineEvent::Picture(reading));
        }
        // The page asks anew, about these pictures too, before anything is answered without them.
        self.awaits_barrier = true;
        self.actions.push(Action::AddBarrier);
    }

    pub(super) fn picture_read(&mut self, reading: ImageReading) {
        let image = reading.image.clone();
        if self.complete_job(&Job::GeneratedPicture(image.clone()))
            || self.complete_job(&Job::GonePicture(image.clone()))
            || !self.picture_done(&image)
        {
            return;
        }
        let mut pictures = self.pictures.iter_mut();
        let picture = pictures.find(|picture| picture.image == image);
        if let (Some(engine), Some(picture)) = (&mut self.main, picture) {
            picture.n_deaths = 0;
            engine.has_read.insert(image);
            self.emit(EngineEvent::Picture(reading));
        }
        // Only now are all weights on this machine, so that a second engine downloads nothing.
        let is_on_cpu = self.main.as_ref().is_some_and(WatchedEngine::is_on_cpu);
        if is_on_cpu && !self.source.is_built_in() {
            self.probe_gpu();
        }
    }

    pub(super) fn picture_refused(&mut self, image: String, message: String) {
        if self.complete_job(&Job::GeneratedPicture(image.clone())) {
            let id = self.queue.sent().map_or(0, |sent| sent.id);
            return self.request_failed(id, message);
        }
        if let Some(engine) = &mut self.main
            && engine.loads_images
        {
            // The image encoder does not come: cancelled, or without a network.
            engine.loads_images = false;
            self.strikes.end(LoadKind::ImageEncoder, &self.source);
        }
        if !self.complete_job(&Job::GonePicture(image.clone())) && self.picture_done(&image) {
            self.drop_picture(image, message);
        }
    }

    /// Takes a picture off the page, with the reason.
    pub(super) fn drop_picture(&mut self, image: String, message: String) {
        let n_before = self.pictures.len();
        self.pictures.retain(|picture| picture.image != image);
        if self.pictures.len() < n_before {
            self.emit(EngineEvent::PictureRefused { image, message });
        }
    }
}

impl OwnPicture {
    /// Request by which an engine reads the picture.
    pub(super) fn request(&self) -> Request {
        Request::AddImage {
            image: self.image.clone(),
            bytes: self.bytes.to_vec(),
        }
    }
}

/// What was recorded of these pictures.
pub(super) fn recorded(pictures: &[OwnPicture]) -> impl Iterator<Item = &RecordedPicture> {
    pictures
        .iter()
        .filter_map(|picture| picture.recorded.as_deref())
}
