//! The page's signals: what there is, what follows from it, and how its parts read it.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;

use crate::explorer::views::studio::drawing::Drawing;
use crate::explorer::{
    CaptionView, CosineSnapshot, Cosines, ExplorerState, Extent, GeneratedAnswers,
    GeneratedRequest, History, KeyedCaption, LoadedModel, Locks, Measure, ModelChoice, PairView,
    ReadingCache, ReadingRequest, Readings, ScoreRequest, Snapshot, View, World, free_offset,
};
use crate::numerics::Family;
use crate::protocol::Progress;
use crate::ui::dom::cursor::Cursor;
use crate::ui::engine::Client;
use crate::ui::model_panel::ModelsState;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::lesson_texts;
use crate::ui::page::lesson_texts::LessonTexts;
use crate::ui::page::notices::Notices;
use crate::ui::page::pictures::{
    CorruptedPictures, GalleryPicture, PictureFile, WallPictures, read_pictures, written_captions,
};

/// Everything the page's parts share; copied freely, since it holds only handles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageState {
    /// What is to be done by a program that the page does not open with.
    pub(crate) tasks: RwSignal<Vec<LaterTask>>,
    /// All that a link restores.
    pub(crate) state: RwSignal<ExplorerState>,
    /// The newest answer about the matrix.
    pub(crate) snapshot: RwSignal<Option<Snapshot>>,
    pub(crate) readings: Memo<Readings>,
    /// The newest answer of a model without adapters.
    pub(crate) compared: RwSignal<Option<CosineSnapshot>>,
    pub(crate) cosines: Memo<Cosines>,
    /// The pictures of the wall.
    pub(crate) wall: RwSignal<WallPictures>,
    pub(crate) files: RwSignal<BTreeMap<String, PictureFile>>,
    pub(crate) gallery: RwSignal<Vec<GalleryPicture>>,
    /// The world that the gallery is of.
    pub(crate) gallery_world: StoredValue<World>,
    /// The world that is shown.
    pub(crate) world: Memo<World>,
    /// The page of another world, from which the visitor came.
    pub(crate) left: RwSignal<Option<ExplorerState>>,
    pub(crate) engine: RwSignal<EngineState>,
    /// Whether the model at work has no adapters, so that no caption has a κ.
    pub(crate) is_bare: Memo<bool>,
    /// The models, and which of them is at work or being loaded.
    pub(crate) models: ModelsState,
    /// Why the engine at work is the one at work.
    pub(crate) choice: RwSignal<String>,
    pub(crate) notices: Notices,
    /// Text for screen readers, read out when it changes.
    pub(crate) spoken: RwSignal<String>,
    /// The caption that takes the cursor.
    pub(crate) cursor: Cursor,
    /// The caption edited or chosen last.
    pub(crate) edited: RwSignal<Option<u64>>,
    /// The row and the column under the pointer.
    pub(crate) pointed: RwSignal<HoveredCell>,
    /// The pair whose numbers are spelled out: the visitor's choice, or the best caption of the chosen picture.
    pub(crate) touched: Memo<Option<(u64, String)>>,
    /// The request for the matrix: captions that say something, and pictures that an engine has read.
    pub(crate) question: Memo<ScoreRequest>,
    /// Whether that request failed.
    pub(crate) failed: RwSignal<bool>,
    /// Captions that stopped an engine twice and are not sent any more.
    pub(crate) quarantined: RwSignal<BTreeSet<String>>,
    /// The report of the last failure of an engine; empty before one.
    pub(crate) failure: RwSignal<String>,
    /// Whether the engine is silent for so long that the visitor may stop it.
    pub(crate) is_slow: RwSignal<bool>,
    /// Readings of captions that a view asks about, whether they are rows of the matrix or not.
    pub(crate) cache: RwSignal<ReadingCache>,
    /// Readings that the open view needs and the cache lacks.
    pub(crate) missing: Memo<ReadingRequest>,
    /// Whether the request for those failed.
    pub(crate) view_request_failed: RwSignal<bool>,
    /// Pictures that the open view generates, and the captions compared with them.
    pub(crate) generated_request: Memo<Option<GeneratedRequest>>,
    /// The generated pictures that were answered last.
    pub(crate) generated: RwSignal<GeneratedAnswers>,
    /// The corrupted copies of the picture that was corrupted last.
    pub(crate) corrupted: RwSignal<Option<CorruptedPictures>>,
    /// The texts of tour and lessons, once a view has asked for them.
    pub(crate) lesson_texts: RwSignal<LessonTexts>,
    /// The page from which the tour was started.
    pub(crate) before_tour: RwSignal<Option<ExplorerState>>,
    /// The view and the locks of the link that a teacher prepares.
    pub(crate) prepared: RwSignal<(View, Locks)>,
    pub(crate) client: StoredValue<Client, LocalStorage>,
    /// Changes that can be undone.
    pub(crate) history: RwSignal<History>,
    /// The visitor's own pictures that were taken off last, for those who want them back.
    pub(crate) taken_off: StoredValue<Vec<(String, PictureFile)>>,
    /// Number of the visitor's own pictures that were added.
    pub(crate) n_own: StoredValue<u64>,
}

