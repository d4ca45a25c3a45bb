//! A figure of a suite, in which the line that is pointed at, or whose name was chosen, is highlighted.

use leptos::ev::{MouseEvent, PointerEvent};
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, Event};

use crate::explorer::views::evidence::figure::figure_markup;
use crate::report::Figure;

/// Attribute of a figure: the line that is highlighted.
const TOUCHED: &str = "data-touched";
/// Attribute of a line and of its name: the place in the legend.
const LINE: &str = "data-line";
/// The name that was chosen.
const PRESSED: &str = "button[aria-pressed=true]";

pub(super) fn figure(figure: &Figure) -> AnyView {
    let point = |event: PointerEvent| {
        if let Some(chart) = part(&event, ".chart") {
            let pointed = part(&event, ".chart-series").or_else(|| find(&chart, PRESSED));
            show(&chart, pointed.as_ref());
        }
    };
    let leave = |event: PointerEvent| {
        if let Some(chart) = part(&event, ".chart") {
            show(&chart, find(&chart, PRESSED).as_ref());
        }
    };
    let choose = |event: MouseEvent| {
        let (Some(chart), Some(name)) = (part(&event, ".chart"), part(&event, "button")) else {
            return;
        };
        let before = find(&chart, PRESSED);
        for (button, is_pressed) in before
            .iter()
            .map(|button| (button, "false"))
            .chain([(&name, "true")])
        {
            button.set_attribute("aria-pressed", is_pressed).ok();
        }
        if before.as_ref() == Some(&name) {
            name.set_attribute("aria-pressed", "false").ok();
        }
        show(&chart, find(&chart, PRESSED).as_ref());
    };
    view! {
        <figure
            class="chart" data-figure=figure.name.clone() inner_html=figure_markup(figure)
            on:pointerover=point on:pointerleave=leave on:click=choose
        ></figure>
    }
    .into_any()
}

/// The part around what an event is of.
fn part(event: &Event, selector: &str) -> Option<Element> {
    let target: Element = event.target()?.dyn_into().ok()?;
    target.closest(selector).ok()?
}

fn find(chart: &Element, selector: &str) -> Option<Element> {
    chart.query_selector(selector).ok()?
}

/// Highlights the line that an element belongs to; without an element, all lines are alike.
fn show(chart: &Element, of: Option<&Element>) {
    let line = of.and_then(|of| of.get_attribute(LINE));
    match line {
        Some(line) => chart.set_attribute(TOUCHED, &line),
        None => chart.remove_attribute(TOUCHED),
    }
    .ok();
}
