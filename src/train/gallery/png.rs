//! Scenes as the pictures that the page shows, and pictures as PNG files.

use anyhow::Result;
use image::{ExtendedColorType, ImageEncoder as _};

pub use crate::explorer::PICTURE_SIDE;
use crate::preprocess::RgbPixels;
use crate::scenes::{Scene, render};

/// A scene as the pixels that the gallery shows.
#[must_use]
pub fn picture(scene: &Scene) -> RgbPixels {
    RgbPixels {
        width: PICTURE_SIDE,
        height: PICTURE_SIDE,
        pixels: render(scene, PICTURE_SIDE),
    }
}

/// Square pixels as a PNG file.
///
/// # Errors
///
/// The encoder refuses the size.
pub fn png(pixels: &[u8], side: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let side = u32::try_from(side)?;
    image::codecs::png::PngEncoder::new_with_quality(
        &mut bytes,
        image::codecs::png::CompressionType::Best,
        image::codecs::png::FilterType::Adaptive,
    )
    .write_image(pixels, side, side, ExtendedColorType::Rgb8)?;
    Ok(bytes)
}
