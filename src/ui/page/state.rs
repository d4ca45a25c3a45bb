//! The page's signals, and all that can happen to them.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;

use crate::explorer::{
    AnswerSource, Compared, Cosines, Direction, Event, ExplorerState, Extent, GeneratedAnswers,
    GeneratedRequest, LoadedModel, Locks, MAX_CAPTIONS, Measure, ModelChoice, ModelSource, OWN,
    PairView, ReadingCache, ReadingRequest, Readings, ScoreRequest, Snapshot, View,
};
use crate::protocol::{Progress, Recorded};
use crate::ui::dom::browser;
use crate::ui::engine::{Client, asked_kind};
use crate::ui::model_panel::ModelsState;
use crate::ui::page::corrupted::CorruptedPictures;
use crate::ui::page::lessons;
use crate::ui::page::lessons::LessonTexts;
use crate::ui::page::pictures::{GalleryPicture, PictureFile, read_pictures, written_captions};
use crate::ui::panels::line_field::Cursor;

/// Notices on the page at most; older ones make room.
const MAX_NOTICES: usize = 4;

/// Everything the page's parts share; copied freely, since it holds only handles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageState {
    pub(crate) state: RwSignal<ExplorerState>,
    pub(crate) snapshot: RwSignal<Option<Snapshot>>,
    pub(crate) readings: Memo<Readings>,
    /// The newest answer of a model without adapters.
    pub(crate) compared: RwSignal<Option<Compared>>,
    pub(crate) cosines: Memo<Cosines>,
    pub(crate) files: RwSignal<BTreeMap<String, PictureFile>>,
    pub(crate) gallery: RwSignal<Vec<GalleryPicture>>,
    pub(crate) engine: RwSignal<EngineState>,
    /// Whether the model at work has no adapters, so that no caption has a κ.
    pub(crate) is_bare: Memo<bool>,
    /// The models, and what goes on with them.
    pub(crate) models: ModelsState,
    /// Why the engine at work is the one at work.
    pub(crate) choice: RwSignal<String>,
    pub(crate) notices: RwSignal<Vec<Notice>>,
    /// What a screen reader is told.
    pub(crate) spoken: RwSignal<String>,
    /// The caption that takes the cursor.
    pub(crate) cursor: Cursor,
    /// The caption edited last.
    pub(crate) edited: RwSignal<Option<u64>>,
    /// The row and the column under the pointer.
    pub(crate) pointed: RwSignal<Pointed>,
    /// The pair whose numbers are spelled out: the visitor's choice, or the best caption of the chosen picture.
    pub(crate) touched: Memo<Option<(u64, String)>>,
    pub(crate) question: Memo<ScoreRequest>,
    pub(crate) failed: RwSignal<bool>,
    /// Captions that stopped an engine twice and are not sent any more.
    pub(crate) quarantined: RwSignal<BTreeSet<String>>,
    /// Whether the engine is silent for so long that the visitor may stop it.
    pub(crate) is_slow: RwSignal<bool>,
    /// What is known of captions that a view asks about, in rows of the matrix or not.
    pub(crate) cache: RwSignal<ReadingCache>,
    /// What the open view asks and the engine has not answered.
    pub(crate) missing: Memo<ReadingRequest>,
    pub(crate) failed_aside: RwSignal<bool>,
    /// What the open view asks to be made.
    pub(crate) wanted_pictures: Memo<Option<GeneratedRequest>>,
    /// What was made and answered last.
    pub(crate) made: RwSignal<GeneratedAnswers>,
    /// The picture that was corrupted last.
    pub(crate) corrupted: RwSignal<Option<CorruptedPictures>>,
    /// The texts of tour and lessons, once they were wanted.
    pub(crate) told: RwSignal<LessonTexts>,
    /// The page whose place the tour takes.
    pub(crate) before_tour: RwSignal<Option<ExplorerState>>,
    /// The view and the locks of the link that a teacher prepares.
    pub(crate) prepared: RwSignal<(View, Locks)>,
    pub(crate) client: StoredValue<Client, LocalStorage>,
    n_notices: StoredValue<u64>,
    n_own: StoredValue<u64>,
}

