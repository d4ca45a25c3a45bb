//! Planes of samples are enlarged to the picture's size and become red, green and blue.

use super::frame::{Component, Frame};
use super::headers::ColourSpace;
use super::idct::inverse_transform;
use super::refusal::Refusal;
use crate::preprocess::budget::{filled, with_room};
use crate::preprocess::pixels::RgbPixels;

/// The samples of one component.
#[derive(Debug)]
struct Plane {
    width: usize,
    height: usize,
    stride: usize,
    samples: Vec<u8>,
    /// Factors by which the picture is wider and higher than the plane.
    enlargement: (usize, usize),
}

/// The picture's pixels, from its coefficients.
pub(super) fn to_rgb(frame: Frame, space: ColourSpace) -> Result<RgbPixels, Refusal> {
    let Frame {
        width,
        height,
        h_max,
        v_max,
        components,
        ..
    } = frame;
    let mut planes = Vec::with_capacity(components.len());
    for component in components {
        planes.push(Plane::of_component(component, h_max, v_max)?);
    }
    let mut pixels = with_room(3 * width * height)?;
    let mut rows = vec![Vec::with_capacity(width + 1); planes.len()];
    for y in 0..height {
        for (plane, row) in planes.iter().zip(&mut rows) {
            row.clear();
            plane.enlarge_row(y, row);
            row.resize(width, 0);
        }
        push_row(&mut pixels, &rows, space);
    }
    Ok(RgbPixels {
        width,
        height,
        pixels,
    })
}

impl Plane {
    /// Takes the component, so that its coefficients are freed before the next one's samples are made.
    fn of_component(component: Component, h_max: usize, v_max: usize) -> Result<Self, Refusal> {
        let missing = Refusal::Damaged("a component has no scan or no quantisation table");
        let quantisation = component.quantisation.ok_or(missing)?;
        if !h_max.is_multiple_of(component.h) || !v_max.is_multiple_of(component.v) {
            return Err(Refusal::Unsupported(
                "colour planes at a fraction of the picture's size that is not 1/n",
            ));
        }
        let stride = 8 * component.blocks_wide;
        let mut samples = filled(0, 64 * component.coefficients.len())?;
        for (i_block, coefficients) in component.coefficients.iter().enumerate() {
            let block = inverse_transform(coefficients, &quantisation);
            let (row, column) = (
                i_block / component.blocks_wide,
                i_block % component.blocks_wide,
            );
            let corner = 8 * row * stride + 8 * column;
            for (i_row, row) in block.as_chunks::<8>().0.iter().enumerate() {
                samples[corner + i_row * stride..][..8].copy_from_slice(row);
            }
        }
        let enlargement = (h_max / component.h, v_max / component.v);
        Ok(Self {
            width: component.width,
            height: component.height,
            stride,
            samples,
            enlargement,
        })
    }

    fn row(&self, y: usize) -> &[u8] {
        &self.samples[y.min(self.height - 1) * self.stride..][..self.width]
    }

    /// Row `y` of the picture in this plane, by libjpeg's rules: triangle filters for halves, repetition otherwise.
    fn enlarge_row(&self, y: usize, out: &mut Vec<u8>) {
        let near = self.row(y / self.enlargement.1);
        // The row that the picture's row lies towards; the outermost rows are repeated.
        let is_even = y.is_multiple_of(2);
        let far = if is_even {
            (y / 2).saturating_sub(1)
        } else {
            y / 2 + 1
        };
        match self.enlargement {
            (1, 1) => out.extend_from_slice(near),
            (2, 1) if self.width > 2 => widen(near.iter().copied().map(u16::from), [1, 2], 2, out),
            (1, 2) => {
                let bias = if is_even { 1 } else { 2 };
                let sums = weighted_sums(near, self.row(far));
                out.extend(sums.map(|sum| to_u8((sum + bias) >> 2)));
            }
            (2, 2) if self.width > 2 => widen(weighted_sums(near, self.row(far)), [8, 7], 4, out),
            (times, _) => {
                let repeated = |&sample: &u8| std::iter::repeat_n(sample, times);
                out.extend(near.iter().flat_map(repeated));
            }
        }
    }
}

