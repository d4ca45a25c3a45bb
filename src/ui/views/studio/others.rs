//! Ten other scenes that fit a caption.

use std::time::Duration;

use leptos::prelude::*;

use crate::explorer::KeyedCaption;
use crate::explorer::views::studio::drawing::Drawing;
use crate::explorer::views::studio::scene_search::{N_WANTED, SceneSearch};
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_caption::{chosen_key, chosen_text};
use crate::ui::panels::each::each;
use crate::ui::views::studio::ghosts::small_scene;

/// Scenes tried between two looks at what the visitor does.
const TRIES_AT_ONCE: u32 = 400;

/// A caption, and ten scenes that it fits.
#[component]
pub(crate) fn Others() -> impl IntoView {
    let page = expect_context::<PageState>();
    let (key, text) = (chosen_key(page), chosen_text(page));
    let found = RwSignal::new(Vec::<Drawing>::new());
    let message = RwSignal::new(String::new());
    let n_asked = StoredValue::new(0_u64);
    let choose = move |value: String| {
        if let Ok(key) = value.parse() {
            page.change(&mut |state| state.caption = Some(key));
        }
    };
    let ask = move |_| {
        n_asked.update_value(|n| *n += 1);
        let caption = text.get_untracked();
        match SceneSearch::new(&caption, n_asked.get_value()) {
            Some(search) => go_on(search, found, message, caption),
            None => {
                found.set(Vec::new());
                message.set(format!(
                    "Scenes has no sentence “{caption}”, so nobody can say what fits it."
                ));
            }
        }
    };
    let scenes = move || found.get().into_iter().enumerate().collect();
    let other = |(i, drawing)| view! { <Other i=i drawing=drawing/> }.into_any();
    let captions = move || page.captions_with_words();
    let option = move |KeyedCaption { key: value, text }| {
        let is_chosen = move || key.get() == Some(value);
        view! { <option value=value.to_string() prop:selected=is_chosen>{text}</option> }.into_any()
    };
    view! {
        <div class="others">
            <p class="view-controls">
                <label>"Caption "
                    <select on:change=move |event| choose(event_target_value(&event))>
                        {each(captions, option)}
                    </select>
                </label>
                <button type="button" class="ask" on:click=ask>"Ten scenes that fit it"</button>
            </p>
            <p class="aside" data-spoken>{message}</p>
            <div class="ten">{each(scenes, other)}</div>
        </div>
    }
}

/// Searches for a moment, lets the page react to the visitor, and goes on.
fn go_on(
    mut search: SceneSearch,
    found: RwSignal<Vec<Drawing>>,
    message: RwSignal<String>,
    caption: String,
) {
    search.step(TRIES_AT_ONCE);
    if !search.is_done() {
        set_timeout(
            move || go_on(search, found, message, caption),
            Duration::ZERO,
        );
        return;
    }
    message.set(match search.found.len() {
        N_WANTED => format!("“{caption}” could mean each of these. Take one into the studio."),
        0 => format!("No scene was found that fits “{caption}”."),
        n => format!("Only {n} scenes were found that fit “{caption}”."),
    });
    found.set(search.found);
}

/// One scene; a click takes it into the studio.
#[component]
fn Other(i: usize, drawing: Drawing) -> impl IntoView {
    let page = expect_context::<PageState>();
    let picture = small_scene(Signal::stored(Some(drawing.clone())));
    let label = format!("Take scene {} into the studio", i + 1);
    let take = move |_| {
        page.keep_step(None);
        page.change(&mut |state| state.drawing = drawing.clone());
    };
    view! {
        <button type="button" class="small-frame other" aria-label=label on:click=take>
            {picture}
        </button>
    }
}
