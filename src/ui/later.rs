//! What is not there from the start, parts of the page and tasks: its program is loaded once the rest is at work.

use std::any::Any;
use std::future::Future;
use std::mem;
use std::pin::Pin;

use gloo_timers::future::TimeoutFuture;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;
use leptos::web_sys::HtmlElement;
use wasm_bindgen_futures::spawn_local;
use wasm_split_helpers::SplitLoaderError;

use crate::explorer::View;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::state::PageState;
use crate::ui::page::status::first_answer;

/// Said as long as that program cannot be had.
const NOT_LOADED: &str = "A part of this page could not be loaded. It comes by itself once the network is there; if \
    it does not, reload the page.";

/// Pause in milliseconds before the program is asked for again, which doubles with each attempt, and the longest.
const PAUSE: u32 = 2_000;
const LONGEST_PAUSE: u32 = 16_000;

/// A part of the page that comes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaterPart {
    /// A view that the page does not open with.
    View(View),
    /// What stands in the place of a view that needs adapters where there are none.
    NeedsAdapter,
    /// Of the view that the page opens with, what stands below the matrix.
    BelowMatrix,
    /// The panel of the models.
    Models,
    /// What stands below each view.
    Foot,
}

/// A part in its place; it goes when this is dropped.
type Mounted = Box<dyn Any>;

/// What only the later program does.
#[derive(Debug, Clone, Copy)]
pub struct LaterProgram {
    pub(super) mount: fn(LaterPart, HtmlElement) -> Mounted,
    pub(super) run_task: fn(LaterTask, PageState),
}

/// A program that is being loaded.
pub type Loading = Pin<Box<dyn Future<Output = Result<LaterProgram, NotLoaded>>>>;

/// Loads the later program, where that has not been done.
#[derive(Debug, Clone, Copy)]
pub struct LaterLoader(pub fn() -> Loading);

/// The later program could not be loaded.
#[derive(Debug, Clone, Copy)]
pub struct NotLoaded;

impl From<SplitLoaderError> for NotLoaded {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

/// The later program, as soon as it can be had.
async fn program(page: PageState) -> LaterProgram {
    let LaterLoader(load) = expect_context();
    let mut pause = PAUSE;
    loop {
        if let Ok(program) = load().await {
            page.notices.take_back(NOT_LOADED);
            return program;
        }
        if pause == PAUSE {
            page.notify(NOT_LOADED);
        }
        TimeoutFuture::new(pause).await;
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Does the page's tasks, as soon as their program can be had.
pub(super) fn do_tasks(page: PageState) {
    Effect::new(move |_| {
        page.tasks.track();
        let tasks = page.tasks.try_update_untracked(mem::take);
        let tasks = tasks.filter(|tasks| !tasks.is_empty());
        let Some(tasks) = tasks else { return };
        spawn_local(ScopedFuture::new_untracked(async move {
            let program = program(page).await;
            for task in tasks {
                (program.run_task)(task, page);
            }
        }));
    });
}

/// Puts a part into its place as soon as its program can be had, and keeps it there, unless it is not wanted any more
/// by the time it comes.
pub(super) fn mount_later(
    part: LaterPart,
    place: HtmlElement,
    is_wanted: impl Fn() -> bool + 'static,
    keep: impl Fn(Mounted) + 'static,
) {
    let page = expect_context::<PageState>();
    spawn_local(ScopedFuture::new_untracked(async move {
        let program = program(page).await;
        if is_wanted() {
            keep((program.mount)(part, place));
        }
    }));
}

/// The place of a part that can wait until the engine has answered.
#[component]
pub(super) fn Later(part: LaterPart) -> impl IntoView {
    let page = expect_context::<PageState>();
    let place = NodeRef::<Div>::new();
    let mounted = StoredValue::new_local(None);
    let is_due = RwSignal::new(false);
    spawn_local(async move {
        first_answer(page).await;
        // The part's place may be gone.
        is_due.try_set(true);
    });
    Effect::new(move |_| {
        if let Some(place) = place.get().filter(|_| is_due.get()) {
            let is_there = move || mounted.try_set_value(None).is_none();
            mount_later(part, place.into(), is_there, move |part| {
                mounted.set_value(Some(part));
            });
        }
    });
    view! { <div class="later" node_ref=place></div> }
}
