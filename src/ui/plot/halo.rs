//! The mark of a caption: a point of light, in focus for a specific caption and far out of it for a vague one.

use std::sync::Arc;

use leptos::prelude::*;

use crate::explorer::{HaloMark, HaloShape, halo_density};

/// Half the mark's width, in units of its half height, for a wide mark; mist lies along the words.
const WIDE_REACH: f64 = 3.0;
/// Half the mark's width, in units of its half height, for the miniature.
const SMALL_REACH: f64 = 1.0;

/// The size of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ui) enum HaloSize {
    /// Under a caption's words.
    Wide,
    /// Beside a caption in a table or a list.
    Small,
}

/// The mark of a caption; nothing is known yet of one without.
pub(in crate::ui) fn halo(
    mark: impl Fn() -> Option<HaloMark> + Send + Sync + 'static,
    size: HaloSize,
) -> AnyView {
    drawn(Arc::new(mark), size)
}

/// The style that colours a caption's bars by how specific it is; those of an unread one have no colour.
pub(in crate::ui) fn certainty(mark: Option<HaloMark>) -> Option<String> {
    match mark? {
        HaloMark::At(percentile) => Some(format!("{:.1}%", 100.0 - percentile)),
        HaloMark::Unread => None,
    }
}

/// Compiled once, and not for each closure.
fn drawn(mark: Arc<dyn Fn() -> Option<HaloMark> + Send + Sync>, size: HaloSize) -> AnyView {
    let (reach, class) = match size {
        HaloSize::Wide => (WIDE_REACH, "halo halo-wide"),
        HaloSize::Small => (SMALL_REACH, "halo halo-small"),
    };
    let known = mark.clone();
    let class = move || match known() {
        None => format!("{class} unknown"),
        Some(HaloMark::At(_)) => class.to_owned(),
        Some(HaloMark::Unread) => format!("{class} unknown illegible"),
    };
    let view_box = format!("{} -1 {} 2", -reach, 2.0 * reach);
    // Properties one by one: the policy of the released page forbids the attribute `style`.
    let light = move |written: fn(HaloShape) -> String| {
        let mark = mark.clone();
        move || {
            let percentile = match mark() {
                Some(HaloMark::At(percentile)) => percentile,
                _ => 50.0,
            };
            written(HaloShape::at(percentile, reach))
        }
    };
    let mist = light(|shape| scaled(shape.mist));
    let glow = light(|shape| scaled([shape.glow; 2]));
    let core = light(|shape| scaled([shape.core; 2]));
    let mist_strength = light(|shape| strength(shape.mist_strength));
    let glow_strength = light(|shape| strength(shape.glow_strength));
    let core_strength = light(|shape| strength(shape.core_strength));
    view! {
        <svg class=class viewBox=view_box aria-hidden="true">
            <circle r="1" fill="url(#mist)" class="halo-mist" style:transform=mist style:opacity=mist_strength/>
            <circle r="1" fill="url(#glow)" class="halo-glow" style:transform=glow style:opacity=glow_strength/>
            <circle r="1" class="halo-core" style:transform=core style:opacity=core_strength/>
            <ellipse class="halo-dashes" vector-effect="non-scaling-stroke" rx="0.5" ry="0.5"/>
        </svg>
    }
    .into_any()
}

/// The fall-off that all marks share.
pub(in crate::ui) fn gradients() -> impl IntoView {
    view! {
        <svg class="hidden" aria-hidden="true" width="0" height="0">
            <defs>
                <radialGradient id="mist">{fall_off("mist-stop")}</radialGradient>
                <radialGradient id="glow">{fall_off("glow-stop")}</radialGradient>
            </defs>
        </svg>
    }
}

fn fall_off(class: &'static str) -> impl IntoView {
    const N_STOPS: u32 = 12;
    let stop = move |i: u32| {
        let at = f64::from(i) / f64::from(N_STOPS);
        view! { <stop offset=at.to_string() class=class stop-opacity=format!("{:.4}", halo_density(at))/> }
    };
    (0..=N_STOPS).map(stop).collect_view()
}

fn scaled([width, height]: [f64; 2]) -> String {
    format!("scale({width:.4},{height:.4})")
}

fn strength(opacity: f64) -> String {
    format!("{opacity:.4}")
}
