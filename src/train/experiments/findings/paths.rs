//! `ProLIP`'s paths through hierarchies of captions: what the uncertainty of both sides adds to them.

use super::super::judge::Judge;
use super::super::verdict::{Finding, FindingRow, PaperClaim};
use crate::report::{Metric, PathRoot, PathScore};
use crate::train::methods::MethodName::{self, Pcmepp, Pfe, Prolip};

/// Methods in which pictures and captions are Gaussians with a variance for each dimension.
const GAUSSIAN: [MethodName; 3] = [Prolip, Pfe, Pcmepp];

static GAIN: PaperClaim = PaperClaim {
    text: "ProLIP: paths through hierarchies meet more of them by uncertainty (table 2), in its adapter and the others",
    rule: "By precision and recall of the captions met in fifty steps from the caption that a picture retrieves to a \
           root: the embedding of no words and the caption that includes the picture most, against no words alone. \
           Means are frozen, so that without uncertainty every method has the same path.",
    groups: &[("methods with a variance for each dimension", &GAUSSIAN)],
    otherwise: "these captions have no levels, or the caption without words is not embedded here",
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let scores = [
        (PathScore::Precision, "precision"),
        (PathScore::Recall, "recall"),
    ];
    let rows = scores.into_iter().flat_map(|score| {
        let methods = GAUSSIAN.into_iter();
        methods.filter_map(move |method| row(judge, method, score))
    });
    vec![judge.finding(&GAIN, rows.collect())]
}

fn row(
    judge: &Judge<'_>,
    method: MethodName,
    (score, name): (PathScore, &str),
) -> Option<FindingRow> {
    let [with, without] =
        [PathRoot::MostInclusive, PathRoot::NoWords].map(|root| Metric::Path(root, score));
    let gains = judge.results.paired(method, [&with, &without]).into_iter();
    let gains: Vec<f64> = gains.map(|[with, without]| with - without).collect();
    let [with, without] = [&with, &without].map(|metric| judge.estimate(method, metric));
    Some(FindingRow {
        what: format!(
            "{name} with uncertainty against without: {}",
            method.title()
        ),
        found: format!("{} against {}", with?.shown(), without?.shown()),
        paper: String::new(),
        support: judge.estimate_of(method, &gains)?.beyond(1.0, 0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{sentence, written};
    use super::*;

    #[test]
    fn what_uncertainty_adds_is_judged_seed_by_seed() {
        let recall = |root| Metric::Path(root, PathScore::Recall);
        for (with, expected) in [
            (&[0.5, 0.6, 0.7][..], "holds in all 1"),
            (&[0.3, 0.4, 0.5], "does not hold"),
            (&[0.4, 0.5, 0.6], "not decided: no difference"),
            (&[0.5, 0.6], "not decided: fewer than 3 seeds"),
        ] {
            // Seeds differ more than what is added.
            let without = [0.4, 0.5, 0.6];
            let rows = [
                (Prolip, recall(PathRoot::MostInclusive), with),
                (Prolip, recall(PathRoot::NoWords), &without[..with.len()]),
            ];
            let found = sentence("ProLIP: paths", &rows);
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
        let one = [(Prolip, recall(PathRoot::NoWords), &[0.4; 3][..])];
        let found = written("ProLIP: paths", &one);
        assert!(found.contains("not decided"), "one root alone: {found}");
    }
}
