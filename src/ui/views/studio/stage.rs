//! The drawing itself, with a handle on each object.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use leptos::web_sys;
use wasm_bindgen::JsCast as _;
use web_sys::Element;

use crate::explorer::{Drawing, value_name};
use crate::scenes::render;
use crate::ui::dom::canvas;
use crate::ui::page::state::PageState;
use crate::ui::views::studio::view::drawing;

/// Pixels of the canvas, which the browser enlarges.
const SIDE: u32 = 256;
/// How far an arrow key moves an object, in thousandths of the side; ten times as far with Shift.
const STEP: i16 = 10;

/// The canvas and its handles.
#[component]
pub(crate) fn Stage(chosen: RwSignal<usize>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = drawing(page);
    let (stage, surface) = (NodeRef::<Div>::new(), NodeRef::<Canvas>::new());
    Effect::new(move |_| {
        if let Some(surface) = surface.get() {
            let pixels = drawing.with(|drawing| render(&drawing.scene(), SIDE as usize));
            canvas::paint(&surface, &pixels, SIDE);
        }
    });
    let n_objects = Memo::new(move |_| drawing.with(|drawing| drawing.objects.len()));
    view! {
        <div class="stage" node_ref=stage>
            <canvas node_ref=surface role="img" aria-label=move || drawing.with(words) width="256" height="256"></canvas>
            <For each=move || 0..n_objects.get() key=|i| *i let:i><Handle i=i drawing=drawing chosen=chosen stage=stage/></For>
        </div>
        <p class="aside">"Drag a shape, or choose it and use the arrow keys, with Shift for larger steps."</p>
    }
}

/// The drawing in words.
fn words(drawing: &Drawing) -> String {
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
    stage: NodeRef<Div>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_dragged = RwSignal::new(false);
    let object = move || drawing.with(|drawing| drawing.objects.get(i).copied());
    let share = |thousandths: u16| format!("{:.1}%", f64::from(thousandths) / 10.0);
    let label = move || {
        let n = drawing.with(|drawing| drawing.objects.len());
        object().map(|object| format!("{}, shape {} of {n}", object.text(), i + 1))
    };
    let grab = move |event: PointerEvent| {
        chosen.set(i);
        is_dragged.set(true);
        if let Some(handle) = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok())
        {
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
        page.state.update(|state| state.drawing.place(i, x, y));
    };
    let on_key = move |event: KeyboardEvent| {
        let step = if event.shift_key() { 10 * STEP } else { STEP };
        let (dx, dy) = match event.key().as_str() {
            "ArrowLeft" => (-step, 0),
            "ArrowRight" => (step, 0),
            "ArrowUp" => (0, -step),
            "ArrowDown" => (0, step),
            _ => return,
        };
        event.prevent_default();
        page.state.update(|state| state.drawing.shift(i, dx, dy));
    };
    let size = move || object().map(|object| share_of(2.0 * f64::from(object.size.radius())));
    view! {
        <button type="button" class="handle" class:chosen=move || chosen.get() == i aria-label=label aria-pressed=move || (chosen.get() == i).to_string()
            style:left=move || object().map(|object| share(object.x)) style:top=move || object().map(|object| share(object.y)) style:width=size
            on:focus=move |_| chosen.set(i) on:pointerdown=grab on:pointermove=drag on:pointerup=move |_| is_dragged.set(false)
            on:pointercancel=move |_| is_dragged.set(false) on:keydown=on_key></button>
    }
}

fn share_of(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
