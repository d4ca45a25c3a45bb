//! Comparisons of methods by their numbers on one data set: the rows of a finding.

use super::paper;
use super::results::{Results, Summary};
use super::tables::is_truth_known;
use super::verdict::{Estimate, FindingRow, MIN_SEEDS, Support};
use crate::report::{
    Better, Grouped, LevelStatistic, Metric, RejectionResult, RejectionRule, Retrieval,
};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmVmf, Clip, Deterministic, Gaussian, GaussianDiagonal,
    GaussianPrecision, ImagePs, ImageVmf, Probvlm,
};
use crate::train::methods::Variant;

/// `AsymVLM` as the paper has it, under its two distributions.
pub(super) const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// Greatest |S| that says nothing: of ten levels in random order one in twenty has more, to either side.
const NO_TREND: f64 = 0.648;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;

/// What a finding claims of one method against another.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Claimed {
    Better,
    Worse,
}

/// A number of each direction of retrieval, and its name.
pub(super) type DirectedMetric = (&'static str, fn(Retrieval) -> Metric);

pub(super) const RECALL_AT_1: DirectedMetric = ("Recall@1", |of| Metric::Recall(of, 1));
pub(super) const SPEARMAN: DirectedMetric =
    ("S", |of| Metric::Levels(of, LevelStatistic::Spearman));
pub(super) const R_SQUARED: fn(Retrieval) -> Metric =
    |of| Metric::Levels(of, LevelStatistic::RSquared);
/// Results of one data set, judged.
pub(super) struct Judge<'a> {
    pub(super) results: &'a Results,
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
    pub(super) fn by_direction(
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
    pub(super) fn compare(
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

    pub(super) fn linear(&self, pairs: &[[MethodName; 2]]) -> Vec<FindingRow> {
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

    pub(super) fn pictures_uncertainty(&self) -> Vec<FindingRow> {
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

    pub(super) fn gaussians(&self) -> Vec<FindingRow> {
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

    pub(super) fn zero_shot_of_fine_tuning(&self) -> Vec<FindingRow> {
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

    pub(super) fn dummies(&self) -> Vec<FindingRow> {
        let mut rows = Vec::new();
        for dummy in 0..3 {
            for pair in pairs(&ASYMVLM, &[Clip, Deterministic]) {
                rows.extend(self.dummy(dummy, pair));
            }
        }
        rows
    }

    pub(super) fn dummy(&self, dummy: usize, pair: [MethodName; 2]) -> Option<FindingRow> {
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

    pub(super) fn hierarchies(&self) -> Vec<FindingRow> {
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
pub(super) fn pairs(ours: &[MethodName], theirs: &[MethodName]) -> Vec<[MethodName; 2]> {
    let with_all = |&a: &MethodName| theirs.iter().map(move |&b| [a, b]);
    ours.iter().flat_map(with_all).collect()
}
