//! Rotation of a picture upright, by the orientation of the camera in its Exif data.

use image::RgbImage;
use image::imageops::{
    flip_horizontal_in_place, flip_vertical_in_place, rotate90_in, rotate180_in_place, rotate270_in,
};
use image::metadata::Orientation::{
    self, FlipHorizontal, FlipVertical, NoTransforms, Rotate90, Rotate90FlipH, Rotate180,
    Rotate270, Rotate270FlipH,
};

use super::budget::{Excess, filled};
use super::pixels::RgbPixels;

/// The picture turned upright.
pub(super) fn upright(rgb: RgbPixels, orientation: Orientation) -> Result<RgbPixels, Excess> {
    if orientation == NoTransforms {
        return Ok(rgb);
    }
    let n_values = rgb.pixels.len();
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (width, height) = (side(rgb.width), side(rgb.height));
    let lying = || {
        let pixels = filled(0, n_values)?;
        Ok(RgbImage::from_raw(height, width, pixels).unwrap_or_default())
    };
    let mut image = RgbImage::from_raw(width, height, rgb.pixels).unwrap_or_default();
    // A buffer of our own has the right size, so that neither turn can fail.
    match orientation {
        Rotate90 | Rotate90FlipH => {
            let mut turned = lying()?;
            rotate90_in(&image, &mut turned).map_err(|_| Excess::NoMemory)?;
            image = turned;
        }
        Rotate270 | Rotate270FlipH => {
            let mut turned = lying()?;
            rotate270_in(&image, &mut turned).map_err(|_| Excess::NoMemory)?;
            image = turned;
        }
        Rotate180 => rotate180_in_place(&mut image),
        _ => {}
    }
    match orientation {
        FlipHorizontal | Rotate90FlipH | Rotate270FlipH => flip_horizontal_in_place(&mut image),
        FlipVertical => flip_vertical_in_place(&mut image),
        _ => {}
    }
    Ok(RgbPixels {
        width: image.width() as usize,
        height: image.height() as usize,
        pixels: image.into_raw(),
    })
}
