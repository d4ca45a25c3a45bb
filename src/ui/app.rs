//! The page's frame and its start.

use std::any::Any;
use std::panic;

use leptos::html::Main;
use leptos::prelude::*;
use leptos::web_sys::HtmlElement;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::View;
use crate::ui::dom::{browser, focus};
use crate::ui::engine::Client;
use crate::ui::later::{Later, LaterLoader, LaterPart, LaterProgram, do_tasks, mount_later};
use crate::ui::model_panel::{ModelPanel, NeedsAdapter};
use crate::ui::page::gallery::WorldFiles;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::locks::Prepared;
use crate::ui::page::state::PageState;
use crate::ui::page::{effects, fetch_ahead, file_input, lessons, locks, speech};
use crate::ui::panels::masthead::Masthead;
use crate::ui::panels::navigation::Navigation;
use crate::ui::panels::notices::Notices;
use crate::ui::panels::save::{Save, VIEW};
use crate::ui::panels::share_card;
use crate::ui::panels::tour::Tour;
use crate::ui::plot;
use crate::ui::views;

/// Puts the page in place of what stood in its element before the program ran.
pub fn start(later: LaterLoader) {
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
        mount_to(
            place,
            move || view! { <App client=client opening=opening later=later/> },
        )
        .forget();
        browser::announce("kappascope-started");
    });
}

/// The whole page: makes its state, starts its effects, and lays out its panels around the open view.
#[component]
fn App(client: Client, opening: WorldFiles, later: LaterLoader) -> impl IntoView {
    let page = PageState::new(client);
    provide_context(page);
    provide_context(later);
    do_tasks(page);
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
        <main id=VIEW node_ref=place tabindex="-1"></main>
        <Later part=LaterPart::Foot/>
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
        let Some(place) = place.get() else { return };
        shown.set_value(None);
        let keep = move |part| shown.set_value(Some(part));
        match view {
            Some(View::Explore) => keep(untrack(|| {
                Box::new(mount_to(place, views::Explore)) as Box<dyn Any>
            })),
            view => {
                let part = view.map_or(LaterPart::NeedsAdapter, LaterPart::View);
                mount_later(part, place, move || open.get_untracked() == view, keep);
            }
        }
    });
}

/// What the page does not open with.
pub fn later_program() -> LaterProgram {
    LaterProgram { mount, run_task }
}

/// Puts a part into its place; it goes when what is returned is dropped.
fn mount(part: LaterPart, place: HtmlElement) -> Box<dyn Any> {
    match part {
        LaterPart::View(view) => views::mount(view, place),
        LaterPart::NeedsAdapter => Box::new(mount_to(place, NeedsAdapter)),
        LaterPart::BelowMatrix => Box::new(mount_to(place, views::BelowMatrix)),
        LaterPart::Models => Box::new(mount_to(place, ModelPanel)),
        LaterPart::Foot => Box::new(mount_to(place, || view! { <Save/><Tour/> })),
    }
}

/// Does what the page left to the later program: saves a card, or fetches what is not needed to open.
fn run_task(task: LaterTask, page: PageState) {
    match task {
        LaterTask::SaveCard {
            caption,
            world,
            lit,
        } => share_card::save(page, caption, world, &lit),
        LaterTask::FetchLessons(world) => lessons::fetch(page, world),
        LaterTask::FetchAhead { world, images } => fetch_ahead::fetch(page, world, images),
    }
}
