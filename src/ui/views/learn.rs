//! A tour, lessons that ask before they show, why captions alone have a spread, and captions whose κ misleads.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::explorer::views::ladder::bits_of;
use crate::explorer::views::learn::{CaptionExamples, Lesson, LessonQuestion, Lessons};
use crate::explorer::{
    CaptionView, Direction, ExplorerState, Extent, LessonScore, View, World, three_significant,
};
use crate::ui::dom::browser;
use crate::ui::page::lessons;
use crate::ui::page::state::PageState;
use crate::ui::page::worlds;
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::game::{self, GuessingGame};
use crate::ui::panels::measures::{Number, caption_head, head};
use crate::ui::plot;

const ANSWER_COLUMNS: &str =
    "the model’s order, the vaguest first|~how specific to the model|*κ*|bits|yours";
const FAILURE_COLUMNS: &str = "caption|~how specific to the model|*κ*|bits";

/// Right neighbours by lesson and question, as far as they were judged.
type LessonScores = RwSignal<BTreeMap<(usize, usize), u32>>;

/// The text of one more cell in a caption's row, where there is one.
type ExtraCell<'a> = Option<&'a dyn Fn(&str) -> Option<String>>;

/// The view: the way into the tour, one lesson, and the failures.
#[component]
pub(crate) fn Learn() -> impl IntoView {
    let page = expect_context::<PageState>();
    let lesson = lessons::open_lesson(page);
    let scores: LessonScores = RwSignal::default();
    let asked = move || lesson.get().map(|(i, lesson)| asked(i, lesson, scores));
    let shown = move |of: fn(&Lessons) -> &Vec<CaptionExamples>| {
        move || {
            let texts = page.lesson_texts.get().and_then(Result::ok);
            texts.map(|texts| of(&texts).iter().cloned().map(examples).collect_view())
        }
    };
    view! {
        <section class="view" aria-labelledby="learn-title">
            <h2 id="learn-title">"What does "<i>"κ"</i>" say, and what not?"</h2>
            <Invitation/>
            {lessons::blank(page)}
            <GuessingGame/>
            <FamilyChoice/>
            <LessonChoice/>
            {asked}
            <OwnQuestions/>
            <OtherLessons/>
            <details class="misleads" data-part="asymmetry">
                <summary>"Why captions have a spread, and pictures none"</summary>
                <div class="failures">{shown(|texts| &texts.asymmetry)}</div>
            </details>
            <details class="misleads">
                <summary>"What "<i>"κ"</i>" is not: where it misleads"</summary>
                <p class="prose-line">
                    "1/"<i>"κ"</i>" is how ambiguous a caption is to this model. It is not how sure the model is of "
                    "itself: it knows nothing of its own ignorance. The numbers below are computed now, by the engine "
                    "at work."
                </p>
                <div class="failures">{shown(|texts| &texts.failures)}</div>
            </details>
        </section>
    }
}

/// The way into the tour.
#[component]
fn Invitation() -> impl IntoView {
    let page = expect_context::<PageState>();
    move || {
        let (first, n) = lessons::tour_step(page, 0)?;
        Some(view! {
            <p class="view-controls">
                <a class="ask to-tour" href=format!("#{}", first.link)>"Take the tour"</a>
                <button type="button" class="ask" data-act="game" on:click=move |_| game::begin(page)>
                    "Guess: which is vaguer?"
                </button>
                <span class="aside to-tour">
                    "The tour has "{n}" steps through the views. Your page comes back at its end."
                </span>
            </p>
        })
    }
}

/// The questions of the teacher who made the link, to be talked about.
#[component]
fn OwnQuestions() -> impl IntoView {
    let page = expect_context::<PageState>();
    let asked = Memo::new(move |_| page.state.with(ExplorerState::own_questions));
    let question = |question: String| view! { <li>{question}</li> }.into_any();
    view! {
        <section hidden=move || asked.with(Vec::is_empty)>
            <h3>"Your teacher asks, too"</h3>
            <ul class="notes own-questions">{move || asked.get().into_iter().map(question).collect_view()}</ul>
        </section>
    }
}

/// The way to the lessons of the other world.
#[component]
fn OtherLessons() -> impl IntoView {
    let page = expect_context::<PageState>();
    move || {
        let (other, about) = match page.state.with(|state| state.model.built_in())? {
            World::Photographs => (
                World::Scenes,
                "Scenes have lessons of their own, in which what a caption says can be counted in bits. ",
            ),
            World::Scenes => (
                World::Photographs,
                "Photographs have lessons of their own, in everyday words. ",
            ),
        };
        let open = move |_| worlds::go_to(page, other, View::Learn);
        Some(view! {
            <p class="aside">
                {about}
                <button type="button" class="quiet" data-act="other-lessons" on:click=open>
                    "Go to "{other.title()}
                </button>
            </p>
        })
    }
}

