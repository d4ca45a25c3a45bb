//! The numbers of the matrix to take away, and the command that computes them again.

use leptos::prelude::*;

use crate::explorer::{ExplorerState, OWN, Readings, command, csv, data_address, json};
use crate::ui::page::state::PageState;

/// Two files and a command, worked out when they are asked for.
#[component]
pub(crate) fn Export() -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_open = RwSignal::new(false);
    let file = move |kind: &'static str, write: fn(&ExplorerState, &Readings) -> String| {
        Signal::derive(move || {
            if !is_open.get() {
                return String::new();
            }
            let text = page
                .readings
                .with(|readings| page.state.with(|state| write(state, readings)));
            data_address(kind, &text)
        })
    };
    let (as_csv, as_json) = (file("text/csv", csv), file("application/json", json));
    let words = move || {
        let path = |image: &str| {
            let known = page.gallery.with(|gallery| {
                let picture = gallery.iter().find(|picture| picture.entry.id == image);
                picture.map(|picture| format!("public/{}/{}", picture.folder, picture.entry.file))
            });
            known.unwrap_or_else(|| image.trim_start_matches(OWN).to_owned())
        };
        page.state.with(|state| command(state, path))
    };
    view! {
        <details class="twin export" on:toggle=move |_| is_open.update(|is_open| *is_open = !*is_open)>
            <summary>"Take the numbers with you"</summary>
            <p class="view-controls">
                <a download="kappascope.csv" href=move || as_csv.get()>"CSV"</a>
                <a download="kappascope.json" href=move || as_json.get()>"JSON"</a>
            </p>
            <p class="aside">
                "The same numbers from the native program, in the project’s folder; your own pictures stand there "
                "under the names that the page gave them:"
            </p>
            <pre class="command" tabindex="0"><code>{words}</code></pre>
        </details>
    }
}
