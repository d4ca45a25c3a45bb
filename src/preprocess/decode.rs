//! A picture file becomes upright 8-bit RGB pixels, as Pillow's `exif_transpose` and `convert("RGB")` give them.
//!
//! * Alpha is dropped, not blended: what lies under transparent pixels becomes visible, as in Pillow.
//! * 16-bit colour keeps its high byte; 16-bit grey is cut off at 255, which is what Pillow does and seldom what one
//!   wants, so a note says it.
//! * Colour profiles are ignored, as in Pillow.

use std::io::Cursor;

use image::codecs::{
    bmp::BmpDecoder, gif::GifDecoder, jpeg::JpegDecoder, png::PngDecoder, webp::WebPDecoder,
};
use image::metadata::Orientation;
use image::{
    AnimationDecoder as _, DynamicImage, ImageDecoder, ImageError, ImageFormat, Limits, RgbImage,
};

use super::jpeg::{self, Refusal};
use super::pixels::{DecodedImage, RgbPixels};
use crate::error::{Error, Result};

/// The largest picture that is decoded, in pixels: twice what a good phone's camera makes.
pub const MAX_PIXELS: u64 = 100_000_000;
/// The most memory that a decoder may ask for: [`MAX_PIXELS`] of four bytes, and as much again for its own work.
const MAX_DECODER_BYTES: u64 = 8 * MAX_PIXELS;
/// The formats that can be read, for messages.
const FORMATS: &str = "PNG, JPEG, GIF, WebP or BMP";

/// The picture in a file's bytes.
///
/// # Errors
/// [`Error::Image`] if the bytes are no picture, a damaged one, or one of more than [`MAX_PIXELS`]; that is decided
/// from the header, before any memory for pixels is taken.
pub fn decode(bytes: &[u8]) -> Result<DecodedImage> {
    let format = recognise(bytes)?;
    let cursor = Cursor::new(bytes);
    let explain = |error| explain(&error, format);
    match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(cursor, limits()).map_err(explain)?;
            let animated = decoder.is_apng().map_err(explain)?;
            read(decoder, format, animated)
        }
        ImageFormat::Gif => {
            let decoder = GifDecoder::new(cursor.clone()).map_err(explain)?;
            let picture = read(decoder, format, false)?;
            Ok(with_note_if(picture, gif_is_animated(cursor), FIRST_FRAME))
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(cursor).map_err(explain)?;
            let animated = decoder.has_animation();
            read(decoder, format, animated)
        }
        ImageFormat::Jpeg => read_jpeg(bytes),
        _ => read(BmpDecoder::new(cursor).map_err(explain)?, format, false),
    }
}

const FIRST_FRAME: &str = "only the first frame of this animation is used";
const GREY_CLIPPED: &str = "this 16-bit grey picture was cut off at 255 of 65535, as Pillow does";

fn with_note_if(mut picture: DecodedImage, condition: bool, note: &str) -> DecodedImage {
    if condition {
        picture.notes.push(note.to_owned());
    }
    picture
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    limits
}

/// The format by its first bytes.
fn recognise(bytes: &[u8]) -> Result<ImageFormat> {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, WebP};
    Err(Error::Image(match image::guess_format(bytes) {
        _ if bytes.is_empty() => format!("this file is empty, expected a {FORMATS} picture"),
        Ok(format @ (Bmp | Gif | Jpeg | Png | WebP)) => return Ok(format),
        Ok(other) => format!("{other:?} pictures cannot be read, expected {FORMATS}"),
        Err(_) if bytes.get(4..8) == Some(b"ftyp") => {
            format!("HEIC pictures and films cannot be read, expected {FORMATS}")
        }
        Err(_) => format!("this file is not a picture, expected {FORMATS}"),
    }))
}

/// Decodes after the header was found acceptable.
fn read<D: ImageDecoder>(
    mut decoder: D,
    format: ImageFormat,
    animated: bool,
) -> Result<DecodedImage> {
    let explain = |error| explain(&error, format);
    let (width, height) = decoder.dimensions();
    check_dimensions(width, height)?;
    decoder.set_limits(limits()).map_err(explain)?;
    let orientation = decoder.orientation().map_err(explain)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(explain)?;
    image.apply_orientation(orientation);
    let clipped =
        matches!(&image, DynamicImage::ImageLuma16(grey) if grey.iter().any(|&value| value > 255));
    let (rgb, notes) = (to_rgb(image), Vec::new());
    let picture = with_note_if(DecodedImage { rgb, notes }, animated, FIRST_FRAME);
    Ok(with_note_if(picture, clipped, GREY_CLIPPED))
}

