//! The two distributions on the unit hypersphere S^{d−1} and the special functions behind them, in f64.
//!
//! Every function here is total on its stated domain: it never panics and never returns NaN. The module knows
//! arithmetic and a random number generator, and must not know tensors, files, serialisation or the browser.
//!
//! | file | what |
//! |---|---|
//! | `gamma` | ln Γ, ψ, ψ′ and their differences without cancellation |
//! | `bessel`, `debye` | ratio and normaliser of the modified Bessel functions, by region |
//! | `sphere` | area of the sphere, the uniform distribution and its cosine |
//! | `von_mises_fisher`, `power_spherical` | the two distributions |
//! | `family` | either distribution, chosen by value |
//! | `sampling` | gamma, beta and direction draws |
//!
//! Symbols inside formulas are the papers': d embedding dimension, κ concentration, μ mean direction, t the cosine
//! μᵀz between mean direction and a unit vector z, a = (d−1)/2.

mod bessel;
mod debye;
mod family;
mod gamma;
mod power_spherical;
mod sampling;
mod sphere;
mod von_mises_fisher;

pub use crate::family::Family;
pub use gamma::{digamma, digamma_difference, ln_gamma, ln_gamma_ratio, trigamma};
pub use power_spherical::{MIN_LIKELIHOOD_COSINE, PowerSpherical};
pub use sampling::{direction_at_cosine, standard_normal, uniform_direction};
pub use sphere::{
    MAX_CONCENTRATION, ln_sphere_area, uniform_cosine_density, uniform_cosine_log_density,
    uniform_log_density,
};
pub use von_mises_fisher::VonMisesFisher;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