/// The row and the column under the pointer, wherever on the page that is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pointed {
    pub(crate) caption: Option<u64>,
    pub(crate) image: Option<String>,
}

/// One message to the visitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) key: u64,
    pub(crate) text: String,
}

/// What the engine is doing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EngineState {
    Starting,
    Loading(Progress),
    Ready(LoadedModel),
    Stopped(String),
    /// Loading crashed the page before; it waits for the visitor's word.
    Waits,
}

/// The pair that is read in words: the chosen picture with the chosen caption, else with its best one or the first.
fn touched_pair(state: &ExplorerState, readings: &Readings) -> Option<(u64, String)> {
    let image = state.picture.clone()?;
    let first = || state.captions.first().map(|caption| caption.key);
    let caption = state.caption.or_else(|| readings.best_caption(&image));
    Some((caption.or_else(first)?, image))
}

fn readings_of(
    state: RwSignal<ExplorerState>,
    snapshot: RwSignal<Option<Snapshot>>,
) -> Memo<Readings> {
    Memo::new(move |_| {
        let read = |snapshot: &Snapshot| state.with(|state| Readings::new(snapshot, state));
        snapshot.with(|snapshot| snapshot.as_ref().map(read).unwrap_or_default())
    })
}

fn cosines_of(
    state: RwSignal<ExplorerState>,
    compared: RwSignal<Option<Compared>>,
) -> Memo<Cosines> {
    Memo::new(move |_| {
        let read = |compared: &Compared| state.with(|state| Cosines::new(compared, state));
        compared.with(|compared| compared.as_ref().map(read).unwrap_or_default())
    })
}

/// What the open view asks of a model.
fn request_of(
    state: RwSignal<ExplorerState>,
    files: RwSignal<BTreeMap<String, PictureFile>>,
    gallery: RwSignal<Vec<GalleryPicture>>,
    told: RwSignal<LessonTexts>,
) -> ReadingRequest {
    state.with(|state| {
        let images = files.with(|files| read_pictures(state, files));
        let elsewhere = match state.view {
            View::Learn | View::Teach => told.with(lessons::captions),
            _ => gallery.with(|gallery| written_captions(state, gallery)),
        };
        ReadingRequest::of_view(state, images, elsewhere)
    })
}

/// A client that reports to the page, as soon as there is one.
fn client_of(slot: StoredValue<Option<PageState>, LocalStorage>) -> Client {
    Client::new(move |event| {
        if let Some(page) = slot.get_value() {
            page.happened(event);
        }
    })
}

impl PageState {
    pub(crate) fn new() -> Self {
        let state = RwSignal::new(ExplorerState::default());
        let snapshot = RwSignal::new(None::<Snapshot>);
        let files = RwSignal::new(BTreeMap::new());
        let readings = readings_of(state, snapshot);
        let compared = RwSignal::new(None::<Compared>);
        let cosines = cosines_of(state, compared);
        let engine = RwSignal::new(EngineState::Starting);
        let is_bare = Memo::new(move |_| {
            engine.with(|engine| matches!(engine, EngineState::Ready(LoadedModel::Bare(_))))
        });
        let quarantined = RwSignal::new(BTreeSet::new());
        let question = Memo::new(move |_| {
            let mut question = state.with(|state| files.with(|files| question(state, files)));
            question.retain(|caption| quarantined.with(|all| !all.contains(caption)));
            question
        });
        let touched = Memo::new(move |_| {
            state.with(|state| readings.with(|readings| touched_pair(state, readings)))
        });
        let cache = RwSignal::new(ReadingCache::default());
        let gallery = RwSignal::new(Vec::new());
        let told = RwSignal::new(None);
        let missing = Memo::new(move |_| {
            if is_bare.get() {
                return ReadingRequest::default();
            }
            let mut want = request_of(state, files, gallery, told);
            want.captions
                .retain(|caption| quarantined.with(|all| !all.contains(caption)));
            cache.with(|cache| cache.missing(&want))
        });
        let wanted_pictures = Memo::new(move |_| {
            if is_bare.get() {
                return None;
            }
            state.with(GeneratedRequest::of_view)
        });
        // The client is made before the page that it reports to.
        let slot = StoredValue::new_local(None::<Self>);
        let page = Self {
            state,
            snapshot,
            readings,
            compared,
            cosines,
            files,
            gallery,
            engine,
            is_bare,
            models: ModelsState::new(),
            choice: RwSignal::default(),
            notices: RwSignal::default(),
            spoken: RwSignal::default(),
            cursor: Cursor::default(),
            edited: RwSignal::new(None),
            pointed: RwSignal::default(),
            touched,
            question,
            failed: RwSignal::new(false),
            quarantined,
            is_slow: RwSignal::new(false),
            cache,
            missing,
            failed_aside: RwSignal::new(false),
            wanted_pictures,
            made: RwSignal::default(),
            corrupted: RwSignal::new(None),
            told,
            before_tour: RwSignal::new(None),
            prepared: RwSignal::default(),
            client: StoredValue::new_local(client_of(slot)),
            n_notices: StoredValue::new(0),
            n_own: StoredValue::new(0),
        };
        slot.set_value(Some(page));
        page
    }

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

