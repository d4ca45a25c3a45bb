//! The visitor's own pictures, from the file picker, a drop or a paste.

use std::sync::Arc;

use js_sys::Uint8Array;
use leptos::prelude::*;
use leptos::{ev, web_sys};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{ClipboardEvent, DragEvent, Event, File, FileList, HtmlInputElement, Url};

use crate::explorer::{self, MAX_PICTURES, PagePicture};
use crate::ui::engine::Client;
use crate::ui::model_panel::accept_weights;
use crate::ui::page::pictures::{PictureFile, PictureState, too_many};
use crate::ui::page::state::{EngineState, PageState};

/// Greatest size of a picture file that is read, in bytes: no photograph is larger, and more would fill the memory of
/// the visitor's device.
const MAX_FILE_BYTES: f64 = 64e6;

/// Takes files that were chosen in the picker.
pub(crate) fn accept_choice(page: PageState, event: &Event) {
    let Some(input) = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
    else {
        return;
    };
    accept(page, input.files());
    // So that the same file can be chosen again after it was removed.
    input.set_value("");
}

/// Takes files that are dropped or pasted anywhere: a browser would open one that nothing takes in the page's place.
pub(crate) fn accept_dropped(page: PageState) {
    // They listen as long as the page lives.
    window_event_listener(ev::dragover, |event| event.prevent_default());
    window_event_listener(ev::drop, move |event| accept_drop(page, &event));
    window_event_listener(ev::paste, move |event| accept_paste(page, &event));
}

fn accept_drop(page: PageState, event: &DragEvent) {
    event.prevent_default();
    let files = event.data_transfer().and_then(|transfer| transfer.files());
    if files.as_ref().is_none_or(|files| files.length() == 0) {
        return page.notify(
            "That drop held no file. Save the picture first, then drop the file or choose it.",
        );
    }
    accept(page, files);
}

fn accept_paste(page: PageState, event: &ClipboardEvent) {
    let files = event.clipboard_data().and_then(|data| data.files());
    if files.as_ref().is_some_and(|files| files.length() > 0) {
        event.prevent_default();
        accept(page, files);
    }
}

fn accept(page: PageState, files: Option<FileList>) {
    if page
        .engine
        .with_untracked(|engine| matches!(engine, EngineState::Stopped(_)))
    {
        return page.notify(
            "No engine runs, so no picture can be read. What is shown stays; reload to try again.",
        );
    }
    let files: Vec<File> = files
        .iter()
        .flat_map(|files| (0..files.length()).filter_map(|i| files.get(i)))
        .collect();
    let files = accept_weights(page, files);
    let room = MAX_PICTURES - page.state.with_untracked(|state| state.pictures.len());
    let n_left_out = files.len().saturating_sub(room);
    for file in files.into_iter().take(room) {
        spawn_local(read(page, file));
    }
    if n_left_out > 0 {
        page.notify(too_many(n_left_out));
    }
}

async fn read(page: PageState, file: File) {
    let name = file.name();
    if file.size() > MAX_FILE_BYTES {
        let [size, limit] =
            [file.size(), MAX_FILE_BYTES].map(|bytes| format!("{:.0} MB", bytes / 1e6));
        return page.notify(format!(
            "“{name}” was not added: it has {size}, and {limit} is the limit. Everything else is as it was."
        ));
    }
    let Ok(buffer) = JsFuture::from(file.array_buffer()).await else {
        return page.notify(format!(
            "“{name}” was not added: the browser could not read it. Everything else is as it was."
        ));
    };
    let id = page.own_id();
    page.keep_step(None);
    if !page
        .state
        .try_update(|state| state.add_picture(&id))
        .unwrap_or(false)
    {
        return page.notify(too_many(1));
    }
    let bytes = Arc::new(Uint8Array::new(&buffer).to_vec());
    let url = Url::create_object_url_with_blob(&file).unwrap_or_default();
    page.files.update(|files| {
        files.insert(
            id.clone(),
            PictureFile {
                url,
                alt: name,
                credit: None,
                bytes: Some(Arc::clone(&bytes)),
                state: PictureState::Unread,
            },
        );
    });
    page.client.with_value(Client::allow_image_encoder);
    page.supervise(explorer::Event::AddPicture(PagePicture {
        image: id,
        bytes,
        recorded: None,
    }));
}
