//! The formulas of either distribution, chosen by value: what the page and the evaluation call.

use super::{MIN_LIKELIHOOD_COSINE, PowerSpherical, VonMisesFisher};
use crate::family::Family;

/// Calls one method of whichever distribution `$family` names.
macro_rules! delegate {
    ($family:expr, $embed_dim:expr, $concentration:expr, $method:ident $(, $argument:expr)*) => {
        match $family {
            Self::VonMisesFisher => VonMisesFisher::new($embed_dim, $concentration).$method($($argument),*),
            Self::PowerSpherical => PowerSpherical::new($embed_dim, $concentration).$method($($argument),*),
        }
    };
}

impl Family {
    /// Returns nats above the uniform distribution at `cosine`, with the exact normaliser.
    #[must_use]
    pub fn log_likelihood_ratio(self, embed_dim: usize, concentration: f64, cosine: f64) -> f64 {
        delegate!(self, embed_dim, concentration, log_likelihood_ratio, cosine)
    }

    /// Returns the true log density at `cosine`, in nats with respect to area on the sphere.
    #[must_use]
    pub fn log_likelihood(self, embed_dim: usize, concentration: f64, cosine: f64) -> f64 {
        delegate!(self, embed_dim, concentration, log_likelihood, cosine)
    }

    /// Returns ln C(κ) − ln C(0), the part of the likelihood ratio that does not depend on the cosine.
    #[must_use]
    pub fn log_normalizer_ratio(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, log_normalizer_ratio)
    }

    /// Returns what κ multiplies in the log-likelihood: t under von Mises–Fisher, ln(1 + t) under power spherical.
    ///
    /// With [`Self::log_normalizer_ratio`], which many cosines share, it makes the likelihood of each of them:
    /// κ T(t) + ln C(κ) − ln C(0). Cosines below [`MIN_LIKELIHOOD_COSINE`] are taken as that under power spherical.
    ///
    /// # Examples
    /// ```
    /// use kappascope::numerics::Family;
    /// for family in Family::ALL {
    ///     let normalizer = family.log_normalizer_ratio(256, 40.0);
    ///     let nats = 40.0 * family.sufficient_statistic(0.3) + normalizer;
    ///     assert!((nats - family.log_likelihood_ratio(256, 40.0, 0.3)).abs() < 1e-11);
    /// }
    /// ```
    #[must_use]
    pub fn sufficient_statistic(self, cosine: f64) -> f64 {
        match self {
            Self::VonMisesFisher => cosine,
            Self::PowerSpherical => cosine.max(MIN_LIKELIHOOD_COSINE).ln_1p(),
        }
    }

    /// Draws a unit vector around `mean_direction`, a unit vector of d entries.
    ///
    /// # Examples
    /// ```
    /// use kappascope::numerics::Family;
    /// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
    /// let mut rng = ChaCha8Rng::seed_from_u64(1);
    /// let drawn = Family::PowerSpherical.sample(3, 1e6, &[0.0, 0.0, 1.0], &mut rng);
    /// assert!(drawn[2] > 0.9999, "close to its mean direction");
    /// ```
    pub fn sample<R: rand::Rng + ?Sized>(
        self,
        embed_dim: usize,
        concentration: f64,
        mean_direction: &[f64],
        rng: &mut R,
    ) -> Vec<f64> {
        delegate!(self, embed_dim, concentration, sample, mean_direction, rng)
    }

    /// Draws a cosine to the mean direction.
    ///
    /// # Examples
    /// ```
    /// use kappascope::numerics::Family;
    /// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
    /// let mut rng = ChaCha8Rng::seed_from_u64(1);
    /// let cosine = Family::VonMisesFisher.sample_cosine(3, 1e6, &mut rng);
    /// assert!(cosine > 0.9999, "close to the mean direction");
    /// ```
    pub fn sample_cosine<R: rand::Rng + ?Sized>(
        self,
        embed_dim: usize,
        concentration: f64,
        rng: &mut R,
    ) -> f64 {
        delegate!(self, embed_dim, concentration, sample_cosine, rng)
    }

    /// Returns the mean of the cosine.
    #[must_use]
    pub fn mean_resultant_length(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, mean_resultant_length)
    }

    /// Returns the variance of the cosine.
    #[must_use]
    pub fn cosine_variance(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, cosine_variance)
    }

    /// Returns the density of the cosine.
    #[must_use]
    pub fn cosine_density(self, embed_dim: usize, concentration: f64, cosine: f64) -> f64 {
        delegate!(self, embed_dim, concentration, cosine_density, cosine)
    }

    /// Returns the angle whose cosine is the mean cosine.
    #[must_use]
    pub fn mean_angle_radians(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, mean_angle_radians)
    }

    /// Returns the most likely angle to the mean direction.
    #[must_use]
    pub fn modal_angle_radians(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, modal_angle_radians)
    }

    /// Returns the Kullback–Leibler divergence to the uniform distribution in nats.
    ///
    /// # Examples
    /// ```
    /// use kappascope::numerics::Family;
    /// // Both families say nearly the same of a vague caption.
    /// let [vmf, power_spherical] = Family::ALL.map(|family| family.kl_to_uniform(512, 5.0));
    /// assert!((vmf - power_spherical).abs() < 0.01, "{vmf} {power_spherical}");
    /// ```
    #[must_use]
    pub fn kl_to_uniform(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, kl_to_uniform)
    }

    /// Returns the differential entropy in nats with respect to area on the sphere.
    #[must_use]
    pub fn entropy(self, embed_dim: usize, concentration: f64) -> f64 {
        delegate!(self, embed_dim, concentration, entropy)
    }
}
