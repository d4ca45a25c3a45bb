//! None of the above: dummy captions, and thresholds on CLIP's probabilities.

use super::super::classify::CURVE_STEPS;
use super::super::judge::{ASYMVLM, Judge, MethodComparison, pairs, versus};
use super::super::paper;
use super::super::verdict::{Estimate, Finding, FindingRow, PaperClaim};
use crate::report::{Metric, RejectionResult, RejectionRule};
use crate::train::methods::MethodName::{self, Clip, Deterministic};

/// Dummies of a task.
const N_DUMMIES: usize = 3;
const NO_TASK: &str = "pictures of no class are not measured here";

static DUMMIES: PaperClaim = PaperClaim {
    text: "A dummy caption sorts out pictures of no class only where captions have a concentration",
    rule: "By balanced accuracy, the mean of that on positives (pictures of a class, given to it) and on negatives \
           (pictures of none, refused): who refuses everything, or nothing, has at most a half.",
    groups: &[("AsymVLM", &ASYMVLM), ("CLIP", &[Clip, Deterministic])],
    otherwise: NO_TASK,
};
static THRESHOLDS: PaperClaim = PaperClaim {
    text: "AsymVLM with a dummy sorts them out better than a threshold or a margin on CLIP",
    rule: "By balanced accuracy. CLIP stands twice: at the point of its curve that is nearest to the paper's, and at \
           the best point of the curve, chosen on the very pictures that are measured on, which is to its advantage.",
    groups: &[("AsymVLM", &ASYMVLM), ("CLIP", &[Clip])],
    otherwise: NO_TASK,
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    vec![
        judge.finding(&DUMMIES, dummies(judge)),
        judge.finding(&THRESHOLDS, thresholds(judge)),
    ]
}

/// Balanced accuracy, and accuracy on positives and negatives in words.
struct Rates {
    balanced: Estimate,
    both: String,
}

fn rates(
    judge: &Judge<'_>,
    method: MethodName,
    of: impl Fn(RejectionResult) -> Metric,
) -> Option<Rates> {
    let sides = [RejectionResult::Positive, RejectionResult::Negative].map(of);
    let rates = judge.results.paired(method, sides.each_ref());
    let balanced: Vec<f64> = rates.iter().map(|[p, n]| f64::midpoint(*p, *n)).collect();
    let balanced = judge.estimate_of(method, &balanced)?;
    let [positive, negative] = sides
        .each_ref()
        .map(|side| judge.results.summary(method, side));
    let both = format!("{:.3} / {:.3}", positive?.mean, negative?.mean);
    Some(Rates { balanced, both })
}

fn with_dummy(judge: &Judge<'_>, method: MethodName, dummy: usize) -> Option<Rates> {
    rates(judge, method, |side| {
        Metric::Rejection(RejectionRule::Dummy(dummy), side)
    })
}

/// A row that shows positives and negatives beside balanced accuracy.
fn row(
    judge: &Judge<'_>,
    comparison: MethodComparison,
    [ours, theirs]: [&Rates; 2],
) -> Option<FindingRow> {
    let row = judge.row(comparison, |ours, theirs| ours.against(theirs, 1.0))?;
    let shown = |side: &Rates| format!("{} ({})", side.balanced.shown(), side.both);
    Some(FindingRow {
        found: format!("{} against {}", shown(ours), shown(theirs)),
        ..row
    })
}

fn dummies(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for dummy in 0..N_DUMMIES {
        let what = format!(
            "balanced accuracy (positives / negatives), dummy {}",
            dummy + 1
        );
        rows.extend(
            pairs(&ASYMVLM, &[Clip, Deterministic])
                .iter()
                .filter_map(|pair| {
                    let [ours, theirs] = pair.map(|method| with_dummy(judge, method, dummy));
                    let (ours, theirs) = (ours?, theirs?);
                    let comparison = MethodComparison {
                        what: versus(&what, *pair),
                        pair: *pair,
                        estimates: [Some(ours.balanced), Some(theirs.balanced)],
                        levels_of: None,
                        paper: paper::balanced(dummy, *pair),
                    };
                    row(judge, comparison, [&ours, &theirs])
                }),
        );
    }
    rows
}

