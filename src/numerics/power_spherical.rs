//! The power spherical distribution on S^{d−1}: density C(κ) (1 + t)^κ with respect to area, t = μᵀz.

use std::f64::consts::LN_2;

use rand::Rng;

use super::{
    gamma::{binet, digamma_difference, digamma_remainder, trigamma},
    sampling::{beta, direction_at_cosine},
    sphere::{
        admissible, dimension, ln_sphere_area, ln_uniform_cosine_normalizer, uniform_log_density,
        x_ln_y,
    },
};

/// Smallest cosine a power spherical likelihood is evaluated at.
///
/// The true log density at cosine −1 is −∞, and rounding can push a cosine below −1. Likelihoods that are shown, and
/// those of the training kernel, take smaller cosines as this one.
pub const MIN_LIKELIHOOD_COSINE: f64 = -1.0 + 1e-6;

/// Up to κ = a times this, differences of values at κ and 0 are integrals of their derivatives instead: these have no
/// cancellation, and are analytic up to κ = −a, so that five nodes leave a relative error of 1e-16.
const SMALL_CONCENTRATION: f64 = 0.1;

/// Gauss–Legendre nodes and weights on [0, 1] (NIST DLMF 3.5.2); exact for polynomials of degree 9.
const GAUSS_LEGENDRE: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// A power spherical distribution without its mean direction: dimension d and concentration κ.
///
/// # Formula
///
/// ```text
/// p(z) = C(κ) (1 + μᵀz)^κ,    ln C(κ) = −[(α+β) ln 2 + β ln π + ln Γ(α) − ln Γ(α+β)],    α = a + κ, β = a
/// ```
/// so that (1+t)/2 ~ Beta(α, β). κ = 0 is the uniform distribution (De Cao & Aziz 2020, *The Power Spherical
/// distribution*).
///
/// # Accuracy
///
/// For d from 2 to 2048 and κ from 0 to 1e6 every quantity is within 2e-13 of mpmath, relative to its value, save near
/// the roots of G at κ = 1 and of G′ near κ = ½, where the absolute errors stay below 1e-15: measured at 3,000 random
/// (d, κ), asserted on a grid in `golden`.
///
/// # Examples
/// ```
/// use kappascope::numerics::PowerSpherical;
/// // Golden values of mpmath; at κ = 1 the normaliser is that of the uniform distribution.
/// assert!((PowerSpherical::new(512, 200.0).log_normalizer_ratio() - -28.38858984).abs() < 1e-8);
/// assert!(PowerSpherical::new(512, 1.0).log_normalizer_ratio().abs() < 1e-14);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerSpherical {
    embed_dim: usize,
    concentration: f64,
}

impl PowerSpherical {
    /// Makes the distribution of dimension d ≥ 2 and concentration 0 ≤ κ ≤
    /// [`MAX_CONCENTRATION`](super::MAX_CONCENTRATION); what lies outside is moved to the nearest bound, NaN to κ = 0.
    #[must_use]
    pub fn new(embed_dim: usize, concentration: f64) -> Self {
        Self {
            embed_dim: embed_dim.max(2),
            concentration: admissible(concentration),
        }
    }

    /// Makes the distribution of dimension d whose mean cosine is `mean`, in [0, 1): κ = (d−1) r/(1−r).
    #[must_use]
    pub fn with_mean_resultant_length(embed_dim: usize, mean: f64) -> Self {
        let concentration = (dimension(embed_dim) - 1.0) * mean / (1.0 - mean);
        Self::new(
            embed_dim,
            if mean >= 1.0 {
                f64::INFINITY
            } else {
                concentration
            },
        )
    }

    /// Dimension d of the space the sphere lies in.
    #[must_use]
    pub fn embed_dim(&self) -> usize {
        self.embed_dim
    }

    /// Concentration κ, from 0 to [`MAX_CONCENTRATION`](super::MAX_CONCENTRATION).
    #[must_use]
    pub fn concentration(&self) -> f64 {
        self.concentration
    }

    /// Returns ln C(κ), the logarithm of the density's normaliser with respect to area.
    #[must_use]
    pub fn log_normalizer(&self) -> f64 {
        uniform_log_density(self.embed_dim) + self.log_normalizer_ratio()
    }

