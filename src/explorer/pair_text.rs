//! The number of a pair in full and as it is read aloud, where a cell of the matrix has room for its first digits.

use super::measure::Measure;
use super::number::three_significant;
use super::readings::pair_view::PairView;
use super::text::{likelier_text, nats_text};

/// Name of the matrix: what its cells measure.
pub fn matrix_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Likelihood => {
            "How much likelier than a blind guess each caption makes each picture"
        }
        Measure::Cosine => "This model’s cosine of each caption with each picture",
    }
}

/// What a likelihood is compared with, after the words of [`likelier_text`]; empty after none.
pub fn compared_text(likely: &str) -> &'static str {
    match likely {
        "" => "",
        "as likely" => "as a blind guess",
        _ => "than a blind guess",
    }
}

/// The number that a measure shows of a pair, in full and with its unit; of a likelihood the factor and the nats.
pub fn exact_text(pair: &PairView, measure: Measure) -> String {
    if measure == Measure::Cosine {
        return cosine_text(&pair.cosine.to_string());
    }
    let (_, likely) = likelier_text(pair);
    let times = match likely {
        "less likely" => pair.times_likelier.recip(),
        _ => pair.times_likelier,
    };
    // Beyond the largest number there is no factor to show.
    let likely = if times.is_finite() { likely } else { "" };
    likelihood_text(&format!("{times} ×"), likely, &pair.nats.to_string())
}

/// The number that a measure shows of a pair as it is read aloud, with its unit.
pub fn described_text(pair: &PairView, measure: Measure) -> String {
    if measure == Measure::Cosine {
        return cosine_text(&three_significant(pair.cosine));
    }
    let (times, likely) = likelier_text(pair);
    likelihood_text(&times, likely, &nats_text(pair.nats, pair.free_offset))
}

/// A cosine, as many of its digits as are given, with its unit.
pub fn cosine_text(digits: &str) -> String {
    format!("{digits} cosine")
}

/// A likelihood against a blind guess; in nats alone where the words for the factor are empty.
fn likelihood_text(times: &str, likely: &str, nats: &str) -> String {
    match likely {
        "" => format!("{nats} nats"),
        _ => format!("{times} {likely} {}, {nats} nats", compared_text(likely)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::best::Standing;

    fn pair(nats: f64, times_likelier: f64) -> PairView {
        PairView {
            nats,
            times_likelier,
            log_density: 0.0,
            cosine: 0.421_337_5,
            mean_direction_cosine: 0.0,
            log_normalizer_ratio: 0.0,
            posterior: 0.5,
            free_offset: 1.0,
            standing: Standing::default(),
            likelihood_rank: 1,
            cosine_rank: 1,
        }
    }

    #[test]
    fn the_full_number_is_the_one_that_is_shown_with_its_unit() {
        for (pair, measure, expected) in [
            (pair(4.25, 4.125), Measure::Cosine, "0.4213375 cosine"),
            (
                pair(4.25, 4.125),
                Measure::Likelihood,
                "4.125 × likelier than a blind guess, 4.25 nats",
            ),
            (
                pair(-2.5, 0.125),
                Measure::Likelihood,
                "8 × less likely than a blind guess, -2.5 nats",
            ),
            (
                pair(0.5, 1.25),
                Measure::Likelihood,
                "1.25 × as likely as a blind guess, 0.5 nats",
            ),
            (pair(900.0, f64::INFINITY), Measure::Likelihood, "900 nats"),
            (pair(-900.0, 0.0), Measure::Likelihood, "-900 nats"),
        ] {
            assert_eq!(exact_text(&pair, measure), expected, "{pair:?}");
        }
    }

    #[test]
    fn what_is_read_aloud_is_the_number_that_is_shown_with_its_unit() {
        for (pair, measure, expected) in [
            (pair(4.25, 4.125), Measure::Cosine, "0.421 cosine"),
            (
                pair(4.25, 4.125),
                Measure::Likelihood,
                "4 × likelier than a blind guess, 4.25 nats",
            ),
            (
                pair(-20.0, 1e-9),
                Measure::Likelihood,
                "much less likely than a blind guess, −20.00 nats",
            ),
            (
                pair(0.5, 1.25),
                Measure::Likelihood,
                "≈ 1 × as likely as a blind guess, ≈ 0 nats",
            ),
        ] {
            assert_eq!(described_text(&pair, measure), expected, "{pair:?}");
        }
    }

    #[test]
    fn of_a_caption_that_was_not_read_only_the_nats_are_said() {
        let mut unread = pair(4.25, 4.125);
        unread.posterior = f64::NAN;
        let full = exact_text(&unread, Measure::Likelihood);
        assert_eq!(full, "4.25 nats", "it has no factor");
        let aloud = described_text(&unread, Measure::Likelihood);
        assert_eq!(aloud, "4.25 nats", "nor when it is read aloud");
    }
}
