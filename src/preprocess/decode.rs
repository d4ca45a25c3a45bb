//! A picture file becomes upright 8-bit RGB pixels, as Pillow's `exif_transpose` and `convert("RGB")` give them.
//!
//! * Alpha is dropped, not blended: what lies under transparent pixels becomes visible, as in Pillow. The page shows
//!   pictures on white, so engines and `train score` read them so, by [`decode_on_white`].
//! * 16-bit colour keeps its high byte; 16-bit grey is cut off at 255, which is what Pillow does and seldom what one
//!   wants, so a note says it.
//! * Colour profiles are ignored, as in Pillow.

use std::io::Cursor;
use std::ops::Range;

use image::codecs::{bmp::BmpDecoder, gif::GifDecoder, png::PngDecoder, webp::WebPDecoder};
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder, ImageError, ImageFormat, Limits};

use super::budget::{DecodeBudget, Excess, filled, with_room};
use super::gif::has_second_frame;
use super::jpeg::{self, Refusal};
use super::pixels::{DecodedImage, RgbPixels};
use super::upright::upright;
use super::webp;
use crate::error::{Error, Result};

/// The formats that can be read, for messages.
const FORMATS: &str = "PNG, JPEG, GIF, WebP or BMP";

/// The picture in a file's bytes, at the cost of [`DecodeBudget::FULL`] at most.
///
/// # Errors
/// Those of [`decode_within`].
pub fn decode(bytes: &[u8]) -> Result<DecodedImage> {
    decode_within(&DecodeBudget::FULL, bytes)
}

/// The picture in a file's bytes, unless it costs more than the budget.
///
/// # Errors
/// [`Error::Image`] if the bytes are not a picture, a damaged one, or one that is too large in pixels, memory, work or
/// metadata; nothing of these is allocated before it is known to be within the budget.
pub fn decode_within(budget: &DecodeBudget, bytes: &[u8]) -> Result<DecodedImage> {
    decode_with(Alpha::Dropped, budget, bytes)
}

/// The picture in a file's bytes with its transparent parts on white, unless it costs more than the budget.
///
/// # Errors
/// Those of [`decode_within`].
pub fn decode_on_white(budget: &DecodeBudget, bytes: &[u8]) -> Result<DecodedImage> {
    decode_with(Alpha::OnWhite, budget, bytes)
}

/// Way in which the alpha of pixels is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alpha {
    /// It is ignored, so that the colours are those beneath.
    Dropped,
    /// It blends the colours with white.
    OnWhite,
}

impl Alpha {
    /// Note for the visitor on a picture that has transparent parts.
    fn note(self) -> &'static str {
        match self {
            Self::Dropped => "transparent parts: the model reads the colours beneath",
            Self::OnWhite => "transparent parts read as white",
        }
    }
}