    /// Tells the visitor something once.
    pub(crate) fn tell(self, text: impl Into<String>) {
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
        if self
            .state
            .try_update(|state| state.captions.move_by_one(key, direction))
            .unwrap_or(false)
        {
            let row = self.state.with_untracked(|state| {
                state.captions.iter().position(|caption| caption.key == key)
            });
            self.spoken
                .set(format!("moved to row {}", row.map_or(0, |row| row + 1)));
            browser::keep_focus();
        }
    }

    /// Takes note of where the pointer is.
    pub(crate) fn point(self, caption: Option<u64>, image: Option<&str>) {
        self.pointed.set(Pointed {
            caption,
            image: image.map(str::to_owned),
        });
    }

    /// Whether the pointer is at this caption's row or mark.
    pub(crate) fn points_at_caption(self, key: u64) -> bool {
        self.pointed.with(|pointed| pointed.caption == Some(key))
    }

    /// Whether the pointer is at this picture or its column.
    pub(crate) fn points_at_picture(self, id: &str) -> bool {
        self.pointed
            .with(|pointed| pointed.image.as_deref() == Some(id))
    }

    /// Sorts the captions by κ, or by the bars of a picture's column.
    pub(crate) fn sort_captions(self, image: Option<&str>) {
        let readings = self.readings.get_untracked();
        let measured = self.measured();
        self.state.update(|state| {
            state.captions.sort(|caption| match image {
                Some(image) => measured(caption.key, image),
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

    /// The scale that the bars of the matrix share.
    pub(crate) fn extent(self) -> Extent {
        if self.is_bare.get() {
            return self.cosines.with(|cosines| cosines.extent);
        }
        self.readings.with(|readings| readings.extent)
    }

    /// What the bars of the matrix are; without κ only cosines can be.
    pub(crate) fn measure(self) -> Measure {
        if self.is_bare.get() {
            return Measure::Cosine;
        }
        self.state.with(|state| state.measure)
    }

    /// A caption's numbers for a made picture of the open view, where they may be shown.
    pub(crate) fn made_pair(self, caption: &str, image: &str) -> Option<PairView> {
        let wanted = self.wanted_pictures.get()?;
        let family = self.state.with(|state| state.family);
        let may_show = self.made.with(|made| made.may_show(&wanted));
        let pair = || self.cache.with(|cache| cache.pair(caption, image, family));
        may_show.then(pair).flatten()
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

    /// Shows what was recorded with the built-in model, unless an engine was faster or the page is another model's.
    pub(crate) fn show_recorded(self, recorded: Recorded) {
        let model = self.state.with_untracked(|state| state.model);
        if self.snapshot.with_untracked(Option::is_some) || model != ModelChoice::Scenes {
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
        self.learn(&recorded.card, &recorded.answer, AnswerSource::Past);
        self.snapshot.set(Some(Snapshot {
            card: recorded.card,
            keys,
            answer: recorded.answer,
            recorded: true,
        }));
    }
}

/// What to ask for this page: its captions that say something, and its pictures that were read.
fn question(state: &ExplorerState, files: &BTreeMap<String, PictureFile>) -> ScoreRequest {
    let (keys, captions) = state.askable();
    ScoreRequest {
        keys,
        captions,
        images: read_pictures(state, files),
        ..ScoreRequest::default()
    }
}
