//! The caption that a view is about: edited in place, or chosen among those on the page.

use leptos::prelude::*;

use crate::explorer::{CaptionView, ExplorerState, KeyedCaption, caption_note, three_significant};
use crate::ui::page::state::PageState;
use crate::ui::plot;

/// The key of the caption that views of a single caption show.
pub(crate) fn chosen_key(page: PageState) -> Memo<Option<u64>> {
    Memo::new(move |_| page.state.with(ExplorerState::chosen_caption))
}

/// The words of that caption.
pub(crate) fn chosen_text(page: PageState) -> Memo<String> {
    let key = chosen_key(page);
    Memo::new(move |_| {
        page.state.with(|state| {
            let text = key.get().and_then(|key| state.captions.text(key));
            text.unwrap_or_default().to_owned()
        })
    })
}

/// A caption's numbers under the page's law, where they are known.
fn numbers(page: PageState, key: Option<u64>) -> Option<CaptionView> {
    page.readings
        .with(|readings| readings.caption(key?).cloned())
}

/// The caption in large type on its halo, with κ; and the others to choose from.
#[component]
pub(crate) fn ChosenCaption() -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = chosen_key(page);
    let text = chosen_text(page);
    let view = Memo::new(move |_| numbers(page, key.get()));
    let percentile = move || view.with(|view| view.as_ref().map(|view| view.percentile));
    let kappa = move || view.with(|view| view.as_ref().map(|view| view.concentration));
    let edit = move |words: String| {
        if let Some(key) = key.get_untracked() {
            // What is edited is also what is shown, however short it becomes.
            page.state.update(|state| state.caption = Some(key));
            page.edit_caption(key, words.replace('\n', " "));
        }
    };
    let captions = move || page.state.with(said);
    view! {
        <div class="chosen-caption">
            <div class="row">
                <div class="caption">
                    {plot::halo(percentile, plot::Size::Wide)}
                    <textarea rows="1" spellcheck="false" autocomplete="off" aria-label="The caption"
                        prop:value=move || text.get() on:input:target=move |event| edit(event.target().value())
                    >{text.get_untracked()}</textarea>
                    <p class="note">{move || caption_note(&text.get(), view.get().as_ref())}</p>
                </div>
                <p class="numbers"><span class="kappa"><i>"κ "</i><b title=move || kappa().map(|kappa| kappa.to_string())>{move || kappa().map_or_else(|| "–".to_owned(), three_significant)}</b></span></p>
            </div>
            <fieldset class="captions">
                <legend>"Captions on the page"</legend>
                <For each=captions key=|caption| (caption.key, caption.text.clone()) let:caption><CaptionChoice caption=caption chosen=key/></For>
            </fieldset>
        </div>
    }
}

/// The captions with words.
fn said(state: &ExplorerState) -> Vec<KeyedCaption> {
    let is_said = |caption: &&KeyedCaption| !caption.text.trim().is_empty();
    state.captions.iter().filter(is_said).cloned().collect()
}

#[component]
fn CaptionChoice(caption: KeyedCaption, chosen: Memo<Option<u64>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = caption.key;
    let percentile = move || numbers(page, Some(key)).map(|view| view.percentile);
    let choose = move |_| page.state.update(|state| state.caption = Some(key));
    view! {
        <label class="choice">
            <input type="radio" name="chosen-caption" prop:checked=move || chosen.get() == Some(key) on:change=choose/>
            {plot::halo(percentile, plot::Size::Small)}<span class="words">{caption.text}</span>
        </label>
    }
}