    /// Returns G(κ) = ln C(κ) − ln C(0), about −κ(κ−1)/(2d) for κ ≪ d; zero at κ = 0 and κ = 1, negative beyond.
    ///
    /// ```text
    /// G(κ) = a ln1p(κ/2a) + (a+κ−½) ln1p(−κ/(2(a+κ))) + B(2a+κ) − B(2a) − B(a+κ) + B(a)
    /// ```
    /// with B Binet's remainder of Stirling's formula.
    #[must_use]
    pub fn log_normalizer_ratio(&self) -> f64 {
        let (a, kappa) = self.shape();
        if self.is_small() {
            return integral(kappa, |s| log_normalizer_slope(a, s));
        }
        let halving = ln_halving(a, kappa);
        a * (kappa / (2.0 * a)).ln_1p() + (a + kappa - 0.5) * halving + binet_bracket(a, kappa)
    }

    /// Returns d ln C/dκ = ψ(2a+κ) − ψ(a+κ) − ln 2 = −E[ln(1+t)].
    #[must_use]
    pub fn log_normalizer_derivative(&self) -> f64 {
        let (a, kappa) = self.shape();
        log_normalizer_slope(a, kappa)
    }

    /// Returns the log density at cosine t, in nats with respect to area; see [`Self::log_likelihood_ratio`].
    #[must_use]
    pub fn log_likelihood(&self, cosine: f64) -> f64 {
        uniform_log_density(self.embed_dim) + self.log_likelihood_ratio(cosine)
    }

    /// Returns nats above the uniform distribution, κ ln(1+t) + ln C(κ) − ln C(0); zero means no better than knowing
    /// nothing.
    ///
    /// Cosines below [`MIN_LIKELIHOOD_COSINE`] are taken as that, so that the value is finite where the density is 0;
    /// cosines above 1 are taken as 1.
    #[must_use]
    pub fn log_likelihood_ratio(&self, cosine: f64) -> f64 {
        let cosine = cosine.clamp(MIN_LIKELIHOOD_COSINE, 1.0);
        self.peak() + self.concentration * ((cosine - 1.0) / 2.0).ln_1p()
    }

    /// Returns the mean of the cosine, κ/(d−1+κ).
    ///
    /// # Examples
    /// ```
    /// use kappascope::numerics::PowerSpherical;
    /// // κ / (κ + d − 1)
    /// assert_eq!(PowerSpherical::new(5, 12.0).mean_resultant_length(), 0.75);
    /// ```
    #[must_use]
    pub fn mean_resultant_length(&self) -> f64 {
        let (a, kappa) = self.shape();
        kappa / (2.0 * a + kappa)
    }

    /// Returns the derivative of [`Self::mean_resultant_length`] in κ, (d−1)/(d−1+κ)².
    #[must_use]
    pub fn mean_resultant_length_derivative(&self) -> f64 {
        let (a, kappa) = self.shape();
        2.0 * a / (2.0 * a + kappa).powi(2)
    }

    /// Returns the variance of the cosine, 4αβ/((α+β)²(α+β+1)).
    #[must_use]
    pub fn cosine_variance(&self) -> f64 {
        let (a, kappa) = self.shape();
        let sum = 2.0 * a + kappa;
        4.0 * (a + kappa) / sum * (a / sum) / (sum + 1.0)
    }

    /// Returns the angle whose cosine is the mean cosine.
    #[must_use]
    pub fn mean_angle_radians(&self) -> f64 {
        let (a, kappa) = self.shape();
        (4.0 * a * (a + kappa)).sqrt().atan2(kappa)
    }

    /// Returns the most likely angle to the mean direction, with cosine κ/(κ+d−2).
    ///
    /// π/2 at κ = 0 for d ≥ 3. On the circle (d = 2) the mode is the mean direction itself: 0.
    #[must_use]
    pub fn modal_angle_radians(&self) -> f64 {
        let (m, kappa) = (dimension(self.embed_dim) - 2.0, self.concentration);
        (m * (m + 2.0 * kappa)).sqrt().atan2(kappa)
    }

