//! The view that the page opens with: the matrix of captions and pictures, and what stands below it.

use leptos::prelude::*;

use crate::explorer::{KeyedCaption, ModelChoice, matrix_text};
use crate::ui::later::{Later, LaterPart};
use crate::ui::model_panel::{NeedsAdapter, PhotographSets};
use crate::ui::page::state::PageState;
use crate::ui::panels::caption_row::{CaptionRow, NewCaption};
use crate::ui::panels::controls::Controls;
use crate::ui::panels::each::each;
use crate::ui::panels::export::Export;
use crate::ui::panels::gallery_strip::GalleryStrip;
use crate::ui::panels::picture_headers::{Axis, PictureHeaders};
use crate::ui::panels::prose::Prose;
use crate::ui::panels::ranks::Ranks;
use crate::ui::panels::touched_pair::TouchedPair;
use crate::ui::panels::wall::Wall;

/// More pictures than this scroll beneath the captions.
const MANY: usize = 6;

#[component]
pub(crate) fn Explore() -> impl IntoView {
    let page = expect_context::<PageState>();
    view! {
        <div hidden=move || page.is_bare.get()><Wall/></div>
        <Matrix/>
        <Later part=LaterPart::BelowMatrix/>
    }
}

/// What stands below the matrix, and comes after it.
#[component]
pub(crate) fn BelowMatrix() -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_bare = move || page.is_bare.get();
    let has_clip = move || page.shown_model() == ModelChoice::Clip;
    let is_uncompared = move || is_bare() || page.state.with(|state| state.pictures.is_empty());
    // Hiding a part costs less than building it anew.
    view! {
        <div hidden=is_uncompared><Ranks/></div>
        <div hidden=has_clip><GalleryStrip/></div>
        <div hidden=move || !has_clip()><PhotographSets/></div>
        <div hidden=is_uncompared><TouchedPair/></div>
        <div hidden=is_bare><Export/></div>
        <div hidden=move || !is_bare()><NeedsAdapter/></div>
        <Prose/>
    }
}

/// Captions as rows, pictures as columns.
#[component]
fn Matrix() -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = |caption: &KeyedCaption| caption.key;
    let keys = Memo::new(move |_| {
        page.state
            .with(|state| state.captions.iter().map(key).collect::<Vec<_>>())
    });
    let n_pictures = Memo::new(move |_| page.state.with(|state| state.pictures.len()));
    let is_many = move || n_pictures.get() > MANY;
    view! {
        <section
            class="work" aria-label="Captions and pictures" style:--n-pictures=move || n_pictures.get().to_string()
        >
            <Controls/>
            <div class="matrix" class:many=is_many class:none=move || n_pictures.get() == 0>
                <table role="grid" aria-label=move || matrix_text(page.measure())>
                    <thead role="rowgroup"><PictureHeaders/></thead>
                    <tbody role="rowgroup">
                        {each(move || keys.get(), |key| view! { <CaptionRow key=key/> }.into_any())}
                    </tbody>
                    <tfoot role="rowgroup"><Axis/></tfoot>
                </table>
            </div>
            <NewCaption/>
        </section>
    }
}
