//! Pixels on a canvas, through the two calls that this takes.

use js_sys::{Array, Function, Object, Reflect, Uint8ClampedArray};
use leptos::web_sys;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::HtmlCanvasElement;

/// Shows `side` × `side` pixels of three bytes each; a canvas that cannot be drawn on stays as it is.
pub(super) fn paint(canvas: &HtmlCanvasElement, pixels: &[u8], side: u32) {
    if canvas.width() != side {
        canvas.set_width(side);
        canvas.set_height(side);
    }
    // Without a canvas the words beside it still say what is drawn.
    put(canvas, pixels, side).ok();
}

fn put(canvas: &HtmlCanvasElement, pixels: &[u8], side: u32) -> Result<(), JsValue> {
    let opaque: Vec<u8> = pixels
        .chunks_exact(3)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2], u8::MAX])
        .collect();
    let constructor: Function = Reflect::get(&js_sys::global(), &"ImageData".into())?.dyn_into()?;
    let bytes = Uint8ClampedArray::from(opaque.as_slice());
    let image = Reflect::construct(&constructor, &Array::of2(&bytes, &side.into()))?;
    let context: Object = canvas.get_context("2d")?.ok_or(JsValue::UNDEFINED)?;
    let put: Function = Reflect::get(&context, &"putImageData".into())?.dyn_into()?;
    put.call3(&context, &image, &0.into(), &0.into())?;
    Ok(())
}
