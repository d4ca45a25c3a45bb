//! The page's frame and its start.

use std::any::Any;
use std::panic;

use leptos::html::Main;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::ui::dom::{browser, focus};
use crate::ui::engine::Client;
use crate::ui::page::gallery::WorldFiles;
use crate::ui::page::locks::Prepared;
use crate::ui::page::state::PageState;
use crate::ui::page::{effects, file_input, lessons, locks, speech};
use crate::ui::panels::masthead::Masthead;
use crate::ui::panels::navigation::Navigation;
use crate::ui::panels::notices::Notices;
use crate::ui::panels::save::Save;
use crate::ui::panels::tour::Tour;
use crate::ui::plot;
use crate::ui::views;

/// Puts the page in place of what stood in its element before the program ran.
pub fn start() {
    panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        browser::announce("kappascope-crashed");
    }));
    let Some(place) = browser::element("app") else {
        return;
    };
    spawn_local(async move {
        let client = Client::new();
        if let Some(source) = effects::certain_source() {
            // It starts while the page is laid out.
            client.start(source);
        }
        let opening = WorldFiles::first(effects::asked_world()).await;
        place.set_inner_html("");
        mount_to(place, || view! { <App client=client opening=opening/> }).forget();
        browser::announce("kappascope-started");
    });
}

/// The whole page: makes its state, starts its effects, and lays out its panels around the open view.
#[component]
fn App(client: Client, opening: WorldFiles) -> impl IntoView {
    let page = PageState::new(client);
    provide_context(page);
    effects::open(page, opening);
    locks::keep(page);
    lessons::keep(page);
    file_input::accept_dropped(page);
    focus::keep();
    speech::keep(page);
    let place = NodeRef::<Main>::new();
    keep_view(page, place);
    let skip = move |_| {
        if let Some(place) = place.get_untracked() {
            browser::focus(&place);
        }
    };
    view! {
        {plot::gradients()}
        <button type="button" class="skip" on:click=skip>"Skip to the view"</button>
        <Masthead/>
        <Navigation/>
        <Prepared/>
        <Notices/>
        <main node_ref=place tabindex="-1"></main>
        <Save of=place/>
        <Tour/>
        <p class="hidden" aria-live="polite" id="spoken">{move || page.spoken.get()}</p>
    }
}

/// Keeps the open view in its place.
///
/// A view is put there and taken away, never patched: a program without the code that patches whole views is smaller.
fn keep_view(page: PageState, place: NodeRef<Main>) {
    let open = Memo::new(move |_| {
        let view = page.state.with(|state| state.view);
        (view.works_without_adapters() || !page.is_bare.get()).then_some(view)
    });
    let shown = StoredValue::new_local(None::<Box<dyn Any>>);
    Effect::new(move |_| {
        let view = open.get();
        if let Some(place) = place.get() {
            shown.set_value(None);
            shown.set_value(Some(untrack(|| views::mount(view, place))));
        }
    });
}
