//! Pixels on a canvas and from a picture, through the few calls that this takes.

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8ClampedArray};
use leptos::web_sys;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Document, Element, HtmlCanvasElement};

use crate::ui::dom::browser;

/// Shows `side` × `side` pixels of three bytes each; a canvas that cannot be drawn on stays as it is.
pub(crate) fn paint(canvas: &HtmlCanvasElement, pixels: &[u8], side: u32) {
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
pub(crate) async fn pixels(url: &str, side: u32) -> Option<Vec<u8>> {
    read(url, side).await.ok()
}

async fn read(url: &str, side: u32) -> Result<Vec<u8>, JsValue> {
    let image = decoded(url).await?;
    let [width, height] = natural_size(&image)?;
    let square = width.min(height);
    let corner = [(width - square) / 2.0, (height - square) / 2.0];
    let canvas = part_of(&image, [corner, [square; 2]], [side; 2])?;
    let context: Object = canvas.get_context("2d")?.ok_or(JsValue::UNDEFINED)?;
    let read: Function = Reflect::get(&context, &"getImageData".into())?.dyn_into()?;
    let corner = Array::of4(&0.into(), &0.into(), &side.into(), &side.into());
    let data = Reflect::get(&read.apply(&context, &corner)?, &"data".into())?;
    let opaque = data.dyn_into::<Uint8ClampedArray>()?.to_vec();
    Ok(opaque
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect())
}

/// What a JPEG of some quality leaves of `side` × `side` pixels; `None` where the browser cannot write one.
pub(crate) async fn through_jpeg(pixels: &[u8], side: u32, quality: f64) -> Option<Vec<u8>> {
    let url = jpeg(pixels, side, quality).ok()?;
    read(&url, side).await.ok()
}

fn jpeg(pixels: &[u8], side: u32, quality: f64) -> Result<String, JsValue> {
    let canvas = blank([side; 2])?;
    put(&canvas, pixels, side)?;
    canvas.to_data_url_with_type_and_encoder_options("image/jpeg", &quality.into())
}

/// A picture or a canvas of the page as an address that holds its pixels; `None` where the browser does not give them.
pub(crate) fn data_address(element: &Element) -> Option<String> {
    let canvas = match element.dyn_ref::<HtmlCanvasElement>() {
        Some(canvas) => canvas.clone(),
        None => {
            let size = natural_size(element).ok()?;
            part_of(element, [[0.0; 2], size], size.map(whole)).ok()?
        }
    };
    canvas.to_data_url().ok()
}

/// What an address shows, drawn at a size, as an address that holds a PNG; `None` where it cannot be drawn.
pub(crate) async fn png(url: &str, size: [f64; 2]) -> Option<String> {
    let image = decoded(url).await.ok()?;
    let natural = natural_size(&image).ok()?;
    let canvas = part_of(&image, [[0.0; 2], natural], size.map(whole)).ok()?;
    canvas.to_data_url().ok()
}

async fn decoded(url: &str) -> Result<Element, JsValue> {
    let image = document()?.create_element("img")?;
    image.set_attribute("src", url)?;
    let decode: Function = Reflect::get(&image, &"decode".into())?.dyn_into()?;
    JsFuture::from(decode.call0(&image)?.dyn_into::<Promise>()?).await?;
    Ok(image)
}

fn natural_size(image: &Element) -> Result<[f64; 2], JsValue> {
    let length = |name: &str| -> Result<f64, JsValue> {
        let value = Reflect::get(image, &name.into())?;
        value.as_f64().ok_or(JsValue::UNDEFINED)
    };
    Ok([length("naturalWidth")?, length("naturalHeight")?])
}

/// A new canvas of a size that is filled by a part of a picture: its corner and its size.
fn part_of(
    image: &Element,
    part: [[f64; 2]; 2],
    size: [u32; 2],
) -> Result<HtmlCanvasElement, JsValue> {
    let canvas = blank(size)?;
    let context: Object = canvas.get_context("2d")?.ok_or(JsValue::UNDEFINED)?;
    let places = part.into_iter().flatten().chain([0.0; 2]);
    let places = places.chain(size.map(f64::from)).map(JsValue::from);
    let arguments: Array = std::iter::once(JsValue::from(image.clone()))
        .chain(places)
        .collect();
    let draw: Function = Reflect::get(&context, &"drawImage".into())?.dyn_into()?;
    draw.apply(&context, &arguments)?;
    Ok(canvas)
}

/// A new canvas of a size.
fn blank(size: [u32; 2]) -> Result<HtmlCanvasElement, JsValue> {
    let canvas: HtmlCanvasElement = document()?.create_element("canvas")?.dyn_into()?;
    canvas.set_width(size[0]);
    canvas.set_height(size[1]);
    Ok(canvas)
}

fn document() -> Result<Document, JsValue> {
    let document = browser::window().and_then(|window| window.document());
    document.ok_or(JsValue::UNDEFINED)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "sides of pictures are small and positive"
)]
fn whole(length: f64) -> u32 {
    length.round() as u32
}
