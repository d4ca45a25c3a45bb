//! The guessing game: of two captions, which is vaguer? The words have the answer; then the model's is shown.

use leptos::prelude::*;

use crate::explorer::{CaptionView, Game, encode, game_rounds, three_significant};
use crate::ui::dom::browser;
use crate::ui::page::state::PageState;
use crate::ui::panels::shared_link::shared_link;
use crate::ui::plot;

/// Key of the number of right answers in a row.
const STREAK: &str = "kappascope-streak";

/// The game with the number in the page's state.
#[component]
pub(crate) fn GuessingGame() -> impl IntoView {
    let page = expect_context::<PageState>();
    let number = Memo::new(move |_| page.state.with(|state| state.game));
    let game = RwSignal::new(None::<Game>);
    Effect::new(move |_| {
        let texts = page.lesson_texts.get().and_then(Result::ok);
        let rounds = texts
            .zip(number.get())
            .map(|(texts, number)| game_rounds(&texts, number));
        game.set(rounds.and_then(|rounds| Game::new(rounds, browser::remembered(STREAK))));
    });
    // Drawing the game anew takes less code than patching it.
    move || game.get().map(|now| drawn(page, game, &now))
}

/// Begins another game; the first one where none is played.
pub(crate) fn begin(page: PageState) {
    page.change(&mut |state| state.game = Some(state.game.map_or(0, |game| game.wrapping_add(1))));
}

fn drawn(page: PageState, game: RwSignal<Option<Game>>, now: &Game) -> AnyView {
    let caption = |(side, words): (usize, &String)| {
        let choose = move |_| choose(page, game, side);
        let view = now
            .answer
            .as_ref()
            .and_then(|answer| answer.views.get(side)?.clone());
        let mark = view.as_ref().map(CaptionView::mark);
        let kappa = view.map(|view| format!("κ {}", three_significant(view.concentration)));
        let is_chosen = now
            .answer
            .as_ref()
            .is_some_and(|answer| answer.side == side);
        view! {
            <button
                type="button" class="ask" aria-pressed=is_chosen.to_string()
                aria-disabled=now.answer.is_some().to_string() on:click=choose
            >
                {plot::halo(move || mark, plot::HaloSize::Wide)}
                <span class="words">{words.clone()}</span>
                <span class="number">{kappa}</span>
            </button>
        }
    };
    let captions = now.captions().iter().enumerate().map(caption);
    let link = now.is_over().then(|| {
        let link = page.state.with_untracked(encode);
        shared_link("game-link", "The same pairs for somebody else", &link)
    });
    let next = now.answer.is_some().then(|| {
        let words = if now.is_over() { "Three more" } else { "Next" };
        view! { <button type="button" class="ask" on:click=move |_| go_on(page, game)>{words}</button> }
    });
    let verdict = now.answer.as_ref().map(|answer| answer.verdict.clone());
    view! {
        <section class="game" aria-labelledby="game-title">
            <h3 id="game-title">"Which is vaguer?"</h3>
            <p class="aside" data-field="game">{now.text()}</p>
            <div class="duel">{captions.collect_view()}</div>
            <p class="finding">{verdict}</p>
            <p class="view-controls">
                {next}
                <button type="button" class="quiet" on:click=move |_| page.change(&mut |state| state.game = None)>
                    "End the game"
                </button>
            </p>
            {link}
        </section>
    }
    .into_any()
}

/// Takes an answer; the way on has the focus next, and the verdict is read out.
fn choose(page: PageState, game: RwSignal<Option<Game>>, side: usize) {
    let family = page.state.with_untracked(|state| state.family);
    let answered = game.try_update(|game| {
        let game = game.as_mut()?;
        page.cache
            .with_untracked(|cache| game.choose(side, cache, family));
        Some((game.streak, game.answer.as_ref()?.verdict.clone()))
    });
    if let Some((streak, verdict)) = answered.flatten() {
        browser::remember(STREAK, streak);
        page.spoken.set(verdict);
        browser::focus_soon(".game .view-controls .ask");
    }
}

/// Opens the next pair, whose first caption has the focus, or another game after the last.
fn go_on(page: PageState, game: RwSignal<Option<Game>>) {
    let goes_on = game.try_update(|game| game.as_mut().is_some_and(Game::go_on));
    if goes_on == Some(false) {
        begin(page);
    }
    browser::focus_soon(".duel .ask");
}
