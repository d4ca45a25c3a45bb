//! The numbers of one caption and one picture.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;

use crate::explorer::{
    BestMarks, CosineView, Cosines, LikelihoodGain, Measure, PairView, Readings, beside_text,
    best_text, cosine_text, described_text, exact_text, rank_text, three_significant, times_text,
};
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_picture::is_unfamiliar;
use crate::ui::plot;

/// The numbers of a caption and a picture, and how the page marks them.
#[derive(Debug, Clone, Copy)]
struct Pair {
    page: PageState,
    caption: u64,
    image: StoredValue<String>,
    /// The numbers of a model with adapters.
    view: Memo<Option<PairView>>,
    /// The cosine of a model without.
    cosine: Memo<Option<CosineView>>,
    measure: Memo<Measure>,
    /// Whether the numbers are those of the text that stands there now.
    is_current: Memo<bool>,
    is_touched: Memo<bool>,
}

impl Pair {
    fn new(page: PageState, caption: u64, text: Memo<String>, image: String) -> Self {
        let image = StoredValue::new(image);
        let view = Memo::new(move |_| {
            let read =
                |readings: &Readings| image.with_value(|id| readings.pair(caption, id).cloned());
            page.readings.with(read)
        });
        let cosine = Memo::new(move |_| {
            let read = |cosines: &Cosines| image.with_value(|id| cosines.pair(caption, id));
            page.cosines.with(read)
        });
        let is_touched = Memo::new(move |_| {
            let is_it = |(key, touched): &(u64, String)| {
                *key == caption && image.with_value(|id| id == touched)
            };
            page.touched
                .with(|touched| touched.as_ref().is_some_and(is_it))
        });
        Self {
            page,
            caption,
            image,
            view,
            cosine,
            measure: Memo::new(move |_| page.measure()),
            is_current: Memo::new(move |_| is_current(page, caption, text)),
            is_touched,
        }
    }

    fn nats(self) -> Option<f64> {
        self.view.with(|view| view.as_ref().map(|view| view.nats))
    }

    fn bare_cosine(self) -> Option<f64> {
        self.cosine.get().map(|view| view.cosine)
    }

    /// The value that the bar shows.
    fn measured(self) -> Option<f64> {
        let measure = self.measure.get();
        let of_view = self
            .view
            .with(|view| view.as_ref().map(|view| view.measured(measure)));
        of_view.or_else(|| self.bare_cosine())
    }

    /// Number of the cell, and the comparison that it counts; a cosine compares nothing.
    fn shown(self) -> (String, LikelihoodGain) {
        let is_likelihood = self.measure.get() == Measure::Likelihood;
        let counted = |view: &PairView| (times_text(view), LikelihoodGain::of(view));
        let of_view = || self.view.with(|view| view.as_ref().map(counted));
        let likelier = is_likelihood.then(of_view).flatten();
        let other = || three_significant(self.measured().unwrap_or(f64::NAN));
        likelier.unwrap_or_else(|| (other(), LikelihoodGain::Unknown))
    }

    /// The nats, or the cosine of a model without adapters, once they belong to the text.
    fn value(self) -> Option<f64> {
        let number = self.nats().or_else(|| self.bare_cosine());
        number.filter(|_| self.is_current.get())
    }

    /// The number that is shown in words, once it belongs to the text; a bare cosine with these digits.
    fn in_words(
        self,
        words: fn(&PairView, Measure) -> String,
        digits: fn(f64) -> String,
    ) -> Option<String> {
        self.value()?;
        let measure = self.measure.get();
        let of_view = |view: &PairView| words(view, measure);
        let of_view = self.view.with(|view| view.as_ref().map(of_view));
        of_view.or_else(|| Some(cosine_text(&digits(self.bare_cosine()?))))
    }

    fn beside(self) -> Option<String> {
        let beside =
            |view: &PairView| beside_text(view, self.page.state.with(|state| state.beside));
        self.view.with(|view| view.as_ref().map(beside))
    }

