//! Blur of a lens and of a movement, and too few pixels.

use super::canvas::Canvas;

/// Radius of the disc, and the standard deviation that softens its edge.
const DEFOCUS: [(f64, f64); 5] = [(3.0, 0.1), (4.0, 0.5), (6.0, 0.5), (8.0, 0.5), (10.0, 0.5)];
/// End, which is not reached, and step of the zooms, from 1.
const ZOOM: [(f64, f64); 5] = [
    (1.11, 0.01),
    (1.16, 0.01),
    (1.21, 0.02),
    (1.26, 0.02),
    (1.33, 0.03),
];
/// Share of the side that is left.
const PIXELATE: [f64; 5] = [0.6, 0.5, 0.4, 0.3, 0.25];

/// Weights of a neighbourhood: row, column, weight.
type BlurKernel = Vec<(isize, isize, f32)>;

pub(super) fn defocus(canvas: &Canvas, level: usize) -> Canvas {
    let (radius, softness) = DEFOCUS[level];
    let kernel = disc(radius * canvas.scale(), softness);
    canvas.map(|row, column, channel| {
        let at = |down, right| canvas.at(row + down, column + right, channel);
        kernel
            .iter()
            .map(|(down, right, weight)| weight * at(down, right))
            .sum()
    })
}

/// A disc whose edge is softened by a normal distribution; weights sum to one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a radius of some pixels, in single precision"
)]
fn disc(radius: f64, softness: f64) -> BlurKernel {
    let reach = (radius + 2.0).ceil() as isize;
    let weight = |row: isize, column: isize| {
        let distance = (row as f64).hypot(column as f64);
        // The normal distribution function, by a logistic curve that is nowhere more than 0.01 off.
        1.0 / (1.0 + (1.702 * (distance - radius) / softness).exp())
    };
    let places = (-reach..=reach).flat_map(|row| (-reach..=reach).map(move |c| (row, c)));
    let weighed = places.map(|(row, column)| (row, column, weight(row, column)));
    let weighed: Vec<_> = weighed.filter(|(_, _, weight)| *weight > 1e-4).collect();
    let sum: f64 = weighed.iter().map(|(_, _, weight)| weight).sum();
    let shares = weighed.into_iter();
    shares
        .map(|(row, column, weight)| (row, column, (weight / sum) as f32))
        .collect()
}

/// The mean of the picture and of its zooms.
pub(super) fn zoom(canvas: &Canvas, level: usize) -> Canvas {
    let (end, step) = ZOOM[level];
    let factors = (0_u8..).map(|i| 1.0 + f64::from(i) * step);
    // Half a step of slack: the end is not reached, whatever the rounding.
    let factors: Vec<f64> = factors.take_while(|f| *f < end - step / 2.0).collect();
    let n = factors.len() as f32 + 1.0;
    let zooms: Vec<Canvas> = factors
        .iter()
        .map(|factor| zoomed(canvas, *factor))
        .collect();
    let mut mean = canvas.map(|row, column, channel| canvas.at(row, column, channel));
    for (at, value) in mean.values.iter_mut().enumerate() {
        *value = (*value + zooms.iter().map(|zoom| zoom.values[at]).sum::<f32>()) / n;
    }
    mean
}

/// The middle of a picture, `factor` times as large, by linear interpolation.
pub(super) fn zoomed(canvas: &Canvas, factor: f64) -> Canvas {
    let centre = canvas.centre();
    let source = |index: isize| centre + (index as f64 - centre) / factor;
    canvas.map(|row, column, channel| canvas.between(source(row), source(column), channel))
}

/// Means over blocks of equal size, shown as large as before.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a side of some hundred pixels"
)]
pub(super) fn pixelate(canvas: &Canvas, level: usize) -> Canvas {
    let side = canvas.side;
    let n_blocks = ((side as f64 * PIXELATE[level]) as usize).max(1);
    let size = side as f64 / n_blocks as f64;
    // Overlap of each pixel with a block, along one side.
    let parts = |block: usize| -> Vec<(isize, f64)> {
        let (from, to) = (block as f64 * size, (block + 1) as f64 * size);
        let pixels = from.floor() as isize..to.ceil().min(side as f64) as isize;
        let overlap = |i: isize| (to.min(i as f64 + 1.0) - from.max(i as f64)) / size;
        pixels.map(|i| (i, overlap(i))).collect()
    };
    let parts: Vec<_> = (0..n_blocks).map(parts).collect();
    let mean = |block_row: usize, block_column: usize, channel: usize| -> f32 {
        let rows = parts[block_row].iter();
        let values = rows.flat_map(|(row, high)| {
            let at = move |column| canvas.at(*row, column, channel);
            let columns = parts[block_column].iter();
            columns.map(move |(column, wide)| (high * wide) as f32 * at(*column))
        });
        values.sum()
    };
    let block_of = |index: isize| {
        let block = (index as f64 + 0.5) / size;
        (block as usize).min(n_blocks - 1)
    };
    let means = 0..3 * n_blocks * n_blocks;
    let means = means.map(|at| mean(at / 3 / n_blocks, at / 3 % n_blocks, at % 3));
    let means: Vec<f32> = means.collect();
    canvas.map(|row, column, channel| {
        means[3 * (block_of(row) * n_blocks + block_of(column)) + channel]
    })
}
