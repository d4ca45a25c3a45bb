//! The tour: a text beside the view that it is about, and the way to the next.

use std::time::Duration;

use leptos::prelude::*;

use crate::explorer::views::learn::TourStep;
use crate::ui::dom::browser;
use crate::ui::page::state::PageState;
use crate::ui::page::{lessons, tour};

/// `id` of the card in the document.
const CARD: &str = "tour";
/// Time in which the view of a step is drawn.
const OPENING: Duration = Duration::from_millis(300);

/// The step of the tour that is shown, while the tour is taken.
#[component]
pub(crate) fn Tour() -> impl IntoView {
    let page = expect_context::<PageState>();
    let at = Memo::new(move |_| page.state.with(|state| state.tour_step));
    Effect::new(move |_| {
        let tour_step = at.get().and_then(|i| lessons::tour_step(page, i));
        let about = tour_step.map(|(tour_step, _)| tour_step.about);
        set_timeout(move || browser::speak_of(about.as_deref(), CARD), OPENING);
    });
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
        <aside id=CARD class="tour" tabindex="-1" aria-label="Tour" data-tour-step=i.to_string()>
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