fn decode_with(alpha: Alpha, budget: &DecodeBudget, bytes: &[u8]) -> Result<DecodedImage> {
    let format = recognise(bytes)?;
    let cursor = Cursor::new(bytes);
    let explain = |error| explain(&error, format, budget);
    match format {
        ImageFormat::Png => {
            let limits = png_limits(bytes, budget)?;
            let decoder = PngDecoder::with_limits(cursor, limits).map_err(explain)?;
            let animated = decoder.is_apng().map_err(explain)?;
            read(decoder, format, budget, alpha, animated)
        }
        ImageFormat::Gif => {
            let decoder = GifDecoder::new(cursor).map_err(explain)?;
            read(decoder, format, budget, alpha, has_second_frame(bytes))
        }
        ImageFormat::WebP => {
            webp::check(bytes, budget)?;
            let decoder = WebPDecoder::new(cursor).map_err(explain)?;
            let animated = decoder.has_animation();
            read(decoder, format, budget, alpha, animated)
        }
        ImageFormat::Jpeg => read_jpeg(bytes, budget),
        _ => {
            let decoder = BmpDecoder::new(cursor).map_err(explain)?;
            read(decoder, format, budget, alpha, false)
        }
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

fn limits(max_alloc: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(max_alloc);
    limits
}

/// Room for metadata and for a row of four channels of 16 bits; the pixels themselves are counted elsewhere.
fn png_limits(bytes: &[u8], budget: &DecodeBudget) -> Result<Limits> {
    const HEADER: Range<usize> = 12..24;
    let mut room = budget.metadata_bytes;
    let header = bytes
        .get(HEADER)
        .and_then(|header| header.strip_prefix(b"IHDR"));
    if let Some(&[w0, w1, w2, w3, h0, h1, h2, h3]) = header {
        let side = |bytes| u64::from(u32::from_be_bytes(bytes));
        let (width, height) = (side([w0, w1, w2, w3]), side([h0, h1, h2, h3]));
        budget.check_size(width, height)?;
        room += 8 * width;
    }
    Ok(limits(room))
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
    budget: &DecodeBudget,
    alpha: Alpha,
    animated: bool,
) -> Result<DecodedImage> {
    let explain = |error| explain(&error, format, budget);
    let (width, height) = decoder.dimensions();
    budget.check_size(u64::from(width), u64::from(height))?;
    let (n_pixels, n_bytes) = (u64::from(width) * u64::from(height), decoder.total_bytes());
    // Decoders hold the pixels a second time while they work, in four bytes each; after them, we do, in three.
    budget.check_memory(n_bytes + 4 * n_pixels)?;
    let limits = limits(budget.memory_bytes - n_bytes);
    decoder.set_limits(limits).map_err(explain)?;
    let orientation = decoder.orientation().map_err(explain)?;
    let colour = decoder.color_type();
    let mut values = filled(0, usize::try_from(n_bytes).map_err(|_| Excess::NoMemory)?)?;
    decoder.read_image(&mut values).map_err(explain)?;
    let clipped = colour == ColorType::L16 && numbers(&values).any(|value| value > 255);
    let transparent = is_transparent(&values, colour);
    if transparent && alpha == Alpha::OnWhite {
        blend_with_white(&mut values, colour);
    }
    let rgb = RgbPixels {
        width: width as usize,
        height: height as usize,
        pixels: to_rgb(values, colour)?,
    };
    let (rgb, notes) = (upright(rgb, orientation)?, Vec::new());
    let picture = with_note_if(DecodedImage { rgb, notes }, animated, FIRST_FRAME);
    let picture = with_note_if(picture, transparent, alpha.note());
    Ok(with_note_if(picture, clipped, GREY_CLIPPED))
}

fn read_jpeg(bytes: &[u8], budget: &DecodeBudget) -> Result<DecodedImage> {
    let picture = jpeg::decode(bytes, budget).map_err(|refusal| match refusal {
        Refusal::Damaged(reason) => Error::Image(format!(
            "this JPEG picture is damaged or incomplete: {reason}"
        )),
        Refusal::Unsupported(what) => Error::Image(format!(
            "this JPEG picture uses {what}, which cannot be read"
        )),
        Refusal::Excess(excess) => excess.into(),
    })?;
    let orientation = picture.exif.and_then(Orientation::from_exif_chunk);
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    let (rgb, notes) = (upright(picture.rgb, orientation)?, Vec::new());
    Ok(DecodedImage { rgb, notes })
}

/// Whether a pixel lets through what lies behind it.
fn is_transparent(values: &[u8], colour: ColorType) -> bool {
    let pixel_bytes = usize::from(colour.bytes_per_pixel());
    let alpha_at = pixel_bytes - pixel_bytes / usize::from(colour.channel_count());
    let is_opaque = |pixel: &[u8]| pixel[alpha_at..].iter().all(|byte| *byte == u8::MAX);
    colour.has_alpha() && !values.chunks_exact(pixel_bytes).all(is_opaque)
}

/// Blends colours with white by their alpha: (c · a + 255 · (255 − a)) / 255, rounded.
///
/// Of numbers of 16 bits the high byte is read and written, which is what [`to_rgb`] keeps of them.
fn blend_with_white(values: &mut [u8], colour: ColorType) {
    let pixel_bytes = usize::from(colour.bytes_per_pixel());
    let number_bytes = pixel_bytes / usize::from(colour.channel_count());
    let high = match cfg!(target_endian = "big") {
        true => 0,
        false => number_bytes - 1,
    };
    for pixel in values.chunks_exact_mut(pixel_bytes) {
        let (colours, alpha) = pixel.split_at_mut(pixel_bytes - number_bytes);
        let alpha = u16::from(alpha[high]);
        for value in colours.iter_mut().skip(high).step_by(number_bytes) {
            let blended = (u16::from(*value) * alpha + 255 * (255 - alpha) + 127) / 255;
            // A mean of two bytes is a byte.
            *value = u8::try_from(blended).unwrap_or(u8::MAX);
        }
    }
}

/// Drops alpha, spreads grey, and reduces 16 bits, each as Pillow does.
fn to_rgb(values: Vec<u8>, colour: ColorType) -> Result<Vec<u8>, Excess> {
    let high = |value: u16| value.to_be_bytes()[0];
    let low = |value: u16| u8::try_from(value).unwrap_or(255);
    let n_pixels = values.len() / usize::from(colour.bytes_per_pixel());
    let mut rgb = with_room(3 * n_pixels)?;
    match colour {
        ColorType::Rgb8 => return Ok(values),
        ColorType::L8 => rgb.extend(values.iter().flat_map(|&grey| [grey; 3])),
        ColorType::La8 => rgb.extend(pixels::<2>(&values).flat_map(|&[grey, _]| [grey; 3])),
        ColorType::L16 => rgb.extend(numbers(&values).flat_map(|grey| [low(grey); 3])),
        ColorType::La16 => rgb.extend(numbers(&values).step_by(2).flat_map(|grey| [high(grey); 3])),
        ColorType::Rgb16 => rgb.extend(numbers(&values).map(high)),
        ColorType::Rgba16 => {
            let colours = pixels::<8>(&values).flat_map(|pixel| numbers(&pixel[..6]));
            rgb.extend(colours.map(high));
        }
        // No decoder here gives numbers of 32 bits.
        _ => rgb.extend(pixels::<4>(&values).flat_map(|&[red, green, blue, _]| [red, green, blue])),
    }
    Ok(rgb)
}

fn pixels<const N: usize>(values: &[u8]) -> std::slice::Iter<'_, [u8; N]> {
    values.as_chunks::<N>().0.iter()
}

/// Values of 16 bits, as decoders write them.
fn numbers(values: &[u8]) -> impl Iterator<Item = u16> {
    pixels::<2>(values).map(|value| u16::from_ne_bytes(*value))
}

/// A decoder's complaint in a visitor's words.
fn explain(error: &ImageError, format: ImageFormat, budget: &DecodeBudget) -> Error {
    let kind = match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::WebP => "WebP",
        _ => "BMP",
    };
    Error::Image(match error {
        ImageError::Limits(_) if format == ImageFormat::Png => {
            let most = budget.metadata_bytes;
            return Excess::Metadata { most }.into();
        }
        ImageError::Limits(_) => {
            let most = budget.memory_bytes;
            return Excess::Memory { most }.into();
        }
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

#[cfg(test)]
mod tests {
    use image::codecs::png::PngEncoder;
    use image::{ExtendedColorType, ImageEncoder as _};

    use super::*;

    /// Clear black, opaque orange, and a colour that lets about half of what is behind it through.
    const COLOURS: [u8; 12] = [0, 0, 0, 0, 200, 100, 0, 255, 100, 0, 50, 128];

    /// A PNG of one row of three pixels.
    fn png(values: &[u8], colour: ExtendedColorType) -> Vec<u8> {
        let mut file = Vec::new();
        PngEncoder::new(&mut file)
            .write_image(values, 3, 1, colour)
            .expect("memory has room");
        file
    }

    fn on_white(file: &[u8]) -> DecodedImage {
        decode_on_white(&DecodeBudget::FULL, file).expect("a PNG")
    }

    #[test]
    fn transparent_parts_are_read_on_white_where_they_are_shown_on_it() {
        let read = on_white(&png(&COLOURS, ExtendedColorType::Rgba8));
        let expected = [255, 255, 255, 200, 100, 0, 177, 127, 152];
        assert_eq!(read.rgb.pixels, expected, "(c · a + 255 · (255 − a)) / 255");
        let note = "transparent parts read as white";
        assert_eq!(read.notes, [note], "what the visitor is told");
    }

    #[test]
    fn elsewhere_the_colours_beneath_are_read_as_pillow_reads_them() {
        let read = decode(&png(&COLOURS, ExtendedColorType::Rgba8)).expect("a PNG");
        let expected = [0, 0, 0, 200, 100, 0, 100, 0, 50];
        assert_eq!(read.rgb.pixels, expected, "without alpha");
    }

    #[test]
    fn transparent_grey_of_sixteen_bits_is_read_on_white() {
        let numbers: [u16; 6] = [0x1234, 0, 0x80ff, 0xffff, 0, 0x80ff];
        let values: Vec<u8> = numbers.into_iter().flat_map(u16::to_ne_bytes).collect();
        let read = on_white(&png(&values, ExtendedColorType::La16));
        let expected = [[255; 3], [0x80; 3], [127; 3]].concat();
        assert_eq!(read.rgb.pixels, expected, "by the high bytes");
    }

    #[test]
    fn an_opaque_picture_is_the_same_on_white_and_has_no_note() {
        let mut opaque = COLOURS;
        opaque
            .iter_mut()
            .skip(3)
            .step_by(4)
            .for_each(|alpha| *alpha = u8::MAX);
        let file = png(&opaque, ExtendedColorType::Rgba8);
        let read = on_white(&file);
        assert_eq!(read, decode(&file).expect("a PNG"), "nothing to blend");
        assert!(read.notes.is_empty(), "{:?}", read.notes);
    }
}
