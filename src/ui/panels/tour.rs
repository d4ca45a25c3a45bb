//! The tour: a text beside the view that it is about, and the way to the next.

use leptos::prelude::*;

use crate::explorer::{ExplorerState, TourStep, encode};
use crate::ui::dom::browser;
use crate::ui::page::state::PageState;
use crate::ui::page::{gallery, lessons};

/// The station at which the visitor stands, while the tour is taken.
#[component]
pub(crate) fn Tour() -> impl IntoView {
    let page = expect_context::<PageState>();
    let at = Memo::new(move |_| page.state.with(|state| state.tour_step));
    move || {
        let i = at.get()?;
        let (tour_step, n) = lessons::tour_step(page, i)?;
        Some(card(page, i, n, tour_step))
    }
}

fn card(page: PageState, i: usize, n: usize, tour_step: TourStep) -> AnyView {
    let link = move |i: Option<usize>, words: &'static str| {
        let (tour_step, _) = lessons::tour_step(page, i?)?;
        Some(view! { <a class="ask" href=format!("#{}", tour_step.link)>{words}</a> })
    };
    view! {
        <aside class="tour" aria-label="Tour" data-tour-step=i.to_string()>
            <h2>{tour_step.title}</h2>
            <p>{tour_step.text}</p>
            <p class="view-controls">
                <span>{format!("{} of {n}", i + 1)}</span>
                {link(i.checked_sub(1), "Back")}
                {link(Some(i + 1), "Next")}
                <button type="button" class="quiet" on:click=move |_| leave(page)>"end the tour"</button>
            </p>
        </aside>
    }
    .into_any()
}

/// Keeps the page that the tour takes the place of.
pub(crate) fn begin(page: PageState) {
    let before = page.state.get_untracked();
    page.before_tour.set(Some(before));
}

/// Ends the tour as a step to which the way back leads.
fn leave(page: PageState) {
    end(page);
    browser::push_fragment(&page.state.with_untracked(encode));
}

/// Brings back the page that was there before the tour, or leaves it at what it shows.
pub(crate) fn end(page: PageState) {
    let before: Option<ExplorerState> = page.before_tour.get_untracked();
    page.before_tour.set(None);
    page.state.update(|state| {
        if let Some(before) = before {
            *state = before;
        }
        state.tour_step = None;
    });
    gallery::hang_missing(page);
}
