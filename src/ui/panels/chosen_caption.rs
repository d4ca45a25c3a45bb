//! The caption that a view is about: edited in place, or chosen among those on the page.

use leptos::prelude::*;

use crate::explorer::{CaptionView, ExplorerState, KeyedCaption, caption_note, three_significant};
use crate::protocol::MAX_CAPTION_CHARACTERS;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;
use crate::ui::panels::measures::strokes;
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

/// The caption in large type on its halo, with κ; and the others to choose from.
#[component]
pub(crate) fn ChosenCaption() -> impl IntoView {
    let page = expect_context::<PageState>();
    let (key, text) = (chosen_key(page), chosen_text(page));
    let view = Memo::new(move |_| key.get().and_then(|key| page.caption_view(key)));
    let mark = move || view.with(|view| view.as_ref().map(CaptionView::mark));
    let kappa = move || view.with(|view| view.as_ref().map(|view| view.concentration));
    let exact = move || kappa().map(|kappa| kappa.to_string());
    let shown = move || kappa().map_or_else(|| "–".to_owned(), three_significant);
    let edit = move |words: String| {
        if let Some(key) = key.get_untracked() {
            // The caption that is edited stays the one that is shown, however short it becomes.
            page.change(&mut |state| state.caption = Some(key));
            page.edit_caption(key, words.replace('\n', " "));
        }
    };
    let captions = move || page.captions_with_words();
    let choice = move |caption| view! { <CaptionChoice caption=caption chosen=key/> }.into_any();
    view! {
        <div class="chosen-caption">
            <div class="row">
                <div class="caption">
                    {plot::halo(mark, plot::HaloSize::Wide)}
                    <div class="typed">
                        <textarea
                            rows="1" maxlength=MAX_CAPTION_CHARACTERS.to_string() spellcheck="false" autocomplete="off"
                            aria-label="The caption" prop:value=move || text.get()
                            on:input:target=move |event| edit(event.target().value())
                        >{text.get_untracked()}</textarea>
                        {strokes(move || view.get(), text.into())}
                    </div>
                    <p class="note">{move || caption_note(&text.get(), view.get().as_ref())}</p>
                </div>
                <p class="numbers">
                    <span class="kappa"><i>"κ "</i><b title=exact>{shown}</b></span>
                </p>
            </div>
            <fieldset class="captions">
                <legend>"Captions on the page"</legend>
                {each(captions, choice)}
            </fieldset>
        </div>
    }
}

#[component]
fn CaptionChoice(caption: KeyedCaption, chosen: Memo<Option<u64>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = caption.key;
    let mark = move || page.caption_view(key).map(|view| view.mark());
    let choose = move |_| page.change(&mut |state| state.caption = Some(key));
    view! {
        <label class="choice">
            <input type="radio" name="chosen-caption" prop:checked=move || chosen.get() == Some(key) on:change=choose/>
            {plot::halo(mark, plot::HaloSize::Small)}<span class="words">{caption.text}</span>
        </label>
    }
}
