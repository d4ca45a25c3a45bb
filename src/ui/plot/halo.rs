//! The mark of a caption: a point of light, in focus for a specific caption and far out of it for a vague one.

use leptos::prelude::*;

/// Half the mark's width, in units of its half height, for a wide mark; mist lies along the words.
const WIDE_REACH: f64 = 3.0;
/// The same for the miniature.
const SMALL_REACH: f64 = 1.0;
/// Radius of a point in focus, as a share of the mark's half height.
const FOCUSED: f64 = 0.13;

/// How large a mark is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ui) enum Size {
    /// Under a caption's words.
    Wide,
    /// In place of the caption.
    Small,
}

/// The mark at a percentile of 1/κ; nothing is known of a caption without one.
///
/// The light is spread, not added: a wide mist is faint, and only a focused point has a core.
pub(in crate::ui) fn halo(
    percentile: impl Fn() -> Option<f64> + Copy + Send + 'static,
    size: Size,
) -> impl IntoView {
    let reach = if size == Size::Wide {
        WIDE_REACH
    } else {
        SMALL_REACH
    };
    let shape = move || Shape::at(percentile().unwrap_or(50.0) / 100.0, reach);
    let class = if size == Size::Wide {
        "halo halo-wide"
    } else {
        "halo halo-small"
    };
    view! {
        <svg class=class class:unknown=move || percentile().is_none() viewBox=format!("{} -1 {} 2", -reach, 2.0 * reach) aria-hidden="true">
            <circle r="1" fill="url(#mist)" class="halo-mist" style=move || shape().mist()/>
            <circle r="1" fill="url(#glow)" class="halo-glow" style=move || shape().glow()/>
            <circle r="1" class="halo-core" style=move || shape().core()/>
        </svg>
    }
}

/// The text equivalent of the mark.
pub(in crate::ui) fn words(percentile: f64) -> &'static str {
    match percentile {
        p if p < 20.0 => "in focus",
        p if p < 40.0 => "nearly in focus",
        p if p < 60.0 => "soft",
        p if p < 80.0 => "out of focus",
        _ => "a wide mist",
    }
}

/// The fall-off that all marks share: a Gaussian, cut where it is no longer seen.
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
        let density = (-4.5 * at * at).exp() - (-4.5_f64).exp() * at;
        view! { <stop offset=at.to_string() class=class stop-opacity=format!("{:.4}", density.max(0.0))/> }
    };
    (0..=N_STOPS).map(stop).collect_view()
}

/// Where the light of a mark lies.
struct Shape {
    mist: [f64; 3],
    glow: [f64; 2],
    core: f64,
}

impl Shape {
    /// The shape at a spread from 0 (in focus) to 1: mist as width, height and strength, glow as radius and strength.
    fn at(spread: f64, reach: f64) -> Self {
        let grown = |limit: f64| 2.4 * FOCUSED + (limit - 2.4 * FOCUSED) * spread.powf(0.8);
        Self {
            mist: [grown(reach), grown(1.0), 1.0 - 0.35 * spread],
            glow: [2.0 * FOCUSED + 0.5 * spread, (1.0 - spread).powf(1.5)],
            core: (1.0 - 4.0 * spread).max(0.0),
        }
    }

    fn mist(&self) -> String {
        let [width, height, strength] = self.mist;
        format!("transform:scale({width:.4},{height:.4});opacity:{strength:.4}")
    }

    fn glow(&self) -> String {
        let [radius, strength] = self.glow;
        format!("transform:scale({radius:.4});opacity:{strength:.4}")
    }

    fn core(&self) -> String {
        format!("transform:scale({FOCUSED});opacity:{:.4}", self.core)
    }
}
