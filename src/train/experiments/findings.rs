//! Which of the paper's findings hold: rules over `results.json`, so that nobody has to look kindly at a table.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::results::{Results, Summary};
use crate::report::{
    Better, Grouped, LevelStatistic, Metric, RejectionResult, RejectionRule, Retrieval,
};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmVmf, Bayesvlm, Clip, Deterministic, Gaussian, GaussianDiagonal,
    ImagePs, ImageVmf, Pcmepp, Pfe, Probvlm, Prolip, SymvlmPs, SymvlmPsRaw, SymvlmVmf,
    SymvlmVmfRaw,
};

/// The paper's method.
const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// What the paper compares it with.
const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];
/// S above this is no downward trend: of ten levels in random order, one in twenty has less.
const NO_TREND: f64 = -0.564;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;

/// What a finding claims of one method against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Better,
    Worse,
}

/// What one comparison says of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    For,
    Against,
    /// The difference is within the spread over seeds.
    Neither,
}

/// One row of a finding.
#[derive(Debug, Clone, PartialEq)]
struct Comparison {
    what: String,
    found: String,
    verdict: Verdict,
}

/// Something that the paper says, and what these results say of it.
#[derive(Debug, Clone, PartialEq)]
struct Finding {
    claim: &'static str,
    comparisons: Vec<Comparison>,
}

/// The findings as Markdown, for which there are numbers of one data set.
#[must_use]
pub(super) fn markdown(results: &Results) -> String {
    let findings = [
        uncertainty_orders_recall(results),
        recall_falls_linearly(results),
        recall_rises(results),
        pictures_uncertainty_says_nothing(results),
        symmetry_costs_recall(results),
        gaussians_fall_in_a_line(results),
        fine_tuning_hurts_zero_shot(results),
        dummies_need_concentration(results),
        hierarchies_are_ordered(results),
    ];
    let mut text = String::new();
    for finding in findings.iter().filter(|f| !f.comparisons.is_empty()) {
        finding.write(&mut text);
    }
    for method in results.methods() {
        if let Some(found) = results.summary(method, &Metric::DivergedAtStep) {
            let (title, step) = (method.title(), found.mean);
            let seeds = format!("(mean of {} seeds)", found.n);
            writeln!(text, "{title} diverged: its loss was not finite after step {step:.0} {seeds}; it has no other numbers.\n").ok();
        }
    }
    text
}

impl Finding {
    fn count(&self, verdict: Verdict) -> usize {
        let of = |comparison: &&Comparison| comparison.verdict == verdict;
        self.comparisons.iter().filter(of).count()
    }

    fn verdict(&self) -> String {
        let (n_for, n_against) = (self.count(Verdict::For), self.count(Verdict::Against));
        match (n_for, n_against) {
            _ if n_for == self.comparisons.len() => "holds".to_owned(),
            (0, 0) => "undecided: all differences are within the spread over seeds".to_owned(),
            (0, _) => "does not hold".to_owned(),
            _ => format!(
                "holds in {n_for} of {} comparisons, the opposite in {n_against}",
                self.comparisons.len()
            ),
        }
    }

    fn write(&self, text: &mut String) {
        writeln!(text, "**{}** — {}.\n", self.claim, self.verdict()).ok();
        text.push_str("<details><summary>Comparisons</summary>\n\n");
        text.push_str("| comparison | found | |\n|---|---|---|\n");
        for Comparison {
            what,
            found,
            verdict,
        } in &self.comparisons
        {
            let sign = match verdict {
                Verdict::For => "yes",
                Verdict::Against => "no",
                Verdict::Neither => "as good",
            };
            writeln!(text, "| {what} | {found} | {sign} |").ok();
        }
        text.push_str("\n</details>\n\n");
    }
}

/// Whether one method's number is better, or worse, than another's by more than the spread over seeds of either.
fn compare(
    results: &Results,
    metric: &Metric,
    what: &str,
    [ours, theirs]: [MethodName; 2],
    claim: Claim,
) -> Option<Comparison> {
    let (a, b) = (
        results.summary(ours, metric)?,
        results.summary(theirs, metric)?,
    );
    let is_higher_claimed = (metric.better() == Better::Higher) == (claim == Claim::Better);
    let gain = if is_higher_claimed {
        a.mean - b.mean
    } else {
        b.mean - a.mean
    };
    Some(Comparison {
        what: format!("{what}: {} against {}", ours.title(), theirs.title()),
        found: format!("{} against {}", shown(a), shown(b)),
        verdict: judge(gain, a.sd.max(b.sd)),
    })
}

fn judge(gain: f64, spread: f64) -> Verdict {
    if gain > spread {
        Verdict::For
    } else if gain < -spread {
        Verdict::Against
    } else {
        Verdict::Neither
    }
}

/// Whether a method's number lies on the side of a bound that a finding says.
fn bounded(
    results: &Results,
    metric: &Metric,
    what: &str,
    method: MethodName,
    (side, bound): (Ordering, f64),
) -> Option<Comparison> {
    let found = results.summary(method, metric)?;
    let sign = if side == Ordering::Greater { '>' } else { '<' };
    Some(Comparison {
        what: format!("{what}: {} {sign} {bound}", method.title()),
        found: shown(found),
        verdict: said(found.mean.partial_cmp(&bound) == Some(side)),
    })
}