fn thresholds(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for rule in [RejectionRule::Threshold, RejectionRule::Margin] {
        let papers = rates(judge, Clip, |side| Metric::Rejection(rule, side));
        let of_clip = [
            ("the paper's point", papers),
            ("its best point", best_point(judge, rule)),
        ];
        for (point, theirs) in of_clip {
            let Some(theirs) = theirs else {
                continue;
            };
            for dummy in 0..N_DUMMIES {
                rows.extend(ASYMVLM.iter().filter_map(|method| {
                    let ours = with_dummy(judge, *method, dummy)?;
                    let comparison = MethodComparison {
                        what: format!(
                            "balanced accuracy, {} with dummy {} against CLIP's {rule} at {point}",
                            method.title(),
                            dummy + 1
                        ),
                        pair: [*method, Clip],
                        estimates: [Some(ours.balanced), Some(theirs.balanced)],
                        levels_of: None,
                        paper: paper::balanced_by_threshold(dummy, *method, rule),
                    };
                    row(judge, comparison, [&ours, &theirs])
                }));
            }
        }
    }
    rows
}

/// CLIP at the point of a rule's curve where balanced accuracy is greatest.
fn best_point(judge: &Judge<'_>, rule: RejectionRule) -> Option<Rates> {
    let points = (0..=CURVE_STEPS)
        .filter_map(|step| rates(judge, Clip, |side| Metric::RejectionCurve(rule, step, side)));
    points.max_by(|a, b| {
        let of = |rates: &Rates| rates.balanced.over_seeds.mean;
        of(a).total_cmp(&of(b))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{SeedValues, sentence, written};
    use super::*;
    use crate::train::methods::MethodName::AsymvlmVmf;

    type OwnedRow = (MethodName, Metric, Vec<f64>);

    /// Rates of positives and negatives by a rule, the same for some seeds.
    fn rates_of(
        (method, n_seeds): (MethodName, usize),
        [positive, negative]: [f64; 2],
        of: impl Fn(RejectionResult) -> Metric,
    ) -> Vec<OwnedRow> {
        vec![
            (
                method,
                of(RejectionResult::Positive),
                vec![positive; n_seeds],
            ),
            (
                method,
                of(RejectionResult::Negative),
                vec![negative; n_seeds],
            ),
        ]
    }

    fn dummy(of: (MethodName, usize), rates: [f64; 2]) -> Vec<OwnedRow> {
        rates_of(of, rates, |side| {
            Metric::Rejection(RejectionRule::Dummy(0), side)
        })
    }

    fn borrowed(rows: &[OwnedRow]) -> Vec<SeedValues<'_>> {
        rows.iter()
            .map(|row| (row.0, row.1.clone(), &row.2[..]))
            .collect()
    }

    #[test]
    fn who_refuses_everything_does_not_win_none_of_the_above() {
        let ours = dummy((AsymvlmVmf, 3), [0.973, 0.993]);
        let rows = [ours, dummy((Clip, 1), [0.0, 1.0])].concat();
        let text = written("A dummy caption", &borrowed(&rows));
        for part in [
            "concentration** — holds in all 1",
            "0.983 ± 0.000 (0.973 / 0.993) against 0.500 (0.000 / 1.000)",
            "0.722 (0.857 / 0.587) against 0.449 (0.888 / 0.009)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_dummy_is_compared_with_a_threshold_at_the_papers_point_and_its_best() {
        let threshold = |side| Metric::Rejection(RejectionRule::Threshold, side);
        let of = |n_seeds, ours| {
            let curve = |step, rates| {
                let point =
                    move |side| Metric::RejectionCurve(RejectionRule::Threshold, step, side);
                rates_of((Clip, 1), rates, point)
            };
            let rows = [
                dummy((AsymvlmVmf, n_seeds), ours),
                rates_of((Clip, 1), [0.6, 0.6], threshold),
                curve(0, [1.0, 0.0]),
                curve(1, [0.9, 0.7]),
            ];
            let rows = rows.concat();
            let claim = "AsymVLM with a dummy sorts";
            (
                sentence(claim, &borrowed(&rows)),
                written(claim, &borrowed(&rows)),
            )
        };
        for (n_seeds, ours, expected) in [
            (3, [0.9, 0.9], "holds in all 2"),
            (
                3,
                [0.7, 0.7],
                "holds in part: yes in 1 of 2 comparisons, the opposite in 1",
            ),
            (
                3,
                [0.8, 0.8],
                "holds in part: yes in 1 of 2 comparisons, the opposite in 0, no difference in 1",
            ),
            (3, [0.5, 0.5], "does not hold"),
            (2, [0.9, 0.9], "not decided: fewer than 3 seeds"),
        ] {
            let found = of(n_seeds, ours).0;
            assert!(
                found.starts_with(expected),
                "{ours:?}: {found}, expected {expected}"
            );
        }
        let text = of(3, [0.9, 0.9]).1;
        for part in [
            "against CLIP's threshold at its best point | 0.900 ± 0.000 (0.900 / 0.900) against 0.800 (0.900 / 0.700)",
            "CIFAR: 0.722 (0.857 / 0.587) against 0.603 (0.646 / 0.560)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
