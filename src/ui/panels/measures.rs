//! Tables whose cells hold bars and numbers: each is a chart and its own data.

use leptos::prelude::*;

use crate::explorer::Extent;
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
    percentile: impl Fn() -> Option<f64> + Copy + Send + Sync + 'static,
    words: impl IntoView + 'static,
) -> AnyView {
    let halo = plot::halo(percentile, plot::Size::Small);
    view! { <th scope="row">{halo}<span class="words">{words.into_any()}</span></th> }.into_any()
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
