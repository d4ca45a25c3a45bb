//! Tables whose cells hold bars and numbers: each is a chart and its own data.

use std::sync::Arc;

use leptos::prelude::*;

use crate::explorer::{CaptionView, Extent, nats_text};
use crate::ui::page::state::PageState;
use crate::ui::panels::prose::emphasized;
use crate::ui::plot;

/// Reading of a caption; `None` while it has none.
type ViewOf = Arc<dyn Fn() -> Option<CaptionView> + Send + Sync>;

/// The head of a table: its columns with `|` between them, those of bars after a `~`, and words between `*` emphasized.
pub(crate) fn head(columns: &'static str) -> AnyView {
    let cell = |column: &'static str| {
        let (is_plotted, words) = (column.starts_with('~'), column.trim_start_matches('~'));
        view! { <th scope="col" class:plotted=is_plotted>{emphasized(words)}</th> }
    };
    view! { <thead><tr>{columns.split('|').map(cell).collect_view()}</tr></thead> }.into_any()
}

/// The scales under the columns of bars, in their order.
pub(crate) fn foot<const N: usize>(columns: &'static str, scales: [Memo<Extent>; N]) -> AnyView {
    let mut scales = scales.into_iter();
    let mut cell = |column: &'static str| {
        let scale = column.starts_with('~').then(|| scales.next()).flatten();
        let axis = scale.map(|scale| plot::axis(move || scale.get()));
        let is_plotted = axis.is_some();
        view! { <td class:plotted=is_plotted>{axis}</td> }
    };
    let cells: Vec<_> = columns.split('|').map(&mut cell).collect();
    view! { <tfoot aria-hidden="true"><tr>{cells}</tr></tfoot> }.into_any()
}

/// The head of a caption's row: its mark and its words, those struck through that the model cannot read.
pub(crate) fn caption_head(
    view: impl Fn() -> Option<CaptionView> + Send + Sync + 'static,
    words: impl Fn() -> String + Send + Sync + 'static,
) -> AnyView {
    head_of_row(Arc::new(view), Box::new(words))
}

/// Compiled once, and not for each closure.
fn head_of_row(view: ViewOf, words: Box<dyn Fn() -> String + Send + Sync>) -> AnyView {
    let known = view.clone();
    let mark = move || known().map(|view| view.mark());
    let words = move || {
        let view = view();
        let not_read = not_read(view.as_ref().is_some_and(CaptionView::is_unread));
        let words = struck(&words(), view.as_ref());
        view! { <span class="words">{words}</span>{not_read} }
    };
    view! { <th scope="row">{plot::halo(mark, plot::HaloSize::Small)}{words}</th> }.into_any()
}

/// Words for those who do not see that a caption is struck through.
pub(crate) fn not_read(is_unread: bool) -> AnyView {
    let words = if is_unread { " (not read)" } else { "" };
    view! { <span class="hidden">{words}</span> }.into_any()
}

/// The strokes over a field in which a caption is typed.
pub(crate) fn strokes(
    view: impl Fn() -> Option<CaptionView> + Send + Sync + 'static,
    text: Signal<String>,
) -> AnyView {
    strokes_over(Arc::new(view), text)
}

fn strokes_over(view: ViewOf, text: Signal<String>) -> AnyView {
    let strokes = move || {
        let text = text.get();
        let is_struck = |view: &CaptionView| view.is_unread() || !view.unknown_words.is_empty();
        let view = view().filter(|view| view.caption == text && is_struck(view));
        let text = view.as_ref().map_or("", |_| &text);
        struck(text, view.as_ref())
    };
    view! { <span class="strokes" aria-hidden="true">{strokes}</span> }.into_any()
}

fn struck(text: &str, view: Option<&CaptionView>) -> Vec<AnyView> {
    let pieces = view.map_or_else(|| vec![(text, false)], |view| view.pieces(text));
    let piece = |(piece, is_struck): (&str, bool)| match is_struck {
        true => view! { <s>{piece.to_owned()}</s> }.into_any(),
        false => piece.to_owned().into_any(),
    };
    pieces.into_iter().map(piece).collect()
}

/// A number in its cell, in full on hover; a dash where there is none.
#[component]
pub(crate) fn Number(
    field: &'static str,
    #[prop(into)] value: Signal<Option<f64>>,
    show: fn(f64) -> String,
) -> impl IntoView {
    number_cell(field, value, Box::new(show))
}

/// Nats in their cell, in full on hover; a dash where there are none.
#[component]
pub(crate) fn Nats(field: &'static str, #[prop(into)] value: Signal<Option<f64>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let show = move |nats| nats_text(nats, page.free_offset());
    number_cell(field, value, Box::new(show))
}

fn number_cell(
    field: &'static str,
    value: Signal<Option<f64>>,
    show: Box<dyn Fn(f64) -> String + Send + Sync>,
) -> AnyView {
    let exact = move || value.get().map(|value| value.to_string());
    let shown = move || value.get().map_or_else(|| "–".to_owned(), &show);
    view! { <td class="number" data-field=field data-value=exact title=exact>{shown}</td> }
        .into_any()
}
