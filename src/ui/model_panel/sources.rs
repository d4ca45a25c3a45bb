//! Sources of the weights of CLIP: beside the page, the visitor's files, or the hub; nothing begins without a click.

use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::{Event, File, FileList, HtmlInputElement};

use crate::explorer::{ModelSource, World, file_size};
use crate::protocol::DownloadSize;
use crate::ui::dom::browser;
use crate::ui::model_panel::actions;
use crate::ui::model_panel::actions::{CLIP, CLIP_INT8};
use crate::ui::model_panel::models_state::SameSiteModel;
use crate::ui::page::state::PageState;

/// Why eight bits are recommended.
const SHORT: &str = "Memory or disk is short here, so take eight bits: half of the disk and two thirds of the memory; \
    they change cosines in the third figure.";
/// Note about weights of other programs where memory is short.
const HELD_IN_INT8: &str = "Memory is short here, so the CPU engine holds these weights in eight bits, which changes \
    cosines in the third figure.";

/// The sources, in the order in which they should be tried.
#[component]
pub(crate) fn Sources() -> impl IntoView {
    let page = expect_context::<PageState>();
    let left = page.models.left;
    let go_on = move |_| {
        if let Some(origin) = left.get_untracked() {
            actions::load_clip(page, origin);
        }
    };
    view! {
        <button type="button" data-act="go-on" hidden=move || left.with(Option::is_none) on:click=go_on>
            "Resume the paused load"
        </button>
        <ol class="sources">
            <li><BesidePage/></li>
            <li><OwnFiles/></li>
            <li><AtHub/></li>
        </ol>
        <p class="aside" hidden=!browser::lacks_memory()>{HELD_IN_INT8}</p>
    }
}

/// Shards that lie beside the page.
#[component]
fn BesidePage() -> impl IntoView {
    let page = expect_context::<PageState>();
    let button = move |path: &'static str, name: &'static str, suffix: &'static str| {
        let size = move || {
            let size = |found: &Vec<SameSiteModel>| {
                Some(file_size(found.iter().find(|one| one.path == path)?.bytes))
            };
            page.models.found.with(size)
        };
        let words = move || size().map(|size| format!("Load {size}{suffix}"));
        let load = move |_| actions::load_clip(page, ModelSource::SameSite(path));
        let order = move || {
            if path == CLIP_INT8 && is_short(page) {
                "first"
            } else {
                ""
            }
        };
        view! {
            <button
                type="button" data-act=name class=order hidden=move || size().is_none() on:click=load
            >{words}</button>
            " "
        }
    };
    let has_any = move || {
        let is_other =
            |one: &SameSiteModel| World::ALL.iter().all(|world| one.path != world.manifest());
        page.models.found.with(|found| found.iter().any(is_other))
    };
    let advice = move || if is_short(page) { SHORT } else { "" };
    view! {
        <b>"Beside this page. "</b>
        {button(CLIP, "beside", "")}
        {button(CLIP_INT8, "beside-int8", " in eight bits")}
        <span>{advice}</span>
        <span hidden=has_any>
            "This site has no copy."
            <details><summary>"For developers"</summary><code>"train import"</code>" makes one."</details>
        </span>
    }
}

/// Whether memory or disk are short, and weights in eight bits lie beside the page.
fn is_short(page: PageState) -> bool {
    let bytes_of = |path| {
        page.models.found.with(|found| {
            let found = found.iter().find(|found| found.path == path);
            found.map(|found| found.bytes)
        })
    };
    let stored = page.models.stored;
    let room = stored.with(|stored| stored.as_ref()?.room_bytes);
    let lacks_room = bytes_of(CLIP)
        .zip(room)
        .is_some_and(|(all, room)| room < all);
    bytes_of(CLIP_INT8).is_some() && (lacks_room || browser::lacks_memory())
}

/// Files or a folder of the visitor's.
#[component]
fn OwnFiles() -> impl IntoView {
    let page = expect_context::<PageState>();
    let accept = move |event: Event| {
        let files = chosen(&event);
        if !files.is_empty() {
            actions::load_files(page, files);
        }
    };
    view! {
        <b>"Your own files. "</b>
        <label class="plain">
            <input
                type="file" class="over" multiple=true accept=".safetensors,.json" data-act="files" on:change=accept
            />
            "Choose files"
        </label>
        " or "
        <label class="plain">
            <input type="file" class="over" prop:webkitdirectory=true data-act="folder" on:change=accept/>
            "a folder"
        </label>
        ": "<code>"model.safetensors"</code>" with "<code>"config.json"</code>" and "<code>"tokenizer.json"</code>
        ", as downloaded. They are read piece by piece and not copied, so a reload asks for them again."
    }
}

/// The files that were chosen.
pub(crate) fn chosen(event: &Event) -> Vec<File> {
    let input = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    let files = input.as_ref().and_then(HtmlInputElement::files);
    let files = files.iter().flat_map(listed).collect();
    if let Some(input) = input {
        // So that the same files can be chosen again.
        input.set_value("");
    }
    files
}

/// The files of a list.
pub(crate) fn listed(files: &FileList) -> Vec<File> {
    (0..files.length()).filter_map(|i| files.get(i)).collect()
}

/// The model hub, which is asked for sizes on one click and for weights on another.
#[component]
fn AtHub() -> impl IntoView {
    let page = expect_context::<PageState>();
    let download_size = page.models.download_size;
    let is_asked = RwSignal::new(false);
    let offered = actions::hub();
    let place = offered.host().to_owned();
    let asked = offered.clone();
    let id = RwSignal::new(offered.id.clone());
    let named = move || match id.get() {
        id if id.trim() == offered.id => Some(offered.clone()),
        id => offered.named(&id),
    };
    let named = Memo::new(move |_| named());
    let edit = move |event| {
        id.set(event_target_value(&event));
        is_asked.set(false);
        download_size.set(None);
    };
    let query = move |_| {
        if let Some(hub) = named.get_untracked() {
            is_asked.set(true);
            actions::query_download_size(page, hub);
        }
    };
    // What was asked about is what is loaded, at the commit that answered.
    let load = move |_| {
        if let Some(Ok(size)) = download_size.get_untracked() {
            actions::load_clip(page, ModelSource::Hub(size.hub));
        }
    };
    let answer = move || {
        download_size.with(|size| match size {
            _ if named.with(Option::is_none) => Some(
                "An id has an owner and a name, as in openai/clip-vit-base-patch32.".to_owned(),
            ),
            Some(Ok(size)) => Some(size_text(size)),
            Some(Err(failure)) => Some(asked.failure_text(failure)),
            None => is_asked.get().then(|| "Asking …".to_owned()),
        })
    };
    let is_known = move || download_size.with(|size| matches!(size, Some(Ok(_))));
    view! {
        <b>"The model hub, "</b>{place}". "
        <label class="hub-id">"Any CLIP of it, by its id: "
            <input type="text" data-act="hub-id" spellcheck="false" prop:value=move || id.get() on:input=edit/>
        </label>
        " "
        <button
            type="button" data-act="query-size" hidden=is_known disabled=move || named.with(Option::is_none)
            on:click=query
        >"Check download size"</button>
        <button type="button" data-act="hub" hidden=move || !is_known() on:click=load>"Download"</button>
        " "<span data-field="download-size">{answer}</span>
    }
}

/// Download size of a model at the hub, in words.
fn size_text(size: &DownloadSize) -> String {
    format!(
        "Text encoder {}, image encoder {}, at revision {:.8}.",
        file_size(size.text_bytes),
        file_size(size.image_bytes),
        size.hub.revision
    )
}
