//! The page's signals, and all that can happen to them.

use std::collections::BTreeMap;
use std::rc::Rc;

use leptos::prelude::*;

use super::browser;
use super::client::{Client, Event, Question};
use super::engine::{self, Kind};
use super::made::{self, Harmed, Made};
use super::pictures::{GalleryPicture, PictureFile, PictureState, read_pictures};
use crate::explorer::{
    Book, Direction, ExplorerState, MAX_CAPTIONS, OWN, Readings, Snapshot, Source, Want,
};
use crate::protocol::{Answer, ModelCard, Progress, Recorded};

const MANIFEST: &str = "./models/scenes/manifest.json";
/// Notices on the page at most; older ones make room.
const MAX_NOTICES: usize = 4;

/// Everything the page's parts share; copied freely, since it holds only handles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exhibit {
    pub(super) state: RwSignal<ExplorerState>,
    pub(super) snapshot: RwSignal<Option<Snapshot>>,
    pub(super) readings: Memo<Readings>,
    pub(super) files: RwSignal<BTreeMap<String, PictureFile>>,
    pub(super) gallery: RwSignal<Vec<GalleryPicture>>,
    pub(super) engine: RwSignal<EngineState>,
    /// Why the engine at work is the one at work.
    pub(super) choice: RwSignal<String>,
    pub(super) notices: RwSignal<Vec<Notice>>,
    /// What a screen reader is told.
    pub(super) spoken: RwSignal<String>,
    /// The caption whose field should take the cursor.
    pub(super) fresh: RwSignal<Option<u64>>,
    /// The caption edited last.
    pub(super) edited: RwSignal<Option<u64>>,
    /// The row and the column under the pointer.
    pub(super) pointed: RwSignal<Pointed>,
    /// The pair whose numbers are spelled out: the visitor's choice, or the best caption of the chosen picture.
    pub(super) touched: Memo<Option<(u64, String)>>,
    pub(super) question: Memo<Question>,
    pub(super) failed: RwSignal<bool>,
    /// What is known of captions that a view asks about, in rows of the matrix or not.
    pub(super) book: RwSignal<Book>,
    /// What the open view asks and the engine has not answered.
    pub(super) missing: Memo<Want>,
    pub(super) failed_aside: RwSignal<bool>,
    /// What the open view asks to be made.
    pub(super) wanted_made: Memo<Option<Made>>,
    /// What was made and answered last.
    pub(super) made: RwSignal<Option<Made>>,
    /// The picture that was harmed last.
    pub(super) harmed: RwSignal<Option<Harmed>>,
    pub(super) client: StoredValue<Client, LocalStorage>,
    n_notices: StoredValue<u64>,
    n_own: StoredValue<u64>,
}

/// The row and the column under the pointer, wherever on the page that is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pointed {
    pub(super) caption: Option<u64>,
    pub(super) image: Option<String>,
}

/// One message to the visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) key: u64,
    pub(super) text: String,
}

/// What the engine is doing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EngineState {
    Starting,
    Loading(Progress),
    Ready(Box<ModelCard>),
    Stopped(String),
    /// Loading crashed the page before; it waits for the visitor's word.
    Safe,
}

impl Exhibit {
    pub(super) fn new() -> Self {
        let state = RwSignal::new(ExplorerState::default());
        let snapshot = RwSignal::new(None::<Snapshot>);
        let files = RwSignal::new(BTreeMap::new());
        let readings = Memo::new(move |_| {
            let read = |snapshot: &Snapshot| state.with(|state| Readings::new(snapshot, state));
            snapshot.with(|snapshot| snapshot.as_ref().map(read).unwrap_or_default())
        });
        let question =
            Memo::new(move |_| state.with(|state| files.with(|files| question(state, files))));
        let touched = Memo::new(move |_| {
            let (chosen, image, first) = state.with(|state| {
                (
                    state.caption,
                    state.picture.clone(),
                    state.captions.first().map(|caption| caption.key),
                )
            });
            let image = image?;
            let best = || readings.with(|readings| readings.best_caption(&image));
            Some((chosen.or_else(best).or(first)?, image))
        });
        let book = RwSignal::new(Book::default());
        let missing = Memo::new(move |_| {
            let want = state.with(|state| {
                let images = files.with(|files| read_pictures(state, files));
                Want::of_view(state, images)
            });
            book.with(|book| book.missing(&want))
        });
        let harmed = RwSignal::new(None::<Harmed>);
        let wanted_made = Memo::new(move |_| {
            state.with(|state| harmed.with(|harmed| made::wanted(state, harmed.as_ref())))
        });
        // The client is made before the page that it reports to.
        let page = StoredValue::new_local(None::<Self>);
        let report = move |event| {
            if let Some(exhibit) = page.get_value() {
                exhibit.happened(event);
            }
        };
        let client = Client::new(browser::beside_page(MANIFEST), Rc::new(report));
        let exhibit = Self {
            state,
            snapshot,
            readings,
            files,
            gallery: RwSignal::default(),
            engine: RwSignal::new(EngineState::Starting),
            choice: RwSignal::default(),
            notices: RwSignal::default(),
            spoken: RwSignal::default(),
            fresh: RwSignal::new(None),
            edited: RwSignal::new(None),
            pointed: RwSignal::default(),
            touched,
            question,
            failed: RwSignal::new(false),
            book,
            missing,
            failed_aside: RwSignal::new(false),
            wanted_made,
            made: RwSignal::new(None),
            harmed,
            client: StoredValue::new_local(client),
            n_notices: StoredValue::new(0),
            n_own: StoredValue::new(0),
        };
        page.set_value(Some(exhibit));
        exhibit
    }

