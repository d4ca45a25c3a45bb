//! Pillow's antialiased bicubic resize, with torchvision's centre crop or without, bit for bit.
//!
//! Follows `Resample.c` of Pillow: the cubic kernel (a = −1/2) is stretched by the factor of reduction, its weights are
//! rounded to 22-bit fixed point, rows are filtered first and rounded to 8 bits, then columns. Only the cropped square
//! and the rows that it depends on are computed, and only the rows that one row of the square depends on are held, so
//! a picture of 1 × 1,000,000 pixels costs little more than a square.

use std::ops::Range;

use super::pixels::RgbPixels;

/// Fractional bits of a weight: 32 less 8 for the value and 2 for the kernel's overshoot, as in Pillow.
const PRECISION_BITS: u32 = 32 - 8 - 2;
/// Half the width of the cubic kernel in pixels of the coarser grid.
const CUBIC_SUPPORT: f64 = 2.0;

/// The picture resized so that its shorter side is `image_size`, then cropped to the central square.
pub fn resize_and_crop(rgb: &RgbPixels, image_size: usize) -> RgbPixels {
    let dimensions = resized_dimensions(rgb.width, rgb.height, image_size);
    central_square(rgb, dimensions, image_size)
}

/// The whole picture as a square; its sides may have been of different lengths.
pub fn squash(rgb: &RgbPixels, image_size: usize) -> RgbPixels {
    central_square(rgb, (image_size, image_size), image_size)
}

fn central_square(rgb: &RgbPixels, resized: (usize, usize), image_size: usize) -> RgbPixels {
    let (n_columns, n_rows) = resized;
    let left = centre_offset(n_columns, image_size);
    let top = centre_offset(n_rows, image_size);
    let columns = Taps::of_axis(rgb.width, n_columns, left..left + image_size);
    let rows = Taps::of_axis(rgb.height, n_rows, top..top + image_size);
    RgbPixels {
        width: image_size,
        height: image_size,
        pixels: filter(rgb, &rows, &columns),
    }
}

/// Width and height after the shorter side became `image_size`; the longer one is rounded down, as in torchvision.
fn resized_dimensions(width: usize, height: usize, image_size: usize) -> (usize, usize) {
    // 32 bits, which is what WebAssembly has, do not hold the product of a long side.
    let longer = |longer: usize, shorter: usize| {
        let product = image_size as u64 * longer as u64;
        usize::try_from(product / shorter as u64).unwrap_or(usize::MAX)
    };
    if width <= height {
        (image_size, longer(height, width))
    } else {
        (longer(width, height), image_size)
    }
}

/// Pixels before the crop: half of what is cut, halves rounded to even, as Python's `round` does.
fn centre_offset(length: usize, image_size: usize) -> usize {
    let excess = length - image_size;
    excess / 2 + usize::from(excess % 4 == 3)
}

/// The cubic convolution kernel with a = −1/2.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// The source pixels that one output pixel is a weighted sum of.
#[derive(Debug)]
struct Taps {
    first: usize,
    weights: Vec<i32>,
}

impl Taps {
    /// The taps of `outputs` when an axis of `source_length` pixels becomes `length` pixels.
    fn of_axis(source_length: usize, length: usize, outputs: Range<usize>) -> Vec<Self> {
        if source_length == length {
            // Pillow skips a pass that would change nothing.
            let one = |first| {
                let weights = vec![1 << PRECISION_BITS];
                Self { first, weights }
            };
            return outputs.map(one).collect();
        }
        let scale = source_length as f64 / length as f64;
        outputs
            .map(|i_output| Self::of_output(i_output, scale, source_length))
            .collect()
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "C's truncating conversions are what Pillow computes"
    )]
    fn of_output(i_output: usize, scale: f64, source_length: usize) -> Self {
        let stretch = scale.max(1.0);
        let support = CUBIC_SUPPORT * stretch;
        let centre = (i_output as f64 + 0.5) * scale;
        let first = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(source_length);
        let shrink = 1.0 / stretch;
        let weight = |i_source: usize| cubic((i_source as f64 - centre + 0.5) * shrink);
        let kernel: Vec<f64> = (first..end).map(weight).collect();
        let total: f64 = kernel.iter().sum();
        let one = f64::from(1 << PRECISION_BITS);
        // Half away from zero before truncation, like Pillow; `f64::round` may differ where a product is a half.
        let fixed = |weight: f64| (weight / total * one + 0.5_f64.copysign(weight)) as i32;
        Self {
            first,
            weights: kernel.into_iter().map(fixed).collect(),
        }
    }

    fn end(&self) -> usize {
        self.first + self.weights.len()
    }
}

