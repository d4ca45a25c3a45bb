//! Pixels on a canvas and from a picture, through the few calls that this takes.

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8ClampedArray};
use leptos::web_sys;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlCanvasElement;

use super::browser;

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

/// The middle square of a picture as `side` × `side` pixels of three bytes each; `None` where it cannot be drawn.
pub(super) async fn pixels(url: &str, side: u32) -> Option<Vec<u8>> {
    read(url, side).await.ok()
}

async fn read(url: &str, side: u32) -> Result<Vec<u8>, JsValue> {
    let document = browser::window()
        .and_then(|window| window.document())
        .ok_or(JsValue::UNDEFINED)?;
    let image = document.create_element("img")?;
    image.set_attribute("src", url)?;
    let decode: Function = Reflect::get(&image, &"decode".into())?.dyn_into()?;
    JsFuture::from(decode.call0(&image)?.dyn_into::<Promise>()?).await?;
    let length = |name: &str| -> Result<f64, JsValue> {
        let value = Reflect::get(&image, &name.into())?;
        value.as_f64().ok_or(JsValue::UNDEFINED)
    };
    let (width, height) = (length("naturalWidth")?, length("naturalHeight")?);
    let square = width.min(height);
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(side);
    canvas.set_height(side);
    let context: Object = canvas.get_context("2d")?.ok_or(JsValue::UNDEFINED)?;
    let whole = f64::from(side);
    let places = [
        (width - square) / 2.0,
        (height - square) / 2.0,
        square,
        square,
        0.0,
        0.0,
        whole,
        whole,
    ];
    let arguments: Array = std::iter::once(JsValue::from(image.clone()))
        .chain(places.map(JsValue::from))
        .collect();
    let draw: Function = Reflect::get(&context, &"drawImage".into())?.dyn_into()?;
    draw.apply(&context, &arguments)?;
    let read: Function = Reflect::get(&context, &"getImageData".into())?.dyn_into()?;
    let corner = Array::of4(&0.into(), &0.into(), &side.into(), &side.into());
    let data = Reflect::get(&read.apply(&context, &corner)?, &"data".into())?;
    let opaque = data.dyn_into::<Uint8ClampedArray>()?.to_vec();
    Ok(opaque
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect())
}
