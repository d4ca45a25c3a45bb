//! The texts of the tour and the lessons, fetched when they are first wanted.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::exhibit::Exhibit;
use super::gallery::fetch_json;
use crate::explorer::{Lesson, Lessons, Station, View};

const LESSONS: &str = "./lessons.json";

/// The texts, or why they are not there; `None` before they were asked for.
pub(super) type Told = Option<Result<Arc<Lessons>, String>>;

/// Fetches the texts as soon as anything of them is to be shown.
pub(super) fn keep(exhibit: Exhibit) {
    let is_wanted = Memo::new(move |_| {
        exhibit.state.with(|state| {
            let asks = matches!(state.view, View::Learn | View::Teach);
            asks || state.station.is_some()
        })
    });
    Effect::new(move |_| {
        if is_wanted.get() && exhibit.told.with_untracked(Option::is_none) {
            spawn_local(async move {
                let lessons = fetch_json::<Lessons>(LESSONS).await;
                exhibit.told.set(Some(lessons.map(Arc::new)));
            });
        }
    });
}

/// The captions that lessons and failures are about.
pub(super) fn captions(told: &Told) -> Vec<String> {
    match told {
        Some(Ok(lessons)) => lessons.captions().collect(),
        _ => Vec::new(),
    }
}

/// The lesson that is open.
pub(super) fn open_lesson(exhibit: Exhibit) -> Memo<Option<(usize, Lesson)>> {
    Memo::new(move |_| {
        let i = exhibit.state.with(|state| state.lesson);
        exhibit.told.with(|told| {
            let lessons = told.as_ref()?.as_ref().ok()?;
            Some((i, lessons.lessons.get(i)?.clone()))
        })
    })
}

/// The titles of all lessons.
pub(super) fn titles(exhibit: Exhibit) -> Memo<Vec<String>> {
    Memo::new(move |_| {
        exhibit.told.with(|told| {
            let known = told.as_ref().and_then(|told| told.as_ref().ok());
            let titles = known.map(|lessons| {
                let lessons = lessons.lessons.iter();
                lessons.map(|lesson| lesson.title.clone()).collect()
            });
            titles.unwrap_or_default()
        })
    })
}

/// A station of the tour, with the number of stations.
pub(super) fn station(exhibit: Exhibit, i: usize) -> Option<(Station, usize)> {
    exhibit.told.with(|told| {
        let tour = &told.as_ref()?.as_ref().ok()?.tour;
        Some((tour.get(i)?.clone(), tour.len()))
    })
}

/// What stands in the place of the texts until they are there.
pub(super) fn blank(exhibit: Exhibit) -> impl IntoView {
    let words = move || {
        exhibit.told.with(|told| match told {
            None => Some("Not yet: the texts are being fetched.".to_owned()),
            Some(Err(reason)) => Some(format!("The texts could not be fetched: {reason}.")),
            Some(Ok(_)) => None,
        })
    };
    view! { <p class="aside" role="status">{words}</p> }
}
