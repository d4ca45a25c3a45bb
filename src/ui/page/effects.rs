//! Effects of every change: requests to the engine, the link, the title, marks on the root element, and speech.

use std::iter;
use std::time::Duration;

use leptos::prelude::*;
use leptos::web_sys::{Element, KeyboardEvent};
use wasm_bindgen::JsCast as _;

use crate::explorer::{
    Event, ExplorerState, ModelChoice, ModelSource, Priority, Readings, ScoreRequest, View, World,
    decode, encode, spoken,
};
use crate::ui::dom::browser;
use crate::ui::model_panel;
use crate::ui::page::corrupted;
use crate::ui::page::gallery;
use crate::ui::page::gallery::WorldFiles;
use crate::ui::page::state::{EngineState, PageState};
use crate::ui::page::status::status;
use crate::ui::page::{speech, tour, worlds};

/// Pause in typing after which the address changes: browsers limit how often it may.
const LINK_PAUSE: Duration = Duration::from_millis(300);
/// The starting caption of which one word is best changed.
const INVITING_ROW: usize = 3;

/// Restores the link, shows the pictures, starts the engine, and sets up the effects of every change.
pub(crate) fn open(page: PageState, opening: WorldFiles) {
    page.gallery_world.set_value(opening.world);
    page.state
        .set(ExplorerState::start(opening.world, iter::empty()));
    let is_linked = restore(page);
    browser::own_entry();
    keep_listening(page);
    gallery::open(page, opening, is_linked);
    let source = model_panel::open(page);
    page.hear_engines();
    if browser::saves_data() && source.is_built_in() {
        page.engine.set(EngineState::SavesData);
    } else {
        page.start_engine(source);
    }
    if !is_linked && browser::has_mouse() {
        focus_inviting_caption(page);
    }
    request_matrix(page);
    request_view(page);
    request_generated(page);
    worlds::keep_truth(page);
    keep_link(page);
    keep_title(page);
    sync_root_attributes(page);
    keep_speaking(page);
    keep_undoing(page);
}

/// The world that the address asks for: by its link, or else by `?world=`.
pub(crate) fn asked_world() -> Option<World> {
    asked_model().map(ModelChoice::world)
}

/// The model that the page surely begins with, if it is one that comes with it; `None` also where nothing is to be
/// loaded before the visitor's word.
pub(crate) fn certain_source() -> Option<ModelSource> {
    let first = ModelChoice::BuiltIn(World::ALL[0]);
    let world = asked_model().unwrap_or(first).built_in()?;
    (!browser::saves_data()).then_some(ModelSource::BuiltIn(world))
}

fn asked_model() -> Option<ModelChoice> {
    let linked = decode(&browser::fragment()).map(|(state, _)| state.model);
    let asked = || World::from_slug(&browser::query("world")?).map(ModelChoice::BuiltIn);
    linked.or_else(asked)
}

/// Takes the state from the address; `false` where it holds none.
fn restore(page: PageState) -> bool {
    let Some((state, n_own)) = decode(&browser::fragment()) else {
        return false;
    };
    page.state.set(state);
    match n_own {
        0 => {}
        1 => page.notify("One picture of this page was added by the sender and stayed on their device; add your own."),
        n => page.notify(format!(
            "{n} pictures of this page were added by the sender and stayed on their device; add your own."
        )),
    }
    true
}

/// Puts the cursor where one word changes most.
fn focus_inviting_caption(page: PageState) {
    let key = page
        .state
        .with_untracked(|state| state.captions.get(INVITING_ROW).map(|caption| caption.key));
    if let Some(key) = key {
        page.cursor.leave(key);
    }
}

/// Follows the address, and says when the network is lost.
fn keep_listening(page: PageState) {
    browser::listen("hashchange", move || follow_address(page));
    browser::listen("offline", move || {
        page.notify(without_network(&page.engine.get_untracked()));
    });
}

/// Follows a link that was opened in this page, or the way back and forward.
fn follow_address(page: PageState) {
    if let Some((there, _)) = decode(&browser::fragment()) {
        follow(page, &there);
    }
    browser::own_entry();
}

fn follow(page: PageState, there: &ExplorerState) {
    let here = page.state.with_untracked(|state| state.tour_step);
    let is_taken = page.before_tour.with_untracked(Option::is_some);
    match there.tour_step {
        // Back and forward move through the views; captions and pictures added since stay.
        step if browser::is_own_entry() && step == here => go_to(page, there),
        None if browser::is_own_entry() && is_taken => {
            tour::end(page);
            go_to(page, there);
        }
        step => {
            if here.is_none() && step.is_some() {
                tour::begin(page);
            }
            restore(page);
            worlds::follow_link(page);
            model_panel::follow_link(page);
            page.compare_weights();
            gallery::show_missing(page);
        }
    }
}

/// Opens the view of another entry of the history, in the world in which it was opened.
fn go_to(page: PageState, there: &ExplorerState) {
    let here = page.state.with_untracked(|state| state.model);
    match (there.model.built_in(), here.built_in()) {
        (Some(world), Some(_)) => worlds::enter(page, world, there.view),
        _ => page.change(&mut |state| state.view = there.view),
    }
}