/// The lessons, of which one is open.
#[component]
pub(crate) fn LessonChoice() -> impl IntoView {
    let page = expect_context::<PageState>();
    let titles = lessons::titles(page);
    let choice = move |(i, title): (usize, String)| {
        let is_open = move || page.state.with(|state| state.lesson == i);
        let open = move |_| page.change(&mut |state| state.lesson = i);
        view! {
            <label class="choice">
                <input type="radio" name="lesson" prop:checked=is_open on:change=open/>
                <span class="words">{title}</span>
            </label>
        }
    };
    let choices = move || {
        titles
            .get()
            .into_iter()
            .enumerate()
            .map(choice)
            .collect_view()
    };
    view! { <fieldset class="captions lesson-choice"><legend>"Lesson"</legend>{choices}</fieldset> }
}

/// A lesson with its questions and the score.
fn asked(lesson_index: usize, lesson: Lesson, scores: LessonScores) -> AnyView {
    let world = expect_context::<PageState>().world.get_untracked();
    let n_questions = lesson.questions.len();
    // The scores may be those of another world's lesson.
    scores.update_untracked(|scores| scores.retain(|(lesson, _), _| *lesson != lesson_index));
    let n_pairs = lesson.n_pairs();
    for i in 0..n_questions {
        if let Some(n_right) =
            browser::remembered(&score_name(world, lesson_index, i)).checked_sub(1)
        {
            scores.update_untracked(|scores| _ = scores.insert((lesson_index, i), n_right));
        }
    }
    let score = move || {
        let (n_judged, n_right) = scores.with(|scores| {
            let own = scores.range((lesson_index, 0)..(lesson_index + 1, 0));
            (
                own.clone().count(),
                own.map(|(_, n_right)| *n_right).sum::<u32>(),
            )
        });
        match n_judged {
            0 => "Answer first; then the numbers are shown. The score stays in this browser."
                .to_owned(),
            n => {
                let code = LessonScore {
                    world,
                    lesson: lesson_index,
                    n_right,
                    n_answered: u32::try_from(n).unwrap_or_default(),
                }
                .code();
                format!(
                    "{n} of {n_questions} questions answered, {n_right} of {n_pairs} comparisons right. The score \
                     stays in this browser; for your teacher its code is {code}."
                )
            }
        }
    };
    let questions = lesson.questions.into_iter().enumerate();
    let questions = questions.map(|(i, question)| {
        view! { <Asked place=(lesson_index, i) question=question scores=scores/> }
    });
    view! {
        <p class="finding">{lesson.about}</p>
        <div class="questions">{questions.collect_view()}</div>
        <p class="aside" data-field="score" data-spoken>{score}</p>
    }
    .into_any()
}

/// Key of the score of a question; those of the scenes were there before other worlds were.
fn score_name(world: World, lesson: usize, question: usize) -> String {
    match world {
        World::Scenes => format!("kappascope-lesson-{lesson}-{question}"),
        World::Photographs => format!("kappascope-photos-lesson-{lesson}-{question}"),
    }
}

/// One question: asked, guessed, and then shown.
#[component]
fn Asked(place: (usize, usize), question: LessonQuestion, scores: LessonScores) -> impl IntoView {
    let page = expect_context::<PageState>();
    let guess = RwSignal::new(question.captions.clone());
    let is_shown = RwSignal::new(false);
    let (ask, why) = (question.ask(), question.why.clone());
    let question = StoredValue::new(question);
    let verdict = Memo::new(move |_| {
        let family = page.family();
        page.cache.with(|cache| {
            let verdict = |question: &LessonQuestion| {
                guess.with(|guess| question.verdict(guess, cache, family))
            };
            question.with_value(verdict)
        })
    });
    let world = page.world.get_untracked();
    let is_known = Memo::new(move |_| verdict.with(Option::is_some));
    let show = Callback::new(move |()| {
        if is_known.get_untracked() {
            let judge = |guess: &Vec<String>| question.with_value(|question| question.judge(guess));
            let (n_right, _) = guess.with_untracked(judge);
            let n_right = u32::try_from(n_right).unwrap_or(u32::MAX);
            browser::remember(
                &score_name(world, place.0, place.1),
                n_right.saturating_add(1),
            );
            scores.update(|scores| _ = scores.insert(place, n_right));
            is_shown.set(true);
        }
    });
    let offer = move || match is_shown.get() {
        true => view! { <Shown question=question guess=guess/> }.into_any(),
        false if question.with_value(|question| question.captions.len() == 2) => {
            view! { <Pair question=question guess=guess is_known=is_known show=show/> }.into_any()
        }
        false => view! { <Order guess=guess is_known=is_known show=show/> }.into_any(),
    };
    let verdict = move || {
        let verdict = verdict.get().filter(|_| is_shown.get())?;
        Some(format!("{verdict} {why}"))
    };
    let again = move || {
        is_shown.get().then(|| {
            let ask = move |_| is_shown.set(false);
            view! { <button type="button" class="quiet" on:click=ask>"ask again"</button> }
        })
    };
    view! {
        <section class="question" data-question=place.1.to_string()>
            <h3>{ask}</h3>
            {offer}
            <p class="aside" data-spoken>{verdict}</p>
            {again}
        </section>
    }
}

