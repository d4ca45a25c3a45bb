//! A bar from zero, on a scale that all bars share.

use leptos::prelude::*;

use crate::explorer::Extent;

/// A bar from zero to a value, with the zero line; only the line where there is no value.
pub(in crate::ui) fn bar(
    value: impl Fn() -> Option<f64> + Copy + Send + Sync + 'static,
    extent: impl Fn() -> Extent + Copy + Send + Sync + 'static,
) -> AnyView {
    drawn(Signal::derive(value), Signal::derive(extent))
}

/// Compiled once, and not for each pair of closures.
fn drawn(value: Signal<Option<f64>>, extent: Signal<Extent>) -> AnyView {
    let share = move |value: f64| extent.get().fraction(value);
    let end = move || share(value.get().unwrap_or(0.0));
    let percent = |share: f64| format!("{:.3}%", 100.0 * share);
    let start = move || percent(share(0.0).min(end()));
    let width = move || percent((end() - share(0.0)).abs());
    let is_cut = move || value.get().is_some_and(|value| value < extent.get().lowest);
    let is_negative = move || value.get().is_some_and(|value| value < 0.0);
    view! {
        <svg class="bar" class:negative=is_negative class:cut=is_cut aria-hidden="true" width="100%" height="14">
            <rect class="bar-fill" y="3" height="8" x=start width=width/>
            <rect class="bar-zero" y="0" width="1" height="14" x=move || percent(share(0.0))/>
        </svg>
    }
    .into_any()
}