/// A fixed-point sum as a value of 0–255.
#[expect(clippy::cast_sign_loss, reason = "clamped to 0..=255 on the same line")]
fn to_u8(sum: i32) -> u8 {
    (sum >> PRECISION_BITS).clamp(0, 255) as u8
}

/// The rounding half that every fixed-point sum starts with.
const HALF: i32 = 1 << (PRECISION_BITS - 1);

/// The output rows: sums of source rows that were reduced to the output columns.
///
/// Both ends of the rows that an output row depends on grow with it, so a band of them moves down the picture.
fn filter(rgb: &RgbPixels, rows: &[Taps], columns: &[Taps]) -> Vec<u8> {
    let stride = 3 * columns.len();
    let mut band = Vec::new();
    let mut band_rows = 0..0;
    let mut pixels = Vec::with_capacity(rows.len() * stride);
    for taps in rows {
        let n_done = taps.first.min(band_rows.end) - band_rows.start;
        band.drain(..n_done * stride);
        band_rows = taps.first..band_rows.end.max(taps.first);
        let source = rgb.pixels.chunks_exact(3 * rgb.width);
        for row in source.take(taps.end()).skip(band_rows.end) {
            filter_row(row, columns, &mut band);
        }
        band_rows.end = band_rows.end.max(taps.end());
        filter_columns(&band, taps, stride, &mut pixels);
    }
    pixels
}

/// One source row, reduced to the output columns.
fn filter_row(row: &[u8], columns: &[Taps], band: &mut Vec<u8>) {
    for taps in columns {
        let (mut red, mut green, mut blue) = (HALF, HALF, HALF);
        let (pixels, _) = row[3 * taps.first..3 * taps.end()].as_chunks();
        for (&[r, g, b], weight) in pixels.iter().zip(&taps.weights) {
            red += i32::from(r) * weight;
            green += i32::from(g) * weight;
            blue += i32::from(b) * weight;
        }
        band.extend([to_u8(red), to_u8(green), to_u8(blue)]);
    }
}

/// One output row from the band of filtered rows, the first of which is the first that it depends on.
fn filter_columns(band: &[u8], taps: &Taps, stride: usize, pixels: &mut Vec<u8>) {
    let mut sums = vec![HALF; stride];
    for (row, weight) in band.chunks_exact(stride).zip(&taps.weights) {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum += i32::from(value) * weight;
        }
    }
    pixels.extend(sums.into_iter().map(to_u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(width: usize, height: usize) -> RgbPixels {
        let value = |i: usize| u8::try_from(i * 37 % 251).expect("below 251");
        RgbPixels {
            width,
            height,
            pixels: (0..3 * width * height).map(value).collect(),
        }
    }

    #[test]
    fn a_picture_of_the_right_size_is_unchanged() {
        let rgb = gradient(16, 16);
        assert_eq!(resize_and_crop(&rgb, 16), rgb, "no pass changes anything");
    }

    #[test]
    fn one_colour_stays_that_colour() {
        let rgb = RgbPixels {
            width: 50,
            height: 31,
            pixels: [7, 130, 255].repeat(50 * 31),
        };
        let resized = resize_and_crop(&rgb, 12).pixels;
        assert_eq!(resized, [7, 130, 255].repeat(144), "weights sum to one");
    }

    #[test]
    fn half_of_an_odd_excess_rounds_to_even() {
        let offsets: Vec<usize> = (10..18).map(|length| centre_offset(length, 10)).collect();
        let expected = [0, 0, 1, 2, 2, 2, 3, 4];
        assert_eq!(offsets, expected, "Python: round(excess / 2)");
    }

    #[test]
    fn a_product_of_more_than_32_bits_is_no_other_product() {
        let found = resized_dimensions(1, 59_652_324, 72);
        assert_eq!(found, (72, 4_294_967_328), "a row of 72 pixels for each");
    }

    #[test]
    fn a_line_of_pixels_costs_no_more_than_a_square() {
        let line = gradient(200_000, 1);
        let square = resize_and_crop(&line, 32);
        let n = square.pixels.len();
        assert_eq!(n, 32 * 32 * 3, "only the crop is computed");
        let first_row = &square.pixels[..96];
        let are_equal = square.pixels.chunks_exact(96).all(|row| row == first_row);
        assert!(are_equal, "all rows come from one");
    }
}
