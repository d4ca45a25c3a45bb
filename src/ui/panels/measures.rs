//! Tables whose cells hold bars and numbers: each is a chart and its own data.

use leptos::prelude::*;

use crate::explorer::{CaptionView, Extent, HaloMark, pieces};
use crate::ui::panels::prose::emphasized;
use crate::ui::plot;

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

/// The head of a caption's row: its mark and its words.
pub(crate) fn caption_head(
    mark: impl Fn() -> Option<HaloMark> + Copy + Send + Sync + 'static,
    words: impl IntoView + 'static,
) -> AnyView {
    head_of_row(Signal::derive(mark), words.into_any())
}

/// Compiled once, and not for each closure.
fn head_of_row(mark: Signal<Option<HaloMark>>, words: AnyView) -> AnyView {
    let halo = plot::halo(move || mark.get(), plot::Size::Small);
    let unread = move || {
        let is_unread = mark.get() == Some(HaloMark::Unread);
        is_unread.then(|| view! { <span class="hidden">" (not read)"</span> })
    };
    view! { <th scope="row">{halo}<span class="words">{words}</span>{unread}</th> }.into_any()
}

/// A caption, in which the words that the model has never met are struck through.
pub(crate) fn struck(caption: &str, unknown: &[String]) -> AnyView {
    let piece = |(piece, is_unknown): (&str, bool)| match is_unknown {
        true => view! { <s>{piece.to_owned()}</s> }.into_any(),
        false => piece.to_owned().into_any(),
    };
    let pieces = pieces(caption, unknown).into_iter();
    pieces.map(piece).collect_view().into_any()
}

/// The strokes over a field of this text; empty where the model knows every word.
pub(crate) fn strokes(text: Signal<String>, view: Signal<Option<CaptionView>>) -> AnyView {
    let strokes = move || {
        let view = view.get().filter(|view| !view.unknown_words.is_empty())?;
        let text = text.get();
        (view.caption == text).then(|| struck(&text, &view.unknown_words))
    };
    view! { <span class="strokes" aria-hidden="true">{strokes}</span> }.into_any()
}

/// A number in its cell, in full on hover; a dash where there is none.
#[component]
pub(crate) fn Number(
    field: &'static str,
    #[prop(into)] value: Signal<Option<f64>>,
    show: fn(f64) -> String,
) -> impl IntoView {
    let exact = move || value.get().map(|value| value.to_string());
    let shown = move || value.get().map_or_else(|| "–".to_owned(), show);
    view! { <td class="number" data-field=field data-value=exact title=exact>{shown}</td> }
        .into_any()
}
