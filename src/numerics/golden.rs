//! Golden values: the method's table, and `tests/fixtures/numerics.json` written by `generate_numerics.py` with mpmath.

use serde_json::Value;

use super::{
    Family, MIN_LIKELIHOOD_COSINE, PowerSpherical, VonMisesFisher, digamma, digamma_difference,
    ln_gamma, ln_gamma_ratio, trigamma, uniform_cosine_density, uniform_log_density,
};

/// Relative accuracy that the documentation of the distributions promises.
const ACCURACY: f64 = 2e-13;

/// The table below prints ten significant digits.
const PRINTED_ACCURACY: f64 = 6e-10;

/// d, κ, F, G, exact log normaliser ratio, A, dF/dκ, power spherical G and its derivative, all from 40-digit mpmath.
#[rustfmt::skip]
const TABLE: [[f64; 9]; 18] = [
    [512.0, 0.5, 1337.64194162, -0.0002443793935, -0.000244140509, 0.0009765615723, -0.0009775171075, 0.0002446181221, -4.787036705e-7],
    [512.0, 1.0, 1337.64120848, -0.0009775161743, -0.0009765606446, 0.001953117578, -0.001955028616, 0.0, -0.0009775161725],
    [512.0, 2.0, 1337.63827596, -0.003910042302, -0.003906220314, 0.003906190629, -0.003910012442, -0.001951220131, -0.00292302665],
    [512.0, 5.0, 1337.61774921, -0.02443678472, -0.02441290302, 0.009764697477, -0.00977424743, -0.01939886718, -0.008691967693],
    [512.0, 8.0, 1337.57963248, -0.06255351269, -0.06249240275, 0.01562120199, -0.01563646832, -0.05400375334, -0.01436163247],
    [512.0, 20.0, 1337.25147678, -0.3907092131, -0.390328734, 0.03900330639, -0.03904118142, -0.3582330101, -0.03609872308],
    [512.0, 60.0, 1334.14687637, -3.49530963, -3.492005129, 0.1156266951, -0.1157325201, -3.108187998, -0.09920694198],
    [512.0, 200.0, 1301.05037077, -36.59181523, -36.56537222, 0.3444274289, -0.3446119504, -28.38858984, -0.2474757707],
    [512.0, 1000.0, 797.29801703, -540.344169, -540.2589158, 0.7765309329, -0.7765493684, -360.4239327, -0.5078420395],
    [768.0, 0.5, 2163.64336263, -0.0001628664841, -0.0001627603823, 0.0006510413914, -0.0006514657982, 0.0001629725398, -2.124802845e-7],
    [768.0, 1.0, 2163.64287403, -0.0006514655219, -0.0006510411162, 0.001302081131, -0.001302929939, 0.0, -0.0006514655216],
    [768.0, 2.0, 2163.64091964, -0.002605855456, -0.002604157859, 0.002604149052, -0.002605846615, -0.001301236358, -0.001950162422],
    [768.0, 5.0, 2163.62723919, -0.0162863065, -0.01627569765, 0.006510141459, -0.00651438446, -0.01296182995, -0.005816055151],
    [768.0, 8.0, 2163.60183393, -0.04169156558, -0.0416644123, 0.01041553957, -0.01042232568, -0.03615290382, -0.009637283769],
    [768.0, 20.0, 2163.3830274, -0.260498091, -0.260328672, 0.02602407563, -0.0260409832, -0.2416012473, -0.0244912092],
    [768.0, 60.0, 2161.30535189, -2.3381736, -2.336673129, 0.07765509091, -0.07770421092, -2.143413535, -0.06951718466],
    [768.0, 200.0, 2138.39794035, -25.24558514, -25.23144455, 0.2448413815, -0.2449594352, -20.73851208, -0.1876531462],
    [768.0, 1000.0, 1721.66437378, -441.9791517, -441.9037374, 0.6873995803, -0.6874298878, -300.1978804, -0.4484020539],
];

fn fixture() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/numerics.json");
    let text = std::fs::read_to_string(path).expect("the fixture is committed");
    serde_json::from_str(&text).expect("the fixture is JSON")
}

fn number(row: &Value, key: &str) -> f64 {
    row[key]
        .as_f64()
        .unwrap_or_else(|| panic!("no number `{key}` in {row}"))
}

fn rows<'a>(fixture: &'a Value, key: &str) -> &'a [Value] {
    fixture[key]
        .as_array()
        .unwrap_or_else(|| panic!("no list `{key}`"))
}

fn embed_dim(row: &Value) -> usize {
    usize::try_from(row["embed_dim"].as_u64().expect("a dimension")).expect("a small dimension")
}

