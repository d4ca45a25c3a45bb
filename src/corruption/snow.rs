//! Falling snow: flakes of thresholded noise, streaked by the wind, over a paler picture.

use rand::{Rng, RngExt as _};

use super::blur::zoomed;
use super::canvas::Canvas;
use crate::numerics::standard_normal;

/// Density of the flakes, and the way in which they fall, at one severity.
struct Snow {
    mean: f64,
    deviation: f64,
    zoom: f64,
    threshold: f32,
    streak: f64,
    softness: f64,
    /// Share of the picture that is left as it was.
    mix: f32,
}

const fn snow_of(
    [mean, deviation, zoom, streak, softness]: [f64; 5],
    threshold: f32,
    mix: f32,
) -> Snow {
    Snow {
        mean,
        deviation,
        zoom,
        threshold,
        streak,
        softness,
        mix,
    }
}

const LEVELS: [Snow; 5] = [
    snow_of([0.1, 0.3, 3.0, 10.0, 4.0], 0.5, 0.8),
    snow_of([0.2, 0.3, 2.0, 12.0, 4.0], 0.5, 0.7),
    snow_of([0.55, 0.3, 4.0, 12.0, 8.0], 0.9, 0.7),
    snow_of([0.55, 0.3, 4.5, 12.0, 8.0], 0.85, 0.65),
    snow_of([0.55, 0.3, 2.5, 12.0, 12.0], 0.85, 0.55),
];

pub(super) fn snow<R: Rng>(canvas: &Canvas, level: usize, rng: &mut R) -> Canvas {
    let snow = &LEVELS[level];
    let flakes = flakes(canvas, snow, rng);
    let last = canvas.side.cast_signed() - 1;
    canvas.map(|row, column, channel| {
        let value = canvas.at(row, column, channel);
        let colour = |c| canvas.at(row, column, c);
        let grey = 0.299 * colour(0) + 0.587 * colour(1) + 0.114 * colour(2);
        let pale = value.max(1.5 * grey + 0.5);
        // Flakes of the layer and of the layer turned by half a circle.
        let flakes = flakes.at(row, column, 0) + flakes.at(last - row, last - column, 0);
        snow.mix * value + (1.0 - snow.mix) * pale + flakes
    })
}

/// The layer of flakes, streaked along the wind.
#[expect(
    clippy::cast_possible_truncation,
    reason = "pictures are in single precision"
)]
fn flakes<R: Rng>(canvas: &Canvas, snow: &Snow, rng: &mut R) -> Canvas {
    let mut layer = canvas.map(|_, _, _| 0.0);
    for pixel in layer.values.as_chunks_mut::<3>().0 {
        *pixel = [(snow.mean + snow.deviation * standard_normal(rng)) as f32; 3];
    }
    let mut layer = zoomed(&layer, snow.zoom);
    for value in &mut layer.values {
        *value = if *value < snow.threshold {
            0.0
        } else {
            value.min(1.0)
        };
    }
    let angle = rng.random_range(-135.0_f64..-45.0).to_radians();
    let (reach, softness) = (snow.streak * canvas.scale(), snow.softness * canvas.scale());
    let offsets = (0_u8..).map(f64::from);
    let offsets = offsets.take_while(|offset| *offset <= reach.max(1.0));
    let weigh = |offset: f64| (offset, (-0.5 * (offset / softness).powi(2)).exp());
    let weights: Vec<(f64, f64)> = offsets.map(weigh).collect();
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    layer.map(|row, column, channel| {
        let streak = weights.iter().map(|(offset, weight)| {
            let row = row as f64 + offset * angle.sin();
            let column = column as f64 + offset * angle.cos();
            (weight / sum) as f32 * layer.between(row, column, channel)
        });
        streak.sum()
    })
}
