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

const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// What the paper compares it with.
const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];
/// S above this is no downward trend: of ten levels in random order, one in twenty has less.
const NO_TREND: f64 = -0.564;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;

/// What a finding claims of one method against another.
#[derive(Clone, Copy, PartialEq)]
enum Claimed {
    Better,
    Worse,
}

/// What one comparison says of a finding; neither where the difference is within the spread over seeds.
#[derive(Clone, Copy, PartialEq)]
enum Support {
    For,
    Against,
    Neither,
}

/// One row of a finding.
struct FindingRow {
    what: String,
    found: String,
    support: Support,
}

/// The findings as Markdown, for which there are numbers of one data set.
#[must_use]
pub(super) fn markdown(results: &Results) -> String {
    let mut text = String::new();
    for (claim, comparisons) in findings(results) {
        if !comparisons.is_empty() {
            write_finding(&mut text, claim, &comparisons);
        }
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

/// What the paper says, and what these results say of it.
fn findings(results: &Results) -> [(&'static str, Vec<FindingRow>); 9] {
    let with_baselines = pairs(&ASYMVLM, &BASELINES);
    let with_all = pairs(&ASYMVLM, &[&[Clip][..], &BASELINES].concat());
    let by_direction =
        |measure, pairs: &[_], claimed| by_direction(results, measure, pairs, claimed);
    [
        (
            "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
            by_direction(SPEARMAN, &with_baselines, Claimed::Better),
        ),
        (
            "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
            by_direction(R_SQUARED, &with_baselines, Claimed::Better),
        ),
        (
            "AsymVLM finds more than CLIP and the baselines (Recall@1)",
            by_direction(RECALL_AT_1, &with_all, Claimed::Better),
        ),
        (
            "An uncertainty of pictures says nothing: recall does not fall with it",
            pictures_uncertainty(results),
        ),
        (
            "A distribution for pictures too finds less (Recall@1)",
            by_direction(RECALL_AT_1, &SYMMETRIC_AND_NOT, Claimed::Worse),
        ),
        (
            "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
            gaussians(results),
        ),
        (
            "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
            zero_shot_of_fine_tuning(results),
        ),
        (
            "A dummy caption refuses pictures of no class only where captions have a concentration",
            dummies(results),
        ),
        (
            "Fuller captions are more certain, and their pictures more likely",
            hierarchies(results),
        ),
    ]
}

fn verdict(comparisons: &[FindingRow]) -> String {
    let count = |support| comparisons.iter().filter(|c| c.support == support).count();
    let (n, n_for, n_against) = (
        comparisons.len(),
        count(Support::For),
        count(Support::Against),
    );
    match (n_for, n_against) {
        _ if n_for == n => "holds".to_owned(),
        (0, 0) => "undecided: all differences are within the spread over seeds".to_owned(),
        (0, _) => "does not hold".to_owned(),
        _ => format!("holds in {n_for} of {n} comparisons, the opposite in {n_against}"),
    }
}

fn write_finding(text: &mut String, claim: &str, comparisons: &[FindingRow]) {
    writeln!(text, "**{claim}** — {}.\n", verdict(comparisons)).ok();
    text.push_str("<details><summary>Comparisons</summary>\n\n");
    text.push_str("| comparison | found | |\n|---|---|---|\n");
    for FindingRow {
        what,
        found,
        support,
    } in comparisons
    {
        let sign = match support {
            Support::For => "yes",
            Support::Against => "no",
            Support::Neither => "as good",
        };
        writeln!(text, "| {what} | {found} | {sign} |").ok();
    }
    text.push_str("\n</details>\n\n");
}

/// Whether one method's number is better, or worse, than another's by more than the spread over seeds of either.
fn compare(
    results: &Results,
    metric: &Metric,
    what: &str,
    [ours, theirs]: [MethodName; 2],
    claimed: Claimed,
) -> Option<FindingRow> {
    let (a, b) = (
        results.summary(ours, metric)?,
        results.summary(theirs, metric)?,
    );
    let is_higher_claimed = (metric.better() == Better::Higher) == (claimed == Claimed::Better);
    let sign = if is_higher_claimed { 1.0 } else { -1.0 };
    let (gain, spread) = (sign * (a.mean - b.mean), a.sd.max(b.sd));
    Some(FindingRow {
        what: format!("{what}: {} against {}", ours.title(), theirs.title()),
        found: format!("{} against {}", shown(a), shown(b)),
        support: match gain {
            _ if gain > spread => Support::For,
            _ if gain < -spread => Support::Against,
            _ => Support::Neither,
        },
    })
}

/// Whether a method's number lies on the side of a bound that a finding says.
fn bounded(
    results: &Results,
    metric: &Metric,
    what: &str,
    method: MethodName,
    (side, bound): (Ordering, f64),
) -> Option<FindingRow> {
    let found = results.summary(method, metric)?;
    let sign = if side == Ordering::Greater { '>' } else { '<' };
    Some(FindingRow {
        what: format!("{what}: {} {sign} {bound}", method.title()),
        found: shown(found),
        support: support(found.mean.partial_cmp(&bound) == Some(side)),
    })
}

/// Of a comparison that is either true or false.
const fn support(is_true: bool) -> Support {
    if is_true {
        Support::For
    } else {
        Support::Against
    }
}

fn shown(found: Summary) -> String {
    format!("{:.3} ± {:.3}", found.mean, found.sd)
}

/// Comparisons of pairs of methods by one measure of each direction of retrieval.
fn by_direction(
    results: &Results,
    (name, metric): DirectedMetric,
    pairs: &[[MethodName; 2]],
    claimed: Claimed,
) -> Vec<FindingRow> {
    let of = |&direction: &Retrieval| {
        let what = format!("{name}, {}", direction.title());
        let compare = move |pair: &_| compare(results, &metric(direction), &what, *pair, claimed);
        pairs.iter().filter_map(compare)
    };
    Retrieval::ALL.iter().flat_map(of).collect()
}

/// Every pair of ours and theirs.
fn pairs(ours: &[MethodName], theirs: &[MethodName]) -> Vec<[MethodName; 2]> {
    let with_all = |&a: &MethodName| theirs.iter().map(move |&b| [a, b]);
    ours.iter().flat_map(with_all).collect()
}

/// A number of each direction of retrieval, and its name.
type DirectedMetric = (&'static str, fn(Retrieval) -> Metric);

const RECALL_AT_1: DirectedMetric = ("Recall@1", |of| Metric::Recall(of, 1));
const SPEARMAN: DirectedMetric = ("S", |of| Metric::Levels(of, LevelStatistic::Spearman));
const R_SQUARED: DirectedMetric = ("R²", |of| Metric::Levels(of, LevelStatistic::RSquared));
/// A distribution on both sides, and the same one for captions alone.
const SYMMETRIC_AND_NOT: [[MethodName; 2]; 4] = [
    [SymvlmVmf, AsymvlmVmf],
    [SymvlmPs, AsymvlmPs],
    [SymvlmVmfRaw, AsymvlmVmf],
    [SymvlmPsRaw, AsymvlmPs],
];

fn pictures_uncertainty(results: &Results) -> Vec<FindingRow> {
    let of = |&direction: &Retrieval| {
        let what = format!("S, {}", direction.title());
        let rule = (Ordering::Greater, NO_TREND);
        let of = |method| bounded(results, &SPEARMAN.1(direction), &what, method, rule);
        [ImageVmf, ImagePs].map(of)
    };
    Retrieval::ALL.iter().flat_map(of).flatten().collect()
}

fn gaussians(results: &Results) -> Vec<FindingRow> {
    let of = |(&direction, method): (&Retrieval, MethodName)| {
        let what = |(name, _): DirectedMetric| format!("{name}, {}", direction.title());
        let (r_squared, recall) = (R_SQUARED.1(direction), RECALL_AT_1.1(direction));
        let (straight, pair) = ((Ordering::Greater, STRAIGHT), [method, AsymvlmVmf]);
        [
            bounded(results, &r_squared, &what(R_SQUARED), method, straight),
            compare(results, &recall, &what(RECALL_AT_1), pair, Claimed::Worse),
        ]
    };
    let both = |direction| [Gaussian, GaussianDiagonal].map(|method| (direction, method));
    Retrieval::ALL
        .iter()
        .flat_map(both)
        .flat_map(of)
        .flatten()
        .collect()
}

fn zero_shot_of_fine_tuning(results: &Results) -> Vec<FindingRow> {
    let comparisons = results
        .metrics(Deterministic)
        .into_iter()
        .flat_map(|metric| {
            let Metric::Accuracy(task) = metric else {
                return Vec::new();
            };
            let pairs = [Clip, AsymvlmVmf, AsymvlmPs].map(|other| [Deterministic, other]);
            let compare = |pair| compare(results, metric, task, pair, Claimed::Worse);
            pairs.into_iter().filter_map(compare).collect()
        });
    comparisons.collect()
}

fn dummies(results: &Results) -> Vec<FindingRow> {
    let refused = |metric: &&Metric| {
        matches!(
            metric,
            Metric::Rejection(RejectionRule::Dummy(_), RejectionResult::Negative)
        )
    };
    let negative = results.metrics(AsymvlmVmf).into_iter().filter(refused);
    let comparisons = negative.flat_map(|metric| {
        let what = metric.to_string().replace('_', " ");
        let compare = move |pair| compare(results, metric, &what, pair, Claimed::Better);
        pairs(&ASYMVLM, &[Clip, Deterministic])
            .into_iter()
            .filter_map(compare)
    });
    comparisons.collect()
}

fn hierarchies(results: &Results) -> Vec<FindingRow> {
    let ordered = "share of adjacent levels whose uncertainty falls";
    let rules = [
        (
            Metric::AdjacentLevelsOrdered,
            ordered,
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
    let of = |method| {
        let rules = rules
            .iter()
            .map(|(metric, what, rule)| bounded(results, metric, what, method, *rule));
        let found: Vec<_> = rules
            .chain([rises_by_level(results, method)])
            .flatten()
            .collect();
        found
    };
    ASYMVLM.into_iter().flat_map(of).collect()
}

/// Whether the median likelihood of the own picture rises from each level of the hierarchy to the next.
fn rises_by_level(results: &Results, method: MethodName) -> Option<FindingRow> {
    let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
    let medians = (0..).map_while(|level| results.summary(method, &median(level)));
    let medians: Vec<f64> = medians.map(|found| found.mean).collect();
    let shown: Vec<String> = medians.iter().map(|m| format!("{m:.2}")).collect();
    (medians.len() > 1).then(|| FindingRow {
        what: format!("median likelihood rises by level: {}", method.title()),
        found: shown.join(", "),
        support: support(medians.windows(2).all(|pair| pair[1] > pair[0])),
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
            let rows = [(AsymvlmVmf, RECALL, ours), (Clip, RECALL, &[0.41])];
            let text = markdown(&results(&rows));
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
        let diverged = (Gaussian, Metric::DivergedAtStep, &[10.0, 20.0][..]);
        let text = markdown(&results(&[diverged]));
        assert!(text.contains("after step 15 (mean of 2 seeds)"), "{text}");
    }

    #[test]
    fn likelihood_must_rise_at_every_level() {
        let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
        let of = |last: f64| {
            let [first, last] = [(median(0), [0.5]), (median(1), [last])];
            let rows = [
                (AsymvlmPs, first.0, &first.1[..]),
                (AsymvlmPs, last.0, &last.1),
            ];
            markdown(&results(&rows))
        };
        assert!(of(0.75).contains("| 0.50, 0.75 | yes |"), "{}", of(0.75));
        assert!(of(0.25).contains("| 0.50, 0.25 | no |"), "{}", of(0.25));
    }
}