/// Metadata are read by the `image` crate, pixels by our own decoder.
fn read_jpeg(bytes: &[u8]) -> Result<DecodedImage> {
    let explain = |error| explain(&error, ImageFormat::Jpeg);
    let mut decoder = JpegDecoder::new(Cursor::new(bytes)).map_err(explain)?;
    let (width, height) = decoder.dimensions();
    check_dimensions(width, height)?;
    let orientation = decoder.orientation().map_err(explain)?;
    let in_words = |refusal| match refusal {
        Refusal::Damaged(reason) => format!("this JPEG picture is damaged or incomplete: {reason}"),
        Refusal::Unsupported(what) => {
            format!("this JPEG picture uses {what}, which cannot be read")
        }
    };
    let rgb = jpeg::decode(bytes).map_err(|refusal| Error::Image(in_words(refusal)))?;
    let (rgb, notes) = (turned(rgb, orientation), Vec::new());
    Ok(DecodedImage { rgb, notes })
}

fn turned(rgb: RgbPixels, orientation: Orientation) -> RgbPixels {
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let buffer = RgbImage::from_raw(side(rgb.width), side(rgb.height), rgb.pixels);
    let mut image = DynamicImage::from(buffer.unwrap_or_default());
    image.apply_orientation(orientation);
    to_rgb(image)
}

fn check_dimensions(width: u32, height: u32) -> Result<()> {
    let expected = match u64::from(width) * u64::from(height) {
        0 => "at least 1 × 1".to_owned(),
        1..=MAX_PIXELS => return Ok(()),
        _ => format!("at most {} megapixels", MAX_PIXELS / 1_000_000),
    };
    let found = format!("this picture is {width} × {height} pixels");
    Err(Error::Image(format!("{found}, expected {expected}")))
}

/// Whether a GIF has a second frame; a damaged one counts, as there is something after the first.
fn gif_is_animated(cursor: Cursor<&[u8]>) -> bool {
    let Ok(mut decoder) = GifDecoder::new(cursor) else {
        return false;
    };
    decoder.set_limits(limits()).is_ok() && decoder.into_frames().nth(1).is_some()
}

/// Drops alpha, spreads grey, and reduces 16 bits, each as Pillow does.
fn to_rgb(image: DynamicImage) -> RgbPixels {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let high = |value: u16| value.to_be_bytes()[0];
    let pixels = match image {
        DynamicImage::ImageLumaA8(picture) => spread(picture.pixels().map(|pixel| pixel.0[0])),
        DynamicImage::ImageRgba8(picture) => without_alpha(&picture),
        DynamicImage::ImageLuma16(picture) => spread(
            picture
                .iter()
                .map(|&value| u8::try_from(value).unwrap_or(255)),
        ),
        DynamicImage::ImageLumaA16(picture) => {
            spread(picture.pixels().map(|pixel| high(pixel.0[0])))
        }
        DynamicImage::ImageRgb16(picture) => picture.iter().map(|&value| high(value)).collect(),
        DynamicImage::ImageRgba16(picture) => {
            let colours = picture
                .pixels()
                .map(|pixel| [pixel.0[0], pixel.0[1], pixel.0[2]]);
            colours.flat_map(|colour| colour.map(high)).collect()
        }
        other => other.into_rgb8().into_raw(),
    };
    RgbPixels {
        width,
        height,
        pixels,
    }
}

fn without_alpha(rgba: &[u8]) -> Vec<u8> {
    let pixels = rgba.chunks_exact(4);
    pixels
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect()
}

fn spread(grey: impl Iterator<Item = u8>) -> Vec<u8> {
    grey.flat_map(|value| [value; 3]).collect()
}

/// A decoder's complaint in a visitor's words.
fn explain(error: &ImageError, format: ImageFormat) -> Error {
    let kind = match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WebP",
        _ => "BMP",
    };
    Error::Image(match error {
        ImageError::Limits(_) => format!(
            "this {kind} picture asks for more memory than {MAX_PIXELS} pixels need, expected a smaller one"
        ),
        ImageError::Unsupported(_) => {
            format!(
                "this kind of {kind} picture cannot be read: {}",
                reason(error)
            )
        }
        _ => format!(
            "this {kind} picture is damaged or incomplete: {}",
            reason(error)
        ),
    })
}

/// The innermost message of an error, without a capital letter or a period.
fn reason(error: &ImageError) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    let mut characters = text.trim_end_matches('.').chars();
    let first = characters.next().into_iter().flat_map(char::to_lowercase);
    first.collect::<String>() + characters.as_str()
}
