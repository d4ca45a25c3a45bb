//! The pictures that come with the page, each to be shown or taken off.

use leptos::prelude::*;

use crate::ui::page::gallery;
use crate::ui::page::pictures::GalleryPicture;
use crate::ui::page::state::PageState;

/// A strip of small pictures; those on the page are marked.
#[component]
pub(crate) fn GalleryStrip() -> impl IntoView {
    let page = expect_context::<PageState>();
    let credits = move || {
        let folder = page.gallery.with(|gallery| {
            let mut credited = gallery
                .iter()
                .filter(|picture| picture.entry.credit.is_some());
            credited.next().map(|picture| picture.folder)
        })?;
        let address = format!("{folder}/CREDITS");
        Some(view! {
            <p class="aside credits">
                "Photographs from Flickr under CC BY 2.0; "<a href=address>"whom each is by"</a>"."
            </p>
        })
    };
    view! {
        <section class="gallery" aria-label="Gallery">
            <p class="label">"Gallery"</p>
            <div class="strip">
                <For each=move || page.gallery.get() key=|picture| picture.entry.id.clone() let:picture>
                    <GalleryButton picture=picture/>
                </For>
            </div>
            {credits}
        </section>
    }
}

#[component]
fn GalleryButton(picture: GalleryPicture) -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = picture.entry.id.clone();
    let is_shown = move || page.state.with(|state| state.pictures.contains(&id));
    let (url, alt) = (picture.url(), picture.entry.alt.clone());
    let title = alt.clone();
    view! {
        <button
            type="button" class="small-frame" title=title aria-pressed=move || is_shown().to_string()
            on:click=move |_| gallery::toggle(page, &picture)
        >
            <img src=url alt=alt width="56" height="56" decoding="async"/>
        </button>
    }
}