/// Two captions, one of which is chosen.
#[component]
fn Pair(
    question: StoredValue<LessonQuestion>,
    guess: RwSignal<Vec<String>>,
    is_known: Memo<bool>,
    show: Callback<()>,
) -> impl IntoView {
    let captions = question.with_value(|question| question.captions.clone());
    let button = |caption: String| {
        let words = caption.clone();
        let choose = move |_| {
            guess.update(|guess| guess.sort_by_key(|known| *known != caption));
            show.run(());
        };
        let is_unknown = move || !is_known.get();
        view! { <button type="button" class="ask words" disabled=is_unknown on:click=choose>{words}</button> }
    };
    view! { <p class="view-controls">{captions.into_iter().map(button).collect_view()}</p> }
}

/// Captions to be put in order.
#[component]
fn Order(guess: RwSignal<Vec<String>>, is_known: Memo<bool>, show: Callback<()>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let n = guess.with_untracked(Vec::len);
    let place = move |caption: &str| {
        guess.with_untracked(|guess| guess.iter().position(|known| known == caption))
    };
    let shift = move |caption: &str, direction: Direction| {
        let Some(from) = place(caption) else { return };
        let to = match direction {
            Direction::Up => from.checked_sub(1),
            Direction::Down => Some(from + 1).filter(|to| *to < n),
        };
        if let Some(to) = to {
            guess.update(|guess| guess.swap(from, to));
            page.spoken.set(format!("moved to place {}", to + 1));
            browser::keep_focus();
        }
    };
    let row = move |caption: String| {
        let button = |direction: Direction, arrow: &'static str, towards: &'static str| {
            let (caption, label) = (caption.clone(), format!("Move “{caption}” {towards}"));
            let act = move |_| shift(&caption, direction);
            view! { <button type="button" aria-label=label on:click=act>{arrow}</button> }
        };
        let up = button(Direction::Up, "↑", "towards the vaguer");
        let down = button(Direction::Down, "↓", "towards the more specific");
        view! { <li><span class="rung-tools">{up}{down}</span><span class="words">{caption}</span></li> }.into_any()
    };
    view! {
        <ol class="order">{each(move || guess.get(), row)}</ol>
        <p class="view-controls">
            <button type="button" class="ask" disabled=move || !is_known.get() on:click=move |_| show.run(())>
                "Show"
            </button>
        </p>
    }
}

/// The answer: the captions as κ has them, each with its numbers and the place that was guessed for it.
#[component]
fn Shown(question: StoredValue<LessonQuestion>, guess: RwSignal<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let place = move |caption: &str| {
        let place = guess.with(|guess| guess.iter().position(|known| known == caption));
        place.map(|place| (place + 1).to_string())
    };
    let rows = move || {
        let family = page.family();
        let answer = page
            .cache
            .with(|cache| question.with_value(|question| question.answer(cache, family)));
        let captions = answer.into_iter().flatten().map(|(caption, _)| caption);
        measured(page, captions.collect(), Some(&place))
    };
    view! {
        <table class="measures shown">
            {head(ANSWER_COLUMNS)}
            <tbody>{rows}</tbody>
        </table>
    }
}

/// Captions with the κ that the model gives, and what they show.
fn examples(examples: CaptionExamples) -> AnyView {
    let page = expect_context::<PageState>();
    let captions = examples.captions;
    view! {
        <section data-failure=examples.name>
            <h3>{examples.name.clone()}</h3>
            <table class="measures shown">
                {head(FAILURE_COLUMNS)}
                <tbody>{move || measured(page, captions.clone(), None)}</tbody>
            </table>
            <p>{examples.why}</p>
        </section>
    }
    .into_any()
}

/// A row for each caption: its κ as a bar and as a number, its bits, and one more cell where asked for.
fn measured(page: PageState, captions: Vec<String>, further: ExtraCell<'_>) -> Vec<AnyView> {
    let (family, is_known) = (page.family(), page.world.get().has_known_truth());
    let read = |caption: &String| page.cache.with(|cache| cache.caption(caption, family));
    let views: Vec<Option<CaptionView>> = captions.iter().map(read).collect();
    let extent = Extent::of(views.iter().flatten().map(|view| view.concentration));
    let row = |(caption, view): (String, Option<CaptionView>)| {
        let mark = view.as_ref().map(CaptionView::mark);
        let kappa = view.as_ref().map(|view| view.concentration);
        let words = caption.clone();
        let bits = is_known.then(|| bits_of(&caption)).flatten();
        let further = further.map(|further| view! { <td class="number">{further(&caption)}</td> });
        view! {
            <tr data-measured=caption.clone() style:--certainty=plot::certainty(mark)>
                {caption_head(move || view.clone(), move || words.clone())}
                <td class="plotted">{plot::bar(move || kappa, move || extent)}</td>
                <Number field="measured-kappa" value=Signal::stored(kappa) show=three_significant/>
                <Number field="measured-bits" value=Signal::stored(bits) show=three_significant/>
                {further}
            </tr>
        }
        .into_any()
    };
    captions.into_iter().zip(views).map(row).collect()
}
