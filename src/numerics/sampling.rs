//! Draws from gamma and beta distributions and of directions, generic over the random number generator.

use std::f64::consts::TAU;

use rand::{Rng, RngExt as _};

/// Below this length of e₁ − μ the reflection is the identity to f64 precision.
const SAME_DIRECTION: f64 = 1e-7;

/// Draws a direction uniform on S^{d−1}: a normalised Gaussian vector of `embed_dim` entries.
///
/// # Examples
/// ```
/// use kappascope::numerics::uniform_direction;
/// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
/// let direction = uniform_direction(512, &mut ChaCha8Rng::seed_from_u64(1));
/// let length: f64 = direction.iter().map(|x| x * x).sum();
/// assert!((length - 1.0).abs() < 1e-12);
/// ```
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

/// Draws from the standard normal distribution (Box & Muller 1958, one of the pair).
pub fn standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    (-2.0 * positive_unit(rng).ln()).sqrt() * (TAU * rng.random::<f64>()).cos()
}

/// Draws uniformly from (0, 1], whose logarithm is finite.
fn positive_unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    1.0 - rng.random::<f64>()
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng as _, rngs::ChaCha12Rng};

    use super::super::{Family, PowerSpherical, VonMisesFisher};
    use super::{direction_at_cosine, uniform_direction};

    const DRAWS: usize = 20_000;

    /// Five standard errors: one failure in two million seeds, and the seed is fixed.
    const STANDARD_ERRORS: f64 = 5.0;

    fn rng() -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(20_240_607)
    }

    fn draw_cosines(family: Family, d: usize, kappa: f64) -> Vec<f64> {
        let mut rng = rng();
        let mut draw = || match family {
            Family::VonMisesFisher => VonMisesFisher::new(d, kappa).sample_cosine(&mut rng),
            Family::PowerSpherical => PowerSpherical::new(d, kappa).sample_cosine(&mut rng),
        };
        (0..DRAWS).map(|_| draw()).collect()
    }

    /// Greatest distance between the empirical distribution function and `cdf`.
    fn kolmogorov_distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let gap = |(i, t): (usize, &f64)| (cdf(*t) - (i as f64 + 0.5) / n).abs();
        values.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    fn dot(x: &[f64], y: &[f64]) -> f64 {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn drawn_cosines_have_the_mean_and_the_variance_of_their_distribution() {
        for family in Family::ALL {
            for (d, kappa) in [
                (2, 0.0),
                (2, 3.0),
                (3, 1e4),
                (16, 2.0),
                (128, 30.0),
                (512, 5.0),
                (512, 1000.0),
                (2048, 1e6),
            ] {
                let cosines = draw_cosines(family, d, kappa);
                let n = DRAWS as f64;
                let (mean, variance) = (
                    family.mean_resultant_length(d, kappa),
                    family.cosine_variance(d, kappa),
                );
                let found = cosines.iter().sum::<f64>() / n;
                let error = (found - mean).abs() / (variance / n).sqrt();
                assert!(
                    error < STANDARD_ERRORS,
                    "{family:?}, d = {d}, κ = {kappa}: mean {found}, not {mean}"
                );
                let squares: Vec<f64> = cosines.iter().map(|t| (t - mean).powi(2)).collect();
                let found = squares.iter().sum::<f64>() / n;
                let spread =
                    (squares.iter().map(|s| (s - found).powi(2)).sum::<f64>() / n / n).sqrt();
                let error = (found - variance).abs() / spread;
                assert!(
                    error < STANDARD_ERRORS,
                    "{family:?}, d = {d}, κ = {kappa}: variance {found}, not {variance}"
                );
            }
        }
    }

    #[test]
    fn on_the_ordinary_sphere_drawn_cosines_follow_the_closed_form_distribution() {
        // 1.95/√n is the 0.1 % point of Kolmogorov's distribution.
        let limit = 1.95 / (DRAWS as f64).sqrt();
        for kappa in [0.1, 2.0, 50.0] {
            let distribution = draw_cosines(Family::VonMisesFisher, 3, kappa);
            let cdf = |t: f64| (kappa * (t + 1.0)).exp_m1() / (2.0 * kappa).exp_m1();
            let distance = kolmogorov_distance(distribution, cdf);
            assert!(
                distance < limit,
                "von Mises–Fisher, κ = {kappa}: {distance}"
            );
            let distribution = draw_cosines(Family::PowerSpherical, 3, kappa);
            let distance =
                kolmogorov_distance(distribution, |t| ((1.0 + t) / 2.0).powf(1.0 + kappa));
            assert!(distance < limit, "power spherical, κ = {kappa}: {distance}");
        }
    }

    #[test]
    fn a_drawn_direction_has_unit_length_and_the_given_cosine() {
        let mut rng = rng();
        for d in [2, 3, 16, 512] {
            let mut first = vec![0.0; d];
            first[0] = 1.0;
            let opposite: Vec<f64> = first.iter().map(|x| -x).collect();
            for mean_direction in [first, opposite, uniform_direction(d, &mut rng)] {
                for cosine in [-1.0, -0.4, 0.0, 0.7, 1.0] {
                    let drawn = direction_at_cosine(&mean_direction, cosine, &mut rng);
                    let (norm, found) = (dot(&drawn, &drawn).sqrt(), dot(&drawn, &mean_direction));
                    assert!((norm - 1.0).abs() < 1e-12, "d = {d}: length {norm}");
                    assert!(
                        (found - cosine).abs() < 1e-12,
                        "d = {d}: cosine {found}, not {cosine}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_mean_of_many_draws_points_along_the_mean_direction() {
        let (d, n) = (8, 20_000);
        let mut rng = rng();
        let mean_direction = uniform_direction(d, &mut rng);
        let (vmf, power) = (VonMisesFisher::new(d, 6.0), PowerSpherical::new(d, 6.0));
        let mut sums = [vec![0.0; d], vec![0.0; d]];
        for _ in 0..n {
            let draws = [
                vmf.sample(&mean_direction, &mut rng),
                power.sample(&mean_direction, &mut rng),
            ];
            for (sum, draw) in sums.iter_mut().zip(&draws) {
                sum.iter_mut()
                    .zip(draw)
                    .for_each(|(sum, x)| *sum += x / f64::from(n));
            }
        }
        let lengths = [vmf.mean_resultant_length(), power.mean_resultant_length()];
        for (sum, length) in sums.iter().zip(lengths) {
            for (found, expected) in sum.iter().zip(mean_direction.iter().map(|x| x * length)) {
                // A coordinate's variance is below ½.
                let limit = STANDARD_ERRORS * (0.5 / f64::from(n)).sqrt();
                assert!((found - expected).abs() < limit, "{found}, not {expected}");
            }
        }
    }
}
