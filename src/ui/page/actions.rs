//! A visitor's actions: on captions, on pictures, on their order, and on the pair that is chosen.

use leptos::prelude::*;

use crate::explorer::{CaptionView, Direction, Event, MAX_CAPTIONS, ModelSource, OWN};
use crate::ui::dom::browser;
use crate::ui::engine::asked_kind;
use crate::ui::page::state::{EngineState, PageState, Pointed};

impl PageState {
    /// Starts the engine asked for, or the CPU engine, which answers soonest.
    pub(crate) fn start_engine(self, source: ModelSource) {
        if asked_kind().is_some() {
            self.choice.set("the address asks for it".into());
        }
        self.client.with_value(|client| client.start(source));
    }

    /// Tells the supervisor of the engines what happened.
    pub(crate) fn supervise(self, event: Event) {
        self.client.with_value(|client| client.handle(event));
    }

    /// Tries a model that comes with the page again, whatever happened before, or begins at last.
    pub(crate) fn retry_engine(self) {
        let is_waiting = self.engine.get_untracked() == EngineState::SavesData;
        self.engine.set(EngineState::Starting);
        if is_waiting {
            let world = self.state.with_untracked(|state| state.model.world());
            self.start_engine(ModelSource::BuiltIn(world));
        } else {
            self.supervise(Event::Retry);
        }
    }

    /// Adds a caption and puts the cursor into it.
    pub(crate) fn add_caption(self, text: &str) {
        let key = self
            .state
            .try_update(|state| state.captions.add(text))
            .flatten();
        match key {
            Some(key) => self.cursor.send(key),
            None => self.tell(format!(
                "{MAX_CAPTIONS} captions are as many as fit. Remove one to add another."
            )),
        }
    }

    /// Changes a caption's words.
    pub(crate) fn edit_caption(self, key: u64, text: String) {
        self.edited.set(Some(key));
        self.state.update(|state| state.captions.edit(key, text));
    }

    /// Moves a caption by one row.
    pub(crate) fn move_caption(self, key: u64, direction: Direction) {
        let moved = self
            .state
            .try_update(|state| state.captions.move_by_one(key, direction));
        if moved == Some(true) {
            let row = self.state.with_untracked(|state| {
                state.captions.iter().position(|caption| caption.key == key)
            });
            self.spoken
                .set(format!("moved to row {}", row.map_or(0, |row| row + 1)));
            browser::keep_focus();
        }
    }

    /// Sorts the captions by κ, or by the bars of a picture's column.
    pub(crate) fn sort_captions(self, image: Option<&str>) {
        let readings = self.readings.get_untracked();
        let measured = self.measured();
        self.state.update(|state| {
            state.captions.sort(|caption| {
                let view = readings.caption(caption.key);
                match image {
                    _ if view.is_some_and(CaptionView::is_unread) => None,
                    Some(image) => measured(caption.key, image),
                    None => Some(view?.concentration),
                }
            });
        });
        let first = self
            .state
            .with_untracked(|state| state.captions.first().map(|caption| caption.text.clone()));
        self.spoken
            .set(format!("sorted; first: {}", first.unwrap_or_default()));
    }

    /// Sorts the pictures by the bars of a caption's row.
    pub(crate) fn sort_pictures(self, key: u64) {
        let measured = self.measured();
        self.state
            .update(|state| state.sort_pictures(|image| measured(key, image)));
        self.spoken.set("pictures sorted".into());
    }

    /// The value of each pair's bar, as it is now.
    fn measured(self) -> impl Fn(u64, &str) -> Option<f64> + use<> {
        let (readings, cosines) = (self.readings.get_untracked(), self.cosines.get_untracked());
        let measure = self.state.with_untracked(|state| state.measure);
        move |key, image| match cosines.pair(key, image) {
            Some(view) => Some(view.cosine),
            None => Some(readings.pair(key, image)?.measured(measure)),
        }
    }

    /// Takes note of where the pointer is.
    pub(crate) fn point(self, caption: Option<u64>, image: Option<&str>) {
        self.pointed.set(Pointed {
            caption,
            image: image.map(str::to_owned),
        });
    }

    /// Chooses the pair whose numbers are spelled out.
    pub(crate) fn touch(self, key: u64, image: &str) {
        self.state.update(|state| {
            state.caption = Some(key);
            state.picture = Some(image.to_owned());
        });
    }

    /// A name for the visitor's next picture, never used before on this page.
    pub(crate) fn own_id(self) -> String {
        self.n_own.update_value(|n| *n += 1);
        format!("{OWN}{}", self.n_own.get_value())
    }

    /// Takes a picture off the page.
    pub(crate) fn remove_picture(self, id: &str) {
        self.state.update(|state| state.remove_picture(id));
        let file = self.files.try_update(|files| files.remove(id)).flatten();
        if let Some(file) = file {
            file.release();
        }
        self.supervise(Event::RemovePicture(id.to_owned()));
    }
}
