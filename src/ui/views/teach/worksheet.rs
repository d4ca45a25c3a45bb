//! A lesson on paper: the questions, and on a page of its own the key, with what the model answers.

use leptos::prelude::*;

use crate::explorer::views::learn::{
    Lesson, LessonPicture, LessonQuestion, N_NUMBERED, answer_texts, truth_text,
};
use crate::explorer::{ExplorerState, encode_class, family_name};
use crate::report::PhotographCredit;
use crate::ui::dom::browser;
use crate::ui::page::lessons;
use crate::ui::page::pictures::GalleryPicture;
use crate::ui::page::state::PageState;
use crate::ui::plot;

/// The worksheet of the open lesson.
#[component]
pub(crate) fn Worksheet() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lesson = lessons::open_lesson(page);
    let own = Memo::new(move |_| page.state.with(|state| state.questions.clone()));
    move || {
        let (_, lesson) = lesson.get()?;
        let class_link = own.with(|own| encode_class(&lesson.link, own));
        Some(view! {
            <article class="worksheet" aria-label="Worksheet">
                {head(&lesson, &class_link)}
                {questions(page, &lesson)}
                <Key lesson=lesson/>
            </article>
        })
    }
}

/// Title, place for a name, and the way to the page: as a code that holds the teacher's questions, too, and for those
/// without a camera as text, which is short without them.
fn head(lesson: &Lesson, class_link: &str) -> AnyView {
    view! {
        <header>
            <h3>{lesson.title.clone()}</h3>
            <p class="aside">"Name: "<span class="line"></span></p>
            {plot::qr(&browser::address_with(class_link))}
            <p class="aside address"><code>{browser::address_with(&lesson.link)}</code></p>
        </header>
    }
    .into_any()
}

fn questions(page: PageState, lesson: &Lesson) -> AnyView {
    let asked = |question: &LessonQuestion| {
        let caption = |caption: &String| {
            view! { <li class="words"><span class="place-for-answer"></span>{caption.clone()}</li> }
        };
        view! { <li>{question.ask()}<ul>{question.captions.iter().map(caption).collect_view()}</ul></li> }
    };
    let open = |question: String| view! { <li>{question}<p class="lines"></p></li> };
    let own = page.state.with(ExplorerState::own_questions);
    let of_lesson = lesson.open.iter().map(|[question, _]| question.clone());
    let open = of_lesson.chain(own).map(open);
    let word = |[word, meaning]: &[String; 2]| {
        view! { <li><b>{word.clone()}</b>": "{meaning.clone()}</li> }
    };
    view! {
        <p>"A caption is vague when many pictures fit it. Number the captions of each question, 1 for the vaguest."</p>
        <ol>
            {lesson.questions.iter().map(asked).collect_view()}
            {numbered_pictures(page, lesson)}
            {open.collect_view()}
        </ol>
        <h4>"Words"</h4>
        <ul class="word-list">{lesson.words.iter().map(word).collect_view()}</ul>
    }
    .into_any()
}

/// The first pictures of the gallery, and captions to be matched with them.
fn numbered_pictures(page: PageState, lesson: &Lesson) -> Option<AnyView> {
    let picture = |(i, url): (usize, String)| {
        view! { <li><img src=url alt="" width="96" height="96"/>{i + 1}</li> }
    };
    let pictures: Vec<_> = page.gallery.with(|gallery| {
        let numbered = gallery.iter().take(N_NUMBERED);
        let read = |picture: &GalleryPicture| (picture.url(), picture.entry.credit.clone());
        numbered.map(read).collect()
    });
    let (urls, credits): (Vec<String>, Vec<Option<PhotographCredit>>) =
        pictures.into_iter().unzip();
    let credit = |credit: PhotographCredit| format!("{} ({})", credit.page, credit.license);
    let credits: Vec<String> = credits.into_iter().flatten().map(credit).collect();
    let caption = |asked: &LessonPicture| {
        let caption = asked.caption.clone();
        view! { <li class="words">{caption}<span class="line"></span></li> }
    };
    (!lesson.pictures.is_empty() && !urls.is_empty()).then(|| {
        view! {
            <li>
                "Which of "{format!("1–{}", urls.len())}" could each caption mean?"
                <ul class="numbered">{urls.into_iter().enumerate().map(picture).collect_view()}</ul>
                <small class="aside">{credits.join("; ")}</small>
                <ul>{lesson.pictures.iter().map(caption).collect_view()}</ul>
            </li>
        }
        .into_any()
    })
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
        let [model, numbers, unread] = known.map_or_else(
            || ["the model has not answered yet", "", ""].map(str::to_owned),
            |known| answer_texts(&known),
        );
        view! {
            <li data-field="key">
                {truth_text(question)}
                <p class="aside">
                    "The model: "{model}<span class="number">{numbers}</span>{unread}". "{question.why.clone()}
                </p>
            </li>
        }
    };
    let pictures: Vec<String> = lesson.pictures.iter().map(LessonPicture::answer).collect();
    let pictures = (!pictures.is_empty()).then(|| view! { <li>{pictures.join("; ")}</li> });
    let note = |note: &String| view! { <li>{note.clone()}</li> };
    let notes = lesson.notes.iter().map(note).collect_view();
    let open = lesson.open.iter().map(|[_, answer]| note(answer));
    let open = open.collect_view();
    let (minutes, plan) = (lesson.minutes, lesson.plan());
    let answers = move || lesson.questions.iter().map(answer).collect_view();
    view! {
        <section class="key">
            <h3>"Answer key: "{title}</h3>
            <p class="aside">{by}</p>
            <ol>{answers}{pictures}{open}</ol>
            <p class="aside">"About "{minutes}" minutes. "{plan}</p>
            <ul class="notes">{notes}</ul>
        </section>
    }
}
