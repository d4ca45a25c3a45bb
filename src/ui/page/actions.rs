//! A visitor's actions: on captions, on pictures, on their order, and on the pair that is chosen.

use leptos::prelude::*;

use crate::explorer::{
    CaptionView, Direction, Event, ExplorerState, History, KeyedCaption, MAX_CAPTIONS, ModelSource,
    OWN, PagePicture,
};
use crate::ui::dom::browser;
use crate::ui::engine::asked_kind;
use crate::ui::page::gallery;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::pictures::{PictureFile, PictureState};
use crate::ui::page::state::{EngineState, HoveredCell, PageState};

/// Greatest number of the visitor's own pictures that can be put back; each is a file in memory.
const MAX_TAKEN_OFF: usize = 6;

impl PageState {
    /// Hears from now on what becomes of engines, and what became of them so far.
    pub(crate) fn hear_engines(self) {
        self.client.with_value(|client| {
            client.report_to(move |event| self.handle_engine_event(event));
        });
    }

    /// Starts the engine asked for, or the CPU engine, which answers soonest.
    pub(crate) fn start_engine(self, source: ModelSource) {
        if asked_kind().is_some() {
            self.choice.set("the address asks for it".into());
        }
        self.client.with_value(|client| client.start(source));
    }

    /// Has something done by the program that the page does not open with.
    pub(crate) fn do_later(self, task: LaterTask) {
        self.tasks.update(|tasks| tasks.push(task));
    }

    /// Sends an event to the supervisor of the engines.
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
        self.keep_step(None);
        let key = self
            .state
            .try_update(|state| state.captions.add(text))
            .flatten();
        match key {
            Some(key) => self.cursor.send(key),
            None => self.notify(format!(
                "{MAX_CAPTIONS} captions are as many as fit. Remove one to add another."
            )),
        }
    }

    /// Changes a caption's words.
    pub(crate) fn edit_caption(self, key: u64, text: String) {
        self.edited.set(Some(key));
        self.keep_step(Some(key));
        self.state.update(|state| state.captions.edit(key, text));
    }

    /// Puts other words in a caption's place, as one step.
    pub(crate) fn replace_caption(self, key: u64, text: String) {
        self.keep_step(None);
        self.state.update(|state| state.captions.edit(key, text));
    }

    /// Removes a caption; the cursor goes to the one that takes its place.
    pub(crate) fn remove_caption(self, key: u64) {
        self.keep_step(None);
        let neighbour = self.state.try_update(|state| {
            let row = state.captions.index(key)?;
            self.notify_removed(&state.captions[row].text);
            state.remove_caption(key);
            let next = state.captions.get(row).or(state.captions.last());
            next.map(|caption| caption.key)
        });
        // On a screen that is touched a cursor would open the keyboard.
        if let Some(neighbour) = neighbour.flatten().filter(|_| browser::has_mouse()) {
            self.cursor.leave(neighbour);
        }
    }

    /// Moves a caption by one row.
    pub(crate) fn move_caption(self, key: u64, direction: Direction) {
        self.keep_step(None);
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
        self.keep_step(None);
        self.change(&mut |state| {
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
        self.keep_step(None);
        self.change(&mut |state| state.sort_pictures(|image| measured(key, image)));
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
        self.pointed.set(HoveredCell {
            caption,
            image: image.map(str::to_owned),
        });
    }

    /// Chooses the pair whose numbers are spelled out.
    pub(crate) fn touch(self, key: u64, image: &str) {
        self.edited.set(Some(key));
        self.change(&mut |state| {
            state.caption = Some(key);
            state.picture = Some(image.to_owned());
        });
    }

    /// A name for the visitor's next picture, never used before on this page.
    pub(crate) fn own_id(self) -> String {
        self.n_own.update_value(|n| *n += 1);
        format!("{OWN}{}", self.n_own.get_value())
    }

    /// Removes a picture at the visitor's word and announces it; the file of one of their own is kept.
    pub(crate) fn remove_and_announce(self, id: &str) {
        let file = self.files.with_untracked(|files| files.get(id).cloned());
        self.notify_removed(file.as_ref().map_or(id, |file| &file.alt));
        let own = file.filter(|file| file.bytes.is_some());
        self.remove_from_page(id);
        self.taken_off.update_value(|kept| {
            kept.extend(own.map(|file| (id.to_owned(), file)));
            let n_old = kept.len().saturating_sub(MAX_TAKEN_OFF);
            kept.drain(..n_old).for_each(|(_, file)| file.release());
        });
    }

    /// Says that something was removed, and how it comes back.
    pub(crate) fn notify_removed(self, what: &str) {
        self.spoken
            .set(format!("removed: {what}; Control and Z bring it back"));
    }

    /// Restores one of the visitor's own pictures that was removed; `false` if its file is not kept.
    pub(crate) fn restore_picture(self, id: &str) -> bool {
        let kept = self.taken_off.try_update_value(|kept| {
            let at = kept.iter().position(|(known, _)| known == id)?;
            Some(kept.remove(at).1)
        });
        let Some(mut file) = kept.flatten() else {
            return false;
        };
        let bytes = file.bytes.clone().unwrap_or_default();
        file.state = PictureState::Unread;
        self.files
            .update(|files| _ = files.insert(id.to_owned(), file));
        self.supervise(Event::AddPicture(PagePicture {
            image: id.to_owned(),
            bytes,
            recorded: None,
        }));
        true
    }

    /// Takes a picture off the page for good.
    pub(crate) fn remove_picture(self, id: &str) {
        if let Some(file) = self.remove_from_page(id) {
            file.release();
        }
    }

    fn remove_from_page(self, id: &str) -> Option<PictureFile> {
        self.change(&mut |state| state.remove_picture(id));
        self.supervise(Event::RemovePicture(id.to_owned()));
        self.files.try_update(|files| files.remove(id)).flatten()
    }

    /// Changes the page's state; compiled once, and not for each change.
    pub(crate) fn change(self, change: &mut dyn FnMut(&mut ExplorerState)) {
        self.state.update(|state| change(state));
    }

    /// Keeps the page as it is before the visitor changes it; see [`History::keep`](crate::explorer::History::keep).
    pub(crate) fn keep_step(self, place: Option<u64>) {
        let keep =
            |history: &mut History| self.state.with_untracked(|now| history.keep(now, place));
        self.history.update(keep);
    }

    /// Undoes the visitor's last step.
    pub(crate) fn undo(self) {
        let now = self.state.get_untracked();
        let undone = self.history.try_update(|history| history.undo(&now));
        let Some(mut undone) = undone.flatten() else {
            return;
        };
        let is_lost = |id: &&String| {
            let is_here = self.files.with_untracked(|files| files.contains_key(*id));
            let is_kept = || {
                self.taken_off
                    .with_value(|kept| kept.iter().any(|(known, _)| known == *id))
            };
            id.starts_with(OWN) && !is_here && !is_kept()
        };
        let lost: Vec<String> = undone.pictures.iter().filter(is_lost).cloned().collect();
        lost.iter().for_each(|id| undone.remove_picture(id));
        let gone = now
            .pictures
            .iter()
            .filter(|id| !undone.pictures.contains(id));
        gone.for_each(|id| self.remove_and_announce(id));
        let is_new = |caption: &&KeyedCaption| now.captions.index(caption.key).is_none();
        let back = undone
            .captions
            .iter()
            .rfind(is_new)
            .map(|caption| caption.key);
        self.state.set(undone);
        gallery::show_missing(self);
        if let Some(key) = back.filter(|_| browser::has_mouse()) {
            self.cursor.send(key);
        }
        self.spoken.set("undone".into());
    }
}
