//! The cumulant generating function of the cosine, and its derivatives: all a von Mises–Fisher distribution needs.
//!
//! With t the cosine between a fixed and a uniform direction on S^{d−1},
//!
//! ```text
//! K(κ)  = ln E[e^{κt}] = ln ₀F₁(; d/2; κ²/4) = ln [Γ(d/2) (2/κ)^{d/2−1} I_{d/2−1}(κ)]
//! K′(κ) = I_{d/2}(κ) / I_{d/2−1}(κ)       mean of t,  K″(κ)  its variance,  κK′ − K  relative entropy to uniform
//! ```
//!
//! Two regions, chosen by κ alone: below [`Debye::MIN_ARGUMENT`] the power series and Gauss's continued fraction
//! (positive terms only), above it the Debye expansion. The tests of `golden` compare both sides with mpmath.

use super::{debye::Debye, sphere::dimension};

/// Enough terms of the series for κ ≤ 200: past j = 160 each term is below 0.4 of the one before.
const SERIES_TERMS: u16 = 400;

/// Levels of the continued fraction. Cutting it at level n changes the top by a factor of at most
/// `Π r_j²` with `r_j ≤ exp(−asinh((j+½)/κ))`, which is below 1e-17 for κ ≤ 200 from n = 91 on.
const CONTINUED_FRACTION_LEVELS: u16 = 96;

/// Returns K(κ) for κ ≥ 0.
pub(super) fn ln_0f1(embed_dim: usize, concentration: f64) -> f64 {
    if is_moderate(concentration) {
        series(embed_dim, concentration)
    } else {
        debye(embed_dim, concentration).ln_0f1()
    }
}

/// Returns κt − K(κ), the log density ratio to the uniform distribution at cosine t, for κ ≥ 0.
pub(super) fn log_density_ratio(embed_dim: usize, concentration: f64, cosine: f64) -> f64 {
    if is_moderate(concentration) {
        concentration * cosine - series(embed_dim, concentration)
    } else {
        debye(embed_dim, concentration).peak() - concentration * (1.0 - cosine)
    }
}

/// Returns K′(κ), the ratio I_{d/2}(κ)/I_{d/2−1}(κ), for κ ≥ 0.
pub(super) fn ratio(embed_dim: usize, concentration: f64) -> f64 {
    if is_moderate(concentration) {
        continued_fraction(embed_dim, concentration).0
    } else {
        debye(embed_dim, concentration).ratio()
    }
}

/// Returns K″(κ) for κ ≥ 0.
pub(super) fn ratio_derivative(embed_dim: usize, concentration: f64) -> f64 {
    if is_moderate(concentration) {
        continued_fraction(embed_dim, concentration).1
    } else {
        debye(embed_dim, concentration).ratio_derivative()
    }
}

/// Returns κK′(κ) − K(κ) for κ ≥ 0.
pub(super) fn relative_entropy(embed_dim: usize, concentration: f64) -> f64 {
    if is_moderate(concentration) {
        let mean = continued_fraction(embed_dim, concentration).0;
        concentration * mean - series(embed_dim, concentration)
    } else {
        debye(embed_dim, concentration).relative_entropy()
    }
}

fn is_moderate(concentration: f64) -> bool {
    concentration < Debye::MIN_ARGUMENT
}

fn debye(embed_dim: usize, concentration: f64) -> Debye {
    Debye::new(dimension(embed_dim) / 2.0 - 1.0, concentration)
}

/// `ln(1 + Σ t_j)` with `t_j = t_{j−1} (κ²/4) / (j (d/2 + j − 1))`. The sum is below e^200, so nothing overflows.
fn series(embed_dim: usize, concentration: f64) -> f64 {
    let (b, x) = (
        dimension(embed_dim) / 2.0,
        concentration * concentration / 4.0,
    );
    let (mut term, mut excess) = (1.0, 0.0);
    for j in (0..SERIES_TERMS).map(f64::from) {
        let growth = x / ((j + 1.0) * (b + j));
        term *= growth;
        excess += term;
        // With growth ≤ ½ and falling, all that is left out is smaller than this term.
        if growth <= 0.5 && term <= 1e-18 * excess {
            break;
        }
    }
    excess.ln_1p()
}

/// K′ and K″ by `x_j = 1/((d+2j)/κ + x_{j+1})`, with `κ y_j = x_j` so that κ = 0 needs no exception.
fn continued_fraction(embed_dim: usize, concentration: f64) -> (f64, f64) {
    let (d, square) = (dimension(embed_dim), concentration * concentration);
    let (mut y, mut slope) = (0.0, 0.0);
    for j in (0..=CONTINUED_FRACTION_LEVELS).rev().map(f64::from) {
        let level = d + 2.0 * j;
        y = 1.0 / (level + square * y);
        slope = y * y * (level - square * slope);
    }
    (concentration * y, slope)
}

#[cfg(test)]
mod tests {
    use super::{Debye, continued_fraction, debye, series};

    /// Both forms lose a few units in the last place of terms of size κ.
    const SEAM: f64 = 2e-13;

    fn assert_close(name: &str, embed_dim: usize, below: f64, above: f64) {
        let error = (below - above).abs() / above.abs();
        assert!(
            error < SEAM,
            "{name}, d = {embed_dim}: {below} below and {above} above the seam"
        );
    }

    #[test]
    fn the_two_regions_agree_where_they_meet() {
        let kappa = Debye::MIN_ARGUMENT;
        for embed_dim in [2, 3, 4, 5, 7, 16, 64, 128, 512, 768, 2048] {
            let (mean, variance) = continued_fraction(embed_dim, kappa);
            let (ln_0f1, above) = (series(embed_dim, kappa), debye(embed_dim, kappa));
            assert_close("K", embed_dim, ln_0f1, above.ln_0f1());
            assert_close("K'", embed_dim, mean, above.ratio());
            assert_close("K''", embed_dim, variance, above.ratio_derivative());
            assert_close("κ - K", embed_dim, kappa - ln_0f1, above.peak());
            assert_close(
                "κK' - K",
                embed_dim,
                kappa * mean - ln_0f1,
                above.relative_entropy(),
            );
        }
    }
}
