//! Name, question, and in small type which model answers on which engine.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Event, Snapshot, data_address, file_size};
use crate::ui::dom::browser;
use crate::ui::later::{Later, LaterPart};
use crate::ui::model_panel::{ModelButton, engine_name, stage_name};
use crate::ui::page::state::{EngineState, PageState};
use crate::ui::panels::worlds::WorldChoice;

/// The top of the page.
#[component]
pub(crate) fn Masthead() -> impl IntoView {
    let page = expect_context::<PageState>();
    let retry_text = move || {
        page.engine.with(|engine| match engine {
            EngineState::SafeMode => Some("Load the model anyway"),
            EngineState::SavesData => Some("Load the model"),
            EngineState::Stopped(_) => Some("Try again"),
            EngineState::Starting | EngineState::Loading(_) | EngineState::Ready(_) => None,
        })
    };
    let cannot_retry = move || retry_text().is_none();
    let retry = move |_| page.retry_engine();
    let is_fast = move || !page.is_slow.get();
    let stop = move |_| page.supervise(Event::Stop);
    view! {
        <header class="masthead">
            <p class="name"><a href="./">"Kappascope"</a></p>
            <h1>"How many pictures could these words mean?"</h1>
            <WorldChoice/>
            <p class="engine">
                // First, so that it stays where it is while the words beside it grow.
                <ModelButton/>
                // One text, since a second part would move with the first. Screen readers get it without the bytes.
                <span>{move || format!("{}{}", engine_text(page), bytes_text(page).unwrap_or_default())}</span>
                <span class="hidden" aria-hidden="true" data-spoken>{move || engine_text(page)}</span>
                <button type="button" class="quiet" data-act="retry-engine" hidden=cannot_retry on:click=retry>
                    {retry_text}
                </button>
                <button type="button" class="quiet" data-act="stop-engine" hidden=is_fast on:click=stop>
                    "Stop waiting"
                </button>
                <FailureReport/>
            </p>
        </header>
        <Later part=LaterPart::Models/>
    }
}

/// Copies the report of the last failure; where the browser does not allow that, it is a file.
#[component]
fn FailureReport() -> impl IntoView {
    let page = expect_context::<PageState>();
    let copied = RwSignal::new(String::new());
    let copy = move |_| {
        let report = page.failure.get_untracked();
        spawn_local(async move {
            if !browser::copy(&report).await {
                let address = data_address("text/plain", &report);
                browser::save("kappascope-failure.txt", &address);
            }
            copied.set(report);
        });
    };
    let words = move || match page.failure.with(|report| *report == copied.get()) {
        true => "Report copied",
        false => "Copy a report of the failure",
    };
    view! {
        <button
            type="button" class="quiet" data-act="report"
            hidden=move || page.failure.with(String::is_empty) on:click=copy
        >{words}</button>
    }
}

/// Model and engine that answer, or what keeps them from that.
fn engine_text(page: PageState) -> String {
    let is_recorded = |snapshot: &Snapshot| snapshot.recorded;
    let shown = match page
        .snapshot
        .with(|snapshot| snapshot.as_ref().is_some_and(is_recorded))
    {
        true => "Recorded answers · ",
        false => "",
    };
    page.engine.with(|engine| match engine {
        EngineState::Starting => format!("{shown}the model is being loaded"),
        EngineState::Loading(progress) => {
            format!("{shown}loading the {}", stage_name(progress.stage))
        }
        EngineState::Ready(card) => {
            let engine = engine_name(card);
            format!("{} · on the {engine} · nothing is uploaded", card.title())
        }
        EngineState::Stopped(reason) => format!("{shown}no engine runs: {reason}"),
        EngineState::SafeMode => {
            format!("{shown}loading the model stopped this page before, so it waits")
        }
        EngineState::SavesData => {
            let size = page.snapshot.with(|snapshot| {
                let bytes = snapshot
                    .as_ref()
                    .map(|snapshot| snapshot.card.weights_bytes);
                bytes.map(|bytes| format!(", up to {},", file_size(bytes)))
            });
            let size = size.unwrap_or_default();
            format!("{shown}your browser saves data, so the model{size} waits for your click")
        }
    })
}

/// Progress of a load, which is not read out: it changes several times a second.
fn bytes_text(page: PageState) -> Option<String> {
    page.engine.with(|engine| {
        let EngineState::Loading(progress) = engine else {
            return None;
        };
        let [loaded, total] = [progress.loaded_bytes, progress.stage_end_bytes].map(file_size);
        Some(format!(", {loaded} of {total}"))
    })
}