/// Error relative to the expected value, with `scale` taking its place where that is smaller.
fn assert_close(name: &str, found: f64, expected: f64, tolerance: f64, scale: f64) {
    let error = (found - expected).abs() / expected.abs().max(scale);
    assert!(
        found == expected || error <= tolerance,
        "{name}: found {found:e}, expected {expected:e}, error {error:e} above {tolerance:e}"
    );
}

#[test]
fn the_method_table_is_reproduced_to_its_printed_digits() {
    for [d, kappa, f, g, exact, mean, slope, ps, ps_slope] in TABLE {
        let embed_dim = if d == 512.0 { 512 } else { 768 };
        let vmf = VonMisesFisher::new(embed_dim, kappa);
        let power = PowerSpherical::new(embed_dim, kappa);
        let checks = [
            ("F", vmf.approximate_log_normalizer(), f),
            ("G", vmf.approximate_log_normalizer_ratio(), g),
            ("exact", vmf.log_normalizer_ratio(), exact),
            ("A", vmf.mean_resultant_length(), mean),
            ("dF/dκ", -vmf.approximate_mean_resultant_length(), slope),
            ("G_ps", power.log_normalizer_ratio(), ps),
            ("dG_ps/dκ", power.log_normalizer_derivative(), ps_slope),
        ];
        for (name, found, expected) in checks {
            let name = format!("{name} at d = {d}, κ = {kappa}");
            assert_close(&name, found, expected, PRINTED_ACCURACY, 1e-6);
        }
    }
}

#[test]
fn the_constants_of_the_method_are_reproduced() {
    assert_close(
        "ln C(0), 512",
        uniform_log_density(512),
        867.968_103_160_394_3,
        1e-15,
        1.0,
    );
    assert_close(
        "ln C(0), 768",
        uniform_log_density(768),
        1_458.721_151_117_708,
        1e-15,
        1.0,
    );
    let at_zero = |d| VonMisesFisher::new(d, 0.0).approximate_log_normalizer();
    assert_close("F(0), 512", at_zero(512), 1_337.642_185_997_32, 1e-14, 1.0);
    assert_close("F(0), 768", at_zero(768), 2_163.643_525_493_238, 1e-14, 1.0);
    let constant = |d| uniform_log_density(d) - at_zero(d);
    assert_close("c(512)", constant(512), -469.674_082_836_926_1, 1e-14, 1.0);
    assert_close("c(768)", constant(768), -704.922_374_375_529_4, 1e-14, 1.0);
    let d3 = VonMisesFisher::new(3, 2.0).log_normalizer();
    assert_close("d = 3, κ = 2", d3, -3.126_244_439, 1e-10, 1.0);
}

#[test]
fn the_von_mises_fisher_distribution_agrees_with_mpmath() {
    for row in rows(&fixture(), "distributions") {
        let (d, kappa) = (embed_dim(row), number(row, "concentration"));
        let distribution = VonMisesFisher::new(d, kappa);
        let checks = [
            (
                "vmf_log_normalizer_ratio",
                distribution.log_normalizer_ratio(),
            ),
            (
                "vmf_mean_resultant_length",
                distribution.mean_resultant_length(),
            ),
            ("vmf_cosine_variance", distribution.cosine_variance()),
            ("vmf_kl_to_uniform", distribution.kl_to_uniform()),
            ("vmf_peak_log_ratio", distribution.log_likelihood_ratio(1.0)),
        ];
        for (name, found) in checks {
            let place = format!("{name} at d = {d}, κ = {kappa}");
            assert_close(&place, found, number(row, name), ACCURACY, 0.0);
        }
    }
}

#[test]
fn the_power_spherical_distribution_agrees_with_mpmath() {
    for row in rows(&fixture(), "distributions") {
        let (d, kappa) = (embed_dim(row), number(row, "concentration"));
        let distribution = PowerSpherical::new(d, kappa);
        let checks = [
            (
                "ps_log_normalizer_ratio",
                distribution.log_normalizer_ratio(),
                kappa * 5e-3,
            ),
            (
                "ps_log_normalizer_derivative",
                distribution.log_normalizer_derivative(),
                5e-3,
            ),
            ("ps_kl_to_uniform", distribution.kl_to_uniform(), 0.0),
            (
                "ps_peak_log_ratio",
                distribution.log_likelihood_ratio(1.0),
                0.0,
            ),
        ];
        for (name, found, scale) in checks {
            let place = format!("{name} at d = {d}, κ = {kappa}");
            assert_close(&place, found, number(row, name), ACCURACY, scale);
        }
    }
}

