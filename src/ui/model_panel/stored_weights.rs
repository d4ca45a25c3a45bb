//! Weights of models that the browser keeps.

use leptos::prelude::*;

use crate::explorer::{World, file_size};
use crate::protocol::Stored;
use crate::ui::dom::browser;
use crate::ui::model_panel::actions;
use crate::ui::page::state::PageState;

/// The size of what is kept, with a button that deletes it.
#[component]
pub(crate) fn StoredWeights() -> impl IntoView {
    let page = expect_context::<PageState>();
    let stored = page.models.stored;
    let bytes =
        move || stored.with(|stored| stored.as_ref().map(|stored| stored.bytes.to_string()));
    let has_any =
        move || stored.with(|stored| stored.as_ref().is_some_and(|stored| stored.bytes > 0));
    let hashes = move || stored.with(|stored| stored.as_ref().map(|stored| stored.hashes.clone()));
    let has_none = move || hashes().is_none_or(|hashes| hashes.is_empty());
    let can_keep = move || {
        // Without a service worker the page itself needs the network.
        page.models.is_open.get()
            && browser::is_served_offline()
            && built_in_bytes(page).is_some()
            && stored.with(|stored| stored.as_ref().is_some_and(|stored| stored.is_allowed))
    };
    view! {
        <p class="kept" data-field="kept" data-value=bytes>
            {move || stored.with(|stored| stored.as_ref().map(words))}
            " "
            <button
                type="button" data-act="delete" hidden=move || !has_any()
                on:click=move |_| actions::delete_stored(page)
            >"Delete what is kept"</button>
            " "
            <button
                type="button" data-act="keep" hidden=move || !can_keep()
                disabled=move || page.models.is_keeping.get()
                on:click=move |_| actions::store_built_in(page)
            >
                "Keep both built-in models for use without a network (up to "
                {move || built_in_bytes(page).map(file_size)}")"
            </button>
        </p>
        <details data-field="hashes" hidden=has_none>
            <summary>"SHA-256 of what came from the hub"</summary>
            <pre>{hashes}</pre>
        </details>
    }
}

/// Bytes of both built-in models, once they are known.
fn built_in_bytes(page: PageState) -> Option<u64> {
    let bytes = World::ALL.map(|world| page.models.bytes_of(world));
    bytes.into_iter().sum()
}

fn words(stored: &Stored) -> String {
    if !stored.is_allowed {
        return "This browser keeps nothing for this page: a model works, but will be downloaded again at each \
                visit."
            .into();
    }
    let room = stored
        .room_bytes
        .map(|bytes| format!(", with room for {} more", file_size(bytes)));
    format!(
        "This browser keeps {} of weights{}.",
        file_size(stored.bytes),
        room.unwrap_or_default()
    )
}
