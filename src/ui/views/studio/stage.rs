//! The drawing itself, with a handle on each object.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::Element;

use crate::explorer::views::studio::drawing::{Drawing, DrawnObject, moved_text, value_name};
use crate::scenes::render;
use crate::ui::dom::canvas;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;

/// Pixels of the canvas, which the browser enlarges.
const SIDE: u32 = 256;
/// Thousandths of the side that an arrow key moves an object; ten times as many with Shift.
const STEP: i16 = 10;
/// Place in the page's history of the keys that move the first shape: no caption's key is as great.
const MOVED: u64 = 1 << 32;

/// The canvas and its handles.
#[component]
pub(crate) fn Stage(chosen: RwSignal<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = page.drawing();
    let (stage, surface) = (NodeRef::<Div>::new(), NodeRef::<Canvas>::new());
    Effect::new(move |_| {
        if let Some(surface) = surface.get() {
            let pixels = drawing.with(|drawing| render(&drawing.scene(), SIDE as usize));
            canvas::paint(&surface, &pixels, SIDE);
        }
    });
    let n_objects = Memo::new(move |_| drawing.with(|drawing| drawing.objects.len()));
    let moved = RwSignal::new(String::new());
    let handle = move |i| {
        view! { <Handle i=i drawing=drawing chosen=chosen moved=moved stage=stage/> }.into_any()
    };
    view! {
        <div class="stage" node_ref=stage>
            <canvas
                node_ref=surface role="img" aria-label=move || drawing.with(drawing_text) width="256" height="256"
            ></canvas>
            {each(move || (0..n_objects.get()).collect(), handle)}
        </div>
        <p class="aside">"Drag a shape, or choose it and use the arrow keys, with Shift for larger steps."</p>
        <p class="hidden" data-spoken>{move || moved.get()}</p>
    }
}

/// The drawing in words.
fn drawing_text(drawing: &Drawing) -> String {
    let objects: Vec<String> = drawing.objects.iter().map(|object| object.text()).collect();
    format!(
        "{} on a {} ground in {} light",
        objects.join(", "),
        value_name(drawing.ground),
        value_name(drawing.light)
    )
}

/// An object's handle: it is dragged, or moved with the arrow keys.
#[component]
fn Handle(
    i: usize,
    drawing: Memo<Drawing>,
    chosen: RwSignal<usize>,
    moved: RwSignal<String>,
    stage: NodeRef<Div>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_dragged = RwSignal::new(false);
    let object = move || drawing.with(|drawing| drawing.objects.get(i).copied());
    let label = move || drawing.with(|drawing| handle_label(drawing, i));
    let grab = move |event: PointerEvent| {
        chosen.set(i);
        page.keep_step(None);
        is_dragged.set(true);
        let handle = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(handle) = handle {
            // Without capture the drag ends at the handle's edge.
            handle.set_pointer_capture(event.pointer_id()).ok();
        }
    };
    let drag = move |event: PointerEvent| {
        let Some(stage) = stage.get().filter(|_| is_dragged.get_untracked()) else {
            return;
        };
        let frame = stage.get_bounding_client_rect();
        let x = (f64::from(event.client_x()) - frame.left()) / frame.width();
        let y = (f64::from(event.client_y()) - frame.top()) / frame.height();
        page.change(&mut |state| state.drawing.place(i, x, y));
    };
    let on_key = move |event: KeyboardEvent| {
        if let Some((dx, dy)) = step(&event) {
            event.prevent_default();
            page.keep_step(Some(MOVED + i as u64));
            let before = object();
            page.change(&mut |state| state.drawing.shift(i, dx, dy));
            if let (Some(before), Some(now)) = (before, object()) {
                say_again(moved, moved_text(before, (dx, dy), now));
            }
        }
    };
    let placed = move |part: fn(DrawnObject) -> f64| {
        move || object().map(|object| format!("{:.1}%", 100.0 * part(object)))
    };
    let left = placed(|object| f64::from(object.x) / 1000.0);
    let top = placed(|object| f64::from(object.y) / 1000.0);
    let width = placed(|object| 2.0 * f64::from(object.size.radius()));
    let is_chosen = move || chosen.get() == i;
    view! {
        <button
            type="button" class="handle" class:chosen=is_chosen aria-label=label
            aria-pressed=move || is_chosen().to_string() style:left=left style:top=top style:width=width
            on:focus=move |_| chosen.set(i) on:keydown=on_key
            on:pointerdown=grab on:pointermove=drag
            on:pointerup=move |_| is_dragged.set(false) on:pointercancel=move |_| is_dragged.set(false)
        ></button>
    }
}

/// Sends a text to screen readers; one that repeats the last is changed unseen, or it would not be read again.
fn say_again(said: RwSignal<String>, text: String) {
    let is_same = said.with_untracked(|said| *said == text);
    said.set(if is_same { text + "\u{a0}" } else { text });
}

/// An object's words, its place and its number, as the name of its handle.
fn handle_label(drawing: &Drawing, i: usize) -> Option<String> {
    let object = drawing.objects.get(i)?;
    let (text, place) = (object.text(), object.place_text());
    let n = drawing.objects.len();
    Some(format!("{text} {place}, shape {} of {n}", i + 1))
}

/// Step by which an arrow key moves an object, in thousandths of the side; `None` for another key.
fn step(event: &KeyboardEvent) -> Option<(i16, i16)> {
    let step = if event.shift_key() { 10 * STEP } else { STEP };
    match event.key().as_str() {
        "ArrowLeft" => Some((-step, 0)),
        "ArrowRight" => Some((step, 0)),
        "ArrowUp" => Some((0, -step)),
        "ArrowDown" => Some((0, step)),
        _ => None,
    }
}