/// Three times the sample of the nearer row and once that of the farther.
fn weighted_sums(near: &[u8], far: &[u8]) -> impl ExactSizeIterator<Item = u16> {
    let pairs = near.iter().zip(far);
    pairs.map(|(&near, &far)| 3 * u16::from(near) + u16::from(far))
}

/// Twice as many samples: three times the nearer one and once the farther, in parts of `2^shift`, rounded down and up
/// in turn. The outermost samples are repeated.
fn widen(
    mut samples: impl ExactSizeIterator<Item = u16>,
    [down, up]: [u16; 2],
    shift: u16,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.resize(start + 2 * samples.len(), 0);
    let mut at = samples.next().unwrap_or_default();
    let mut before = at;
    for pair in out[start..].as_chunks_mut::<2>().0 {
        let after = samples.next().unwrap_or(at);
        let (left, right) = (3 * at + before + down, 3 * at + after + up);
        *pair = [to_u8(left >> shift), to_u8(right >> shift)];
        (before, at) = (at, after);
    }
}

/// A weighted mean of samples, which is one itself.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a mean of 8-bit values fits in 8 bits"
)]
fn to_u8(mean: u16) -> u8 {
    mean as u8
}

fn push_row(pixels: &mut Vec<u8>, rows: &[Vec<u8>], space: ColourSpace) {
    let columns = 0..rows.first().map_or(0, Vec::len);
    match (space, rows) {
        (ColourSpace::Grey, [grey]) => pixels.extend(columns.flat_map(|x| [grey[x]; 3])),
        (ColourSpace::Rgb, [red, green, blue]) => {
            pixels.extend(columns.flat_map(|x| [red[x], green[x], blue[x]]));
        }
        (ColourSpace::YCbCr, [y, cb, cr]) => {
            let start = pixels.len();
            pixels.resize(start + 3 * columns.len(), 0);
            let values = y.iter().zip(cb).zip(cr);
            let (row, _) = pixels[start..].as_chunks_mut::<3>();
            for (pixel, ((y, cb), cr)) in row.iter_mut().zip(values) {
                *pixel = ycc_to_rgb(*y, *cb, *cr);
            }
        }
        (ColourSpace::Cmyk, [c, m, y, k]) => {
            let inks = |x: usize| [c[x], m[x], y[x]].map(|ink| 255 - ink);
            pixels.extend(columns.flat_map(|x| inks_to_rgb(inks(x), k[x])));
        }
        (ColourSpace::Ycck, [y, cb, cr, k]) => {
            let inks = |x: usize| ycc_to_rgb(y[x], cb[x], cr[x]);
            pixels.extend(columns.flat_map(|x| inks_to_rgb(inks(x), k[x])));
        }
        // The space was chosen by the number of components.
        _ => {}
    }
}

/// `jdcolor.c`: BT.601 in 16-bit fixed point.
fn ycc_to_rgb(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let red = y + ((91_881 * cr + 32_768) >> 16);
    let green = y + ((-22_554 * cb - 46_802 * cr + 32_768) >> 16);
    let blue = y + ((116_130 * cb + 32_768) >> 16);
    [clamp(red), clamp(green), clamp(blue)]
}

/// Pillow's `cmyk2rgb`, where `unprinted` is 255 less the black ink, as Adobe's files store it.
fn inks_to_rgb(inks: [u8; 3], unprinted: u8) -> [u8; 3] {
    inks.map(|ink| {
        let product = i32::from(ink) * i32::from(unprinted) + 128;
        clamp(i32::from(unprinted) - (((product >> 8) + product) >> 8))
    })
}

#[expect(clippy::cast_sign_loss, reason = "clamped to 0..=255 on the same line")]
fn clamp(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}