    /// Starts the engine asked for, or the CPU engine, which answers soonest.
    pub(super) fn start_engine(self) {
        self.engine.set(EngineState::Starting);
        let asked = Kind::asked_for();
        if asked.is_some() {
            self.choice.set("the address asks for it".into());
        }
        self.client
            .with_value(|client| client.start(asked.unwrap_or(Kind::Cpu)));
    }

    /// Loads even though loading crashed the page before.
    pub(super) fn leave_safe_mode(self) {
        engine::load_ends();
        self.start_engine();
    }

    /// Tells the visitor something once.
    pub(super) fn tell(self, text: impl Into<String>) {
        let text = text.into();
        let key = self.n_notices.get_value() + 1;
        self.n_notices.set_value(key);
        self.notices.update(|notices| {
            notices.retain(|notice| notice.text != text);
            notices.push(Notice { key, text });
            let n_old = notices.len().saturating_sub(MAX_NOTICES);
            notices.drain(..n_old);
        });
    }

    /// Adds a caption and puts the cursor into it.
    pub(super) fn add_caption(self, text: &str) {
        let key = self
            .state
            .try_update(|state| state.add_caption(text))
            .flatten();
        match key {
            Some(key) => self.fresh.set(Some(key)),
            None => self.tell(format!(
                "{MAX_CAPTIONS} captions are as many as fit. Remove one to add another."
            )),
        }
    }

    /// Changes a caption's words.
    pub(super) fn edit_caption(self, key: u64, text: String) {
        self.edited.set(Some(key));
        self.state.update(|state| state.edit_caption(key, text));
    }

    /// Moves a caption by one row.
    pub(super) fn move_caption(self, key: u64, direction: Direction) {
        if self
            .state
            .try_update(|state| state.move_caption(key, direction))
            .unwrap_or(false)
        {
            let row = self.state.with_untracked(|state| {
                state.captions.iter().position(|caption| caption.key == key)
            });
            self.spoken
                .set(format!("moved to row {}", row.map_or(0, |row| row + 1)));
            self.fresh.set(Some(key));
        }
    }

    /// Takes note of where the pointer is.
    pub(super) fn point(self, caption: Option<u64>, image: Option<&str>) {
        self.pointed.set(Pointed {
            caption,
            image: image.map(str::to_owned),
        });
    }

    /// Whether the pointer is at this caption's row or mark.
    pub(super) fn points_at_caption(self, key: u64) -> bool {
        self.pointed.with(|pointed| pointed.caption == Some(key))
    }

    /// Whether the pointer is at this picture or its column.
    pub(super) fn points_at_picture(self, id: &str) -> bool {
        self.pointed
            .with(|pointed| pointed.image.as_deref() == Some(id))
    }

    /// Sorts the captions by κ, or by the bars of a picture's column.
    pub(super) fn sort_captions(self, image: Option<&str>) {
        let readings = self.readings.get_untracked();
        self.state.update(|state| {
            let measure = state.measure;
            state.sort_captions(|caption| match image {
                Some(image) => Some(readings.pair(caption.key, image)?.measured(measure)),
                None => Some(readings.caption(caption.key)?.concentration),
            });
        });
        let first = self
            .state
            .with_untracked(|state| state.captions.first().map(|caption| caption.text.clone()));
        self.spoken
            .set(format!("sorted; first: {}", first.unwrap_or_default()));
    }

