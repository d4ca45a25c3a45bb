//! The sphere S^{d−1} itself and the uniform distribution on it: what a caption that says nothing would be.

use std::f64::consts::{LN_2, PI};

use super::gamma::{ln_gamma, ln_gamma_ratio};

/// Largest concentration the distributions accept; larger values are taken as this one.
///
/// Trained concentrations are below 10³. The limit only keeps squares of κ far from overflow.
pub const MAX_CONCENTRATION: f64 = 1e9;

/// Returns the logarithm of the area of S^{d−1}, ln 2 + (d/2) ln π − ln Γ(d/2), for d ≥ 2.
///
/// # Examples
/// ```
/// use kappascope::numerics::ln_sphere_area;
/// use std::f64::consts::PI;
/// // The ordinary sphere.
/// assert!((ln_sphere_area(3) - (4.0 * PI).ln()).abs() < 1e-14);
/// ```
#[must_use]
pub fn ln_sphere_area(embed_dim: usize) -> f64 {
    let half = dimension(embed_dim) / 2.0;
    LN_2 + half * PI.ln() - ln_gamma(half)
}

/// Returns the log density of the uniform distribution on S^{d−1}, the common limit κ → 0 of both families.
#[must_use]
pub fn uniform_log_density(embed_dim: usize) -> f64 {
    -ln_sphere_area(embed_dim)
}

/// Returns the density of the cosine t between a fixed direction and a uniform one.
///
/// ```text
/// f(t) = Γ(d/2) / (√π Γ((d−1)/2)) · (1 − t²)^((d−3)/2)    on [−1, 1], zero outside
/// ```
/// Its mean is 0 and its variance 1/d. In d = 2 it is infinite at t = ±1.
///
/// # Examples
/// ```
/// use kappascope::numerics::uniform_cosine_density;
/// // Archimedes: on the ordinary sphere every height is as likely.
/// assert!((uniform_cosine_density(3, 0.7) - 0.5).abs() < 1e-14);
/// ```
#[must_use]
pub fn uniform_cosine_density(embed_dim: usize, cosine: f64) -> f64 {
    uniform_cosine_log_density(embed_dim, cosine).exp()
}

/// Returns the logarithm of [`uniform_cosine_density`], −∞ where that is zero.
#[must_use]
pub fn uniform_cosine_log_density(embed_dim: usize, cosine: f64) -> f64 {
    if cosine.abs() > 1.0 {
        return f64::NEG_INFINITY;
    }
    let exponent = (dimension(embed_dim) - 3.0) / 2.0;
    let shape = x_ln_y(exponent, 1.0 - cosine) + x_ln_y(exponent, 1.0 + cosine);
    ln_uniform_cosine_normalizer(embed_dim) + shape
}

/// ln [Γ(d/2) / (√π Γ((d−1)/2))].
pub(super) fn ln_uniform_cosine_normalizer(embed_dim: usize) -> f64 {
    ln_gamma_ratio((dimension(embed_dim) - 1.0) / 2.0, 0.5) - 0.5 * PI.ln()
}

/// x ln y with 0 · ln 0 = 0, so that an exponent of zero means "no such factor".
pub(super) fn x_ln_y(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * y.ln() }
}

/// κ within [0, [`MAX_CONCENTRATION`]], NaN as 0.
pub(super) fn admissible(concentration: f64) -> f64 {
    if concentration > 0.0 {
        concentration.min(MAX_CONCENTRATION)
    } else {
        0.0
    }
}

/// Dimension d as a number; there is no sphere below d = 2.
pub(super) fn dimension(embed_dim: usize) -> f64 {
    embed_dim.max(2) as f64
}
