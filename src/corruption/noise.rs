//! Noise of a sensor.

use rand::{Rng, RngExt as _};

use super::canvas::Canvas;
use crate::numerics::standard_normal;

/// Standard deviations of the noise at severities 1 to 5, where white is 1.
const GAUSSIAN: [f64; 5] = [0.08, 0.12, 0.18, 0.26, 0.38];
/// Mean number of photons of a white value at severities 1 to 5.
const SHOT: [f64; 5] = [60.0, 25.0, 12.0, 5.0, 3.0];
/// Share of the values that are black or white.
const IMPULSE: [f64; 5] = [0.03, 0.06, 0.09, 0.17, 0.27];
/// Standard deviations of the noise on a white value at severities 1 to 5; on a darker one in proportion.
const SPECKLE: [f64; 5] = [0.15, 0.2, 0.35, 0.45, 0.6];

#[expect(
    clippy::cast_possible_truncation,
    reason = "pictures are in single precision"
)]
fn each<R: Rng>(mut canvas: Canvas, rng: &mut R, f: impl Fn(f64, &mut R) -> f64) -> Canvas {
    for value in &mut canvas.values {
        *value = f(f64::from(*value), rng) as f32;
    }
    canvas
}

pub(super) fn gaussian<R: Rng>(canvas: Canvas, level: usize, rng: &mut R) -> Canvas {
    each(canvas, rng, |x, rng| {
        x + GAUSSIAN[level] * standard_normal(rng)
    })
}

pub(super) fn shot<R: Rng>(canvas: Canvas, level: usize, rng: &mut R) -> Canvas {
    each(canvas, rng, |x, rng| {
        poisson(x * SHOT[level], rng) / SHOT[level]
    })
}

pub(super) fn speckle<R: Rng>(canvas: Canvas, level: usize, rng: &mut R) -> Canvas {
    let deviation = SPECKLE[level];
    each(canvas, rng, |x, rng| {
        x + x * deviation * standard_normal(rng)
    })
}

pub(super) fn impulse<R: Rng>(canvas: Canvas, level: usize, rng: &mut R) -> Canvas {
    each(canvas, rng, |x, rng| {
        let is_kept = rng.random::<f64>() >= IMPULSE[level];
        if is_kept {
            x
        } else {
            f64::from(u8::from(rng.random::<bool>()))
        }
    })
}

/// Draws from the Poisson distribution with a mean of at most 60, by the waiting times of its events (Knuth).
fn poisson<R: Rng>(mean: f64, rng: &mut R) -> f64 {
    let limit = (-mean).exp();
    let (mut count, mut product) = (0.0, rng.random::<f64>());
    while product > limit {
        count += 1.0;
        product *= rng.random::<f64>();
    }
    count
}