    /// Sorts the pictures by the bars of a caption's row.
    pub(super) fn sort_pictures(self, key: u64) {
        let readings = self.readings.get_untracked();
        self.state.update(|state| {
            let measure = state.measure;
            state.sort_pictures(|image| Some(readings.pair(key, image)?.measured(measure)));
        });
        self.spoken.set("pictures sorted".into());
    }

    /// Chooses the pair whose numbers are spelled out.
    pub(super) fn touch(self, key: u64, image: &str) {
        self.state.update(|state| {
            state.caption = Some(key);
            state.picture = Some(image.to_owned());
        });
    }

    /// A name for the visitor's next picture, never used before on this page.
    pub(super) fn own_id(self) -> String {
        self.n_own.update_value(|n| *n += 1);
        format!("{OWN}{}", self.n_own.get_value())
    }

    /// Takes a picture off the page.
    pub(super) fn remove_picture(self, id: &str) {
        self.state.update(|state| state.remove_picture(id));
        let file = self.files.try_update(|files| files.remove(id)).flatten();
        if let Some(file) = file {
            file.release();
        }
        self.client.with_value(|client| client.remove_picture(id));
    }

    /// Shows what was recorded with the model, unless an engine was faster.
    pub(super) fn show_recorded(self, recorded: Recorded) {
        if self.snapshot.with_untracked(Option::is_some) {
            return;
        }
        let keys = self.state.with_untracked(|state| {
            let key_of = |text: &str| {
                state
                    .captions
                    .iter()
                    .find(|caption| caption.text == text)
                    .map(|caption| caption.key)
            };
            // No caption has the key 0: what is not on the page is not shown.
            recorded
                .answer
                .captions
                .iter()
                .map(|reading| key_of(&reading.caption).unwrap_or(0))
                .collect()
        });
        self.learn(&recorded.card, &recorded.answer, Source::Past);
        self.snapshot.set(Some(Snapshot {
            card: recorded.card,
            keys,
            answer: recorded.answer,
            recorded: true,
        }));
    }

    fn learn(self, card: &ModelCard, answer: &Answer, source: Source) {
        self.book.update(|book| book.learn(card, answer, source));
    }

    fn happened(self, event: Event) {
        match event {
            Event::Progress(progress) => self.engine.set(EngineState::Loading(progress)),
            Event::Loaded(card) => {
                self.book.update(Book::outdate);
                self.made.set(None);
                self.engine.set(EngineState::Ready(card));
            }
            Event::Stopped(reason) => {
                self.tell(format!("No engine runs: {reason}. What was computed before stays on the page. Reload to try again."));
                self.engine.set(EngineState::Stopped(reason));
            }
            Event::Answered(snapshot) => {
                self.failed.set(false);
                self.learn(&snapshot.card, &snapshot.answer, Source::Engine);
                self.snapshot.set(Some(*snapshot));
            }
            Event::AnsweredAside(answered) => {
                self.failed_aside.set(false);
                self.learn(&answered.card, &answered.answer, Source::Engine);
                if answered.question.made.is_some() {
                    self.made.set(answered.question.made);
                }
            }
            Event::Picture(reading) => self.files.update(|files| {
                if let Some(file) = files.get_mut(&reading.image) {
                    file.state = PictureState::Read(reading);
                }
            }),
            Event::PictureRefused { image, message } => self.refuse_picture(&image, &message),
            Event::Failed(message) => {
                self.failed.set(true);
                self.tell_failure(&message);
            }
            Event::FailedAside(message) => {
                self.failed_aside.set(true);
                self.tell_failure(&message);
            }
            Event::Restarted(words) => {
                self.choice.set("the engine before it stopped".into());
                self.engine.set(EngineState::Starting);
                self.tell(format!("The engine was started again ({words}). Your captions and pictures are still here."));
            }
            Event::Choice(reason) => self.choice.set(reason),
        }
    }

    fn tell_failure(self, message: &str) {
        self.tell(format!(
            "That could not be computed: {message}. The numbers from before are still here."
        ));
    }

    fn refuse_picture(self, image: &str, message: &str) {
        let name = self
            .files
            .with_untracked(|files| files.get(image).map(|file| file.alt.clone()));
        let name = name.unwrap_or_else(|| image.to_owned());
        self.remove_picture(image);
        self.tell(format!(
            "“{name}” was not added: {message}. Everything else is as it was."
        ));
    }
}

/// What to ask for this page: its captions that say something, and its pictures that were read.
fn question(state: &ExplorerState, files: &BTreeMap<String, PictureFile>) -> Question {
    let (keys, captions) = state.askable();
    Question {
        keys,
        captions,
        images: read_pictures(state, files),
        ..Question::default()
    }
}
