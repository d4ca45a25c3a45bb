//! Name, question, and in small type which model answers on which engine.

use leptos::prelude::*;

use crate::explorer::{Event, LoadedModel, file_size};
use crate::protocol::Progress;
use crate::ui::model_panel::{ModelButton, ModelPanel, stage_name};
use crate::ui::page::state::{EngineState, PageState};

/// The top of the page.
#[component]
pub(crate) fn Masthead() -> impl IntoView {
    let page = expect_context::<PageState>();
    let retry_text = move || {
        page.engine.with(|engine| match engine {
            EngineState::Waits => Some("Load the model anyway"),
            EngineState::Stopped(_) => Some("Try again"),
            EngineState::Starting | EngineState::Loading(_) | EngineState::Ready(_) => None,
        })
    };
    let cannot_retry = move || retry_text().is_none();
    view! {
        <header class="masthead">
            <p class="name">"Kappascope"</p>
            <h1>"How many pictures could these words mean?"</h1>
            <p class="engine" role="status">
                // First, so that it stays where it is while the words beside it grow.
                <ModelButton/>
                <span>{move || engine_words(page)}</span>
                <button type="button" class="quiet" data-act="retry-engine" hidden=cannot_retry on:click=move |_| retry(page)>{retry_text}</button>
                <button type="button" class="quiet" data-act="stop-engine" hidden=move || !page.is_slow.get() on:click=move |_| page.supervise(Event::Stop)>"Stop waiting"</button>
            </p>
        </header>
        <ModelPanel/>
    }
}

/// Tries the built-in model again, whatever happened before.
fn retry(page: PageState) {
    page.engine.set(EngineState::Starting);
    page.supervise(Event::Retry);
}

fn engine_words(page: PageState) -> String {
    let has_recorded = page
        .snapshot
        .with(|snapshot| snapshot.as_ref().is_some_and(|snapshot| snapshot.recorded));
    let shown = if has_recorded {
        "Recorded answers · "
    } else {
        ""
    };
    page.engine.with(|engine| match engine {
        EngineState::Starting => format!("{shown}the model is being loaded"),
        EngineState::Loading(progress) => format!("{shown}{}", progress_words(progress)),
        EngineState::Ready(card) => card_words(card, &page.choice.get()),
        EngineState::Stopped(reason) => format!("{shown}no engine runs: {reason}"),
        EngineState::Waits => {
            format!("{shown}loading the model stopped this page before, so it waits")
        }
    })
}

fn progress_words(progress: &Progress) -> String {
    let Progress {
        stage,
        loaded_bytes,
        total_bytes,
        ..
    } = progress;
    format!(
        "loading the {}, {} of {}",
        stage_name(*stage),
        file_size(*loaded_bytes),
        file_size(*total_bytes)
    )
}

fn card_words(card: &LoadedModel, choice: &str) -> String {
    let engine = if card.engine() == "gpu" { "GPU" } else { "CPU" };
    let why = if choice.is_empty() {
        String::new()
    } else {
        format!(" ({choice})")
    };
    let checked = if card.is_checked() {
        " · checked on this device"
    } else {
        ""
    };
    format!(
        "{} · on the {engine}, {}{why}{checked} · nothing is uploaded",
        card.title(),
        card.device()
    )
}
