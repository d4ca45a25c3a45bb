//! A load: its bytes, how fast they come, and what can be done about it.

use leptos::prelude::*;

use crate::protocol::{Progress, Stage};
use crate::ui::model_panel::actions;
use crate::ui::model_panel::models_state::Load;
use crate::ui::page::state::PageState;

/// The bar, with its numbers in words, and its buttons.
#[component]
pub(crate) fn LoadBar() -> impl IntoView {
    let page = expect_context::<PageState>();
    let models = page.models;
    let is_loading = move || models.load.with(|load| *load != Load::None);
    let read = move |read: fn(&Progress) -> u64| {
        models.load.with(|load| match load {
            Load::Going(progress) => Some(read(progress).to_string()),
            Load::None | Load::Begun => None,
        })
    };
    let words = move || {
        models.load.with(|load| match load {
            Load::None => String::new(),
            Load::Begun => "asking which files it has".to_owned(),
            Load::Going(progress) => {
                let words = models.transfer_rate.with(|rate| rate.text(progress));
                let waits = if models.is_paused.get() {
                    ", waiting"
                } else {
                    ""
                };
                format!("{}{waits}: {words}", stage_name(progress.stage))
            }
        })
    };
    let pause = move |_| {
        if models.is_paused.get_untracked() {
            actions::resume(page);
        } else {
            actions::pause(page);
        }
    };
    let pause_word = move || {
        if models.is_paused.get() {
            "Go on"
        } else {
            "Pause"
        }
    };
    view! {
        <div class="load" data-field="load" hidden=move || !is_loading()>
            <progress
                aria-label="Bytes of this part of the model" value=move || read(|progress| progress.loaded_bytes)
                max=move || read(|progress| progress.stage_end_bytes)
            ></progress>
            <p data-field="load-words">{words}</p>
            <button type="button" data-act="pause" on:click=pause>{pause_word}</button>
            <button type="button" data-act="cancel" on:click=move |_| actions::cancel(page)>"Cancel"</button>
        </div>
    }
}

/// A part of a model, for people.
pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::TextEncoder => "text encoder",
        Stage::ImageEncoder => "image encoder",
        Stage::Adapters => "adapters",
    }
}
