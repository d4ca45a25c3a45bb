//! Links, lessons and worksheets for a class.

use leptos::prelude::*;
use leptos::web_sys::HtmlTextAreaElement;

use crate::explorer::views::learn::Lessons;
use crate::explorer::{Access, PageControl, View, class_lines, encode, encode_class};
use crate::ui::dom::browser;
use crate::ui::page::lessons;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::select::Select;
use crate::ui::panels::shared_link::shared_link;
use crate::ui::views::learn::LessonChoice;
use crate::ui::views::teach::worksheet::Worksheet;

/// The accesses, in the order in which they are offered.
const ACCESSES: [(Access, &str); 3] = [
    (Access::Open, "open"),
    (Access::Locked, "locked"),
    (Access::Hidden, "hidden"),
];

/// Message where more is typed than the link's code holds.
const FULL: &str = "No more fits into the code of the link.";
/// Name of the links on this page.
const CLASS_LINK: &str = "The link for the class";

/// The view: a ready lesson, a page of the teacher's own, and the worksheet.
#[component]
pub(crate) fn Teach() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lesson = lessons::open_lesson(page);
    let own = move || page.state.with(|state| state.questions.clone());
    let link = Memo::new(move |_| {
        lesson.with(|lesson| Some(encode_class(&lesson.as_ref()?.1.link, &own())))
    });
    view! {
        <section class="view" aria-labelledby="teach-title">
            <h2 id="teach-title">"Prepare a class"</h2>
            {lessons::blank(page)}
            <LessonChoice/>
            <FamilyChoice/>
            <div class="teach">
                <section>
                    <h3>"A ready lesson"</h3>
                    <Notes/>
                    <OwnQuestions/>
                    {move || link.get().map(|link| shared_link("lesson-link", CLASS_LINK, &link))}
                </section>
                <Own/>
            </div>
            <ClassResult/>
            <p class="view-controls">
                <button type="button" class="ask" on:click=move |_| browser::print()>
                    "Print the worksheet and its key"
                </button>
            </p>
            <Worksheet/>
        </section>
    }
}

/// Questions of the teacher's own, which the class sees below those of the lesson.
#[component]
fn OwnQuestions() -> impl IntoView {
    let page = expect_context::<PageState>();
    let text = Memo::new(move |_| page.state.with(|state| state.questions.clone()));
    let is_cut = RwSignal::new(false);
    let edit = move |field: HtmlTextAreaElement| {
        let typed = field.value();
        page.change(&mut |state| state.ask(&typed));
        is_cut.set(text.with_untracked(|kept| *kept != typed));
        if is_cut.get_untracked() {
            // The field shows only what the link holds.
            field.set_value(&text.get_untracked());
        }
    };
    view! {
        <p class="text-control">
            <label for="questions">"Your own questions, one a line; they are in the link and on the worksheet"</label>
            <textarea
                id="questions" class="words" rows="3" autocomplete="off"
                prop:value=text on:input:target=move |event| edit(event.target())
            ></textarea>
            <span class="aside" data-spoken>{move || is_cut.get().then_some(FULL)}</span>
        </p>
    }
}

/// Scores of the class, from the codes that it reads out.
#[component]
fn ClassResult() -> impl IntoView {
    let page = expect_context::<PageState>();
    let codes = RwSignal::new(String::new());
    let lines = move || {
        let texts = page.lesson_texts.get().and_then(Result::ok);
        let lines =
            |lessons: &Lessons| codes.with(|codes| class_lines(codes, page.world.get(), lessons));
        texts.as_deref().map(lines).unwrap_or_default()
    };
    view! {
        <section class="class-result">
            <h3>"The class’s results"</h3>
            <p class="text-control">
                <label for="codes">"Codes of six letters from the class, in any order"</label>
                <textarea
                    id="codes" class="words" rows="3" spellcheck="false" autocomplete="off"
                    on:input:target=move |event| codes.set(event.target().value())
                ></textarea>
            </p>
            <ul class="notes" data-spoken>{each(lines, |line| view! { <li>{line}</li> }.into_any())}</ul>
        </section>
    }
}

/// Notes for the teacher about the open lesson.
#[component]
fn Notes() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lesson = lessons::open_lesson(page);
    move || {
        let (_, lesson) = lesson.get()?;
        let note = |note: String| view! { <li>{note}</li> };
        Some(view! {
            <p class="finding">{lesson.about.clone()}" About "{lesson.minutes}" minutes."</p>
            <p class="aside">{lesson.plan()}</p>
            <ul class="notes">{lesson.notes.into_iter().map(note).collect_view()}</ul>
        })
    }
}

/// The page as it stands now, opened at a view and with some controls locked or hidden.
#[component]
fn Own() -> impl IntoView {
    let page = expect_context::<PageState>();
    let link = Memo::new(move |_| {
        let mut prepared = page.state.get();
        (prepared.view, prepared.locks) = page.prepared.get();
        encode(&prepared)
    });
    let views: Vec<String> = View::ALL.map(|view| view.name().to_owned()).to_vec();
    let at = move || {
        let (view, _) = page.prepared.get();
        View::ALL
            .iter()
            .position(|known| *known == view)
            .unwrap_or(0)
    };
    let open = move |i: usize| {
        page.prepared
            .update(|(view, _)| *view = View::ALL.get(i).copied().unwrap_or_default());
    };
    let size = move || page.state.with(|state| usize::from(state.is_big));
    let resize = move |i: usize| page.change(&mut |state| state.is_big = i > 0);
    view! {
        <section>
            <h3>"A page of your own"</h3>
            <p class="aside">
                "The captions, pictures and choices that the page has now; set them in the views, then choose what "
                "your class may change."
            </p>
            <div class="locks">
                <Select
                    id="prepared-view" label="It opens at" names=views value=Signal::derive(at)
                    on_choose=Callback::new(open)
                />
                <Select
                    id="big" label="Size of type" names=vec!["usual".into(), "for a projector".into()]
                    value=Signal::derive(size) on_choose=Callback::new(resize)
                />
                {PageControl::ALL.map(|control| view! { <Lock control=control/> }).collect_view()}
            </div>
            {move || shared_link("own-link", CLASS_LINK, &link.get())}
        </section>
    }
}

#[component]
fn Lock(control: PageControl) -> impl IntoView {
    let page = expect_context::<PageState>();
    let offered: Vec<(Access, &'static str)> = ACCESSES
        .into_iter()
        .filter(|(access, _)| *access != Access::Locked || control.can_be_locked())
        .collect();
    let names = offered.iter().map(|(_, name)| (*name).to_owned()).collect();
    let offered = StoredValue::new(offered);
    let at = move || {
        let (_, locks) = page.prepared.get();
        let is_it = |(access, _): &(Access, &str)| *access == locks.access(control);
        offered.with_value(|offered| offered.iter().position(is_it).unwrap_or(0))
    };
    let choose = move |i: usize| {
        let access =
            offered.with_value(|offered| offered.get(i).map_or(Access::Open, |known| known.0));
        page.prepared
            .update(|(_, locks)| locks.set(control, access));
    };
    view! {
        <Select
            id=control.slug() label=control.name() names=names value=Signal::derive(at) on_choose=Callback::new(choose)
        />
    }
}