/// The row and the column under the pointer, wherever on the page that is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HoveredCell {
    pub(crate) caption: Option<u64>,
    pub(crate) image: Option<String>,
}

/// State of the engine that answers the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EngineState {
    Starting,
    Loading(Progress),
    Ready(LoadedModel),
    Stopped(String),
    /// Loading crashed the page before; it waits for the visitor's word.
    SafeMode,
    /// The browser asks to save data; nothing is loaded before the visitor's word.
    SavesData,
}

impl PageState {
    pub(crate) fn new(client: Client) -> Self {
        let state = RwSignal::new(ExplorerState::start(World::Scenes, []));
        let (snapshot, compared) = (RwSignal::new(None), RwSignal::new(None));
        let (files, gallery) = (RwSignal::default(), RwSignal::default());
        let (cache, lesson_texts) = (RwSignal::default(), RwSignal::new(None));
        let engine = RwSignal::new(EngineState::Starting);
        let quarantined = RwSignal::default();
        let readings = read_with(state, snapshot, Readings::new);
        let is_bare = is_bare(engine);
        let models = ModelsState::new();
        Self {
            tasks: RwSignal::default(),
            state,
            snapshot,
            readings,
            compared,
            cosines: read_with(state, compared, Cosines::new),
            wall: RwSignal::new(WallPictures::new()),
            files,
            gallery,
            gallery_world: StoredValue::new(World::Scenes),
            world: Memo::new(move |_| shown_model(state, models).world()),
            left: RwSignal::new(None),
            engine,
            is_bare,
            models,
            choice: RwSignal::default(),
            notices: Notices::default(),
            spoken: RwSignal::default(),
            cursor: Cursor::default(),
            edited: RwSignal::new(None),
            pointed: RwSignal::default(),
            touched: touched(state, readings),
            question: question(state, files, quarantined),
            failed: RwSignal::new(false),
            quarantined,
            failure: RwSignal::default(),
            is_slow: RwSignal::new(false),
            cache,
            missing: without(
                missing(state, files, gallery, lesson_texts, is_bare, cache),
                quarantined,
            ),
            view_request_failed: RwSignal::new(false),
            generated_request: generated_request(state, is_bare),
            generated: RwSignal::default(),
            corrupted: RwSignal::new(None),
            lesson_texts,
            before_tour: RwSignal::new(None),
            prepared: RwSignal::default(),
            client: StoredValue::new_local(client),
            history: RwSignal::default(),
            taken_off: StoredValue::default(),
            n_own: StoredValue::new(0),
        }
    }

    /// The model whose answers the page shows: the one at work while CLIP is being loaded, else the one of the address.
    pub(crate) fn shown_model(self) -> ModelChoice {
        shown_model(self.state, self.models)
    }

    /// Shows the visitor a notice once.
    pub(crate) fn notify(self, text: impl Into<String>) {
        self.notices.notify(text.into());
    }

    /// Title of the model whose numbers are shown; none before there are any.
    pub(crate) fn model_title(self) -> Option<String> {
        self.snapshot
            .with_untracked(|snapshot| Some(snapshot.as_ref()?.card.title.clone()))
    }

    /// The distribution whose numbers are shown.
    pub(crate) fn family(self) -> Family {
        self.state.with(|state| state.family)
    }

    /// Whether the model that answers has weights of `OpenAI`'s.
    pub(crate) fn is_openai(self) -> bool {
        let is_openai =
            |engine: &EngineState| matches!(engine, EngineState::Ready(card) if card.is_openai());
        self.engine.with(is_openai)
    }

    /// The page's name for the chosen picture; `None` without one.
    pub(crate) fn picture(self) -> Option<String> {
        self.state.with(|state| state.picture.clone())
    }

    pub(crate) fn is_chosen(self, id: &str) -> bool {
        self.state
            .with(|state| state.picture.as_deref() == Some(id))
    }

    /// The pictures on the page, in order.
    pub(crate) fn pictures(self) -> Memo<Vec<String>> {
        Memo::new(move |_| self.state.with(|state| state.pictures.clone()))
    }

    /// The captions with words, in order.
    pub(crate) fn captions_with_words(self) -> Vec<KeyedCaption> {
        let has_words = |caption: &&KeyedCaption| !caption.text.trim().is_empty();
        self.state
            .with(|state| state.captions.iter().filter(has_words).cloned().collect())
    }

    /// The scene in the studio.
    pub(crate) fn drawing(self) -> Memo<Drawing> {
        Memo::new(move |_| self.state.with(|state| state.drawing.clone()))
    }

    /// A caption's numbers, where they are known.
    pub(crate) fn caption_view(self, key: u64) -> Option<CaptionView> {
        self.readings
            .with(|readings| readings.caption(key).cloned())
    }

