//! The tour: a text beside the view that it is about, and the way to the next.

use leptos::prelude::*;

use crate::explorer::{ExplorerState, Station, encode};
use crate::ui::exhibit::Exhibit;
use crate::ui::{browser, gallery, lessons};

/// The station at which the visitor stands, while the tour is taken.
#[component]
pub(crate) fn Tour() -> impl IntoView {
    let exhibit = expect_context::<Exhibit>();
    let at = Memo::new(move |_| exhibit.state.with(|state| state.station));
    move || {
        let i = at.get()?;
        let (station, n) = lessons::station(exhibit, i)?;
        Some(card(exhibit, i, n, station))
    }
}

fn card(exhibit: Exhibit, i: usize, n: usize, station: Station) -> AnyView {
    let link = move |i: Option<usize>, words: &'static str| {
        let (station, _) = lessons::station(exhibit, i?)?;
        Some(view! { <a class="ask" href=format!("#{}", station.link)>{words}</a> })
    };
    view! {
        <aside class="tour" aria-label="Tour" data-station=i.to_string()>
            <h2>{station.title}</h2>
            <p>{station.text}</p>
            <p class="view-controls">
                <span>{format!("{} of {n}", i + 1)}</span>
                {link(i.checked_sub(1), "Back")}
                {link(Some(i + 1), "Next")}
                <button type="button" class="quiet" on:click=move |_| leave(exhibit)>"end the tour"</button>
            </p>
        </aside>
    }
    .into_any()
}

/// Keeps the page that the tour takes the place of.
pub(crate) fn begin(exhibit: Exhibit) {
    let page = exhibit.state.get_untracked();
    exhibit.before_tour.set(Some(page));
}

/// Ends the tour as a step to which the way back leads.
fn leave(exhibit: Exhibit) {
    end(exhibit);
    browser::push_fragment(&exhibit.state.with_untracked(encode));
}

/// Brings back the page that was there before the tour, or leaves it at what it shows.
pub(crate) fn end(exhibit: Exhibit) {
    let before: Option<ExplorerState> = exhibit.before_tour.get_untracked();
    exhibit.before_tour.set(None);
    exhibit.state.update(|state| {
        if let Some(before) = before {
            *state = before;
        }
        state.station = None;
    });
    gallery::hang_missing(exhibit);
}
