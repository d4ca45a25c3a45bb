//! Which of the papers' findings hold: rules over `results.json`, so that nobody has to look kindly at a table.

use std::fmt::Write as _;

use super::paper;
use super::results::{Results, Summary};
use super::tables::is_truth_known;
use super::verdict::{Estimate, Finding, FindingRow, MIN_SEEDS, Support};
use crate::report::{
    Better, Grouped, LevelStatistic, Metric, RejectionResult, RejectionRule, Retrieval,
};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmPsEncoderMean, AsymvlmVmf, AsymvlmVmfEncoderMean, Bayesvlm, Clip,
    Density, Deterministic, Entropy, Gaussian, GaussianDiagonal, GaussianPrecision, ImageDensity,
    ImageEntropy, ImagePs, ImageVmf, Pcmepp, Pfe, Probvlm, Prolip, SymvlmPs, SymvlmPsRaw,
    SymvlmVmf, SymvlmVmfRaw,
};
use crate::train::methods::Variant;

const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// The same with mean directions that stay the encoder's, as in the adapters of the photographs' model.
const ENCODER_MEAN: [MethodName; 2] = [AsymvlmVmfEncoderMean, AsymvlmPsEncoderMean];
/// What the paper compares it with.
const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];
/// Training-free scores of peers: entropies and densities of frozen features.
const TRAINING_FREE: [MethodName; 4] = [Entropy, ImageEntropy, Density, ImageDensity];
/// Greatest |S| that says nothing: of ten levels in random order one in twenty has more, to either side.
const NO_TREND: f64 = 0.648;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;

/// What a finding claims of one method against another.
#[derive(Clone, Copy, PartialEq)]
enum Claimed {
    Better,
    Worse,
}

/// The rule of all findings, for the reader of the report.
#[must_use]
pub(super) fn rule() -> String {
    format!(
        "By rule: a difference counts when it is greater than twice its standard error over seeds. A trained method with \
         fewer than {MIN_SEEDS} seeds decides nothing; what trains nothing is the same for every seed. Seeds change \
         weights and batches, not the test split. The paper's own numbers are of its data, named beside them, and CLIP's \
         features: they say in which direction it differs there, not how much it should here."
    )
}

/// The findings as Markdown, for which there are numbers of one data set.
#[must_use]
pub(super) fn markdown(results: &Results) -> String {
    let mut text = String::new();
    for finding in findings(&Judge { results }) {
        finding.write(&mut text);
    }
    for method in results.methods() {
        if let Some(found) = results.summary(method, &Metric::DivergedAtStep) {
            let (title, step) = (method.title(), found.mean);
            let seeds = match found.n {
                1 => "(one seed)".to_owned(),
                n => format!("(mean of {n} seeds)"),
            };
            let lost = "it has no other numbers of them";
            writeln!(
                text,
                "{title} diverged: its loss was not finite after step {step:.0} {seeds}; {lost}.\n"
            )
            .ok();
        }
    }
    text
}

