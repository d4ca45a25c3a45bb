//! Identities and inequalities that need no other program, over the whole domain of both distributions.

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use proptest::prelude::*;

use super::{
    Family, MAX_CONCENTRATION, PowerSpherical, VonMisesFisher, bessel, ln_sphere_area,
    uniform_cosine_density, uniform_log_density,
};

/// Relative error by which rounding may break an inequality between two accurate values.
const ROUNDING: f64 = 2e-13;

/// Greatest error of the training kernel, at d = 2 and κ = 3.3 (`SciPy`, grid over κ).
const WORST_KERNEL_GAP: f64 = 0.132_697;

/// Concentrations from 0 to 1e6, evenly over the powers of ten.
fn concentrations() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 20 => (-8.0..6.0_f64).prop_map(|exponent| 10.0_f64.powf(exponent))]
}

/// Dimensions from 2 to 2048, the small ones as often as the large ones.
fn dimensions() -> impl Strategy<Value = usize> {
    prop_oneof![2_usize..=12, 13_usize..=2048]
}

fn families() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::VonMisesFisher), Just(Family::PowerSpherical)]
}

/// Everything a distribution says about itself, oriented so that it grows with κ.
fn growing_with_concentration(family: Family, d: usize, kappa: f64) -> [(&'static str, f64); 6] {
    [
        (
            "mean resultant length",
            family.mean_resultant_length(d, kappa),
        ),
        ("divergence", family.kl_to_uniform(d, kappa)),
        ("minus entropy", -family.entropy(d, kappa)),
        ("minus variance", -family.cosine_variance(d, kappa)),
        ("minus mean angle", -family.mean_angle_radians(d, kappa)),
        ("minus modal angle", -family.modal_angle_radians(d, kappa)),
    ]
}

/// ∫ f(t) g(t) dt over [−1, 1] for d ≥ 3, by the trapezoidal rule in u with t = tanh u, where it converges
/// geometrically.
fn expectation(family: Family, d: usize, kappa: f64, g: impl Fn(f64) -> f64) -> f64 {
    let step = 0.005;
    (-4000..=4000)
        .map(|i| (f64::from(i) * step).tanh())
        .map(|t| family.cosine_density(d, kappa, t) * g(t) * (1.0 - t * t) * step)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_quantity_is_finite_and_in_its_range(
        family in families(),
        d in dimensions(),
        kappa in concentrations(),
        cosine in -1.0..1.0_f64,
    ) {
        let mean = family.mean_resultant_length(d, kappa);
        prop_assert!((0.0..1.0).contains(&mean), "mean {mean}");
        let variance = family.cosine_variance(d, kappa);
        prop_assert!(variance > 0.0 && variance * d as f64 <= 1.0 + ROUNDING, "variance {variance}");
        let divergence = family.kl_to_uniform(d, kappa);
        prop_assert!(divergence >= 0.0 && divergence.is_finite(), "divergence {divergence}");
        prop_assert!(family.entropy(d, kappa) <= ln_sphere_area(d), "entropy above that of the uniform distribution");
        for angle in [family.mean_angle_radians(d, kappa), family.modal_angle_radians(d, kappa)] {
            prop_assert!((0.0..=FRAC_PI_2).contains(&angle), "angle {angle}");
        }
        let ratios = [cosine, -1.0].map(|cosine| family.log_likelihood_ratio(d, kappa, cosine));
        for value in ratios.into_iter().chain([family.log_likelihood(d, kappa, cosine)]) {
            prop_assert!(value.is_finite(), "likelihood {value}");
        }
        let density = family.cosine_density(d, kappa, cosine);
        prop_assert!(density >= 0.0 && density.is_finite(), "density {density}");
    }

    #[test]
    fn more_concentrated_distributions_are_narrower(
        family in families(),
        d in dimensions(),
        kappa in concentrations(),
        growth in 1e-4..1.0_f64,
    ) {
        let more = kappa * (1.0 + growth) + 1e-9;
        let pairs = growing_with_concentration(family, d, kappa).into_iter().zip(growing_with_concentration(family, d, more));
        for ((name, low), (_, high)) in pairs {
            prop_assert!(high >= low - ROUNDING * low.abs(), "{name}: {low} then {high}");
        }
    }

    #[test]
    fn the_mean_and_the_divergence_grow_strictly(
        family in families(),
        d in dimensions(),
        kappa in concentrations(),
        growth in 1e-3..1.0_f64,
    ) {
        let more = kappa * (1.0 + growth) + 1e-6;
        prop_assert!(family.mean_resultant_length(d, more) > family.mean_resultant_length(d, kappa), "mean");
        prop_assert!(family.kl_to_uniform(d, more) > family.kl_to_uniform(d, kappa), "divergence");
    }

    #[test]
    fn likelihoods_grow_with_the_cosine(
        family in families(),
        d in dimensions(),
        kappa in 1e-3..1e6_f64,
        low in -0.99..0.98_f64,
    ) {
        let (near, far) = (family.log_likelihood_ratio(d, kappa, low + 0.01), family.log_likelihood_ratio(d, kappa, low));
        prop_assert!(near > far, "{far} then {near}");
    }

    #[test]
    fn the_mean_lies_between_its_published_bounds(d in dimensions(), kappa in concentrations()) {
        let (a, b) = ((d as f64 - 1.0) / 2.0, (d as f64 + 1.0) / 2.0);
        let mean = VonMisesFisher::new(d, kappa).mean_resultant_length();
        let (lower, upper) = (kappa / (a + b.hypot(kappa)), kappa / (a + a.hypot(kappa)));
        prop_assert!(mean >= lower * (1.0 - ROUNDING) && mean <= upper * (1.0 + ROUNDING), "{lower} {mean} {upper}");
    }

    #[test]
    fn the_distribution_with_a_given_mean_has_that_mean(d in dimensions(), mean in 1e-6..0.9999_f64) {
        let vmf = VonMisesFisher::with_mean_resultant_length(d, mean).mean_resultant_length();
        prop_assert!((vmf - mean).abs() <= 1e-14 * mean, "von Mises–Fisher: {vmf}, not {mean}");
        let power = PowerSpherical::with_mean_resultant_length(d, mean).mean_resultant_length();
        prop_assert!((power - mean).abs() <= 1e-14 * mean, "power spherical: {power}, not {mean}");
    }

    #[test]
    fn the_training_kernel_stays_below_the_truth_by_the_documented_gap(
        d in dimensions(),
        kappa in concentrations(),
    ) {
        let distribution = VonMisesFisher::new(d, kappa);
        let exact = distribution.log_normalizer_ratio();
        let gap = exact - distribution.approximate_log_normalizer_ratio();
        let rounding = 1e-15 * (1.0 + exact.abs());
        prop_assert!(gap >= -rounding, "the approximation is above by {gap}");
        let limit = if d < 7 { WORST_KERNEL_GAP } else { (LN_2 - 0.5) / 2.0 };
        prop_assert!(gap <= limit + rounding, "the approximation is below by {gap}");
    }

    #[test]
    fn the_variance_satisfies_its_differential_equation(d in dimensions(), kappa in 1e-3..1e5_f64) {
        let distribution = VonMisesFisher::new(d, kappa);
        let mean = distribution.mean_resultant_length();
        let expected = 1.0 - mean * mean - (d as f64 - 1.0) * mean / kappa;
        let variance = distribution.cosine_variance();
        prop_assert!((variance - expected).abs() < 1e-15 + 1e-15 * d as f64, "{variance} {expected}");
    }

    #[test]
    fn the_mean_is_the_derivative_of_the_normaliser(d in dimensions(), kappa in 0.01..1e5_f64) {
        let h = 1e-3 * kappa;
        let slope = (bessel::ln_0f1(d, kappa + h) - bessel::ln_0f1(d, kappa - h)) / (2.0 * h);
        let mean = VonMisesFisher::new(d, kappa).mean_resultant_length();
        prop_assert!((slope - mean).abs() <= 1e-6 * mean, "difference {slope}, derivative {mean}");
    }

    #[test]
    fn the_power_spherical_derivative_is_that_of_its_normaliser(
        d in dimensions(),
        kappa in 0.01..1e5_f64,
    ) {
        let h = 1e-3 * kappa;
        let at = |kappa| PowerSpherical::new(d, kappa).log_normalizer_ratio();
        let slope = (at(kappa + h) - at(kappa - h)) / (2.0 * h);
        let derivative = PowerSpherical::new(d, kappa).log_normalizer_derivative();
        prop_assert!((slope - derivative).abs() <= 1e-6 * derivative.abs() + 1e-9, "difference {slope}, derivative {derivative}");
    }

    #[test]
    fn on_the_ordinary_sphere_the_closed_forms_hold(kappa in 0.01..300.0_f64) {
        let distribution = VonMisesFisher::new(3, kappa);
        let normalizer = (kappa / kappa.sinh()).ln();
        prop_assert!((distribution.log_normalizer_ratio() - normalizer).abs() < 1e-13 * (1.0 + kappa), "normaliser");
        prop_assert!((distribution.mean_resultant_length() - (1.0 / kappa.tanh() - 1.0 / kappa)).abs() < 1e-13, "mean");
    }

    #[test]
    fn far_from_uniform_the_cosine_falls_short_by_half_a_dimension_over_the_concentration(
        d in 2_usize..200,
    ) {
        let distribution = VonMisesFisher::new(d, 1e6);
        let shortfall = 1e6 * (1.0 - distribution.mean_resultant_length());
        let expected = (d as f64 - 1.0) / 2.0;
        prop_assert!((shortfall - expected).abs() < 1e-3 * expected, "{shortfall} {expected}");
    }

    #[test]
    fn values_outside_the_domain_are_moved_into_it(
        family in families(),
        d in 0_usize..2,
        cosine in -3.0..3.0_f64,
    ) {
        for kappa in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            prop_assert_eq!(family.log_likelihood_ratio(d, kappa, cosine), 0.0, "κ = {}", kappa);
            prop_assert_eq!(family.mean_resultant_length(d, kappa), 0.0, "κ = {}", kappa);
        }
        for value in growing_with_concentration(family, d, f64::INFINITY) {
            prop_assert!(value.1.is_finite(), "{} = {} at infinite κ", value.0, value.1);
        }
        for mean in [-0.1, 1.0, 7.0, f64::NAN] {
            let expected = if mean >= 1.0 { MAX_CONCENTRATION } else { 0.0 };
            let vmf = VonMisesFisher::with_mean_resultant_length(d, mean).concentration();
            let power = PowerSpherical::with_mean_resultant_length(d, mean).concentration();
            prop_assert_eq!((vmf, power), (expected, expected), "mean {}", mean);
        }
        prop_assert_eq!(VonMisesFisher::new(d, f64::INFINITY).concentration(), MAX_CONCENTRATION, "the upper bound");
    }
}