    /// Nats by which the model at work leaves the place of zero free; none before there is a model.
    pub(crate) fn free_offset(self) -> f64 {
        let family = self.family();
        let offset =
            |cache: &ReadingCache| Some(free_offset(*cache.card()?.logit_scale.get(family)));
        self.cache.with(offset).unwrap_or_default()
    }

    /// A caption's numbers for a generated picture of the open view, where they may be shown.
    pub(crate) fn generated_pair(self, caption: &str, image: &str) -> Option<PairView> {
        let request = self.generated_request.get()?;
        let may_show = self.generated.with(|answers| answers.may_show(&request));
        may_show.then(|| self.pair(caption, image)).flatten()
    }

    /// A caption's numbers for a picture, where they are known.
    pub(crate) fn pair(self, caption: &str, image: &str) -> Option<PairView> {
        let family = self.family();
        self.cache.with(|cache| cache.pair(caption, image, family))
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

    /// The scale that the bars of the matrix share.
    pub(crate) fn extent(self) -> Extent {
        if self.is_bare.get() {
            return self.cosines.with(|cosines| cosines.extent);
        }
        self.readings.with(|readings| readings.extent)
    }

    /// Measure of the matrix's bars; without κ the cosine.
    pub(crate) fn measure(self) -> Measure {
        if self.is_bare.get() {
            return Measure::Cosine;
        }
        self.state.with(|state| state.measure)
    }
}

/// An answer as the page's state says to read it; the default before there is one.
fn read_with<A, R>(
    state: RwSignal<ExplorerState>,
    answer: RwSignal<Option<A>>,
    read: fn(&A, &ExplorerState) -> R,
) -> Memo<R>
where
    A: Send + Sync + 'static,
    R: Default + PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| {
        answer.with(|answer| {
            let read = |answer| state.with(|state| read(answer, state));
            answer.as_ref().map(read).unwrap_or_default()
        })
    })
}

fn shown_model(state: RwSignal<ExplorerState>, models: ModelsState) -> ModelChoice {
    let wanted = state.with(|state| state.model);
    match (wanted, models.at_work.get()) {
        (ModelChoice::Clip, Some(at_work)) => at_work,
        _ => wanted,
    }
}

fn is_bare(engine: RwSignal<EngineState>) -> Memo<bool> {
    Memo::new(move |_| {
        engine.with(|engine| matches!(engine, EngineState::Ready(LoadedModel::Bare(_))))
    })
}

/// The chosen picture with the chosen caption, else with its best one or the first.
fn touched(
    state: RwSignal<ExplorerState>,
    readings: Memo<Readings>,
) -> Memo<Option<(u64, String)>> {
    Memo::new(move |_| {
        state.with(|state| {
            let image = state.picture.clone()?;
            let best = || readings.with(|readings| readings.best_caption(&image));
            let first = || state.captions.first().map(|caption| caption.key);
            let caption = state.caption.or_else(best).or_else(first)?;
            Some((caption, image))
        })
    })
}

fn question(
    state: RwSignal<ExplorerState>,
    files: RwSignal<BTreeMap<String, PictureFile>>,
    quarantined: RwSignal<BTreeSet<String>>,
) -> Memo<ScoreRequest> {
    Memo::new(move |_| {
        state.with(|state| {
            let (keys, captions) = state.askable();
            let mut request = ScoreRequest {
                keys,
                captions,
                images: files.with(|files| read_pictures(state, files)),
                ..ScoreRequest::default()
            };
            request.retain(|caption| quarantined.with(|all| !all.contains(caption)));
            request
        })
    })
}

fn missing(
    state: RwSignal<ExplorerState>,
    files: RwSignal<BTreeMap<String, PictureFile>>,
    gallery: RwSignal<Vec<GalleryPicture>>,
    lesson_texts: RwSignal<LessonTexts>,
    is_bare: Memo<bool>,
    cache: RwSignal<ReadingCache>,
) -> Memo<ReadingRequest> {
    let of_view = move |state: &ExplorerState| {
        let images = files.with(|files| read_pictures(state, files));
        let elsewhere = if state.view.shows_lessons() {
            lesson_texts.with(lesson_texts::captions)
        } else {
            gallery.with(|gallery| written_captions(state, gallery))
        };
        ReadingRequest::of_view(state, images, elsewhere)
    };
    Memo::new(move |_| {
        if is_bare.get() {
            return ReadingRequest::default();
        }
        let request = state.with(of_view);
        cache.with(|cache| cache.missing(&request))
    })
}

/// The same request without the captions that are not sent any more.
fn without(
    missing: Memo<ReadingRequest>,
    quarantined: RwSignal<BTreeSet<String>>,
) -> Memo<ReadingRequest> {
    Memo::new(move |_| {
        let mut missing = missing.get();
        let is_sent = |caption: &String| quarantined.with(|all| !all.contains(caption));
        missing.captions.retain(is_sent);
        missing
    })
}

fn generated_request(
    state: RwSignal<ExplorerState>,
    is_bare: Memo<bool>,
) -> Memo<Option<GeneratedRequest>> {
    Memo::new(move |_| match is_bare.get() {
        true => None,
        false => state.with(GeneratedRequest::of_view),
    })
}
