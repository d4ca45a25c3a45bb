//! The pictures at the head of their columns, and the scale at the foot.

use leptos::html::Th;
use leptos::prelude::*;
use leptos::web_sys::Event;

use crate::explorer::{Extent, Measure, OWN, measure_text, round_number};
use crate::ui::dom::browser;
use crate::ui::page::file_input;
use crate::ui::page::pictures::{PictureFile, PictureState};
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_picture::{alt, unfamiliar};
use crate::ui::panels::each::each;
use crate::ui::plot;

/// The head of the matrix: what its columns are.
#[component]
pub(crate) fn PictureHeaders() -> impl IntoView {
    let page = expect_context::<PageState>();
    let ids = page.pictures();
    let is_bare = move || page.is_bare.get();
    let cells = move || match page.measure() {
        Measure::Likelihood => "cells, how much likelier than a blind guess",
        Measure::Cosine => "",
    };
    view! {
        <tr role="row" class="heads">
            <th role="columnheader" class="caption"><span class="hidden">"Caption"</span></th>
            <th role="columnheader" class="numbers">
                <i>"κ"</i>
                <span hidden=is_bare>
                    ", how specific"<br/>"bar, how vague among sample captions"<br/>{cells}
                </span>
                <button type="button" class="quiet sort" hidden=is_bare on:click=move |_| page.sort_captions(None)>
                    "sort by "<i>"κ"</i>
                </button>
            </th>
            {each(move || ids.get(), |id| view! { <PictureHeader id=id/> }.into_any())}
            <th role="columnheader" class="picture add"><span class="hidden">"Another picture"</span><AddPicture/></th>
        </tr>
    }
}

/// One picture, chosen by a click; its name is the column's name.
#[component]
fn PictureHeader(id: String) -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = StoredValue::new(id);
    let file = Memo::new(move |_| {
        page.files
            .with(|files| id.with_value(|id| files.get(id).cloned()))
    });
    let alt = move || id.with_value(|id| alt(page, id));
    let is_chosen = move || id.with_value(|id| page.is_chosen(id));
    let choose = move |_| {
        page.change(&mut |state| state.picture = Some(id.get_value()));
    };
    let is_pointed = move || id.with_value(|id| page.points_at_picture(id));
    let notes = move || file.with(|file| file.as_ref().map(PictureFile::notes));
    let waiting = move || match page.models.loads_image_encoder() {
        true => "loading the image encoder",
        false => "reading",
    };
    let picture = move || match file.with(|file| file.as_ref().and_then(PictureFile::sound_url)) {
        Some(url) => {
            view! { <img src=url alt=alt() width="96" height="96" decoding="async"/> }.into_any()
        }
        None => view! { <span class="unread">{waiting}</span> }.into_any(),
    };
    let column = brought_into_view(page, id, file);
    let remove = move |column: &NodeRef<Th>| {
        // The next column's picture, or the place for another one, takes the focus.
        if let Some(next) = column
            .get_untracked()
            .and_then(|column| column.next_element_sibling())
        {
            browser::focus_first(&next);
        }
        page.keep_step(None);
        page.remove_and_announce(&id.get_value());
    };
    view! {
        <th
            node_ref=column role="columnheader" class="picture" class:chosen=is_chosen class:pointed=is_pointed
            on:pointerenter=move |_| id.with_value(|id| page.point(None, Some(id)))
            on:pointerleave=move |_| page.point(None, None)
        >
            <button
                type="button" class="frame" aria-pressed=move || is_chosen().to_string() title=alt on:click=choose
            >{picture}</button>
            {unfamiliar(page, id)}
            <small class="picture-notes">{notes}</small>
            <button
                type="button" class="sort-by" title="sort the captions by this column"
                aria-label=move || format!("Sort the captions by this picture: {}", alt())
                on:click=move |_| id.with_value(|id| page.sort_captions(Some(id)))
            >"⇅"</button>
            <button
                type="button" class="remove" aria-label=move || format!("Remove the picture: {}", alt())
                on:click=move |_| remove(&column)
            >"×"</button>
        </th>
    }
}

/// The node of a column; that of a picture that the visitor adds is brought into view.
fn brought_into_view(
    page: PageState,
    id: StoredValue<String>,
    file: Memo<Option<PictureFile>>,
) -> NodeRef<Th> {
    let column = NodeRef::<Th>::new();
    Effect::new(move |_| {
        let is_unread = file.with_untracked(|file| {
            let file = file.as_ref();
            file.is_none_or(|file| file.state == PictureState::Unread)
        });
        let is_own = id.with_value(|id| id.starts_with(OWN));
        let is_added = page.history.with_untracked(|history| !history.is_empty());
        let Some(column) = column.get() else { return };
        if is_own && is_unread {
            browser::bring_into_view(&column);
        } else if is_added {
            // Beneath the gallery the page stays as it is scrolled; new columns stand at the end.
            for row in [".matrix", ".heads"] {
                browser::scroll_to_end(&column, row);
            }
        }
    });
    column
}

/// The file picker, which also says that pictures can be dropped and pasted, and the camera of a touched screen.
#[component]
pub(crate) fn AddPicture() -> impl IntoView {
    let page = expect_context::<PageState>();
    let accept = move |event: Event| file_input::accept_choice(page, &event);
    view! {
        <div class="add-pictures">
            <label class="add-picture">
                <input
                    type="file" accept="image/*" multiple=true class="over"
                    aria-label="Add pictures: choose files, drop or paste" on:change=accept
                />
                <span aria-hidden="true">"+ picture"<small>"choose, drop or paste"</small></span>
            </label>
            <label class="add-picture camera">
                <input
                    type="file" accept="image/*" capture="environment" class="over"
                    aria-label="Take a photograph" on:change=accept
                />
                <span aria-hidden="true">"take a photo"</span>
            </label>
        </div>
    }
}

/// The scale that all bars share, under each column.
#[component]
pub(crate) fn Axis() -> impl IntoView {
    let page = expect_context::<PageState>();
    let ids = page.pictures();
    let extent = move || page.extent();
    let ends = move || format!("from {} to {}", extent().lowest, extent().highest);
    let cut = move || {
        let Extent { lowest, is_cut, .. } = extent();
        is_cut.then(|| format!("; dashed bars go on below {}", round_number(lowest)))
    };
    let scale = move |id: String| {
        view! {
            <td role="gridcell" class="pair" class:chosen=move || page.is_chosen(&id)>
                {plot::axis(extent)}
                <span class="hidden">{ends}</span>
            </td>
        }
        .into_any()
    };
    view! {
        <tr role="row" class="feet">
            <th role="rowheader" class="caption"><span class="hidden">"Scale"</span></th>
            <td role="gridcell" class="numbers">{move || measure_text(page.measure())}{cut}</td>
            {each(move || ids.get(), scale)}
        </tr>
    }
}
