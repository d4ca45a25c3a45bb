//! The page's frame and its start.

use std::any::Any;
use std::panic;

use leptos::html::Main;
use leptos::prelude::*;
use leptos::web_sys::HtmlElement;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Measure, ModelChoice, Readings, View, dispute_text};
use crate::ui::dom::browser;
use crate::ui::model_panel::{NeedsAdapter, PhotographSets};
use crate::ui::page::effects;
use crate::ui::page::file_input;
use crate::ui::page::gallery::Opening;
use crate::ui::page::lessons;
use crate::ui::page::locks;
use crate::ui::page::locks::Prepared;
use crate::ui::page::state::PageState;
use crate::ui::panels::{
    Axis, CaptionRow, Controls, Export, GalleryStrip, Masthead, Navigation, NewCaption, Notices,
    PictureHeaders, Prose, Save, TouchedPair, Tour,
};
use crate::ui::plot;
use crate::ui::views::{
    Corruption, Evidence, Geometry, Ladder, Learn, NoneOfThese, Studio, Teach, Traverse, Words,
};

/// More pictures than this scroll beneath the captions.
const MANY: usize = 7;

/// How the marks in the cells are read while bars show cosines.
const MOVED: &str = "Bars now show cosines, which know no κ; “3rd → 1st” is a caption that is third for a picture by cosine and first by likelihood.";

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
        let opening = Opening::fetch().await;
        place.set_inner_html("");
        mount_to(place, || view! { <App opening=opening/> }).forget();
        browser::announce("kappascope-started");
    });
}

/// The whole page.
#[component]
fn App(opening: Opening) -> impl IntoView {
    let page = PageState::new();
    provide_context(page);
    effects::open(page, opening);
    locks::keep(page);
    lessons::keep(page);
    file_input::accept_gifts(page);
    let place = NodeRef::<Main>::new();
    keep_view(page, place);
    view! {
        {plot::gradients()}
        <Masthead/>
        <Navigation/>
        <Prepared/>
        <main node_ref=place></main>
        <Save of=place/>
        <Tour/>
        <Notices/>
        <p class="hidden" aria-live="polite" id="spoken">{move || page.spoken.get()}</p>
    }
}

/// Keeps the open view in its place.
///
/// A view is put there and taken away, never patched: a program without the code that patches whole views is smaller.
fn keep_view(page: PageState, place: NodeRef<Main>) {
    let open = Memo::new(move |_| {
        let view = page.state.with(|state| state.view);
        let works_bare = matches!(view, View::Explore | View::Evidence);
        (works_bare || !page.is_bare.get()).then_some(view)
    });
    let shown = StoredValue::new_local(None::<Box<dyn Any>>);
    Effect::new(move |_| {
        let view = open.get();
        if let Some(place) = place.get() {
            shown.set_value(None);
            shown.set_value(Some(untrack(|| mount(view, place))));
        }
    });
}

/// Puts a view into its place, or what is missing for it; it goes when what is returned is dropped.
fn mount(view: Option<View>, place: HtmlElement) -> Box<dyn Any> {
    let Some(view) = view else {
        return Box::new(mount_to(place, || view! { <NeedsAdapter/> }));
    };
    match view {
        View::Explore => Box::new(mount_to(place, || view! { <Explore/> })),
        View::Ladder => Box::new(mount_to(place, || view! { <Ladder/> })),
        View::Words => Box::new(mount_to(place, || view! { <Words/> })),
        View::Studio => Box::new(mount_to(place, || view! { <Studio/> })),
        View::Geometry => Box::new(mount_to(place, || view! { <Geometry/> })),
        View::NoneOfThese => Box::new(mount_to(place, || view! { <NoneOfThese/> })),
        View::Corruption => Box::new(mount_to(place, || view! { <Corruption/> })),
        View::Traverse => Box::new(mount_to(place, || view! { <Traverse/> })),
        View::Evidence => Box::new(mount_to(place, || view! { <Evidence/> })),
        View::Learn => Box::new(mount_to(place, || view! { <Learn/> })),
        View::Teach => Box::new(mount_to(place, || view! { <Teach/> })),
    }
}

/// The view that the page opens with.
#[component]
fn Explore() -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_bare = move || page.is_bare.get();
    let has_clip = move || page.state.with(|state| state.model == ModelChoice::Clip);
    // What is hidden costs less than what is built anew.
    view! {
        <Work/>
        <div hidden=is_bare><Dispute/></div>
        <div hidden=has_clip><GalleryStrip/></div>
        <div hidden=move || !has_clip()><PhotographSets/></div>
        <div hidden=is_bare><TouchedPair/><Export/></div>
        <div hidden=move || !is_bare()><NeedsAdapter/></div>
        <Prose/>
    }
}

/// Where κ changes which caption is best, and how to see it.
#[component]
fn Dispute() -> impl IntoView {
    let page = expect_context::<PageState>();
    let dispute = move || {
        let (n_disputed, n_pictures) = page.readings.with(Readings::n_disputed);
        let legend = match page.state.with(|state| state.measure) {
            Measure::Likelihood => "",
            Measure::Cosine => MOVED,
        };
        format!("{} {legend}", dispute_text(n_disputed, n_pictures))
    };
    view! { <p class="aside dispute">{dispute}</p> }
}

/// The work surface: captions as rows, pictures as columns, and the matrix between them.
#[component]
fn Work() -> impl IntoView {
    let page = expect_context::<PageState>();
    let keys = Memo::new(move |_| {
        page.state.with(|state| {
            state
                .captions
                .iter()
                .map(|caption| caption.key)
                .collect::<Vec<_>>()
        })
    });
    let n_pictures = Memo::new(move |_| page.state.with(|state| state.pictures.len()));
    let is_many = move || n_pictures.get() > MANY;
    view! {
        <section class="work" aria-label="Captions and pictures" style:--n-pictures=move || n_pictures.get().to_string()>
            <Controls/>
            <div class="matrix" class:many=is_many>
                <table role="grid" aria-label="Nats above uniform, for each caption and each picture">
                    <thead role="rowgroup"><PictureHeaders/></thead>
                    <tbody role="rowgroup">
                        <For each=move || keys.get() key=|key| *key let:key><CaptionRow key=key/></For>
                    </tbody>
                    <tfoot role="rowgroup"><Axis/></tfoot>
                </table>
            </div>
            <NewCaption/>
        </section>
    }
}