    /// Returns the Kullback–Leibler divergence to the uniform distribution in nats, κ E[ln(1+t)] + ln C(κ) − ln C(0).
    ///
    /// For small κ it is ∫₀^κ s [ψ′(a+s) − ψ′(2a+s)] ds; about κ²/(2d) for κ ≪ d.
    #[must_use]
    pub fn kl_to_uniform(&self) -> f64 {
        let (a, kappa) = self.shape();
        if self.is_small() {
            return integral(kappa, |s| s * (trigamma(a + s) - trigamma(2.0 * a + s)));
        }
        self.peak() - kappa * digamma_difference(a + kappa, a)
    }

    /// Returns the differential entropy in nats with respect to area: log area minus [`Self::kl_to_uniform`].
    #[must_use]
    pub fn entropy(&self) -> f64 {
        ln_sphere_area(self.embed_dim) - self.kl_to_uniform()
    }

    /// Returns the density of the cosine, f(t) ∝ (1+t)^{κ+(d−3)/2} (1−t)^{(d−3)/2}; zero outside [−1, 1].
    ///
    /// Infinite in d = 2 at t = 1, and at t = −1 when also κ < ½. No cosine is clamped here.
    #[must_use]
    pub fn cosine_density(&self, cosine: f64) -> f64 {
        if cosine.abs() > 1.0 {
            return 0.0;
        }
        let (a, kappa) = self.shape();
        let constant = ln_uniform_cosine_normalizer(self.embed_dim) + self.peak() - kappa * LN_2;
        let shape = x_ln_y(kappa + a - 1.0, 1.0 + cosine) + x_ln_y(a - 1.0, 1.0 - cosine);
        (constant + shape).exp()
    }

    /// Draws a unit vector around `mean_direction`, a unit vector of d entries.
    pub fn sample<R: Rng + ?Sized>(&self, mean_direction: &[f64], rng: &mut R) -> Vec<f64> {
        direction_at_cosine(mean_direction, self.sample_cosine(rng), rng)
    }

    /// Draws a cosine 2Z − 1 with Z ~ Beta(a + κ, a).
    pub fn sample_cosine<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let (a, kappa) = self.shape();
        2.0 * beta(a + kappa, a, rng) - 1.0
    }

    /// a = (d−1)/2 and κ.
    fn shape(&self) -> (f64, f64) {
        ((dimension(self.embed_dim) - 1.0) / 2.0, self.concentration)
    }

    fn is_small(&self) -> bool {
        let (a, kappa) = self.shape();
        kappa <= SMALL_CONCENTRATION * a
    }

    /// G(κ) + κ ln 2, the log density ratio at the mean direction; positive and growing like a ln κ.
    fn peak(&self) -> f64 {
        let (a, kappa) = self.shape();
        if self.is_small() {
            return self.log_normalizer_ratio() + kappa * LN_2;
        }
        a * (kappa / (2.0 * a)).ln_1p()
            + (a - 0.5) * ln_halving(a, kappa)
            + kappa * (a / (a + kappa)).ln_1p()
            + binet_bracket(a, kappa)
    }
}

/// ψ(2a+κ) − ψ(a+κ) − ln 2.
fn log_normalizer_slope(a: f64, kappa: f64) -> f64 {
    ln_halving(a, kappa) + digamma_remainder(a + kappa) - digamma_remainder(2.0 * a + kappa)
}

/// ln [(2a+κ) / (2(a+κ))], from 0 at κ = 0 to −ln 2.
fn ln_halving(a: f64, kappa: f64) -> f64 {
    (-kappa / (2.0 * (a + kappa))).ln_1p()
}

/// B(2a+κ) − B(2a) − B(a+κ) + B(a).
fn binet_bracket(a: f64, kappa: f64) -> f64 {
    (binet(2.0 * a + kappa) - binet(2.0 * a)) - (binet(a + kappa) - binet(a))
}

/// ∫ f from 0 to `upper`.
fn integral(upper: f64, f: impl Fn(f64) -> f64) -> f64 {
    GAUSS_LEGENDRE
        .iter()
        .map(|(node, weight)| upper * weight * f(upper * node))
        .sum()
}
