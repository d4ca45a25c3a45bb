//! Comparisons of methods by their numbers on one data set: the rows of a finding.

use super::numbers::LEVELS;
use super::paper;
use super::results::{Results, Summary, queries};
use super::tables::is_truth_known;
use super::verdict::{Estimate, Finding, FindingRow, PaperClaim, Support, Undecided};
use crate::report::{Better, LevelStatistic, Metric, Retrieval};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmPsEncoderMean, AsymvlmVmf, AsymvlmVmfEncoderMean, Bayesvlm, Pcmepp,
    Pfe, Probvlm, Prolip,
};
use crate::train::methods::Variant;

/// `AsymVLM` as the paper has it, under its two distributions.
pub(super) const ASYMVLM: [MethodName; 2] = [AsymvlmVmf, AsymvlmPs];
/// `AsymVLM` with mean directions that stay the encoder's, as in the adapters of the photographs' model.
pub(super) const ENCODER_MEAN: [MethodName; 2] = [AsymvlmVmfEncoderMean, AsymvlmPsEncoderMean];
/// Methods that the paper compares it with.
pub(super) const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];

/// Order of two methods that a finding claims.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ClaimedOrder {
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

/// Two methods beside each other in one measure.
pub(super) struct MethodComparison {
    pub(super) what: String,
    pub(super) pair: [MethodName; 2],
    /// Estimate of each method, if the number was measured of it.
    pub(super) estimates: [Option<Estimate>; 2],
    /// Direction of retrieval whose levels are measured; none if the measure has no levels.
    pub(super) levels_of: Option<Retrieval>,
    pub(super) paper: String,
}

/// Results of one data set, judged.
pub(super) struct Judge<'a> {
    pub(super) results: &'a Results,
    /// Results of the same test split as it was before it was disturbed; none of clean data.
    pub(super) undisturbed: Option<&'a Results>,
}