#[test]
fn without_concentration_both_distributions_are_the_uniform_one() {
    for family in Family::ALL {
        for d in [2, 3, 4, 128, 512, 2048] {
            for cosine in [-1.0, -0.3, 0.0, 0.9, 1.0] {
                let density = family.cosine_density(d, 0.0, cosine);
                let uniform = uniform_cosine_density(d, cosine);
                let is_same = density == uniform || (density / uniform - 1.0).abs() < 1e-12;
                let what = format!("{family:?}, d = {d}, t = {cosine}");
                assert!(is_same, "{what}: {density} {uniform}");
                let likelihood = family.log_likelihood(d, 0.0, cosine);
                assert_eq!(likelihood, uniform_log_density(d), "{what}");
            }
            let error = (family.cosine_variance(d, 0.0) * d as f64 - 1.0).abs();
            assert!(error < 1e-15, "{family:?}, d = {d}: variance, {error}");
            assert_eq!(family.kl_to_uniform(d, 0.0), 0.0, "{family:?}, d = {d}");
        }
    }
}

#[test]
fn the_density_of_the_cosine_integrates_to_one_mean_variance_and_divergence() {
    for family in Family::ALL {
        for (d, kappa) in [
            (3, 0.0),
            (3, 8.0),
            (4, 0.5),
            (5, 300.0),
            (64, 20.0),
            (512, 6.0),
            (512, 900.0),
            (2048, 4000.0),
        ] {
            let mean = family.mean_resultant_length(d, kappa);
            let check = |name, of: &dyn Fn(f64) -> f64, expected: f64| {
                let integral = expectation(family, d, kappa, of);
                let what = format!("{name}, {family:?}, d = {d}, κ = {kappa}");
                let error = (integral - expected).abs();
                assert!(error < 1e-9, "{what}: {integral} {expected}");
            };
            check("one", &|_| 1.0, 1.0);
            check("mean", &|t| t, mean);
            let variance = family.cosine_variance(d, kappa);
            check("variance", &|t| (t - mean).powi(2), variance);
            let ratio = |t| family.log_likelihood_ratio(d, kappa, t);
            check("divergence", &ratio, family.kl_to_uniform(d, kappa));
        }
    }
}

