//! The texts of the tour and the lessons, fetched when they are first wanted.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Lesson, Lessons, TourStep, View};
use crate::ui::page::gallery::fetch_json;
use crate::ui::page::state::PageState;

const LESSONS: &str = "./lessons.json";

/// The texts, or why they are not there; `None` before they were asked for.
pub(crate) type LessonTexts = Option<Result<Arc<Lessons>, String>>;

/// Fetches the texts as soon as anything of them is to be shown.
pub(crate) fn keep(page: PageState) {
    let is_wanted = Memo::new(move |_| {
        page.state.with(|state| {
            let asks = matches!(state.view, View::Learn | View::Teach);
            asks || state.tour_step.is_some()
        })
    });
    Effect::new(move |_| {
        if is_wanted.get() && page.told.with_untracked(Option::is_none) {
            spawn_local(async move {
                let lessons = fetch_json::<Lessons>(LESSONS).await;
                page.told.set(Some(lessons.map(Arc::new)));
            });
        }
    });
}

/// The captions that lessons and failures are about.
pub(crate) fn captions(told: &LessonTexts) -> Vec<String> {
    match told {
        Some(Ok(lessons)) => lessons.captions().collect(),
        _ => Vec::new(),
    }
}

/// The lesson that is open.
pub(crate) fn open_lesson(page: PageState) -> Memo<Option<(usize, Lesson)>> {
    Memo::new(move |_| {
        let i = page.state.with(|state| state.lesson);
        page.told.with(|told| {
            let lessons = told.as_ref()?.as_ref().ok()?;
            Some((i, lessons.lessons.get(i)?.clone()))
        })
    })
}

/// The titles of all lessons.
pub(crate) fn titles(page: PageState) -> Memo<Vec<String>> {
    Memo::new(move |_| {
        page.told.with(|told| {
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
pub(crate) fn tour_step(page: PageState, i: usize) -> Option<(TourStep, usize)> {
    page.told.with(|told| {
        let tour = &told.as_ref()?.as_ref().ok()?.tour;
        Some((tour.get(i)?.clone(), tour.len()))
    })
}

/// What stands in the place of the texts until they are there.
pub(crate) fn blank(page: PageState) -> impl IntoView {
    let words = move || {
        page.told.with(|told| match told {
            None => Some("Not yet: the texts are being fetched.".to_owned()),
            Some(Err(reason)) => Some(format!("The texts could not be fetched: {reason}.")),
            Some(Ok(_)) => None,
        })
    };
    view! { <p class="aside" role="status">{words}</p> }
}