/// The verdict of a comparison that is either true or false.
const fn said(is_true: bool) -> Verdict {
    if is_true {
        Verdict::For
    } else {
        Verdict::Against
    }
}

fn shown(found: Summary) -> String {
    format!("{:.3} ± {:.3}", found.mean, found.sd)
}

/// Comparisons of pairs of methods by one metric of each direction of retrieval.
fn by_direction(
    results: &Results,
    (name, metric): (&str, fn(Retrieval) -> Metric),
    pairs: &[[MethodName; 2]],
    claim: Claim,
) -> Vec<Comparison> {
    let of = |&direction: &Retrieval| {
        let what = format!("{name}, {}", direction.title());
        let compare =
            |pair: &[MethodName; 2]| compare(results, &metric(direction), &what, *pair, claim);
        pairs.iter().filter_map(compare).collect::<Vec<_>>()
    };
    Retrieval::ALL.iter().flat_map(of).collect()
}

/// Every pair of ours and theirs.
fn pairs(ours: &[MethodName], theirs: &[MethodName]) -> Vec<[MethodName; 2]> {
    let with_all = |&a: &MethodName| theirs.iter().map(move |&b| [a, b]);
    ours.iter().flat_map(with_all).collect()
}

const RECALL_AT_1: (&str, fn(Retrieval) -> Metric) = ("Recall@1", |of| Metric::Recall(of, 1));
const SPEARMAN: (&str, fn(Retrieval) -> Metric) =
    ("S", |of| Metric::Levels(of, LevelStatistic::Spearman));
const R_SQUARED: (&str, fn(Retrieval) -> Metric) =
    ("R²", |of| Metric::Levels(of, LevelStatistic::RSquared));

fn uncertainty_orders_recall(results: &Results) -> Finding {
    let pairs = pairs(&ASYMVLM, &BASELINES);
    Finding {
        claim: "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
        comparisons: by_direction(results, SPEARMAN, &pairs, Claim::Better),
    }
}

fn recall_falls_linearly(results: &Results) -> Finding {
    let pairs = pairs(&ASYMVLM, &BASELINES);
    Finding {
        claim: "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
        comparisons: by_direction(results, R_SQUARED, &pairs, Claim::Better),
    }
}

fn recall_rises(results: &Results) -> Finding {
    let pairs = pairs(&ASYMVLM, &[&[Clip][..], &BASELINES].concat());
    Finding {
        claim: "AsymVLM finds more than CLIP and the baselines (Recall@1)",
        comparisons: by_direction(results, RECALL_AT_1, &pairs, Claim::Better),
    }
}

fn pictures_uncertainty_says_nothing(results: &Results) -> Finding {
    let comparisons = Retrieval::ALL.iter().flat_map(|&direction| {
        [ImageVmf, ImagePs].into_iter().filter_map(move |method| {
            let what = format!("S, {}", direction.title());
            let rule = (Ordering::Greater, NO_TREND);
            bounded(results, &SPEARMAN.1(direction), &what, method, rule)
        })
    });
    Finding {
        claim: "An uncertainty of pictures says nothing: recall does not fall with it",
        comparisons: comparisons.collect(),
    }
}

fn symmetry_costs_recall(results: &Results) -> Finding {
    let pairs = [
        [SymvlmVmf, AsymvlmVmf],
        [SymvlmPs, AsymvlmPs],
        [SymvlmVmfRaw, AsymvlmVmf],
        [SymvlmPsRaw, AsymvlmPs],
    ];
    Finding {
        claim: "A distribution for pictures too finds less (Recall@1)",
        comparisons: by_direction(results, RECALL_AT_1, &pairs, Claim::Worse),
    }
}

fn gaussians_fall_in_a_line(results: &Results) -> Finding {
    let of = |&direction: &Retrieval| {
        let title = direction.title();
        [Gaussian, GaussianDiagonal]
            .into_iter()
            .flat_map(move |method| {
                let (r_squared, recall) = (R_SQUARED.1(direction), RECALL_AT_1.1(direction));
                let straight = (Ordering::Greater, STRAIGHT);
                let pair = [method, AsymvlmVmf];
                [
                    bounded(
                        results,
                        &r_squared,
                        &format!("R², {title}"),
                        method,
                        straight,
                    ),
                    compare(
                        results,
                        &recall,
                        &format!("Recall@1, {title}"),
                        pair,
                        Claim::Worse,
                    ),
                ]
            })
    };
    Finding {
        claim: "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
        comparisons: Retrieval::ALL.iter().flat_map(of).flatten().collect(),
    }
}