#[test]
fn on_the_circle_the_density_integrates_to_one() {
    let n = 4000;
    for family in Family::ALL {
        for kappa in [0.0, 0.7, 30.0, 1000.0] {
            let angles = (0..n).map(|i| PI * (f64::from(i) + 0.5) / f64::from(n));
            let density = |t: f64| family.cosine_density(2, kappa, t.cos()) * t.sin();
            let total = angles.map(density).sum::<f64>() * PI / f64::from(n);
            let error = (total - 1.0).abs();
            assert!(error < 1e-7, "{family:?}, κ = {kappa}: {total}");
        }
    }
}

#[test]
fn the_modal_angle_is_where_the_density_of_the_angle_is_greatest() {
    for family in Family::ALL {
        for (d, kappa) in [(3, 4.0), (64, 1.0), (512, 6.0), (512, 900.0)] {
            let density = |angle: f64| family.cosine_density(d, kappa, angle.cos()) * angle.sin();
            let mode = family.modal_angle_radians(d, kappa);
            let sides = density(mode - 1e-3).max(density(mode + 1e-3));
            let is_greatest = density(mode) > sides;
            assert!(is_greatest, "{family:?}, d = {d}, κ = {kappa}: {mode}");
        }
    }
}

#[test]
fn outside_the_interval_the_cosine_has_no_density() {
    for family in Family::ALL {
        for cosine in [-1.000_001, 1.000_001] {
            let density = family.cosine_density(16, 3.0, cosine);
            assert_eq!(density, 0.0, "{family:?} at {cosine}");
        }
    }
}
