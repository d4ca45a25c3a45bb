//! The number of a pair: as a cell of the matrix shows it, in full, and as it is read aloud.

use super::measure::Measure;
use super::number::{MOST_TIMES, three_significant, times, two_decimals};
use super::readings::pair_view::PairView;

/// Likelihood of a picture under a caption, compared with that under a blind guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LikelihoodGain {
    /// The model cannot read the caption, which says nothing for or against a picture.
    Unknown,
    /// Below that of a blind guess.
    Less,
    /// Within the free offset of a blind guess.
    Alike,
    /// Above that of a blind guess.
    More,
}

impl LikelihoodGain {
    /// Comparison of a pair.
    pub fn of(pair: &PairView) -> Self {
        match pair.times_likelier {
            _ if pair.posterior.is_nan() => Self::Unknown,
            _ if pair.is_near_zero() => Self::Alike,
            times if times > 1.0 => Self::More,
            _ => Self::Less,
        }
    }

    /// Words after the number of times; empty where there is none.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Less => "less likely",
            Self::Alike => "as likely",
            Self::More => "likelier",
        }
    }

    /// What the likelihood is compared with, after [`text`](Self::text).
    pub fn than_text(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Alike => "as a blind guess",
            Self::Less | Self::More => "than a blind guess",
        }
    }

    /// A number of times with the words of the comparison.
    fn counted(self, times: &str) -> String {
        match self {
            Self::Unknown => times.to_owned(),
            _ => format!("{times} {} {}", self.text(), self.than_text()),
        }
    }

    /// Number of times by which the pair is likelier, or less likely.
    fn times(self, pair: &PairView) -> f64 {
        match self {
            Self::Less => pair.times_likelier.recip(),
            _ => pair.times_likelier,
        }
    }
}

/// Number of times by which a picture is likelier under a caption than by a blind guess, or less likely, so that anyone
/// can count it.
pub fn times_text(pair: &PairView) -> String {
    let likelier = LikelihoodGain::of(pair);
    match likelier {
        LikelihoodGain::Unknown => "–".to_owned(),
        LikelihoodGain::Alike => "≈ 1 ×".to_owned(),
        LikelihoodGain::Less if likelier.times(pair) > MOST_TIMES => "much".to_owned(),
        LikelihoodGain::Less | LikelihoodGain::More => times(likelier.times(pair)),
    }
}

/// Nats with two decimals, or that they are as good as zero, whose place training leaves free by an offset.
pub fn nats_text(nats: f64, offset: f64) -> String {
    match nats.abs() <= offset {
        true => "≈ 0".to_owned(),
        false => two_decimals(nats),
    }
}

/// Name of the matrix: what its cells measure.
pub fn matrix_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Likelihood => {
            "How much likelier than a blind guess each caption makes each picture"
        }
        Measure::Cosine => "This model’s cosine of each caption with each picture",
    }
}

/// The number that a measure shows of a pair, in full and with its unit; of a likelihood the factor and the nats.
pub fn exact_text(pair: &PairView, measure: Measure) -> String {
    if measure == Measure::Cosine {
        return cosine_text(&pair.cosine.to_string());
    }
    let (likelier, nats) = (LikelihoodGain::of(pair), pair.nats);
    let times = likelier.times(pair);
    // Beyond the largest number there is no factor to show.
    match likelier {
        LikelihoodGain::Unknown => format!("{nats} nats"),
        _ if times.is_infinite() => format!("{nats} nats"),
        _ => format!("{}, {nats} nats", likelier.counted(&format!("{times} ×"))),
    }
}

/// The number that a measure shows of a pair as it is read aloud, with its unit.
pub fn described_text(pair: &PairView, measure: Measure) -> String {
    if measure == Measure::Cosine {
        return cosine_text(&three_significant(pair.cosine));
    }
    let nats = nats_text(pair.nats, pair.free_offset);
    match LikelihoodGain::of(pair) {
        LikelihoodGain::Unknown => format!("{nats} nats"),
        _ => format!("{}, {nats} nats", likelihood_text(pair)),
    }
}

/// Likelihood of a pair against a blind guess, as a sentence has it.
pub(super) fn likelihood_text(pair: &PairView) -> String {
    LikelihoodGain::of(pair).counted(&times_text(pair))
}

/// A cosine, as many of its digits as are given, with its unit.
pub fn cosine_text(digits: &str) -> String {
    format!("{digits} cosine")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::readings::best::BestMarks;

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
            best: BestMarks::default(),
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
