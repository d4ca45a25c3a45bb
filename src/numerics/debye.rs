//! Uniform asymptotic (Debye) expansion of the modified Bessel function `I_ν(κ)` and its derivatives in κ.
//!
//! NIST DLMF 10.41.3, written in R = √(ν² + κ²) and q = ν²/R² instead of ν and p = ν/R:
//!
//! ```text
//! ln I_ν(κ) = R − ν asinh(ν/κ) − ½ ln(2πR) + ln U,    U = Σ_k Q_k(q) / R^k,    u_k(p) = p^k Q_k(p²)
//! ```
//!
//! so that it needs R to be large, not ν: at ν = 0 (d = 2) it is Hankel's large-argument expansion. Derivatives follow
//! from dR/dκ = κ/R and d(q^m R^−k)/dκ = −(κ/R²)(k + 2m) q^m R^−k: all are sums over the same table.

use std::f64::consts::TAU;

use super::gamma::binet;

/// Denominators and numerators of `Q_1` … `Q_6`, lowest power of q first (checked against the recurrence by a test).
const Q: [(f64, &[f64]); 6] = [
    (24.0, &[3.0, -5.0]),
    (1152.0, &[81.0, -462.0, 385.0]),
    (414_720.0, &[30_375.0, -369_603.0, 765_765.0, -425_425.0]),
    (
        39_813_120.0,
        &[
            4_465_125.0,
            -94_121_676.0,
            349_922_430.0,
            -446_185_740.0,
            185_910_725.0,
        ],
    ),
    (
        6_688_604_160.0,
        &[
            1_519_035_525.0,
            -49_286_948_607.0,
            284_499_769_554.0,
            -614_135_872_350.0,
            566_098_157_625.0,
            -188_699_385_875.0,
        ],
    ),
    (
        4_815_794_995_200.0,
        &[
            2_757_049_477_875.0,
            -127_577_298_354_750.0,
            1_050_760_774_457_901.0,
            -3_369_032_068_261_860.0,
            5_104_696_716_244_125.0,
            -3_685_299_006_138_750.0,
            1_023_694_168_371_875.0,
        ],
    ),
];

/// The expansion at one (ν, κ). Written K(κ) = ln ₀F₁(; ν+1; κ²/4) for the quantity `bessel` is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Debye {
    order: f64,
    argument: f64,
    radius: f64,
    ln_u: f64,
    /// `Σ (k + 2m)^n c_km q^m R^−k / U` for n = 1, 2, where `c_km` are the coefficients of `Q_k`.
    moments: [f64; 2],
}

impl Debye {
    /// The first dropped term of U is 1.8 R^−7: from R = 200 on it is below 2e-16, and 50 times that in K″.
    pub(super) const MIN_ARGUMENT: f64 = 200.0;

    /// Expands around order ν ≥ 0 and argument κ ≥ [`Self::MIN_ARGUMENT`].
    pub(super) fn new(order: f64, argument: f64) -> Self {
        let radius = order.hypot(argument);
        let q = (order / radius).powi(2);
        let (mut excess, mut first, mut second) = (0.0, 0.0, 0.0);
        let (mut k, mut scale) = (0.0, 1.0);
        for (denominator, numerators) in Q {
            k += 1.0;
            scale /= radius;
            let (mut weight, mut term_scale) = (k, scale / denominator);
            for numerator in numerators {
                let term = numerator * term_scale;
                excess += term;
                first += weight * term;
                second += weight * weight * term;
                weight += 2.0;
                term_scale *= q;
            }
        }
        let u = 1.0 + excess;
        Self {
            order,
            argument,
            radius,
            ln_u: excess.ln_1p(),
            moments: [first / u, second / u],
        }
    }

    /// K(κ) = δ − c with δ = R − ν and c = [`Self::shortfall`].
    pub(super) fn ln_0f1(&self) -> f64 {
        self.delta() - self.shortfall()
    }

    /// κ − K(κ), the log density ratio at cosine 1, where large κ and K(κ) do not cancel.
    pub(super) fn peak(&self) -> f64 {
        let nu = self.order;
        nu - nu * (nu / (self.radius + self.argument)) + self.shortfall()
    }

    /// K′(κ) = `I_{ν+1}(κ) / I_ν(κ)`.
    pub(super) fn ratio(&self) -> f64 {
        let (nu, kappa, r) = (self.order, self.argument, self.radius);
        kappa / (r + nu) - kappa / (r * r) * (0.5 + self.moments[0])
    }

    /// K″(κ), every term of it positive where it matters.
    pub(super) fn ratio_derivative(&self) -> f64 {
        let (nu, r) = (self.order, self.radius);
        let [first, second] = self.moments;
        let (kappa2, r2) = (self.argument * self.argument, r * r);
        nu / (r * (r + nu))
            + ((kappa2 - nu * nu) * (0.5 + first) + kappa2 * (second - first * first)) / (r2 * r2)
    }

    /// κ K′(κ) − K(κ), where the two large terms δ have been cancelled by hand.
    pub(super) fn relative_entropy(&self) -> f64 {
        let share = (self.argument / self.radius).powi(2);
        self.shortfall() - share * (0.5 + self.moments[0])
    }

    /// R − ν without cancellation.
    fn delta(&self) -> f64 {
        self.argument * (self.argument / (self.radius + self.order))
    }

    /// c = ν ln1p(δ/2ν) + ½ ln1p(δ/ν) − B(ν) − ln U, with B Binet's remainder from ln Γ(ν+1); its limit at ν = 0.
    fn shortfall(&self) -> f64 {
        let nu = self.order;
        if nu == 0.0 {
            return 0.5 * (TAU * self.radius).ln() - self.ln_u;
        }
        let stretch = self.delta() / nu;
        nu * (stretch / 2.0).ln_1p() + 0.5 * stretch.ln_1p() - binet(nu) - self.ln_u
    }
}

#[cfg(test)]
mod tests {
    use super::{super::gamma::polynomial, Q};

    /// ∫ 0..p by Simpson's rule, exact enough for polynomials of degree 20.
    fn integral(f: impl Fn(f64) -> f64, p: f64) -> f64 {
        let n = 2000;
        let h = p / f64::from(n);
        (0..n)
            .map(|i| {
                let left = h * f64::from(i);
                (f(left) + 4.0 * f(left + h / 2.0) + f(left + h)) * h / 6.0
            })
            .sum()
    }

    fn u(k: usize, p: f64) -> f64 {
        if k == 0 {
            return 1.0;
        }
        let (denominator, numerators) = Q[k - 1];
        p.powi(i32::try_from(k).expect("k ≤ 6")) * polynomial(numerators, p * p) / denominator
    }

    #[test]
    fn the_table_obeys_the_recurrence_of_dlmf_10_41_9() {
        for k in 0..6 {
            for p in [0.2, 0.5, 0.8, 1.0] {
                let h = 1e-4;
                let slope = (u(k, p + h) - u(k, p - h)) / (2.0 * h);
                let integrand = |t: f64| (1.0 - 5.0 * t * t) * u(k, t);
                let expected = 0.5 * p * p * (1.0 - p * p) * slope + integral(integrand, p) / 8.0;
                let found = u(k + 1, p);
                assert!(
                    (found - expected).abs() < 1e-6,
                    "u_{} at {p}: {found} {expected}",
                    k + 1
                );
            }
        }
    }
}
