//! What follows from every change: the question to the engine, the link, the marks on the root, and what is read out.

use std::time::Duration;

use leptos::prelude::*;

use super::browser;
use super::engine;
use super::event::Question;
use super::exhibit::{EngineState, Exhibit};
use super::gallery::{self, Opening};
use super::harmed;
use super::model_panel;
use super::panels::{begin_tour, end_tour};
use super::pictures::PictureState;
use crate::explorer::{Compared, ExplorerState, Readings, Snapshot, View, decode, encode, spoken};

/// Browsers limit how often an address may change; a pause in typing is soon enough.
const LINK_PAUSE: Duration = Duration::from_millis(300);
/// The starting caption with a shape and a colour to change.
const INVITING_ROW: usize = 3;
/// Long enough that a screen reader speaks of the finished word and not of each letter.
const SPEECH_PAUSE: Duration = Duration::from_millis(900);

/// Restores the link, hangs the pictures, starts the engine, and keeps all that follows from a change.
pub(super) fn open(exhibit: Exhibit, opening: Opening) {
    let is_linked = restore(exhibit);
    browser::own_entry();
    keep_listening(exhibit);
    gallery::open(exhibit, opening, is_linked);
    model_panel::open(exhibit);
    if engine::is_safe_mode() {
        exhibit.engine.set(EngineState::Safe);
    } else {
        exhibit.start_engine();
    }
    if !is_linked && browser::has_mouse() {
        invite(exhibit);
    }
    keep_asking(exhibit);
    keep_asking_aside(exhibit);
    keep_asking_about_made(exhibit);
    keep_link(exhibit);
    keep_title(exhibit);
    keep_marks(exhibit);
    keep_speaking(exhibit);
}

/// Takes the state from the address; `false` where it holds none.
fn restore(exhibit: Exhibit) -> bool {
    let Some((state, n_own)) = decode(&browser::fragment()) else {
        return false;
    };
    exhibit.state.set(state);
    match n_own {
        0 => {}
        1 => exhibit.tell("One picture of this page was somebody's own. It never left their machine: add yours."),
        n => exhibit.tell(format!("{n} pictures of this page were somebody's own. They never left their machine: add yours.")),
    }
    true
}

/// Puts the cursor where one word changes most.
fn invite(exhibit: Exhibit) {
    let key = exhibit
        .state
        .with_untracked(|state| state.captions.get(INVITING_ROW).map(|caption| caption.key));
    if let Some(key) = key {
        exhibit.cursor.leave(key);
    }
}

/// Follows the address, and tells when the network goes.
fn keep_listening(exhibit: Exhibit) {
    browser::listen("hashchange", move || follow_address(exhibit));
    browser::listen("offline", move || {
        exhibit.tell(without_network(&exhibit.engine.get_untracked()));
    });
    // Whoever leaves while the model is loaded has not crashed.
    browser::listen("pagehide", engine::load_ends);
}

/// Follows a link that was opened in this page, or the way back and forward.
fn follow_address(exhibit: Exhibit) {
    if let Some((there, _)) = decode(&browser::fragment()) {
        follow(exhibit, &there);
    }
    browser::own_entry();
}

fn follow(exhibit: Exhibit, there: &ExplorerState) {
    let here = exhibit.state.with_untracked(|state| state.station);
    let is_taken = exhibit.before_tour.with_untracked(Option::is_some);
    match there.station {
        // Back and forward walk through the views; what was typed and added since stays.
        station if browser::is_own_entry() && station == here => go_to(exhibit, there.view),
        None if browser::is_own_entry() && is_taken => {
            end_tour(exhibit);
            go_to(exhibit, there.view);
        }
        station => {
            if here.is_none() && station.is_some() {
                begin_tour(exhibit);
            }
            restore(exhibit);
            model_panel::follow_link(exhibit);
            gallery::hang_missing(exhibit);
        }
    }
}

