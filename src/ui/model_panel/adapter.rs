//! Adapters that a model lacks: what the page shows without them, how to make them, and how to give them.

use std::sync::Arc;

use js_sys::Uint8Array;
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::File;

use crate::explorer::{Event, ModelChoice};
use crate::ui::model_panel::actions;
use crate::ui::model_panel::sources::chosen;
use crate::ui::page::state::PageState;

/// Greatest size of an adapter file, in bytes; a larger file is a whole model.
const MAX_ADAPTER_BYTES: f64 = 64e6;

/// Command that makes adapters.
const COMMAND: &str =
    "train adapt openai/clip-vit-base-patch32 --data coco --root data/coco --export runs/clip-coco";

/// Note that the model has no κ, with the command that makes adapters and a field for the file that it writes.
#[component]
pub(crate) fn NeedsAdapter() -> impl IntoView {
    let page = expect_context::<PageState>();
    let accept = move |event: web_sys::Event| {
        if let Some(file) = chosen(&event).into_iter().next() {
            give(page, file);
        }
    };
    view! {
        <section class="needs-adapter" data-field="no-adapter" aria-label="No adapter">
            <h2>"No adapter for this model"</h2>
            <p>
                "CLIP gives a caption one direction and says nothing of how vague it is. "<i>"κ"</i>
                " comes from a small adapter that is trained on top of it, and none is loaded. So this page shows \
                cosines, which compare a caption with a picture and no more."
            </p>
            <p>
                <label class="plain">
                    <input type="file" class="over" accept=".safetensors" data-act="adapter" on:change=accept/>
                    "Choose an adapter file"
                </label>
                " or drop it here: the "<code>"adapters.safetensors"</code>
                " that this command of the native program writes."
            </p>
            <pre class="command" tabindex="0"><code>{COMMAND}</code></pre>
        </section>
    }
}

/// Takes dropped or pasted files that hold weights, and gives the others back: adapters where CLIP is at work, else a
/// model.
pub(crate) fn accept_weights(page: PageState, files: Vec<File>) -> Vec<File> {
    let is_weights = |file: &File| file.name().ends_with(".safetensors");
    if !files.iter().any(is_weights) {
        return files;
    }
    let has_clip = page.models.at_work.get_untracked() == Some(ModelChoice::Clip);
    let mut weights = files.iter().filter(|file| is_weights(file));
    match weights.next() {
        Some(file) if has_clip && file.size() <= MAX_ADAPTER_BYTES => give(page, file.clone()),
        _ => actions::load_files(page, files),
    }
    Vec::new()
}

/// Gives a file to the model at work.
fn give(page: PageState, file: File) {
    spawn_local(async move {
        match JsFuture::from(file.array_buffer()).await {
            Ok(buffer) => {
                let bytes = Arc::new(Uint8Array::new(&buffer).to_vec());
                page.supervise(Event::GiveAdapters(file.name(), bytes));
            }
            Err(_) => page.notify(format!(
                "“{}” could not be read by the browser. Everything else is as it was.",
                file.name()
            )),
        }
    });
}
