//! The tour's start and end: the visitor's page is kept and comes back.

use leptos::prelude::*;

use crate::explorer::encode;
use crate::ui::dom::browser;
use crate::ui::page::gallery;
use crate::ui::page::state::PageState;
use crate::ui::page::worlds;

/// Keeps the page from which the tour is started.
pub(crate) fn begin(page: PageState) {
    let before = page.state.get_untracked();
    page.before_tour.set(Some(before));
}

/// Ends the tour with an entry of its own in the history.
pub(crate) fn leave(page: PageState) {
    end(page);
    browser::push_fragment(&page.state.with_untracked(encode));
}

/// Brings back the page that was there before the tour, or leaves it at what it shows.
pub(crate) fn end(page: PageState) {
    let before = page.before_tour.get_untracked();
    page.before_tour.set(None);
    page.state.update(|state| {
        if let Some(before) = before {
            *state = before;
        }
        state.tour_step = None;
    });
    worlds::follow_link(page);
    gallery::show_missing(page);
}