fn without_network(engine: &EngineState) -> &'static str {
    match engine {
        EngineState::Ready(_) => {
            "The network is gone. This page no longer needs it: captions and pictures go on as before."
        }
        _ => {
            "The network is gone before the model was loaded. What is shown stays; reload when the network is back."
        }
    }
}

fn request_matrix(page: PageState) {
    Effect::new(move |_| {
        let question = page.question.get();
        if !question.captions.is_empty() {
            page.failed.set(false);
            page.supervise(Event::Ask(Priority::Matrix, question));
        }
    });
}

fn request_view(page: PageState) {
    Effect::new(move |_| {
        let missing = page.missing.get();
        if !missing.captions.is_empty() {
            page.view_request_failed.set(false);
            let question = ScoreRequest {
                captions: missing.captions,
                images: missing.images,
                relates: missing.relates,
                ..ScoreRequest::default()
            };
            page.supervise(Event::Ask(Priority::Captions, question));
        }
    });
}

fn request_generated(page: PageState) {
    Effect::new(move |_| {
        let Some(request) = page.generated_request.get() else {
            return;
        };
        // Another engine is asked again.
        let is_answered = page.generated.with(|answers| answers.has(&request));
        if is_answered || page.view_request_failed.get_untracked() {
            return;
        }
        let Some(pictures) = corrupted::files(page, &request.of) else {
            return;
        };
        let question = ScoreRequest {
            captions: request.captions.clone(),
            images: pictures.iter().map(|(name, _)| name.clone()).collect(),
            pictures,
            generated: Some(request),
            ..ScoreRequest::default()
        };
        page.supervise(Event::Ask(Priority::GeneratedPictures, question));
    });
}

fn keep_link(page: PageState) {
    let link = Memo::new(move |_| page.state.with(encode));
    let mut write = debounce(LINK_PAUSE, move |link: String| {
        let place = |state: &ExplorerState| (state.view, state.tour_step);
        let there = decode(&browser::fragment()).map(|(state, _)| place(&state));
        let here = page.state.with_untracked(place);
        // After a link or a step back, the address is that of another state until its event arrives.
        if browser::is_own_entry() && there.is_none_or(|there| there == here) {
            browser::set_fragment(&link);
        }
    });
    Effect::new(move |previous: Option<String>| {
        let link = link.get();
        if previous.is_some_and(|previous| previous != link) {
            write(link.clone());
        }
        link
    });
}

fn keep_title(page: PageState) {
    let view = Memo::new(move |_| page.state.with(|state| state.view));
    let usual = browser::title();
    Effect::new(move |_| {
        let view = view.get();
        browser::mark_root("data-view", view.slug());
        match view {
            View::Explore => browser::set_title(&usual),
            view => browser::set_title(&format!("{} · {usual}", view.name())),
        }
    });
}

fn sync_root_attributes(page: PageState) {
    Effect::new(move |_| {
        let is_big = page.state.with(|state| state.is_big);
        browser::mark_root("data-big", if is_big { "1" } else { "0" });
    });
    Effect::new(move |_| {
        let name = page.engine.with(|engine| match engine {
            EngineState::Ready(card) => card.engine().to_owned(),
            _ if page.snapshot.with(Option::is_some) => "recorded".into(),
            _ => "none".into(),
        });
        browser::mark_root("data-engine", &name);
    });
    Effect::new(move |_| browser::mark_root("data-status", status(page)));
}

/// Undoes a step at Control and Z, but for a text field in which something was just typed: that has steps of its own.
fn keep_undoing(page: PageState) {
    let is_typing = StoredValue::new(false);
    browser::intercept("focusin", move |_| is_typing.set_value(false));
    browser::intercept("input", move |event| {
        let field = event
            .target()
            .and_then(|field| field.dyn_into::<Element>().ok());
        let is_text = |field: Element| field.matches("textarea, input[type=text]").unwrap_or(false);
        is_typing.set_value(field.is_some_and(is_text));
    });
    browser::intercept("keydown", move |event| {
        let Some(key) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        let has_control = key.ctrl_key() || key.meta_key();
        if has_control && !key.shift_key() && key.key() == "z" && !is_typing.get_value() {
            event.prevent_default();
            page.undo();
        }
    });
}

fn keep_speaking(page: PageState) {
    let mut speak = debounce(speech::PAUSE, move |()| {
        let sentence = page.edited.get_untracked().and_then(|key| {
            page.readings
                .with_untracked(|readings| sentence(page, readings, key))
        });
        if let Some(sentence) = sentence {
            page.speak_numbers(sentence);
        }
    });
    Effect::new(move |_| {
        page.readings.track();
        speak(());
    });
}

/// The last edited caption's numbers as a sentence.
fn sentence(page: PageState, readings: &Readings, key: u64) -> Option<String> {
    let view = readings.caption(key)?;
    let best = readings.best_picture(key).and_then(|id| {
        let alt = page
            .files
            .with_untracked(|files| files.get(id).map(|file| file.alt.clone()))?;
        Some((alt, readings.pair(key, id)?))
    });
    Some(spoken(
        view,
        best.as_ref().map(|(alt, pair)| (alt.as_str(), *pair)),
    ))
}
