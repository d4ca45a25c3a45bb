//! Tables whose cells hold bars and numbers: each is a chart and its own data.

use leptos::prelude::*;

use crate::explorer::Extent;
use crate::ui::plot;

/// A column, with what its head says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column {
    Words(&'static str),
    /// Bars on one scale.
    Bars(&'static str),
    /// κ, with words after it.
    Kappa(&'static str),
}

/// The head of a table with these columns.
pub(crate) fn head(columns: &'static [Column]) -> AnyView {
    let cell = |column: &Column| match *column {
        Column::Words(words) => view! { <th scope="col">{words}</th> }.into_any(),
        Column::Bars(words) => view! { <th scope="col" class="plotted">{words}</th> }.into_any(),
        Column::Kappa(words) => view! { <th scope="col"><i>"κ"</i>{words}</th> }.into_any(),
    };
    view! { <thead><tr>{columns.iter().map(cell).collect_view()}</tr></thead> }.into_any()
}

/// The scales under the columns of bars, in their order.
pub(crate) fn foot<const N: usize>(
    columns: &'static [Column],
    scales: [Memo<Extent>; N],
) -> AnyView {
    let mut scales = scales.into_iter();
    let cell = |column: &Column| match column {
        Column::Bars(_) => {
            let axis = scales.next().map(|scale| plot::axis(move || scale.get()));
            view! { <td class="plotted">{axis}</td> }.into_any()
        }
        Column::Words(_) | Column::Kappa(_) => view! { <td></td> }.into_any(),
    };
    let cells: Vec<AnyView> = columns.iter().map(cell).collect();
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
