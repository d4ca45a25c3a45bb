//! The rule by which a comparison speaks for a finding, against it, or not at all.

use std::fmt::Write as _;

use super::results::Summary;

/// Seeds that a trained method needs before it decides anything.
pub(super) const MIN_SEEDS: usize = 3;
/// Standard errors by which two means must differ.
const STANDARD_ERRORS: f64 = 2.0;

/// A number of a method over its seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) over_seeds: Summary,
    /// Whether nothing is trained, so that every seed gives the same.
    pub(super) is_exact: bool,
}

/// What one comparison says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    For,
    Against,
    /// The difference is no greater than what seeds make.
    WithinSpread,
    /// A side has fewer than [`MIN_SEEDS`].
    TooFewSeeds,
}

/// One row of a finding.
#[derive(Debug)]
pub(super) struct FindingRow {
    pub(super) what: String,
    pub(super) found: String,
    /// The paper's own number; empty where it prints none.
    pub(super) paper: String,
    pub(super) support: Support,
}

/// What a paper says, and the comparisons that decide it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) claim: &'static str,
    /// How it is judged, where that needs a word.
    pub(super) rule: &'static str,
    pub(super) rows: Vec<FindingRow>,
}

impl Estimate {
    /// Of the mean; `None` with too few seeds.
    fn standard_error(&self) -> Option<f64> {
        let Summary { sd, n, .. } = self.over_seeds;
        match self.is_exact {
            true => Some(0.0),
            false => (n >= MIN_SEEDS).then(|| sd / ((n - 1) as f64).sqrt()),
        }
    }

    /// Mean and spread; no spread of one seed or of what does not depend on it.
    pub(super) fn shown(&self) -> String {
        match (self.is_exact, self.over_seeds.n) {
            (true, _) => format!("{:.3}", self.over_seeds.mean),
            (false, 1) => format!("{:.3} (one seed)", self.over_seeds.mean),
            (false, _) => format!("{:.3} ± {:.3}", self.over_seeds.mean, self.over_seeds.sd),
        }
    }

    /// With the other sign.
    pub(super) fn turned(self) -> Self {
        let mean = -self.over_seeds.mean;
        Self {
            over_seeds: Summary {
                mean,
                ..self.over_seeds
            },
            ..self
        }
    }

    /// Whether the mean is above a bound, if `gain` is 1, or below, if it is −1.
    pub(super) fn beyond(&self, gain: f64, bound: f64) -> Support {
        decide(gain * (self.over_seeds.mean - bound), self.standard_error())
    }

    /// Whether it is greater than another, if `gain` is 1, or less, if it is −1.
    pub(super) fn against(&self, other: &Self, gain: f64) -> Support {
        let errors = self.standard_error().zip(other.standard_error());
        let difference = self.over_seeds.mean - other.over_seeds.mean;
        decide(gain * difference, errors.map(|(a, b)| a.hypot(b)))
    }
}

fn decide(gain: f64, standard_error: Option<f64>) -> Support {
    let Some(error) = standard_error else {
        return Support::TooFewSeeds;
    };
    let margin = STANDARD_ERRORS * error;
    if gain > margin {
        Support::For
    } else if gain < -margin {
        Support::Against
    } else {
        Support::WithinSpread
    }
}

impl Support {
    const fn word(self) -> &'static str {
        match self {
            Self::For => "yes",
            Self::Against => "no",
            Self::WithinSpread => "no difference",
            Self::TooFewSeeds => "not decided",
        }
    }
}

impl Finding {
    fn verdict(&self) -> String {
        let count = |support| {
            self.rows
                .iter()
                .filter(|row| row.support == support)
                .count()
        };
        let n = self.rows.len();
        let (n_for, n_against) = (count(Support::For), count(Support::Against));
        let (n_within, n_few) = (count(Support::WithinSpread), count(Support::TooFewSeeds));
        if n_few == n {
            return format!("not decided: fewer than {MIN_SEEDS} seeds");
        }
        if n_for == n {
            return format!("holds in all {n} comparisons");
        }
        if n_for + n_against == 0 {
            return "not decided: no difference is greater than what seeds make".to_owned();
        }
        let word = if n_for == 0 {
            "does not hold"
        } else {
            "holds in part"
        };
        format!(
            "{word}: yes in {n_for} of {n} comparisons, the opposite in {n_against}, no difference in {n_within}, not \
             decided in {n_few}"
        )
    }

