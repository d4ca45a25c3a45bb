//! The page's pictures in a row, one of them chosen.

use leptos::prelude::*;

use crate::ui::page::pictures::PictureFile;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;

/// A strip of the pictures on the page; a click chooses one in every view.
#[component]
pub(crate) fn PictureStrip() -> impl IntoView {
    let ids = expect_context::<PageState>().pictures();
    view! {
        <div class="strip" role="group" aria-label="Pictures on the page">
            {each(move || ids.get(), |id| view! { <PictureButton id=id/> }.into_any())}
        </div>
    }
}

/// One picture, small; pressed when it is the chosen one.
#[component]
pub(crate) fn PictureButton(id: String) -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = StoredValue::new(id);
    let alt = move || id.with_value(|id| alt(page, id));
    let url = move || {
        page.files
            .with(|files| id.with_value(|id| files.get(id).and_then(PictureFile::sound_url)))
    };
    let is_chosen = move || id.with_value(|id| page.is_chosen(id));
    let choose = move |_| {
        page.change(&mut |state| state.picture = Some(id.get_value()));
    };
    view! {
        <button
            type="button" class="small-frame pick" class:chosen=is_chosen title=alt aria-label=alt
            aria-pressed=move || is_chosen().to_string() on:click=choose
        >
            {move || url().map(|url| view! { <img src=url alt="" width="56" height="56" decoding="async"/> })}
            {unfamiliar(page, id)}
        </button>
    }
}

/// Whether a picture is one that the model at work was not made for.
pub(crate) fn is_unfamiliar(page: PageState, id: &str) -> bool {
    let is_strange = |file: &PictureFile| file.is_out_of_distribution();
    page.files
        .with(|files| files.get(id).is_some_and(is_strange))
}

/// The label over a picture that the model at work was not made for.
pub(crate) fn unfamiliar(page: PageState, id: StoredValue<String>) -> impl IntoView {
    move || {
        let words = page.world.get().unfamiliar_picture();
        id.with_value(|id| is_unfamiliar(page, id)).then(|| {
            view! { <span class="out-of-distribution" title=words>{words.split(':').next()}</span> }
        })
    }
}

/// A picture in words.
pub(crate) fn alt(page: PageState, id: &str) -> String {
    let file = page
        .files
        .with(|files| files.get(id).map(|file| file.alt.clone()));
    file.unwrap_or_else(|| id.to_owned())
}

/// The chosen picture in words, and a warning where the model at work was not made for it.
pub(crate) fn chosen_alt(page: PageState) -> Option<String> {
    let id = page.picture()?;
    let alt = alt(page, &id);
    Some(match is_unfamiliar(page, &id) {
        true => format!("{alt}. {}.", page.world.get().unfamiliar_picture()),
        false => alt,
    })
}
