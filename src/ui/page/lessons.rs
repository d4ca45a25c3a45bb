//! The texts of the tour and the lessons, fetched when a view first asks for them, and how views read them.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::World;
use crate::explorer::views::learn::{Lesson, Lessons, TourStep};
use crate::ui::page::gallery::fetch_json;
use crate::ui::page::later_task::LaterTask;
use crate::ui::page::state::PageState;

/// Fetches the texts of the world that is shown as soon as anything of them is to be shown.
pub(crate) fn keep(page: PageState) {
    let is_needed = Memo::new(move |_| {
        page.state
            .with(|state| state.view.shows_lessons() || state.tour_step.is_some())
    });
    let world = page.world;
    Effect::new(move |_| {
        world.track();
        page.lesson_texts.set(None);
    });
    Effect::new(move |_| {
        if is_needed.get() && page.lesson_texts.with(Option::is_none) {
            page.do_later(LaterTask::FetchLessons(world.get_untracked()));
        }
    });
}

/// Fetches the texts of a world and gives them to the views.
pub(crate) fn fetch(page: PageState, of: World) {
    spawn_local(async move {
        let lessons = fetch_json::<Lessons>(of.lessons()).await;
        // The visitor may have gone to another world meanwhile.
        if page.world.get_untracked() == of {
            page.lesson_texts.set(Some(lessons.map(Arc::new)));
        }
    });
}

/// The lesson that is open.
pub(crate) fn open_lesson(page: PageState) -> Memo<Option<(usize, Lesson)>> {
    Memo::new(move |_| {
        let i = page.state.with(|state| state.lesson);
        page.lesson_texts.with(|texts| {
            let lessons = texts.as_ref()?.as_ref().ok()?;
            Some((i, lessons.lessons.get(i)?.clone()))
        })
    })
}

/// The titles of all lessons.
pub(crate) fn titles(page: PageState) -> Memo<Vec<String>> {
    Memo::new(move |_| {
        page.lesson_texts.with(|texts| {
            let known = texts.as_ref().and_then(|texts| texts.as_ref().ok());
            let titles = known.map(|lessons| {
                let lessons = lessons.lessons.iter();
                lessons.map(|lesson| lesson.title.clone()).collect()
            });
            titles.unwrap_or_default()
        })
    })
}

/// A step of the tour, with the number of steps.
pub(crate) fn tour_step(page: PageState, i: usize) -> Option<(TourStep, usize)> {
    page.lesson_texts.with(|texts| {
        let tour = &texts.as_ref()?.as_ref().ok()?.tour;
        Some((tour.get(i)?.clone(), tour.len()))
    })
}

/// A line in place of the texts until they are there.
pub(crate) fn blank(page: PageState) -> impl IntoView {
    let words = move || {
        page.lesson_texts.with(|texts| match texts {
            None => Some("Not yet: the texts are being fetched.".to_owned()),
            Some(Err(reason)) => Some(format!("The texts could not be fetched: {reason}.")),
            Some(Ok(_)) => None,
        })
    };
    view! { <p class="aside" data-spoken>{words}</p> }
}
