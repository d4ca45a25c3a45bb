//! The pictures that come with the page, to hang and to take down.

use leptos::prelude::*;

use crate::ui::exhibit::Exhibit;
use crate::ui::gallery;
use crate::ui::pictures::GalleryPicture;

/// A strip of small pictures; those on the page are marked.
#[component]
pub(crate) fn GalleryStrip() -> impl IntoView {
    let exhibit = expect_context::<Exhibit>();
    view! {
        <section class="gallery" aria-label="Gallery">
            <p class="label">"Gallery"</p>
            <div class="strip">
                <For each=move || exhibit.gallery.get() key=|picture| picture.id.clone() let:picture><GalleryButton picture=picture/></For>
            </div>
        </section>
    }
}

#[component]
fn GalleryButton(picture: GalleryPicture) -> impl IntoView {
    let exhibit = expect_context::<Exhibit>();
    let id = picture.id.clone();
    let is_shown = move || exhibit.state.with(|state| state.pictures.contains(&id));
    let (url, alt) = (picture.url(), picture.alt.clone());
    let title = alt.clone();
    view! {
        <button type="button" class="small-frame" title=title aria-pressed=move || is_shown().to_string() on:click=move |_| gallery::toggle(exhibit, &picture)>
            <img src=url alt=alt width="56" height="56" decoding="async"/>
        </button>
    }
}
