//! Captions for photographs, in place of the gallery of drawn scenes that only the built-in model knows.

use leptos::prelude::*;

use crate::explorer::{PHOTOGRAPH_SETS, PhotographSet};
use crate::ui::page::state::PageState;

/// A button for each set of captions, and where pictures come from.
#[component]
pub(crate) fn PhotographSets() -> impl IntoView {
    let page = expect_context::<PageState>();
    let button = move |set: PhotographSet| {
        let is_shown = move || page.state.with(|state| state.has_captions(&set.captions));
        let show = move |_| {
            page.keep_step(None);
            page.change(&mut |state| state.replace_captions(set.captions));
        };
        view! { <button type="button" aria-pressed=move || is_shown().to_string() on:click=show>{set.name}</button> }
    };
    view! {
        <section class="photographs" aria-label="Captions for photographs">
            <p class="label">"Captions for photographs of"</p>
            <p class="sets">{PHOTOGRAPH_SETS.map(button).collect_view()}</p>
            <p class="aside">
                "Choose, drop or paste photographs of your own; they stay on this machine."
            </p>
        </section>
    }
}
