//! Draws from gamma and beta laws and of directions, generic over the random number generator.

use std::f64::consts::TAU;

use rand::{Rng, RngExt as _};

/// Below this length of e₁ − μ the reflection is the identity to f64 precision.
const SAME_DIRECTION: f64 = 1e-7;

/// Draws a direction uniform on S^{d−1}: a normalised Gaussian vector of `embed_dim` entries.
pub fn uniform_direction<R: Rng + ?Sized>(embed_dim: usize, rng: &mut R) -> Vec<f64> {
    let mut direction: Vec<f64> = (0..embed_dim).map(|_| standard_normal(rng)).collect();
    let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    for x in &mut direction {
        *x /= norm;
    }
    direction
}

/// Draws a unit vector uniform among those at `cosine` to `mean_direction`, a unit vector.
///
/// A draw around the first axis is carried over by the Householder reflection that swaps e₁ and μ.
pub fn direction_at_cosine<R: Rng + ?Sized>(
    mean_direction: &[f64],
    cosine: f64,
    rng: &mut R,
) -> Vec<f64> {
    let Some((first, rest)) = mean_direction.split_first() else {
        return Vec::new();
    };
    let sine = ((1.0 - cosine) * (1.0 + cosine)).max(0.0).sqrt();
    let tangent = uniform_direction(rest.len(), rng);
    let mut drawn: Vec<f64> = std::iter::once(cosine)
        .chain(tangent.iter().map(|v| sine * v))
        .collect();

    let mirror: Vec<f64> = std::iter::once(1.0 - first)
        .chain(rest.iter().map(|x| -x))
        .collect();
    let square = mirror.iter().map(|u| u * u).sum::<f64>();
    if square.sqrt() < SAME_DIRECTION {
        return drawn;
    }
    let projection = mirror.iter().zip(&drawn).map(|(u, y)| u * y).sum::<f64>() / square;
    for (y, u) in drawn.iter_mut().zip(&mirror) {
        *y -= 2.0 * projection * u;
    }
    drawn
}

/// Draws from Beta(α, β) for positive shapes as a ratio of gamma draws.
pub(super) fn beta<R: Rng + ?Sized>(alpha: f64, beta: f64, rng: &mut R) -> f64 {
    let x = gamma(alpha, rng);
    x / (x + gamma(beta, rng))
}

/// Draws from Gamma(shape, 1) by Marsaglia & Tsang (2000); shapes below 1 through Gamma(shape + 1) U^{1/shape}.
fn gamma<R: Rng + ?Sized>(shape: f64, rng: &mut R) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, rng) * positive_unit(rng).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = standard_normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && positive_unit(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// Draws from the standard normal law (Box & Muller 1958, one of the pair).
fn standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    (-2.0 * positive_unit(rng).ln()).sqrt() * (TAU * rng.random::<f64>()).cos()
}

/// Draws uniformly from (0, 1], whose logarithm is finite.
fn positive_unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    1.0 - rng.random::<f64>()
}