    fn best(self) -> BestMarks {
        let of_view = |view: &PairView| view.best;
        let of_view = || self.view.with(|view| view.as_ref().map(of_view));
        let of_cosine = self.cosine.get().map(|view| view.best);
        let best = of_cosine.or_else(of_view).unwrap_or_default();
        match self.image.with_value(|id| is_unfamiliar(self.page, id)) {
            true => BestMarks::default(),
            false => best,
        }
    }

    fn is_best(self) -> bool {
        let best = self.best();
        best.is_best_caption || best.is_best_picture
    }

    /// Ranks by cosine and by likelihood, while bars show cosines.
    fn moved(self) -> String {
        match self.measure.get() {
            Measure::Likelihood => String::new(),
            Measure::Cosine => self
                .view
                .with(|view| view.as_ref().map(rank_text).unwrap_or_default()),
        }
    }

    fn is_in_chosen_column(self) -> bool {
        self.image.with_value(|id| self.page.is_chosen(id))
    }

    fn touch(self) {
        self.image
            .with_value(|id| self.page.touch(self.caption, id));
    }

    fn point(self) {
        self.image
            .with_value(|id| self.page.point(Some(self.caption), Some(id)));
    }
}

/// Whether an answer is about the text that stands in a caption's field.
fn is_current(page: PageState, caption: u64, text: Memo<String>) -> bool {
    let is_typed = |known: &String| text.with(|text| known == text);
    let is_read = |readings: &Readings| {
        let view = readings.caption(caption);
        view.is_some_and(|view| is_typed(&view.caption))
    };
    let is_compared = |cosines: &Cosines| {
        let tokens = cosines.caption(caption);
        tokens.is_some_and(|tokens| is_typed(&tokens.caption))
    };
    page.readings.with(is_read) || page.cosines.with(is_compared)
}

/// A cell of the matrix. Arrow keys move between cells; a click or a focus chooses the pair.
#[component]
pub(crate) fn PairCell(caption: u64, text: Memo<String>, image: String) -> impl IntoView {
    let page = expect_context::<PageState>();
    let pair = Pair::new(page, caption, text, image.clone());
    let is_pointed = Memo::new(move |_| pair.image.with_value(|id| page.points_at_picture(id)));
    let field = move || {
        if page.is_bare.get() { "cosine" } else { "nats" }
    };
    let shown = Memo::new(move |_| pair.shown());
    // Words for the number of the touched cell that say what it is compared with.
    let than = move || match pair.is_touched.get() {
        true => shown.get().1.than_text(),
        false => "",
    };
    // One line has room for only one of the two notes.
    let best_of = move || match best_text(pair.best()) {
        _ if !pair.moved().is_empty() => "",
        "" if pair.beside().is_none_or(|beside| beside.is_empty()) => than(),
        best => best,
    };
    view! {
        <td
            role="gridcell" class="pair"
            class:chosen=move || pair.is_in_chosen_column() class:touched=move || pair.is_touched.get()
            class:best=move || pair.is_best() class:pointed=move || is_pointed.get()
            tabindex=move || if pair.is_touched.get() { "0" } else { "-1" }
            data-field=field data-image=image data-caption=move || text.get()
            data-value=move || pair.value().map(|value| value.to_string())
            title=move || pair.in_words(exact_text, |cosine| cosine.to_string())
            aria-description=move || pair.in_words(described_text, three_significant)
            on:click=move |_| pair.touch() on:focus=move |_| pair.touch() on:keydown=walk
            on:pointerenter=move |_| pair.point() on:pointerleave=move |_| page.point(None, None)
        >
            <span class="nats">{move || shown.get().0}</span>" "
            <span class="likelier">{move || shown.get().1.text()}</span>
            {plot::bar(move || pair.measured(), move || page.extent())}
            <span class="beside">{move || pair.beside()}</span>
            <span class="best-of">{best_of}<span class="moved" data-field="moved">{move || pair.moved()}</span></span>
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