/// A number of each direction of retrieval, and its name.
type DirectedMetric = (&'static str, fn(Retrieval) -> Metric);

const RECALL_AT_1: DirectedMetric = ("Recall@1", |of| Metric::Recall(of, 1));
const SPEARMAN: DirectedMetric = ("S", |of| Metric::Levels(of, LevelStatistic::Spearman));
const R_SQUARED: fn(Retrieval) -> Metric = |of| Metric::Levels(of, LevelStatistic::RSquared);
/// A distribution on both sides, and the same one for captions alone.
const SYMMETRIC_AND_NOT: [[MethodName; 2]; 4] = [
    [SymvlmVmf, AsymvlmVmf],
    [SymvlmPs, AsymvlmPs],
    [SymvlmVmfRaw, AsymvlmVmf],
    [SymvlmPsRaw, AsymvlmPs],
];

/// Of which method a finding speaks.
const ENCODERS_MEAN: &str = "No finding of the paper, whose perceptron learns μ and κ; here it learns κ alone, and captions find \
                             what they find by the cosine.";

/// What the papers say, and what these results say of it.
fn findings(judge: &Judge<'_>) -> [Finding; 12] {
    let with_baselines = pairs(&ASYMVLM, &BASELINES);
    let with_all = pairs(&ASYMVLM, &[&[Clip][..], &BASELINES].concat());
    let finding = |claim, rule, rows| Finding { claim, rule, rows };
    [
        finding(
            "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
            "ProbVLM stands twice: with the uncertainty of its released code, one over the variance, and with the other \
             sign, the variance itself (or the reverse, if the settings above say `variance`).",
            judge.by_direction(SPEARMAN, &with_baselines, Claimed::Better),
        ),
        finding(
            "AsymVLM's uncertainty orders recall better than scores that nothing is trained for (S)",
            "No finding of AsymVLM's paper: newer ones score captions and pictures by entropies and densities. Here the \
             entropy is that of the frozen cosines' softmax at CLIP's factor of 100, the density that of training features \
             around a feature by its ten nearest, not the papers' flow or diffusion.",
            judge.by_direction(SPEARMAN, &pairs(&ASYMVLM, &TRAINING_FREE), Claimed::Better),
        ),
        finding(
            "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
            "R² is blind to the sign of the slope: where recall rises with uncertainty it counts as negative.",
            judge.linear(&with_baselines),
        ),
        finding(
            "With the encoder's own mean directions AsymVLM's uncertainty orders recall better than the baselines' (S)",
            ENCODERS_MEAN,
            judge.by_direction(SPEARMAN, &pairs(&ENCODER_MEAN, &BASELINES), Claimed::Better),
        ),
        finding(
            "With the encoder's own mean directions recall falls more linearly than with the baselines' uncertainty (R²)",
            ENCODERS_MEAN,
            judge.linear(&pairs(&ENCODER_MEAN, &BASELINES)),
        ),
        finding(
            "AsymVLM finds more than CLIP and the baselines (Recall@1)",
            ANY_TRUE_CAPTION,
            judge.by_direction(RECALL_AT_1, &with_all, Claimed::Better),
        ),
        finding(
            "An uncertainty of pictures says nothing of recall (S is near zero)",
            "Two-sided: a strong S of either sign speaks against it. Below −.648 recall falls with the uncertainty of \
             pictures, above .648 it rises.",
            judge.pictures_uncertainty(),
        ),
        finding(
            "A distribution for pictures too finds less (Recall@1)",
            ANY_TRUE_CAPTION,
            judge.by_direction(RECALL_AT_1, &SYMMETRIC_AND_NOT, Claimed::Worse),
        ),
        finding(
            "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
            "The paper gives one line to its Gaussian. AsymVLM(Gaussian) reads it literally, κ being the precision; “per \
             dimension” is our parametrisation of the same family (precision d·κ, density over d), “diagonal” has a \
             variance for each axis.",
            judge.gaussians(),
        ),
        finding(
            "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
            "",
            judge.zero_shot_of_fine_tuning(),
        ),
        finding(
            "A dummy caption sorts out pictures of no class only where captions have a concentration",
            "By balanced accuracy, the mean of that on positives (pictures of a class, given to it) and on negatives \
             (pictures of none, refused): who refuses everything, or nothing, has at most a half.",
            judge.dummies(),
        ),
        finding(
            "Fuller captions are more certain, and their pictures more likely",
            "",
            judge.hierarchies(),
        ),
    ]
}

/// Why a picture that may find any true caption is no part of a verdict.
const ANY_TRUE_CAPTION: &str = "Where truth is known, a picture must find a caption that was said of itself: any caption \
    that is true of it would let those win that say nothing.";

/// Results of one data set, judged.
struct Judge<'a> {
    results: &'a Results,
}

