//! The tour: a text beside the view that it is about, and the way to the next.

use leptos::prelude::*;

use crate::explorer::TourStep;
use crate::ui::page::state::PageState;
use crate::ui::page::{lessons, tour};

/// The step of the tour that is shown, while the tour is taken.
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
                <button type="button" class="quiet" on:click=move |_| tour::leave(page)>"end the tour"</button>
            </p>
        </aside>
    }
    .into_any()
}
