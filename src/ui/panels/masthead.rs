//! Name, question, and in small type which model answers on which engine.

use leptos::prelude::*;

use crate::explorer::file_size;
use crate::protocol::Progress;
use crate::ui::card::Card;
use crate::ui::model_panel::{ModelButton, ModelPanel};
use crate::ui::page::state::{EngineState, PageState};

/// The top of the page.
#[component]
pub(crate) fn Masthead() -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_safe = move || page.engine.with(|engine| *engine == EngineState::Safe);
    view! {
        <header class="masthead">
            <p class="name">"Kappascope"</p>
            <h1>"How many pictures could these words mean?"</h1>
            <p class="engine" role="status">
                // First, so that it stays where it is while the words beside it grow.
                <ModelButton/>
                <span>{move || engine_words(page)}</span>
                <Show when=is_safe><button type="button" class="quiet" on:click=move |_| page.leave_safe_mode()>"Load the model anyway"</button></Show>
            </p>
        </header>
        <ModelPanel/>
    }
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
        EngineState::Stopped(_) => format!("{shown}no engine runs"),
        EngineState::Safe => {
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
        "loading the {stage}, {} of {}",
        file_size(*loaded_bytes),
        file_size(*total_bytes)
    )
}

fn card_words(card: &Card, choice: &str) -> String {
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