impl Judge<'_> {
    fn estimate(&self, method: MethodName, metric: &Metric) -> Option<Estimate> {
        Some(Estimate {
            over_seeds: self.results.summary(method, metric)?,
            is_exact: is_exact(method),
        })
    }

    /// The ways of retrieval that a verdict may rest on.
    fn directions(&self) -> Vec<Retrieval> {
        let of_pictures = match is_truth_known(self.results) {
            true => Retrieval::ImageToOwnText,
            false => Retrieval::ImageToText,
        };
        vec![Retrieval::TextToImage, of_pictures]
    }

    /// Comparisons of pairs of methods by one measure of each direction of retrieval.
    fn by_direction(
        &self,
        (name, metric): DirectedMetric,
        pairs: &[[MethodName; 2]],
        claimed: Claimed,
    ) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for direction in self.directions() {
            let (what, metric) = (format!("{name}, {}", direction.title()), metric(direction));
            for pair in pairs {
                rows.extend(self.compare(&metric, &what, *pair, claimed));
                rows.extend(self.with_other_sign(&metric, &what, *pair));
            }
        }
        rows
    }

    /// S against that of `ProbVLM` with its uncertainty read the other way round, whose order is the opposite: the
    /// released code takes one over the variance, which is a precision.
    fn with_other_sign(
        &self,
        metric: &Metric,
        what: &str,
        pair: [MethodName; 2],
    ) -> Option<FindingRow> {
        let is_spearman = matches!(metric, Metric::Levels(_, LevelStatistic::Spearman));
        if pair[1] != Probvlm || !is_spearman {
            return None;
        }
        let [ours, theirs] = pair.map(|method| self.estimate(method, metric));
        let (ours, theirs) = (ours?, theirs?.turned());
        Some(FindingRow {
            what: format!("{} with the other sign", versus(what, pair)),
            found: format!("{} against {}", ours.shown(), theirs.shown()),
            paper: String::new(),
            support: ours.against(&theirs, -1.0),
        })
    }

    /// Whether one method's number is better, or worse, than another's.
    fn compare(
        &self,
        metric: &Metric,
        what: &str,
        pair: [MethodName; 2],
        claimed: Claimed,
    ) -> Option<FindingRow> {
        let [ours, theirs] = pair.map(|method| self.estimate(method, metric));
        let (ours, theirs) = (ours?, theirs?);
        let is_higher_claimed = (metric.better() == Better::Higher) == (claimed == Claimed::Better);
        let gain = if is_higher_claimed { 1.0 } else { -1.0 };
        Some(FindingRow {
            what: versus(what, pair),
            found: format!("{} against {}", ours.shown(), theirs.shown()),
            paper: paper::of_pair(metric, pair),
            support: ours.against(&theirs, gain),
        })
    }

    /// R² with the sign of the trend that is wanted: negative where recall rises with uncertainty.
    fn falling_r_squared(&self, method: MethodName, direction: Retrieval) -> Option<Estimate> {
        let slope = Metric::Levels(direction, LevelStatistic::Slope);
        let values = self
            .results
            .paired(method, [&R_SQUARED(direction), &slope])
            .into_iter()
            .map(|[r_squared, slope]| if slope < 0.0 { r_squared } else { -r_squared });
        let over_seeds = Summary::of(&values.collect::<Vec<_>>())?;
        let is_exact = is_exact(method);
        Some(Estimate {
            over_seeds,
            is_exact,
        })
    }

    fn linear(&self, pairs: &[[MethodName; 2]]) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for direction in self.directions() {
            let what = format!("R², {}", direction.title());
            rows.extend(pairs.iter().filter_map(|pair| {
                let [ours, theirs] = pair.map(|method| self.falling_r_squared(method, direction));
                let (ours, theirs) = (ours?, theirs?);
                Some(FindingRow {
                    what: versus(&what, *pair),
                    found: format!("{} against {}", ours.shown(), theirs.shown()),
                    paper: paper::of_pair(&R_SQUARED(direction), *pair),
                    support: ours.against(&theirs, 1.0),
                })
            }));
        }
        rows
    }

    fn pictures_uncertainty(&self) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for direction in self.directions() {
            for method in [ImageVmf, ImagePs] {
                let Some(found) = self.estimate(method, &SPEARMAN.1(direction)) else {
                    continue;
                };
                let strength = Estimate {
                    over_seeds: Summary {
                        mean: found.over_seeds.mean.abs(),
                        ..found.over_seeds
                    },
                    ..found
                };
                let what = format!("S, {}: {}", direction.title(), method.title());
                rows.push(FindingRow {
                    what: format!("{what}, |S| < {NO_TREND}"),
                    found: found.shown(),
                    paper: String::new(),
                    support: strength.beyond(-1.0, NO_TREND),
                });
            }
        }
        rows
    }

    fn gaussians(&self) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for direction in self.directions() {
            for method in [GaussianPrecision, Gaussian, GaussianDiagonal] {
                let title = direction.title();
                let straight = self
                    .falling_r_squared(method, direction)
                    .map(|found| FindingRow {
                        what: format!("falling R², {title}: {} > {STRAIGHT}", method.title()),
                        found: found.shown(),
                        paper: String::new(),
                        support: found.beyond(1.0, STRAIGHT),
                    });
                let (recall, pair) = (RECALL_AT_1.1(direction), [method, AsymvlmVmf]);
                let what = format!("Recall@1, {title}");
                let recall = self.compare(&recall, &what, pair, Claimed::Worse);
                rows.extend(straight.into_iter().chain(recall));
            }
        }
        rows
    }

    fn zero_shot_of_fine_tuning(&self) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for metric in self.results.metrics(Deterministic) {
            let Metric::Accuracy(task) = metric else {
                continue;
            };
            for other in [Clip, AsymvlmVmf, AsymvlmPs] {
                let pair = [Deterministic, other];
                rows.extend(self.compare(metric, task, pair, Claimed::Worse));
            }
        }
        rows
    }

    fn dummies(&self) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for dummy in 0..3 {
            for pair in pairs(&ASYMVLM, &[Clip, Deterministic]) {
                rows.extend(self.dummy(dummy, pair));
            }
        }
        rows
    }

    fn dummy(&self, dummy: usize, pair: [MethodName; 2]) -> Option<FindingRow> {
        let both = |result| Metric::Rejection(RejectionRule::Dummy(dummy), result);
        let sides = [RejectionResult::Positive, RejectionResult::Negative].map(both);
        let [ours, theirs] = pair.map(|method| {
            let rates = self.results.paired(method, sides.each_ref());
            let balanced: Vec<f64> = rates.iter().map(|[p, n]| (p + n) / 2.0).collect();
            let found = Estimate {
                over_seeds: Summary::of(&balanced)?,
                is_exact: is_exact(method),
            };
            let [positive, negative] = sides
                .each_ref()
                .map(|side| self.results.summary(method, side));
            let rates = format!("{:.3} / {:.3}", positive?.mean, negative?.mean);
            Some((found, format!("{} ({rates})", found.shown())))
        });
        let ((ours, our_rates), (theirs, their_rates)) = (ours?, theirs?);
        let what = format!(
            "balanced accuracy (positives / negatives), dummy {}",
            dummy + 1
        );
        Some(FindingRow {
            what: versus(&what, pair),
            found: format!("{our_rates} against {their_rates}"),
            paper: paper::balanced(dummy, pair),
            support: ours.against(&theirs, 1.0),
        })
    }

    fn hierarchies(&self) -> Vec<FindingRow> {
        let ordered = "share of adjacent levels whose uncertainty falls";
        let rules = [
            (Metric::AdjacentLevelsOrdered, ordered, (1.0, 0.5)),
            (
                Metric::UncertaintyVsTokens,
                "Spearman of uncertainty and length",
                (-1.0, 0.0),
            ),
            (
                Metric::UncertaintyVsBitsDistinct,
                "Spearman of uncertainty and bits of distinct captions",
                (-1.0, 0.0),
            ),
            (
                Metric::UncertaintyVsBits,
                "Spearman of uncertainty and bits, repeats counted",
                (-1.0, 0.0),
            ),
        ];
        let mut rows = Vec::new();
        for method in ASYMVLM {
            for (metric, what, (gain, bound)) in &rules {
                let sign = if *gain > 0.0 { '>' } else { '<' };
                rows.extend(self.estimate(method, metric).map(|found| FindingRow {
                    what: format!("{what}: {} {sign} {bound}", method.title()),
                    found: found.shown(),
                    paper: paper::of_hierarchies(metric),
                    support: found.beyond(*gain, *bound),
                }));
            }
            rows.extend(self.rises_by_level(method));
        }
        rows
    }

    /// Whether the median likelihood of the own picture rises from each level of the hierarchy to the next.
    fn rises_by_level(&self, method: MethodName) -> Option<FindingRow> {
        let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
        let medians = (0..).map_while(|level| self.results.summary(method, &median(level)));
        let medians: Vec<Summary> = medians.collect();
        let shown: Vec<String> = medians.iter().map(|m| format!("{:.2}", m.mean)).collect();
        let rises = medians.windows(2).all(|pair| pair[1].mean > pair[0].mean);
        let n_seeds = medians.iter().map(|found| found.n).min()?;
        (medians.len() > 1).then(|| FindingRow {
            what: format!("median likelihood rises by level: {}", method.title()),
            found: shown.join(", "),
            paper: String::new(),
            support: match (n_seeds < MIN_SEEDS, rises) {
                (true, _) => Support::TooFewSeeds,
                (false, true) => Support::For,
                (false, false) => Support::Against,
            },
        })
    }
}

