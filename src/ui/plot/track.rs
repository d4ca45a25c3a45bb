//! A place between two named ends, such as a percentile.

use leptos::prelude::*;

/// A line filled up to a percentage, with a tick at its middle.
pub(in crate::ui) fn track(
    percent: impl Fn() -> Option<f64> + Copy + Send + Sync + 'static,
) -> AnyView {
    drawn(Signal::derive(percent))
}

/// Compiled once, and not for each closure.
fn drawn(percent: Signal<Option<f64>>) -> AnyView {
    let width = move || format!("{:.3}%", percent.get().unwrap_or(0.0));
    view! {
        <svg class="track" aria-hidden="true" width="100%" height="10">
            <rect class="track-ground" x="0" y="3" width="100%" height="4" rx="2"/>
            <rect class="track-fill" x="0" y="3" height="4" rx="2" width=width/>
            <rect class="track-middle" x="50%" y="1" width="1" height="8"/>
        </svg>
    }
    .into_any()
}
