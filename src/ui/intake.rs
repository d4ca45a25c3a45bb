//! The visitor's own pictures, from the file picker, a drop or a paste.

use js_sys::Uint8Array;
use leptos::prelude::*;
use leptos::{ev, web_sys};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{ClipboardEvent, DragEvent, Event, File, FileList, HtmlInputElement, Url};

use super::exhibit::{EngineState, Exhibit};
use super::model_panel::accept_weights;
use super::pictures::{PictureFile, PictureState};
use crate::explorer::MAX_PICTURES;

/// A file above this is not read: no photograph is as large, and the page's memory is the visitor's.
const MAX_FILE_BYTES: f64 = 64e6;

/// Takes files that were chosen in the picker.
pub(super) fn accept_choice(exhibit: Exhibit, event: &Event) {
    let Some(input) = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
    else {
        return;
    };
    accept(exhibit, input.files());
    // So that the same file can be chosen again after it was removed.
    input.set_value("");
}

/// Takes what is dropped or pasted anywhere on the page: a browser would open a file that nothing takes, in the page's
/// place.
pub(super) fn accept_gifts(exhibit: Exhibit) {
    // They listen as long as the page lives.
    window_event_listener(ev::dragover, |event| event.prevent_default());
    window_event_listener(ev::drop, move |event| accept_drop(exhibit, &event));
    window_event_listener(ev::paste, move |event| accept_paste(exhibit, &event));
}

fn accept_drop(exhibit: Exhibit, event: &DragEvent) {
    event.prevent_default();
    let files = event.data_transfer().and_then(|transfer| transfer.files());
    if files.as_ref().is_none_or(|files| files.length() == 0) {
        return exhibit.tell(
            "That drop held no file. Save the picture first, then drop the file or choose it.",
        );
    }
    accept(exhibit, files);
}

fn accept_paste(exhibit: Exhibit, event: &ClipboardEvent) {
    let files = event.clipboard_data().and_then(|data| data.files());
    if files.as_ref().is_some_and(|files| files.length() > 0) {
        event.prevent_default();
        accept(exhibit, files);
    }
}

fn accept(exhibit: Exhibit, files: Option<FileList>) {
    if exhibit
        .engine
        .with_untracked(|engine| matches!(engine, EngineState::Stopped(_)))
    {
        return exhibit.tell(
            "No engine runs, so no picture can be read. What is shown stays; reload to try again.",
        );
    }
    let files: Vec<File> = files
        .iter()
        .flat_map(|files| (0..files.length()).filter_map(|i| files.get(i)))
        .collect();
    let files = accept_weights(exhibit, files);
    let room = MAX_PICTURES - exhibit.state.with_untracked(|state| state.pictures.len());
    let n_left_out = files.len().saturating_sub(room);
    for file in files.into_iter().take(room) {
        spawn_local(read(exhibit, file));
    }
    if n_left_out > 0 {
        exhibit.tell(too_many(n_left_out));
    }
}

/// That the page is full.
pub(super) fn too_many(n_left_out: usize) -> String {
    let were = if n_left_out == 1 {
        "picture was"
    } else {
        "pictures were"
    };
    format!(
        "{MAX_PICTURES} pictures are as many as fit, so {n_left_out} {were} left out. Remove some to add others."
    )
}

async fn read(exhibit: Exhibit, file: File) {
    let name = file.name();
    if file.size() > MAX_FILE_BYTES {
        let [size, limit] =
            [file.size(), MAX_FILE_BYTES].map(|bytes| format!("{:.0} MB", bytes / 1e6));
        return exhibit.tell(format!("“{name}” was not added: it has {size}, and {limit} is the limit. Everything else is as it was."));
    }
    let Ok(buffer) = JsFuture::from(file.array_buffer()).await else {
        return exhibit.tell(format!(
            "“{name}” was not added: the browser could not read it. Everything else is as it was."
        ));
    };
    let id = exhibit.own_id();
    if !exhibit
        .state
        .try_update(|state| state.add_picture(&id))
        .unwrap_or(false)
    {
        return exhibit.tell(too_many(1));
    }
    let url = Url::create_object_url_with_blob(&file).unwrap_or_default();
    exhibit.files.update(|files| {
        files.insert(
            id.clone(),
            PictureFile {
                url,
                alt: name,
                state: PictureState::Unread,
            },
        );
    });
    exhibit
        .client
        .with_value(|client| client.add_picture(&id, Uint8Array::new(&buffer).to_vec()));
}