fn fine_tuning_hurts_zero_shot(results: &Results) -> Finding {
    let metrics = results.metrics(Deterministic).into_iter();
    let comparisons = metrics.flat_map(|metric| {
        let Metric::Accuracy(task) = metric else {
            return Vec::new();
        };
        let others = [Clip, AsymvlmVmf, AsymvlmPs].into_iter();
        others
            .filter_map(|other| {
                compare(results, metric, task, [Deterministic, other], Claim::Worse)
            })
            .collect()
    });
    Finding {
        claim: "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
        comparisons: comparisons.collect(),
    }
}

fn dummies_need_concentration(results: &Results) -> Finding {
    let metrics = results.metrics(AsymvlmVmf).into_iter();
    let negative = metrics.filter(|metric| {
        matches!(
            metric,
            Metric::Rejection(RejectionRule::Dummy(_), RejectionResult::Negative)
        )
    });
    let comparisons = negative.flat_map(|metric| {
        let what = metric.to_string().replace('_', " ");
        let pairs = pairs(&ASYMVLM, &[Clip, Deterministic]).into_iter();
        pairs
            .filter_map(|pair| compare(results, metric, &what, pair, Claim::Better))
            .collect::<Vec<_>>()
    });
    Finding {
        claim: "A dummy caption refuses pictures of no class only where captions have a concentration",
        comparisons: comparisons.collect(),
    }
}

fn hierarchies_are_ordered(results: &Results) -> Finding {
    let rules = [
        (
            Metric::AdjacentLevelsOrdered,
            "share of adjacent levels whose uncertainty falls",
            (Ordering::Greater, 0.5),
        ),
        (
            Metric::UncertaintyVsTokens,
            "Spearman of uncertainty and length",
            (Ordering::Less, 0.0),
        ),
        (
            Metric::UncertaintyVsBits,
            "Spearman of uncertainty and bits of information",
            (Ordering::Less, 0.0),
        ),
    ];
    let comparisons = ASYMVLM.into_iter().flat_map(|method| {
        let bounded = rules
            .iter()
            .filter_map(move |(metric, what, rule)| bounded(results, metric, what, method, *rule));
        bounded.chain(rises_by_level(results, method))
    });
    Finding {
        claim: "Fuller captions are more certain, and their pictures more likely",
        comparisons: comparisons.collect(),
    }
}

/// Whether the median likelihood of the own picture rises from each level of the hierarchy to the next.
fn rises_by_level(results: &Results, method: MethodName) -> Option<Comparison> {
    let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
    let medians = (0..).map_while(|level| results.summary(method, &median(level)));
    let medians: Vec<f64> = medians.map(|found| found.mean).collect();
    let shown: Vec<String> = medians
        .iter()
        .map(|median| format!("{median:.2}"))
        .collect();
    (medians.len() > 1).then(|| Comparison {
        what: format!("median likelihood rises by level: {}", method.title()),
        found: shown.join(", "),
        verdict: said(medians.windows(2).all(|pair| pair[1] > pair[0])),
    })
}

#[cfg(test)]
mod tests {
    use super::super::measure::Numbers;
    use super::*;

    const RECALL: Metric = Metric::Recall(Retrieval::TextToImage, 1);

    fn results(rows: &[(MethodName, Metric, &[f64])]) -> Results {
        let mut results = Results::default();
        for (method, metric, values) in rows {
            for (seed, value) in (0..).zip(*values) {
                let numbers = Numbers::from([(metric.clone(), *value)]);
                results.add(*method, "scenes", seed, numbers);
            }
        }
        results
    }

    #[test]
    fn a_difference_counts_when_it_is_greater_than_the_spread_over_seeds() {
        for (ours, expected) in [
            (&[0.5, 0.52][..], "— holds."),
            (&[0.3, 0.31], "— does not hold."),
            (&[0.4, 0.44], "— undecided"),
        ] {
            let text = markdown(&results(&[
                (AsymvlmVmf, RECALL, ours),
                (Clip, RECALL, &[0.41]),
            ]));
            assert!(text.contains(expected), "{ours:?}: {text}");
        }
    }

    #[test]
    fn a_finding_may_hold_in_part_and_is_silent_without_numbers() {
        let text = markdown(&results(&[
            (AsymvlmVmf, RECALL, &[0.5]),
            (Clip, RECALL, &[0.4]),
            (Pfe, RECALL, &[0.6]),
        ]));
        let expected = "holds in 1 of 2 comparisons, the opposite in 1";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("dummy"), "nothing was refused: {text}");
    }

    #[test]
    fn a_training_that_diverged_is_said() {
        let text = markdown(&results(&[(
            Gaussian,
            Metric::DivergedAtStep,
            &[10.0, 20.0],
        )]));
        assert!(text.contains("after step 15 (mean of 2 seeds)"), "{text}");
    }

    #[test]
    fn likelihood_must_rise_at_every_level() {
        let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
        let of = |last: f64| {
            let rows = [
                (AsymvlmPs, median(0), &[0.5][..]),
                (AsymvlmPs, median(1), &[last]),
            ];
            markdown(&results(&rows))
        };
        assert!(of(0.75).contains("| 0.50, 0.75 | yes |"), "{}", of(0.75));
        assert!(of(0.25).contains("| 0.50, 0.25 | no |"), "{}", of(0.25));
    }
}
