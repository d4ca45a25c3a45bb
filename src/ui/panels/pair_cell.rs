//! What one caption says of one picture.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;

use crate::explorer::{Measure, beside_words, best_words, rank_words, three_significant};
use crate::ui::exhibit::Exhibit;
use crate::ui::plot;

/// A cell of the matrix. Arrow keys move between cells; a click or a focus chooses the pair.
#[component]
pub(crate) fn PairCell(caption: u64, text: Memo<String>, image: String) -> impl IntoView {
    let exhibit = expect_context::<Exhibit>();
    let id = StoredValue::new(image.clone());
    let pair = Memo::new(move |_| {
        exhibit
            .readings
            .with(|readings| id.with_value(|id| readings.pair(caption, id).cloned()))
    });
    let is_current = Memo::new(move |_| {
        exhibit.readings.with(|readings| {
            readings
                .caption(caption)
                .is_some_and(|view| text.with(|text| view.caption == *text))
        })
    });
    let nats = move || pair.with(|pair| pair.as_ref().map(|pair| pair.nats));
    let measure = Memo::new(move |_| exhibit.state.with(|state| state.measure));
    let measured = move || pair.with(|pair| pair.as_ref().map(|pair| pair.measured(measure.get())));
    let unit = move || match measure.get() {
        Measure::Likelihood => " nats",
        Measure::Cosine => "",
    };
    let extent = move || exhibit.readings.with(|readings| readings.extent);
    let exact = move || {
        nats()
            .filter(|_| is_current.get())
            .map(|nats| nats.to_string())
    };
    let in_column = move || {
        exhibit
            .state
            .with(|state| id.with_value(|id| state.picture.as_ref() == Some(id)))
    };
    let is_touched = Memo::new(move |_| {
        exhibit.touched.with(|touched| {
            touched
                .as_ref()
                .is_some_and(|(key, image)| *key == caption && id.with_value(|id| id == image))
        })
    });
    let touch = move || exhibit.touch(caption, &id.get_value());
    let beside = move || {
        pair.with(|pair| {
            pair.as_ref()
                .map(|pair| beside_words(pair, exhibit.state.with(|state| state.beside)))
        })
    };
    let best = move || pair.with(|pair| pair.as_ref().map_or("", best_words));
    let moved = move || match measure.get() {
        Measure::Likelihood => String::new(),
        Measure::Cosine => pair.with(|pair| pair.as_ref().map(rank_words).unwrap_or_default()),
    };
    // One line has room for one of the two.
    let best_of = move || Some(best()).filter(|_| moved().is_empty());
    let is_pointed = Memo::new(move |_| id.with_value(|id| exhibit.points_at_picture(id)));
    let point = move |_| id.with_value(|id| exhibit.point(Some(caption), Some(id)));
    view! {
        <td role="gridcell" class="pair" class:chosen=in_column class:touched=move || is_touched.get() class:best=move || !best().is_empty() class:pointed=move || is_pointed.get()
            tabindex=move || if is_touched.get() { "0" } else { "-1" }
            data-field="nats" data-image=image data-caption=move || text.get() data-value=exact title=exact
            on:click=move |_| touch() on:focus=move |_| touch() on:keydown=walk
            on:pointerenter=point on:pointerleave=move |_| exhibit.point(None, None)
        >
            <span class="nats">{move || measured().map_or_else(|| "–".to_owned(), three_significant)}<span class="hidden">{unit}</span></span>
            {plot::bar(measured, extent)}
            <span class="beside">{beside}</span>
            <span class="best-of">{best_of}<span class="moved" data-field="moved">{moved}</span></span>
        </td>
    }
}

/// Moves the focus to the neighbour that an arrow key points at.
fn walk(event: KeyboardEvent) {
    let Some(cell) = event
        .current_target()
        .and_then(|target| target.dyn_into::<HtmlElement>().ok())
    else {
        return;
    };
    let Some(row) = cell.parent_element() else {
        return;
    };
    let column = |cell: &HtmlElement| {
        let cells = row.children();
        (0..cells.length()).find(|&i| {
            cells
                .item(i)
                .is_some_and(|other| other.is_same_node(Some(cell)))
        })
    };
    let below =
        |row: Option<web_sys::Element>| row.and_then(|row| row.children().item(column(&cell)?));
    let neighbour = match event.key().as_str() {
        "ArrowLeft" => cell.previous_element_sibling(),
        "ArrowRight" => cell.next_element_sibling(),
        "ArrowUp" => below(row.previous_element_sibling()),
        "ArrowDown" => below(row.next_element_sibling()),
        _ => return,
    };
    event.prevent_default();
    let neighbour = neighbour
        .filter(|cell| cell.class_list().contains("pair"))
        .and_then(|cell| cell.dyn_into::<HtmlElement>().ok());
    if let Some(neighbour) = neighbour {
        // A cell that cannot be focused stays unfocused.
        neighbour.focus().ok();
    }
}