fn go_to(exhibit: Exhibit, view: View) {
    exhibit.state.update(|state| state.view = view);
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

fn keep_asking(exhibit: Exhibit) {
    Effect::new(move |_| {
        let question = exhibit.question.get();
        if !question.captions.is_empty() {
            exhibit.failed.set(false);
            exhibit.client.with_value(|client| client.ask(question));
        }
    });
}

fn keep_asking_aside(exhibit: Exhibit) {
    Effect::new(move |_| {
        let missing = exhibit.missing.get();
        if !missing.captions.is_empty() {
            exhibit.failed_aside.set(false);
            let question = Question {
                captions: missing.captions,
                images: missing.images,
                relates: missing.relates,
                ..Question::default()
            };
            exhibit
                .client
                .with_value(|client| client.ask_aside(question));
        }
    });
}

fn keep_asking_about_made(exhibit: Exhibit) {
    Effect::new(move |_| {
        let Some(wanted) = exhibit.wanted_made.get() else {
            return;
        };
        // Another engine is asked again.
        let is_answered = exhibit.made.with(|made| made.has(&wanted));
        if is_answered || exhibit.failed_aside.get_untracked() {
            return;
        }
        let pictures = exhibit
            .harmed
            .with(|harmed| harmed::files(&wanted.of, harmed.as_ref()));
        let Some(pictures) = pictures else { return };
        let question = Question {
            captions: wanted.captions.clone(),
            images: pictures.iter().map(|(name, _)| name.clone()).collect(),
            pictures,
            made: Some(wanted),
            ..Question::default()
        };
        exhibit
            .client
            .with_value(|client| client.ask_made(question));
    });
}

fn keep_link(exhibit: Exhibit) {
    let link = Memo::new(move |_| exhibit.state.with(encode));
    let mut write = debounce(LINK_PAUSE, move |link: String| {
        let place = |state: &ExplorerState| (state.view, state.station);
        let there = decode(&browser::fragment()).map(|(state, _)| place(&state));
        let here = exhibit.state.with_untracked(place);
        // Between a link or a step back and the event that tells of it, the address is another page's.
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

fn keep_title(exhibit: Exhibit) {
    let view = Memo::new(move |_| exhibit.state.with(|state| state.view));
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

fn keep_marks(exhibit: Exhibit) {
    Effect::new(move |_| {
        let name = exhibit.engine.with(|engine| match engine {
            EngineState::Ready(card) => card.engine().to_owned(),
            _ if exhibit.snapshot.with(Option::is_some) => "recorded".into(),
            _ => "none".into(),
        });
        browser::mark_root("data-engine", &name);
    });
    Effect::new(move |_| {
        let status = exhibit.engine.with(|engine| match engine {
            EngineState::Ready(_) if is_settled(exhibit) => "ready",
            EngineState::Ready(_) => "working",
            EngineState::Starting | EngineState::Loading(_) => "loading",
            EngineState::Stopped(_) | EngineState::Safe => "stopped",
        });
        browser::mark_root("data-status", status);
    });
}

/// Whether every caption and every picture on the page has its numbers, or was refused them.
pub(super) fn is_settled(exhibit: Exhibit) -> bool {
    let reading = exhibit.files.with(|files| {
        files
            .values()
            .any(|file| !matches!(file.state, PictureState::Read(_)))
    });
    let asked_aside = exhibit.missing.with(|missing| !missing.captions.is_empty());
    let wanted = exhibit.wanted_made.get();
    let draws = wanted.is_some_and(|wanted| exhibit.made.with(|made| !made.has(&wanted)));
    if reading || ((asked_aside || draws) && !exhibit.failed_aside.get()) {
        return false;
    }
    let question = exhibit.question.get();
    question.captions.is_empty()
        || exhibit.failed.get()
        || exhibit.compared.with(|compared| {
            compared
                .as_ref()
                .is_some_and(|compared| is_compared(compared, &question))
        })
        || exhibit.snapshot.with(|snapshot| {
            snapshot
                .as_ref()
                .is_some_and(|snapshot| !snapshot.recorded && answers(snapshot, &question))
        })
}

fn is_compared(compared: &Compared, question: &Question) -> bool {
    let captions = compared.comparison.captions.iter();
    compared.keys == question.keys
        && compared.comparison.images == question.images
        && captions
            .map(|tokens| &tokens.caption)
            .eq(&question.captions)
}

fn answers(snapshot: &Snapshot, question: &Question) -> bool {
    let captions = snapshot
        .answer
        .captions
        .iter()
        .map(|reading| &reading.caption);
    snapshot.keys == question.keys
        && snapshot.answer.images == question.images
        && captions.eq(&question.captions)
}

fn keep_speaking(exhibit: Exhibit) {
    let mut speak = debounce(SPEECH_PAUSE, move |()| {
        let sentence = exhibit.edited.get_untracked().and_then(|key| {
            exhibit
                .readings
                .with_untracked(|readings| sentence(exhibit, readings, key))
        });
        if let Some(sentence) = sentence {
            exhibit.spoken.set(sentence);
        }
    });
    Effect::new(move |_| {
        exhibit.readings.track();
        speak(());
    });
}

/// The last edited caption's numbers in words.
fn sentence(exhibit: Exhibit, readings: &Readings, key: u64) -> Option<String> {
    let view = readings.caption(key)?;
    let best = readings.best_picture(key).and_then(|id| {
        let alt = exhibit
            .files
            .with_untracked(|files| files.get(id).map(|file| file.alt.clone()))?;
        Some((alt, readings.pair(key, id)?.nats))
    });
    Some(spoken(
        view,
        best.as_ref().map(|(alt, nats)| (alt.as_str(), *nats)),
    ))
}
