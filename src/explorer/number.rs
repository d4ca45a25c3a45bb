//! Numbers as text: three significant figures, a true minus sign, no rounding to a false certainty.

/// Times beyond which nobody counts, and a model's own count means little.
pub(super) const MOST_TIMES: f64 = 1000.0;

/// Three significant figures, such as `12.3`, `0.0813`, `−1,240` or `3.1 × 10⁻⁵`.
pub fn three_significant(value: f64) -> String {
    let text = match value.abs() {
        size if size.is_nan() => return "–".into(),
        0.0 => return "0".into(),
        f64::INFINITY => "∞".into(),
        size if size < 5e-4 => power_of_ten(size),
        size => plain(size),
    };
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{text}")
}

/// Three significant figures with the sign of a change, such as `+3.73` or `−0.120`.
pub fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", three_significant(value))
}

/// A round number, such as the end of a scale, without trailing zeros, which would feign precision.
pub fn round_number(value: f64) -> String {
    let text = three_significant(value);
    if text.contains('.') && !text.contains('×') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A share as a percentage; only an exact 0 or 1 is shown as `0 %` or `100 %`.
pub fn percent(share: f64) -> String {
    let hundredths = 100.0 * share;
    match hundredths {
        _ if hundredths.is_nan() => "–".into(),
        _ if share > 0.0 && hundredths < 1.0 => "< 1 %".into(),
        _ if share < 1.0 && hundredths > 99.0 => "> 99 %".into(),
        _ => format!("{hundredths:.0} %"),
    }
}

/// Two decimals, such as `−224.17`; what rounds to zero has no sign.
pub fn two_decimals(value: f64) -> String {
    if value.is_nan() {
        return "–".into();
    }
    let size = format!("{:.2}", value.abs());
    let sign = if value <= -0.005 { "−" } else { "" };
    format!("{sign}{size}")
}

/// Ratio of likelihoods in words that can be counted: one decimal below 3, whole times above.
pub(super) fn times(ratio: f64) -> String {
    match ratio {
        _ if ratio > MOST_TIMES => "> 1,000 ×".into(),
        _ if ratio < 2.95 => format!("{ratio:.1} ×"),
        _ => format!("{} ×", grouped(&format!("{ratio:.0}"))),
    }
}

/// κ and percentile of a caption, for a screen reader; a caption that cannot be read has no percentile.
pub(super) fn spoken_numbers(kappa: f64, percentile: Option<f64>) -> String {
    let Some(percentile) = percentile else {
        return "the model cannot read it.".into();
    };
    let (kappa, share) = (three_significant(kappa), percent(percentile / 100.0));
    format!("kappa {kappa}, vaguer than {share} of sample captions.")
}

/// A size in bytes with its unit, such as `6.2 MB`.
pub fn file_size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let tenths = bytes.saturating_mul(10) / unit;
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

/// `size` with three figures; rounding first decides how many stand before the point.
fn plain(size: f64) -> String {
    let rounded = format!("{size:.2e}");
    let exponent: i32 = rounded
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    let digits = format!("{size:.decimals$}");
    if decimals > 0 {
        digits
    } else {
        grouped(&digits)
    }
}

/// A decimal number of fifteen digits at most: as many as a float holds exactly, as it does the power of ten that they
/// are divided by. [`str::parse`] reads all numbers, by tables that would be a fortieth of what the page opens with.
#[must_use]
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = [whole, fraction].concat();
    let is_short = digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits: u64 = digits.parse().ok().filter(|_| is_short)?;
    let power = fraction.bytes().fold(1.0, |power, _| power * 10.0);
    Some(digits as f64 / power)
}

/// Digits of a whole number with a comma before each three.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let n = digits.len();
    let comma = |i: usize| i > 0 && (n - i).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(i, digit)| comma(i).then_some(',').into_iter().chain([digit]))
        .collect()
}

fn power_of_ten(size: f64) -> String {
    let text = format!("{size:.2e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        _ => c
            .to_digit(10)
            .and_then(|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize))
            .unwrap_or(c),
    };
    format!(
        "{digits} × 10{}",
        exponent.chars().map(raised).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn decimal_numbers_are_those_that_the_standard_library_reads(text in r"[0-9]{1,8}(\.[0-9]{0,7})?") {
            prop_assert_eq!(decimal(&text), text.parse().ok());
        }
    }

    #[test]
    fn what_is_no_short_decimal_number_is_none() {
        for text in [
            "",
            ".",
            "1e3",
            "-1",
            "+1",
            "nan",
            "1.2.3",
            "0,5",
            "1234567.123456789",
            "½",
        ] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn three_figures_are_shown_at_every_size() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (12.345, "12.3"),
            (0.081_31, "0.0813"),
            (9.996, "10.0"),
            (999.6, "1,000"),
            (-1.005, "−1.00"),
            (867.968, "868"),
            (12_345.6, "12,346"),
            (1_234_567.0, "1,234,567"),
            (3.1e-5, "3.10 × 10⁻⁵"),
            (f64::INFINITY, "∞"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::NAN, "–"),
        ];
        for (value, shown) in cases {
            assert_eq!(three_significant(value), shown, "for {value}");
        }
    }

    #[test]
    fn two_decimals_have_a_sign_where_they_are_not_zero() {
        let cases = [
            (-224.168, "−224.17"),
            (0.081_31, "0.08"),
            (-0.004, "0.00"),
            (f64::NAN, "–"),
        ];
        for (value, shown) in cases {
            assert_eq!(two_decimals(value), shown, "for {value}");
        }
    }

    #[test]
    fn times_are_counted_as_far_as_anybody_counts() {
        let cases = [
            (1.749, "1.7 ×"),
            (3.9, "4 ×"),
            (32.2, "32 ×"),
            (999.6, "1,000 ×"),
            (1.7e5, "> 1,000 ×"),
            (f64::INFINITY, "> 1,000 ×"),
        ];
        for (ratio, shown) in cases {
            assert_eq!(times(ratio), shown, "for {ratio}");
        }
    }

    #[test]
    fn a_change_has_its_sign() {
        for (value, shown) in [(3.727, "+3.73"), (-0.12, "−0.120"), (0.0, "0")] {
            assert_eq!(signed(value), shown, "for {value}");
        }
        assert_eq!(signed(f64::NAN), "–", "for no number");
    }

    #[test]
    fn a_share_is_never_rounded_to_certainty() {
        let cases = [
            (0.0, "0 %"),
            (0.001, "< 1 %"),
            (0.624, "62 %"),
            (0.999, "> 99 %"),
            (1.0, "100 %"),
        ];
        for (share, shown) in cases {
            assert_eq!(percent(share), shown, "for {share}");
        }
    }

    #[test]
    fn round_numbers_lose_their_zeros() {
        for (value, shown) in [
            (20.0, "20"),
            (0.5, "0.5"),
            (-10.0, "−10"),
            (200.0, "200"),
            (0.0, "0"),
        ] {
            assert_eq!(round_number(value), shown, "for {value}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (bytes, shown) in [
            (512, "0.5 kB"),
            (84_000, "84 kB"),
            (6_240_000, "6.2 MB"),
            (605_157_884, "605 MB"),
            (1_710_000_000, "1.7 GB"),
        ] {
            assert_eq!(file_size(bytes), shown, "for {bytes}");
        }
    }
}
