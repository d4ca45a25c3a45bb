//! Uncertainty of captions against their length, their level and what they say.

use super::super::judge::{ASYMVLM, ENCODER_MEAN, Judge};
use super::super::paper;
use super::super::tables::other_sign;
use super::super::verdict::{Estimate, Finding, FindingRow, PaperClaim, Support, Undecided};
use crate::report::{Grouped, Metric};
use crate::train::methods::MethodName::{
    self, Bayesvlm, ElipBottleneck, Pcmepp, Pfe, Probvlm, Prolip,
};

/// `ProLIP`'s adapter, and the other methods whose captions are uncertain, `AsymVLM` as published apart.
const OTHERS: [MethodName; 6] = [Prolip, Pfe, Pcmepp, Bayesvlm, Probvlm, ElipBottleneck];
const OTHER_SIGN: &str = "AsymVLM's own are judged in the finding of its fuller captions. ProbVLM stands twice, as its \
                          released code calls one over the variance uncertainty.";

static FULLER: PaperClaim = PaperClaim {
    text: "AsymVLM's fuller captions are more certain, and their pictures more likely",
    rule: "Likelihood rises by level where the difference of medians, taken of each seed, is above zero at each step.",
    groups: &[("AsymVLM", &ASYMVLM)],
    otherwise: "captions' lengths and levels are not measured here",
};
static LENGTH: PaperClaim = PaperClaim {
    text: "ProLIP: a caption's uncertainty falls with its length, in its adapter and the others",
    rule: OTHER_SIGN,
    groups: &[
        ("other methods", &OTHERS),
        ("AsymVLM with the encoder's mean", &ENCODER_MEAN),
    ],
    otherwise: "captions' lengths are not measured here",
};
static ADJACENT: PaperClaim = PaperClaim {
    text: "ProLIP: uncertainty falls from level to level, in its adapter and the others",
    rule: OTHER_SIGN,
    groups: &[
        ("other methods", &OTHERS),
        ("AsymVLM with the encoder's mean", &ENCODER_MEAN),
    ],
    otherwise: "these captions have no levels",
};

/// A number of captions' uncertainty, and the bound on whose side it should lie.
struct CaptionRule {
    metric: Metric,
    what: &'static str,
    gain: f64,
    bound: f64,
    /// Quantiles that are there wherever uncertainty was measured against this.
    measured: Grouped,
}

const ORDERED: CaptionRule = CaptionRule {
    metric: Metric::AdjacentLevelsOrdered,
    what: "share of adjacent levels whose uncertainty falls",
    gain: 1.0,
    bound: 0.5,
    measured: Grouped::UncertaintyByLevel,
};
const BY_LENGTH: CaptionRule = CaptionRule {
    metric: Metric::UncertaintyVsTokens,
    what: "Spearman of uncertainty and length",
    gain: -1.0,
    bound: 0.0,
    measured: Grouped::UncertaintyByTokens,
};
const BY_BITS: CaptionRule = CaptionRule {
    metric: Metric::UncertaintyVsBitsDistinct,
    what: "Spearman of uncertainty and bits of distinct captions",
    gain: -1.0,
    bound: 0.0,
    measured: Grouped::UncertaintyByBits,
};
const BY_REPEATED_BITS: CaptionRule = CaptionRule {
    metric: Metric::UncertaintyVsBits,
    what: "Spearman of uncertainty and bits, repeats counted",
    ..BY_BITS
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let of_all = |rule: &CaptionRule| -> Vec<FindingRow> {
        let methods = OTHERS.into_iter().chain(ENCODER_MEAN);
        methods
            .flat_map(|method| rows(judge, method, rule))
            .collect()
    };
    vec![
        judge.finding(&FULLER, fuller(judge)),
        judge.finding(&LENGTH, of_all(&BY_LENGTH)),
        judge.finding(&ADJACENT, of_all(&ORDERED)),
    ]
}

fn fuller(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut found = Vec::new();
    for method in ASYMVLM {
        let mut rules = vec![ORDERED, BY_LENGTH, BY_BITS];
        // Earlier results counted repeated captions; where both counts are there, the later one decides.
        if judge.estimate(method, &BY_BITS.metric).is_none() {
            rules.push(BY_REPEATED_BITS);
        }
        found.extend(rules.iter().flat_map(|rule| rows(judge, method, rule)));
        found.extend(rises_by_level(judge, method));
    }
    found
}

/// The row of a method, and of `ProbVLM` that with the other sign, too.
fn rows(judge: &Judge<'_>, method: MethodName, rule: &CaptionRule) -> Vec<FindingRow> {
    let found = judge.estimate(method, &rule.metric);
    let turned = found.filter(|_| method == Probvlm).and_then(|found| {
        let over_seeds = other_sign(&rule.metric, found.over_seeds)?;
        Some(Estimate {
            over_seeds,
            ..found
        })
    });
    let own = row(judge, (method, ""), rule, found);
    let other = turned.and_then(|_| row(judge, (method, " with the other sign"), rule, turned));
    own.into_iter().chain(other).collect()
}

