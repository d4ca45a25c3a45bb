//! A lesson on paper: the questions, and on a page of its own the key, with what the model answers.

use leptos::prelude::*;

use crate::explorer::{Lesson, LessonQuestion, answer_text, family_name, truth_text};
use crate::ui::dom::browser;
use crate::ui::page::lessons;
use crate::ui::page::state::PageState;
use crate::ui::plot;

/// What the words of the sheet mean.
const WORDS: &str = "Words: a caption is a sentence about a picture; it is vague when many pictures fit it, and specific \
    when few do. κ (kappa) is a model’s number for how specific a caption is: the higher, the fewer pictures.";

/// The worksheet of the open lesson.
#[component]
pub(crate) fn Worksheet() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lesson = lessons::open_lesson(page);
    move || {
        let (_, lesson) = lesson.get()?;
        Some(view! {
            <article class="worksheet" aria-label="Worksheet">
                {questions(&lesson)}
                <Key lesson=lesson/>
            </article>
        })
    }
}

fn questions(lesson: &Lesson) -> AnyView {
    let asked = |question: &LessonQuestion| {
        let caption = |caption: &String| {
            view! { <li class="words"><span class="place-for-answer"></span>{caption.clone()}</li> }
        };
        view! { <li>{question.ask()}<ul>{question.captions.iter().map(caption).collect_view()}</ul></li> }
    };
    let open = |question: &String| view! { <li>{question.clone()}<p class="lines"></p></li> };
    view! {
        <header>
            <h3>{lesson.title.clone()}</h3>
            <p class="aside">"Name: "<span class="line"></span></p>
            {plot::qr(&browser::address_with(&lesson.link))}
        </header>
        <p>"A caption is vague when many pictures fit it. Number the captions of each question, 1 for the vaguest."</p>
        <ol>{lesson.questions.iter().map(asked).collect_view()}{lesson.open.iter().map(open).collect_view()}</ol>
        <p class="aside">{WORDS}</p>
    }
    .into_any()
}

/// The key, with the answers of the model at work under the chosen distribution.
#[component]
fn Key(lesson: Lesson) -> impl IntoView {
    let page = expect_context::<PageState>();
    let title = lesson.title.clone();
    let by = move || {
        let family = family_name(page.family());
        let model = page
            .cache
            .with(|cache| cache.card().map(|card| card.title.clone()));
        format!(
            "From the vaguest to the most specific, by what the words mean; the model is {}, {family}.",
            model.unwrap_or_default()
        )
    };
    let answer = move |question: &LessonQuestion| {
        let family = page.family();
        let known = page.cache.with(|cache| question.answer(cache, family));
        let model = known.map_or_else(
            || "the model has not answered yet".to_owned(),
            |known| answer_text(&known),
        );
        view! {
            <li data-field="key">
                {truth_text(question)}<p class="aside">"The model: "{model}". "{question.why.clone()}</p>
            </li>
        }
    };
    let answers = move || lesson.questions.iter().map(answer).collect_view();
    view! {
        <section class="key">
            <h3>"Answer key: "{title}</h3>
            <p class="aside">{by}</p>
            <ol>{answers}</ol>
        </section>
    }
}
