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
    let ends = move || {
        let (extent, value) = (extent.get(), value.get().unwrap_or(0.0));
        let (zero, end) = (extent.fraction(0.0), extent.fraction(value));
        (100.0 * zero.min(end), 100.0 * (end - zero).abs())
    };
    view! {
        <svg class="bar" class:negative=move || value.get().is_some_and(|value| value < 0.0) aria-hidden="true" width="100%" height="14">
            <rect class="bar-fill" y="3" height="8" x=move || format!("{:.3}%", ends().0) width=move || format!("{:.3}%", ends().1)/>
            <rect class="bar-zero" y="0" width="1" height="14" x=move || format!("{:.3}%", 100.0 * extent.get().fraction(0.0))/>
        </svg>
    }
    .into_any()
}