    /// The verdict with its comparisons; nothing where none could be made.
    pub(super) fn write(&self, text: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        writeln!(text, "**{}** — {}.\n", self.claim, self.verdict()).ok();
        if !self.rule.is_empty() {
            writeln!(text, "{}\n", self.rule).ok();
        }
        text.push_str("<details><summary>Comparisons</summary>\n\n");
        text.push_str("| comparison | found | the paper's own | |\n|---|---|---|---|\n");
        for row in &self.rows {
            let paper = if row.paper.is_empty() {
                "none printed"
            } else {
                &row.paper
            };
            let word = row.support.word();
            writeln!(text, "| {} | {} | {paper} | {word} |", row.what, row.found).ok();
        }
        text.push_str("\n</details>\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn estimate(mean: f64, sd: f64, n: usize) -> Estimate {
        let over_seeds = Summary { mean, sd, n };
        let is_exact = false;
        Estimate {
            over_seeds,
            is_exact,
        }
    }

    #[test]
    fn fewer_than_three_seeds_decide_nothing_and_one_has_no_spread() {
        let exact = Estimate {
            is_exact: true,
            ..estimate(0.4, 0.0, 1)
        };
        for n in [1, 2] {
            let found = estimate(0.9, 0.0, n).against(&exact, 1.0);
            assert_eq!(found, Support::TooFewSeeds, "{n} seeds");
        }
        assert_eq!(
            estimate(0.9, 0.0, 3).against(&exact, 1.0),
            Support::For,
            "three"
        );
        assert_eq!(
            estimate(0.9, 0.0, 1).shown(),
            "0.900 (one seed)",
            "no ± 0.000"
        );
        assert_eq!(exact.shown(), "0.400", "seeds do not change it");
    }

    #[test]
    fn a_difference_counts_beyond_two_standard_errors() {
        // Two standard errors of five seeds are the standard deviation with divisor N.
        let ours = estimate(0.5, 0.03, 5);
        for (theirs, expected) in [
            (0.44, Support::For),
            (0.46, Support::WithinSpread),
            (0.56, Support::Against),
        ] {
            let found = ours.against(&estimate(theirs, 0.04, 5), 1.0);
            assert_eq!(found, expected, "0.5 ± 0.03 against {theirs} ± 0.04");
        }
        assert_eq!(ours.beyond(-1.0, 0.6), Support::For, "below");
        assert_eq!(
            ours.beyond(1.0, 0.52),
            Support::WithinSpread,
            "too near to say"
        );
    }

    #[test]
    fn the_verdict_counts_what_speaks_for_against_and_not_at_all() {
        let row = |support| FindingRow {
            what: String::new(),
            found: String::new(),
            paper: String::new(),
            support,
        };
        let verdict = |supports: &[Support]| {
            let rows = supports.iter().map(|support| row(*support)).collect();
            Finding {
                claim: "",
                rule: "",
                rows,
            }
            .verdict()
        };
        use Support::{Against, For, TooFewSeeds, WithinSpread};
        for (supports, expected) in [
            (&[For, For][..], "holds in all 2 comparisons"),
            (
                &[TooFewSeeds, TooFewSeeds],
                "not decided: fewer than 3 seeds",
            ),
            (&[WithinSpread, TooFewSeeds], "not decided: no difference"),
            (
                &[Against, WithinSpread],
                "does not hold: yes in 0 of 2 comparisons, the opposite in 1",
            ),
            (&[For, TooFewSeeds], "holds in part: yes in 1 of 2"),
        ] {
            let found = verdict(supports);
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
    }
}