impl Judge<'_> {
    /// A claim with its comparisons, and what is missing of it.
    pub(super) fn finding(&self, claim: &'static PaperClaim, rows: Vec<FindingRow>) -> Finding {
        let measured = self.results.methods();
        let groups = claim.groups.iter();
        let mut unmeasured: Vec<MethodName> = groups.flat_map(|group| group.1).copied().collect();
        unmeasured.retain(|method| !measured.contains(method));
        unmeasured.sort_unstable();
        unmeasured.dedup();
        Finding {
            claim,
            rows,
            unmeasured,
        }
    }

    pub(super) fn estimate(&self, method: MethodName, metric: &Metric) -> Option<Estimate> {
        Some(Estimate {
            over_seeds: self.results.summary(method, metric)?,
            is_exact: is_exact(method),
        })
    }

    /// Estimate from the values of all seeds; `None` without any.
    pub(super) fn estimate_of(&self, method: MethodName, values: &[f64]) -> Option<Estimate> {
        Some(Estimate {
            over_seeds: Summary::of(values)?,
            is_exact: is_exact(method),
        })
    }

    /// The data set that was measured on.
    pub(super) fn dataset(&self) -> String {
        self.results
            .datasets()
            .into_iter()
            .next()
            .unwrap_or_default()
    }

    /// The ways of retrieval that a verdict may rest on.
    pub(super) fn directions(&self) -> [Retrieval; 2] {
        let of_pictures = match is_truth_known(self.results) {
            true => Retrieval::ImageToOwnText,
            false => Retrieval::ImageToText,
        };
        [Retrieval::TextToImage, of_pictures]
    }

    /// Comparisons of pairs of methods by one measure of each direction of retrieval.
    pub(super) fn by_direction(
        &self,
        (name, metric): DirectedMetric,
        pairs: &[[MethodName; 2]],
        claimed: ClaimedOrder,
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
        let Metric::Levels(direction, LevelStatistic::Spearman) = *metric else {
            return None;
        };
        if pair[1] != Probvlm {
            return None;
        }
        let [ours, theirs] = pair.map(|method| self.estimate(method, metric));
        let comparison = MethodComparison {
            what: format!("{} with the other sign", versus(what, pair)),
            pair,
            estimates: [ours, theirs.map(Estimate::turned)],
            levels_of: Some(direction),
            paper: String::new(),
        };
        self.row(comparison, |ours, theirs| ours.against(theirs, -1.0))
    }

    /// Whether one method's number is better, or worse, than another's.
    pub(super) fn compare(
        &self,
        metric: &Metric,
        what: &str,
        pair: [MethodName; 2],
        claimed: ClaimedOrder,
    ) -> Option<FindingRow> {
        let is_higher_claimed =
            (metric.better() == Better::Higher) == (claimed == ClaimedOrder::Better);
        let gain = if is_higher_claimed { 1.0 } else { -1.0 };
        let comparison = MethodComparison {
            what: versus(what, pair),
            pair,
            estimates: pair.map(|method| self.estimate(method, metric)),
            levels_of: match metric {
                Metric::Levels(of, _) => Some(*of),
                _ => None,
            },
            paper: paper::of_pair(&self.dataset(), metric, pair),
        };
        self.row(comparison, |ours, theirs| ours.against(theirs, gain))
    }

    /// The row of a comparison, by a rule over both numbers; none where a method was not measured.
    pub(super) fn row(
        &self,
        comparison: MethodComparison,
        rule: impl Fn(&Estimate, &Estimate) -> Support,
    ) -> Option<FindingRow> {
        let MethodComparison {
            what,
            pair,
            estimates,
            levels_of,
            paper,
        } = comparison;
        let why = pair.map(|method| self.why_no_levels(method, levels_of?));
        let is_measured = [0, 1].map(|side| estimates[side].is_some() || why[side].is_some());
        let support = match (estimates, why[0].or(why[1])) {
            (_, Some(why)) => Support::Undecided(why),
            ([Some(ours), Some(theirs)], None) => rule(&ours, &theirs),
            _ => return None,
        };
        let [ours, theirs] =
            estimates.map(|side| side.map_or_else(|| "none".to_owned(), |side| side.shown()));
        is_measured.iter().all(|is| *is).then(|| FindingRow {
            what,
            found: format!("{ours} against {theirs}"),
            paper,
            support,
        })
    }

    /// Reason why levels of a method's uncertainty decide nothing; `None` where they may, or were not measured.
    pub(super) fn why_no_levels(
        &self,
        method: MethodName,
        direction: Retrieval,
    ) -> Option<Undecided> {
        let summary = |metric| self.results.summary(method, &metric);
        let recall = summary(Metric::Recall(direction, 1))?;
        let has_order = summary(SPEARMAN.1(direction)).is_some();
        let has_levels = summary(Metric::LevelRecall(direction, 0)).is_some();
        let n_found = summary(queries(direction)).map(|queries| queries.mean * recall.mean);
        if !has_order && !has_levels {
            return Some(Undecided::SaysTheSame(method));
        }
        if n_found.is_some_and(|n_found| n_found < LEVELS as f64) {
            return Some(Undecided::TooFewHits(method));
        }
        (!has_order).then_some(Undecided::SameRecall(method))
    }

    /// A method's number by a rule of its own; undecided where its levels are.
    pub(super) fn of_levels(
        &self,
        what: String,
        (method, direction): (MethodName, Retrieval),
        estimate: Option<Estimate>,
        rule: impl Fn(&Estimate) -> Support,
    ) -> Option<FindingRow> {
        let why = self.why_no_levels(method, direction);
        let support = match (&estimate, why) {
            (_, Some(why)) => Support::Undecided(why),
            (Some(found), None) => rule(found),
            (None, None) => return None,
        };
        Some(FindingRow {
            what,
            found: estimate.map_or_else(|| "none".to_owned(), |found| found.shown()),
            paper: String::new(),
            support,
        })
    }

    /// R² with the sign of the trend that is wanted: negative where recall rises with uncertainty.
    pub(super) fn falling_r_squared(
        &self,
        method: MethodName,
        direction: Retrieval,
    ) -> Option<Estimate> {
        let slope = Metric::Levels(direction, LevelStatistic::Slope);
        let values = self
            .results
            .paired(method, [&R_SQUARED(direction), &slope])
            .into_iter()
            .map(|[r_squared, slope]| if slope < 0.0 { r_squared } else { -r_squared });
        self.estimate_of(method, &values.collect::<Vec<_>>())
    }
}

/// Whether nothing is trained, so that one run says all.
fn is_exact(method: MethodName) -> bool {
    method.optimizer(Variant::Code).is_none()
}

pub(super) fn versus(what: &str, [ours, theirs]: [MethodName; 2]) -> String {
    format!("{what}: {} against {}", ours.title(), theirs.title())
}

/// Every pair of ours and theirs.
pub(super) fn pairs(ours: &[MethodName], theirs: &[MethodName]) -> Vec<[MethodName; 2]> {
    let with_all = |&a: &MethodName| theirs.iter().map(move |&b| [a, b]);
    ours.iter().flat_map(with_all).collect()
}
