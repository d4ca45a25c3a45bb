//! Densities of a cosine over one axis, with marks where values stand.

use std::fmt::Write as _;

use leptos::prelude::*;

use crate::explorer::views::geometry::Curve;

/// Room for the labels, one row each.
const LABEL_ROW: f64 = 18.0;
/// Height of the greatest density.
const CURVES: f64 = 150.0;
/// Height of a row of ticks.
const TICK_ROW: f64 = 20.0;
/// Room for the axis and its names.
const AXIS: f64 = 42.0;

/// Curves and rows of ticks over one axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::ui) struct Panel {
    /// The curves, each with its label.
    pub(in crate::ui) lines: Vec<Line>,
    /// The density at the upper edge.
    pub(in crate::ui) top: f64,
    /// Rows of ticks below the axis, each with its name.
    pub(in crate::ui) ticks: Vec<(&'static str, Vec<Tick>)>,
}

/// A curve with its label.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct Line {
    /// Name of the curve, written above its peak.
    pub(in crate::ui) label: &'static str,
    /// Class of it in the style sheet.
    pub(in crate::ui) class: &'static str,
    /// Points of its density, from cosine −1 to 1.
    pub(in crate::ui) curve: Curve,
}

/// A value on the axis.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct Tick {
    /// Cosine at which the tick stands, from −1 to 1.
    pub(in crate::ui) cosine: f64,
    /// Name of the value, shown on hover.
    pub(in crate::ui) label: String,
    /// Whether it is the one that is touched.
    pub(in crate::ui) is_touched: bool,
}

/// Curves from −1 to 1 with their labels and ticks; the number of curves and of rows stays as it is at first.
pub(in crate::ui) fn marginal(panel: Memo<Panel>) -> impl IntoView {
    let (n_lines, rows) = panel.with_untracked(|panel| {
        let names: Vec<&'static str> = panel.ticks.iter().map(|(name, _)| *name).collect();
        (panel.lines.len(), names)
    });
    let top = LABEL_ROW * n_lines as f64;
    let floor = top + CURVES;
    let height = floor + AXIS + TICK_ROW * rows.len() as f64;
    let end = |x: &'static str, anchor: &'static str, number: &'static str| {
        view! {
            <line class="axis-tick" x1=x x2=x y1=floor - 3.0 y2=floor + 4.0/>
            <text class="axis-label" x=x y=floor + 17.0 text-anchor=anchor>{number}</text>
        }
    };
    let row = |(i, name)| tick_row(panel, i, name, floor + AXIS - 12.0);
    view! {
        <svg class="marginal" width="100%" height=height aria-hidden="true">
            <svg x="0" y=top width="100%" height=CURVES viewBox="-1 0 2 1" preserveAspectRatio="none">
                {(0..n_lines).map(|i| curve(panel, i)).collect_view()}
            </svg>
            <line class="axis-line" x1="0" x2="100%" y1=floor y2=floor/>
            {end("0", "start", "−1")} {end("50%", "middle", "0")} {end("100%", "end", "1")}
            <text class="axis-label" x="75%" y=floor + 17.0 text-anchor="middle">"cosine"</text>
            {(0..n_lines).map(|i| label(panel, i, top)).collect_view()}
            {rows.into_iter().enumerate().map(row).collect_view()}
        </svg>
    }
}

fn curve(panel: Memo<Panel>, i: usize) -> impl IntoView {
    let class = panel.with_untracked(|panel| format!("marginal-curve {}", panel.lines[i].class));
    let path = move || {
        panel.with(|panel| {
            let points = panel.lines.get(i).map(|line| &line.curve.points[..]);
            path(points.unwrap_or_default(), panel.top)
        })
    };
    view! { <path class=class vector-effect="non-scaling-stroke" d=path/> }
}

/// The label above its curve's peak, on the side where there is more room, with a thin line down to the peak.
fn label(panel: Memo<Panel>, i: usize, top: f64) -> impl IntoView {
    let peak = move || {
        panel.with(|panel| {
            let [cosine, density] = panel
                .lines
                .get(i)
                .map_or([0.0, 0.0], |line| line.curve.peak);
            (cosine, top + CURVES * (1.0 - density / panel.top))
        })
    };
    // Towards the side where no later curve peaks, as long as there is room.
    let is_left = move || i == 0 || peak().0 > 0.3 || panel.with(|panel| is_leftmost(panel, i));
    let dx = move || if is_left() { "-6" } else { "6" };
    let anchor = move || if is_left() { "end" } else { "start" };
    let baseline = LABEL_ROW * i as f64 + 13.0;
    let words = panel.with_untracked(|panel| panel.lines[i].label);
    let class = panel.with_untracked(|panel| format!("marginal-leader {}", panel.lines[i].class));
    let x = move || place(peak().0);
    view! {
        <line class=class x1=x x2=x y1=baseline - 10.0 y2=move || peak().1/>
        <text class="marginal-label" x=x y=baseline dx=dx text-anchor=anchor>{words}</text>
    }
}

/// Whether a curve peaks to the left of all others but the first, which is what they are compared with.
fn is_leftmost(panel: &Panel, i: usize) -> bool {
    let peak = |line: &Line| line.curve.peak[0];
    let own = panel.lines.get(i).map_or(0.0, peak);
    let mut others = panel.lines.iter().enumerate().skip(1);
    others.all(|(other, line)| other == i || own < peak(line))
}

fn tick_row(panel: Memo<Panel>, i: usize, name: &'static str, top: f64) -> impl IntoView {
    let (above, below) = (
        top + TICK_ROW * i as f64 + 3.0,
        top + TICK_ROW * (i + 1) as f64 - 3.0,
    );
    let ticks = move || {
        let row = panel.with(|panel| panel.ticks.get(i).map(|(_, ticks)| ticks.clone()));
        let tick = |tick: Tick| {
            let x = place(tick.cosine);
            let class = if tick.is_touched {
                "tick touched"
            } else {
                "tick"
            };
            view! { <line class=class x1=x.clone() x2=x y1=above y2=below><title>{tick.label}</title></line> }
        };
        row.unwrap_or_default().into_iter().map(tick).collect_view()
    };
    view! {
        <text class="axis-label" x="100%" y=below - 2.0 text-anchor="end">{name}</text>
        {ticks}
    }
}

/// A cosine as a place along the axis.
fn place(cosine: f64) -> String {
    format!("{:.3}%", 50.0 * (cosine + 1.0))
}

/// A path in a box from −1 to 1 across and from `top` down to 0.
fn path(points: &[[f64; 2]], top: f64) -> String {
    let mut path = String::with_capacity(18 * points.len());
    for (i, [cosine, density]) in points.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        write!(path, "{command}{cosine:.4} {:.4}", 1.0 - density / top).ok();
    }
    path
}
