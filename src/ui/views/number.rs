//! One number in its cell.

use leptos::prelude::*;

/// A number in its cell, in full on hover; a dash where there is none.
#[component]
pub(crate) fn Number(
    field: &'static str,
    value: Signal<Option<f64>>,
    show: fn(f64) -> String,
) -> impl IntoView {
    let exact = move || value.get().map(|value| value.to_string());
    view! { <td class="number" data-field=field data-value=exact title=exact>{move || value.get().map_or_else(|| "–".to_owned(), show)}</td> }
}
