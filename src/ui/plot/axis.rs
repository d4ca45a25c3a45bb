//! The scale under a column of bars.

use leptos::prelude::*;

use crate::explorer::{Extent, round_number};

/// A line from end to end with its ends and zero named.
pub(in crate::ui) fn axis(extent: impl Fn() -> Extent + Copy + Send + Sync + 'static) -> AnyView {
    drawn(Signal::derive(extent))
}

/// Compiled once, and not for each closure.
fn drawn(extent: Signal<Extent>) -> AnyView {
    let zero = move || format!("{:.3}%", 100.0 * extent.get().fraction(0.0));
    let anchor = move || {
        if extent.get().lowest < 0.0 {
            "middle"
        } else {
            "start"
        }
    };
    let highest = move || round_number(extent.get().highest);
    view! {
        <svg class="axis" width="100%" height="26" aria-hidden="true">
            <line class="axis-line" x1="0" x2="100%" y1="1" y2="1"/>
            <line class="axis-tick" x1=zero x2=zero y1="0" y2="7"/>
            <text class="axis-label" x=zero y="20" text-anchor=anchor>"0"</text>
            <line class="axis-tick" x1="100%" x2="100%" y1="0" y2="7"/>
            <text class="axis-label" x="100%" y="20" text-anchor="end">{highest}</text>
        </svg>
    }
    .into_any()
}