/// Whether nothing is trained, so that one run says all.
fn is_exact(method: MethodName) -> bool {
    method.optimizer(Variant::Code).is_none()
}

fn versus(what: &str, [ours, theirs]: [MethodName; 2]) -> String {
    format!("{what}: {} against {}", ours.title(), theirs.title())
}

/// Every pair of ours and theirs.
fn pairs(ours: &[MethodName], theirs: &[MethodName]) -> Vec<[MethodName; 2]> {
    let with_all = |&a: &MethodName| theirs.iter().map(move |&b| [a, b]);
    ours.iter().flat_map(with_all).collect()
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
            (&[0.5, 0.52, 0.51][..], "— holds in all"),
            (&[0.3, 0.31, 0.32], "— does not hold"),
            (&[0.4, 0.44, 0.38], "— not decided: no difference"),
            (&[0.9, 0.9], "— not decided: fewer than 3 seeds"),
        ] {
            let rows = [(AsymvlmVmf, RECALL, ours), (Clip, RECALL, &[0.41])];
            let text = markdown(&results(&rows));
            assert!(text.contains(expected), "{ours:?}: {text}");
        }
    }

    #[test]
    fn a_finding_may_hold_in_part_and_is_silent_without_numbers() {
        let text = markdown(&results(&[
            (AsymvlmVmf, RECALL, &[0.5; 3]),
            (Clip, RECALL, &[0.4]),
            (Pfe, RECALL, &[0.6; 3]),
        ]));
        let expected = "holds in part: yes in 1 of 2 comparisons, the opposite in 1";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("dummy"), "nothing was refused: {text}");
    }

    #[test]
    fn the_papers_own_numbers_stand_beside_ours() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        let text = markdown(&results(&[
            (AsymvlmVmf, spearman.clone(), &[-0.5; 3]),
            (Pfe, spearman, &[0.1; 3]),
        ]));
        assert!(
            text.contains("| COCO: -1.000 against -0.988 | yes |"),
            "{text}"
        );
    }

    #[test]
    fn probvlm_is_compared_with_both_signs() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        let text = markdown(&results(&[
            (AsymvlmVmf, spearman.clone(), &[-0.5; 3]),
            (Probvlm, spearman, &[0.9; 3]),
        ]));
        for part in [
            "against ProbVLM | -0.500 ± 0.000 against 0.900 ± 0.000 | COCO: -1.000 against -1.000 | yes |",
            "with the other sign | -0.500 ± 0.000 against -0.900 ± 0.000 | none printed | no |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    /// Rates of positives and negatives with the first dummy, the same for three seeds.
    fn dummy(
        method: MethodName,
        [positive, negative]: [f64; 2],
    ) -> Vec<(MethodName, Metric, [f64; 3])> {
        let rate = |result| Metric::Rejection(RejectionRule::Dummy(0), result);
        vec![
            (method, rate(RejectionResult::Positive), [positive; 3]),
            (method, rate(RejectionResult::Negative), [negative; 3]),
        ]
    }

    #[test]
    fn who_refuses_everything_does_not_win_none_of_the_above() {
        let rows = [dummy(AsymvlmVmf, [0.973, 0.993]), dummy(Clip, [0.0, 1.0])].concat();
        let rows: Vec<_> = rows
            .iter()
            .map(|(m, metric, v)| (*m, metric.clone(), &v[..]))
            .collect();
        let text = markdown(&results(&rows));
        for part in [
            "concentration** — holds in all 1",
            "0.983 ± 0.000 (0.973 / 0.993) against 0.500 (0.000 / 1.000)",
            "0.722 (0.857 / 0.587) against 0.449 (0.888 / 0.009)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn an_uncertainty_that_orders_recall_the_wrong_way_says_something() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        for (value, expected) in [
            (0.918, "does not hold"),
            (-0.918, "does not hold"),
            (0.3, "holds in all"),
        ] {
            let text = markdown(&results(&[(ImageVmf, spearman.clone(), &[value; 3])]));
            assert!(
                text.contains(&format!("** — {expected}")),
                "{value}: {text}"
            );
        }
    }

    #[test]
    fn a_straight_line_that_rises_is_not_a_decline() {
        let (r_squared, slope) = (
            R_SQUARED(Retrieval::TextToImage),
            Metric::Levels(Retrieval::TextToImage, LevelStatistic::Slope),
        );
        let text = markdown(&results(&[
            (AsymvlmVmf, r_squared.clone(), &[0.7; 3]),
            (AsymvlmVmf, slope.clone(), &[-0.1; 3]),
            (Bayesvlm, r_squared, &[0.9]),
            (Bayesvlm, slope, &[0.1]),
        ]));
        assert!(text.contains("| 0.700 ± 0.000 against -0.900 |"), "{text}");
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
            let [first, last] = [(median(0), [0.5; 3]), (median(1), [last; 3])];
            let rows = [
                (AsymvlmPs, first.0, &first.1[..]),
                (AsymvlmPs, last.0, &last.1),
            ];
            markdown(&results(&rows))
        };
        let (rising, falling) = (of(0.75), of(0.25));
        assert!(
            rising.contains("| 0.50, 0.75 | none printed | yes |"),
            "{rising}"
        );
        assert!(
            falling.contains("| 0.50, 0.25 | none printed | no |"),
            "{falling}"
        );
    }
}
