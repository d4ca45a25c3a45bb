//! A ball seen from the side, its height the cosine to the direction that points up.

use leptos::prelude::*;

/// Two bands of heights on a ball: one of the uniform distribution, and one of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::ui) struct Bands {
    /// The lowest and the highest cosine under the uniform distribution.
    pub(in crate::ui) uniform: [f64; 2],
    /// The lowest and the highest cosine under the other.
    pub(in crate::ui) spread: [f64; 2],
}

/// Ball with its bands, points by their coordinates across and up, and the direction up.
pub(in crate::ui) fn ball(
    bands: impl Fn() -> Bands + Copy + Send + 'static,
    points: impl Fn() -> Vec<[f64; 2]> + Send + 'static,
) -> impl IntoView {
    let band = move |class: &'static str, read: fn(Bands) -> [f64; 2]| {
        let top = move || -read(bands())[1];
        let height = move || {
            let [low, high] = read(bands());
            high - low
        };
        view! { <rect class=class x="-1" width="2" y=top height=height clip-path="url(#ball)"/> }
    };
    // Lines of no length with round ends.
    let dot = |[x, y]: &[f64; 2]| format!("M{x:.3} {:.3}h0", -y);
    let dots = move || points().iter().map(dot).collect::<String>();
    view! {
        <svg class="ball" viewBox="-1.1 -1.45 2.2 2.6" aria-hidden="true">
            <defs><clipPath id="ball"><circle r="1"/></clipPath></defs>
            {band("ball-uniform", |bands| bands.uniform)}
            {band("ball-spread", |bands| bands.spread)}
            <path class="ball-points" d=dots vector-effect="non-scaling-stroke"/>
            <circle class="ball-rim" r="1" vector-effect="non-scaling-stroke"/>
            <path class="ball-up" d="M0 -1V-1.4M-0.07 -1.29L0 -1.4L0.07 -1.29" vector-effect="non-scaling-stroke"/>
        </svg>
    }
}