#[test]
fn the_densities_of_the_cosine_agree_with_mpmath() {
    for row in rows(&fixture(), "densities") {
        let (d, kappa) = (embed_dim(row), number(row, "concentration"));
        let cosine = number(row, "cosine");
        let checks = [
            ("uniform", uniform_cosine_density(d, cosine)),
            (
                "vmf",
                Family::VonMisesFisher.cosine_density(d, kappa, cosine),
            ),
            (
                "ps",
                Family::PowerSpherical.cosine_density(d, kappa, cosine),
            ),
        ];
        for (name, found) in checks {
            let place = format!("{name} at d = {d}, κ = {kappa}, t = {cosine}");
            assert_close(
                &place,
                found,
                number(row, name),
                ACCURACY,
                f64::MIN_POSITIVE,
            );
        }
    }
}

#[test]
fn the_gamma_functions_agree_with_mpmath() {
    for row in rows(&fixture(), "gamma") {
        let x = number(row, "x");
        let checks = [
            ("ln_gamma", ln_gamma(x), 10.0),
            ("digamma", digamma(x), 10.0),
            ("trigamma", trigamma(x), 0.0),
            ("ln_gamma_ratio_half", ln_gamma_ratio(x, 0.5), 1.0),
            ("digamma_difference_half", digamma_difference(x, 0.5), 0.0),
        ];
        for (name, found, scale) in checks {
            assert_close(
                &format!("{name}({x})"),
                found,
                number(row, name),
                1e-15,
                scale,
            );
        }
    }
}

#[test]
fn the_concentrations_that_match_real_cosines_are_reproduced() {
    for (mean, expected) in [(0.30, 168.7), (0.25, 136.5), (0.20, 106.7)] {
        let found = VonMisesFisher::with_mean_resultant_length(512, mean).concentration();
        assert!(
            (found - expected).abs() < 0.05,
            "mean cosine {mean}: {found}, not {expected}"
        );
    }
}

#[test]
fn a_power_spherical_likelihood_opposite_to_the_mean_direction_is_finite() {
    let distribution = PowerSpherical::new(512, 8.0);
    let expected = 8.0 * 1e-6_f64.ln() + distribution.log_normalizer_ratio();
    for cosine in [-1.0, -1.5, MIN_LIKELIHOOD_COSINE] {
        assert_close(
            "clamped",
            distribution.log_likelihood_ratio(cosine),
            expected,
            1e-10,
            1.0,
        );
    }
    assert_eq!(
        distribution.cosine_density(-1.0),
        0.0,
        "the density itself is not clamped"
    );
}

/// For d = 512: κ, then for von Mises–Fisher mean cosine, its standard deviation and angle in degrees, for power
/// spherical mean cosine and angle; as printed in the method's table of readable quantities.
#[rustfmt::skip]
const READABLE: [[f64; 6]; 8] = [
    [1.0, 0.00195, 0.0442, 89.89, 0.00195, 89.89],
    [5.0, 0.00976, 0.0442, 89.44, 0.00969, 89.45],
    [20.0, 0.0390, 0.0441, 87.77, 0.0377, 87.84],
    [50.0, 0.0967, 0.0436, 84.45, 0.0891, 84.89],
    [100.0, 0.1884, 0.0419, 79.14, 0.1637, 80.58],
    [200.0, 0.3444, 0.0369, 69.85, 0.2813, 73.66],
    [500.0, 0.6117, 0.0236, 52.28, 0.4946, 60.36],
    [1000.0, 0.7765, 0.0139, 39.06, 0.6618, 48.56],
];

#[test]
fn the_readable_quantities_of_the_method_are_reproduced() {
    for [kappa, mean, sd, angle, power_mean, power_angle] in READABLE {
        let (vmf, power) = (Family::VonMisesFisher, Family::PowerSpherical);
        let checks = [
            (
                "vmf mean",
                vmf.mean_resultant_length(512, kappa),
                mean,
                6e-5,
            ),
            ("vmf sd", vmf.cosine_variance(512, kappa).sqrt(), sd, 6e-5),
            (
                "vmf angle",
                vmf.mean_angle_radians(512, kappa).to_degrees(),
                angle,
                6e-3,
            ),
            (
                "ps mean",
                power.mean_resultant_length(512, kappa),
                power_mean,
                6e-5,
            ),
            (
                "ps angle",
                power.mean_angle_radians(512, kappa).to_degrees(),
                power_angle,
                6e-3,
            ),
        ];
        for (name, found, expected, tolerance) in checks {
            assert!(
                (found - expected).abs() < tolerance,
                "{name} at κ = {kappa}: {found} {expected}"
            );
        }
    }
}
