//! Pixels onto a canvas and out of a picture.

use leptos::web_sys;
use wasm_bindgen::{Clamped, JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlImageElement, ImageData};

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

/// A part of a picture, its [`whole`] or its [`middle_square`], as `side` × `side` pixels of three bytes each; `None`
/// where it cannot be drawn.
pub(crate) async fn pixels(
    url: &str,
    part: fn([f64; 2]) -> [[f64; 2]; 2],
    side: u32,
) -> Option<Vec<u8>> {
    read(url, part, side).await.ok()
}

/// Corner and size of a whole picture, of its width and height.
pub(crate) fn whole(size: [f64; 2]) -> [[f64; 2]; 2] {
    [[0.0; 2], size]
}

/// Corner and size of the square in the middle of a picture, of its width and height.
pub(crate) fn middle_square(size: [f64; 2]) -> [[f64; 2]; 2] {
    let square = size[0].min(size[1]);
    [size.map(|length| (length - square) / 2.0), [square; 2]]
}

/// `side` × `side` pixels after a JPEG of some quality; `None` where the browser cannot write one.
pub(crate) async fn through_jpeg(pixels: &[u8], side: u32, quality: f64) -> Option<Vec<u8>> {
    let url = jpeg(pixels, side, quality).ok()?;
    read(&url, whole, side).await.ok()
}

/// `side` × `side` pixels of three bytes each as an address that holds them; `None` where the browser cannot write one.
pub(crate) fn as_jpeg(pixels: &[u8], side: u32) -> Option<String> {
    jpeg(pixels, side, 0.92).ok()
}

/// The tiles of a picture of so many columns and rows, row by row, each as an address that holds `side` × `side`
/// pixels.
pub(crate) async fn tiles(
    url: &str,
    [columns, rows]: [usize; 2],
    side: u32,
) -> Option<Vec<String>> {
    let sheet = decoded(url).await.ok()?;
    let width = f64::from(sheet.natural_width()) / columns as f64;
    let height = f64::from(sheet.natural_height()) / rows as f64;
    let tile = |i: usize| {
        let corner = [(i % columns) as f64 * width, (i / columns) as f64 * height];
        let tile = part_of(&sheet, [corner, [width, height]], [side; 2]).ok()?;
        tile.to_data_url_with_type("image/jpeg").ok()
    };
    (0..columns * rows).map(tile).collect()
}

/// A picture or a canvas of the page as an address that holds its pixels; `None` where the browser does not give them.
pub(crate) fn data_address(element: &Element) -> Option<String> {
    if let Some(canvas) = element.dyn_ref::<HtmlCanvasElement>() {
        return canvas.to_data_url().ok();
    }
    let image = element.dyn_ref::<HtmlImageElement>()?;
    let size = [image.natural_width(), image.natural_height()];
    part_of(image, whole(size.map(f64::from)), size)
        .ok()?
        .to_data_url()
        .ok()
}

/// The picture at an address, drawn at a size, as an address that holds a PNG; `None` where it cannot be drawn.
pub(crate) async fn png(url: &str, size: [u32; 2]) -> Option<String> {
    let image = decoded(url).await.ok()?;
    let natural = [image.natural_width(), image.natural_height()].map(f64::from);
    part_of(&image, whole(natural), size)
        .ok()?
        .to_data_url()
        .ok()
}

fn put(canvas: &HtmlCanvasElement, pixels: &[u8], side: u32) -> Result<(), JsValue> {
    let opaque: Vec<u8> = pixels
        .chunks_exact(3)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2], u8::MAX])
        .collect();
    let image = ImageData::new_with_u8_clamped_array(Clamped(&opaque), side)?;
    context(canvas)?.put_image_data(&image, 0.0, 0.0)
}

async fn read(
    url: &str,
    part: fn([f64; 2]) -> [[f64; 2]; 2],
    side: u32,
) -> Result<Vec<u8>, JsValue> {
    let image = decoded(url).await?;
    let size = [image.natural_width(), image.natural_height()].map(f64::from);
    let canvas = part_of(&image, part(size), [side; 2])?;
    let side = f64::from(side);
    let opaque = context(&canvas)?
        .get_image_data(0.0, 0.0, side, side)?
        .data();
    Ok(opaque
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect())
}

fn jpeg(pixels: &[u8], side: u32, quality: f64) -> Result<String, JsValue> {
    let canvas = blank([side; 2])?;
    put(&canvas, pixels, side)?;
    canvas.to_data_url_with_type_and_encoder_options("image/jpeg", &quality.into())
}

async fn decoded(url: &str) -> Result<HtmlImageElement, JsValue> {
    let image = HtmlImageElement::new()?;
    image.set_src(url);
    JsFuture::from(image.decode()).await?;
    Ok(image)
}

/// A new canvas of a size that is filled by a part of a picture, its corner and its size, on white: engines read
/// transparent parts so.
fn part_of(
    image: &HtmlImageElement,
    [[left, top], [width, height]]: [[f64; 2]; 2],
    size: [u32; 2],
) -> Result<HtmlCanvasElement, JsValue> {
    let canvas = blank(size)?;
    let [to_width, to_height] = size.map(f64::from);
    let surface = context(&canvas)?;
    surface.set_fill_style_str("white");
    surface.fill_rect(0.0, 0.0, to_width, to_height);
    surface.draw_image_with_html_image_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
        image, left, top, width, height, 0.0, 0.0, to_width, to_height,
    )?;
    Ok(canvas)
}

/// A new canvas of a size.
fn blank([width, height]: [u32; 2]) -> Result<HtmlCanvasElement, JsValue> {
    let document = browser::document().ok_or(JsValue::UNDEFINED)?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(width);
    canvas.set_height(height);
    Ok(canvas)
}

fn context(canvas: &HtmlCanvasElement) -> Result<CanvasRenderingContext2d, JsValue> {
    let context = canvas.get_context("2d")?.ok_or(JsValue::UNDEFINED)?;
    Ok(context.dyn_into()?)
}