fn row(
    judge: &Judge<'_>,
    (method, suffix): (MethodName, &str),
    rule: &CaptionRule,
    found: Option<Estimate>,
) -> Option<FindingRow> {
    let sign = if rule.gain > 0.0 { '>' } else { '<' };
    let support = match found {
        Some(found) => found.beyond(rule.gain, rule.bound),
        None if is_measured(judge, method, rule.measured) => {
            Support::Undecided(Undecided::SaysTheSame(method))
        }
        None => return None,
    };
    Some(FindingRow {
        what: format!(
            "{}: {}{suffix} {sign} {}",
            rule.what,
            method.title(),
            rule.bound
        ),
        found: found.map_or_else(|| "none".to_owned(), |found| found.shown()),
        paper: paper::of_hierarchies(&rule.metric),
        support,
    })
}

/// Whether there are quantiles of captions in such groups.
fn is_measured(judge: &Judge<'_>, method: MethodName, grouped: Grouped) -> bool {
    let metrics = judge.results.metrics(method);
    let mut groups = metrics.iter().filter_map(|metric| match metric {
        Metric::Quantile(of, ..) => Some(*of),
        _ => None,
    });
    groups.any(|of| of == grouped)
}

/// Whether the median likelihood of the own picture rises from each level of the hierarchy to the next.
fn rises_by_level(judge: &Judge<'_>, method: MethodName) -> Option<FindingRow> {
    let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
    let medians = (0..).map_while(|level| judge.results.summary(method, &median(level)));
    let shown: Vec<String> = medians.map(|found| format!("{:.2}", found.mean)).collect();
    let steps = (1..shown.len()).filter_map(|level| {
        let both = judge
            .results
            .paired(method, [&median(level), &median(level - 1)]);
        let rises: Vec<f64> = both
            .iter()
            .map(|[fuller, vaguer]| fuller - vaguer)
            .collect();
        judge.estimate_of(method, &rises)
    });
    let steps: Vec<Support> = steps.map(|rise| rise.beyond(1.0, 0.0)).collect();
    (!steps.is_empty()).then(|| FindingRow {
        what: format!("median likelihood rises by level: {}", method.title()),
        found: shown.join(", "),
        paper: String::new(),
        support: Support::of_all(&steps),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{sentence, written};
    use super::*;
    use crate::train::methods::MethodName::AsymvlmPs;

    #[test]
    fn likelihood_rises_at_every_level_beyond_what_seeds_make() {
        let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
        for (last, expected) in [
            (&[0.75, 0.74, 0.76][..], "0.60, 0.75 | none printed | yes |"),
            (&[0.25; 3], "0.60, 0.25 | none printed | opposite |"),
            (
                &[0.3, 0.9, 0.7],
                "0.60, 0.63 | none printed | no difference |",
            ),
            (
                &[0.75],
                "0.60, 0.75 | none printed | not decided: fewer than 3 seeds |",
            ),
        ] {
            let rows = [
                (AsymvlmPs, median(0), &[0.5; 3][..]),
                (AsymvlmPs, median(1), &[0.6; 3]),
                (AsymvlmPs, median(2), last),
            ];
            let text = written("AsymVLM's fuller captions", &rows);
            let row = format!("| 0.50, {expected}");
            assert!(text.contains(&row), "{row} in {text}");
        }
    }

    #[test]
    fn uncertainty_falls_with_length_rises_or_says_nothing() {
        for (found, expected) in [
            (&[-0.4, -0.42, -0.41][..], "holds in all 1"),
            (&[0.4, 0.42, 0.41], "does not hold"),
            (&[-0.1, 0.1, 0.02], "not decided: no difference"),
            (&[-0.4, -0.4], "not decided: fewer than 3 seeds"),
        ] {
            let rows = [(Prolip, Metric::UncertaintyVsTokens, found)];
            let found = sentence("ProLIP: a caption's uncertainty falls", &rows);
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
        let flat = Metric::Quantile(Grouped::UncertaintyByTokens, 3, 50);
        let found = sentence(
            "ProLIP: a caption's uncertainty falls",
            &[(Pcmepp, flat, &[0.0; 3])],
        );
        let expected = "not decided: PCME++*: says the same of all or most";
        assert_eq!(found, expected, "no correlation with a constant");
    }

    #[test]
    fn levels_are_ordered_by_the_other_sign_where_a_method_has_two() {
        let rows = [
            (Probvlm, Metric::AdjacentLevelsOrdered, &[0.3; 3][..]),
            (Prolip, Metric::AdjacentLevelsOrdered, &[0.6; 3]),
        ];
        let text = written("ProLIP: uncertainty falls from level to level", &rows);
        for part in [
            "ProbVLM > 0.5 | 0.300 ± 0.000 | ProLIP, HierarCaps: 0.900 | opposite |",
            "ProbVLM with the other sign > 0.5 | 0.700 ± 0.000 | ProLIP, HierarCaps: 0.900 | yes |",
            "ProLIP adapter > 0.5 | 0.600 ± 0.000 | ProLIP, HierarCaps: 0.900 | yes |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
