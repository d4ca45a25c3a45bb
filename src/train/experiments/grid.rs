//! Learning rates chosen on validation data, one grid for all methods: {1, 5} × {10⁻⁴, 10⁻³, 10⁻²}, as the paper's
//! appendix B.4. Where the best lies at an edge, the next rate beyond is tried, too, between 10⁻⁵ and 1. A tenth of the
//! training pictures is held out, the test split has no part in it.
//!
//! Of the rates whose recall there is within a hundredth of the best, the one with the least loss is taken: loss alone
//! would take a rate at which a method finds nothing and says so, recall alone knows nothing of uncertainties. A rate
//! has no say whose loss is far worse than that of another which finds nearly as much: it finds what the frozen
//! features find, and has learnt nothing. Nor has one at which uncertainty says the same of all or most, while another
//! tells levels apart: where means stay the encoder's, recall is the same at every rate, and the least loss may be that
//! of variances that vanish.
//!
//! A folder keeps the rates that it has results with: an interrupted run goes on with them, whatever the grid would try
//! by now.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::environment;
use super::evaluation_data::EvaluationData;
use super::fit_plan::{FitPlan, FitRequest};
use super::run::Evaluator;
use super::side_by_side::{locked, side_by_side};
use super::validation::{Validation, ValidationSplit};
use crate::train::files;
use crate::train::methods::{MethodName, Training};

/// The rates that may be tried, ascending.
const RATES: [f64; 11] = [
    1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1, 5e-1, 1.0,
];
/// Indices of the rates that are tried with every method: the paper's.
const FIRST: Range<usize> = 2..8;
/// Seed of the fits of the grid.
const SEED: u64 = 0;
/// Share of the best recall that a rate must reach.
const NEAR_BEST: f64 = 0.99;
/// Share of the best recall from which a rate finds nearly as much, so that losses may be compared.
const LIKE_BEST: f64 = 0.85;
/// Share of the least loss by which another is far worse.
const FAR_WORSE: f64 = 0.1;
const FILE: &str = "learning-rates.json";

/// Learning rates to try for each method, and the data to choose by.
#[derive(Debug)]
pub struct Grid<'a> {
    /// The methods; those that train nothing are left out.
    pub methods: &'a [MethodName],
    /// Everything but rates and passes.
    pub plan: &'a FitPlan,
    /// Passes over the captions of each fit.
    pub epochs: usize,
    /// The features, whose training split is divided.
    pub data: &'a EvaluationData,
    /// Folder of `learning-rates.json`; what is in it is not tried again.
    pub folder: &'a Path,
    /// Device of the fits: the CPU, or one GPU for all.
    pub device: &'a Device,
    /// Number of fits that run at a time.
    pub n_jobs: usize,
}

/// A rate that was tried, and its result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct RateTrial {
    learning_rate: f64,
    /// Result on held-out pictures; none where the training diverged.
    validation: Option<Validation>,
}

/// The whole of `learning-rates.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    tried: BTreeMap<MethodName, Vec<RateTrial>>,
    chosen: BTreeMap<MethodName, f64>,
}

impl Record {
    fn put(&mut self, name: MethodName, tried: RateTrial) {
        let of_method = self.tried.entry(name).or_default();
        of_method.push(tried);
        of_method.sort_by(|a, b| a.learning_rate.total_cmp(&b.learning_rate));
        if let Some(rate) = best(of_method) {
            self.chosen.insert(name, rate);
        }
    }

    fn has(&self, name: MethodName, rate: f64) -> bool {
        let tried = self.tried.get(&name).into_iter().flatten();
        tried.into_iter().any(|one| one.learning_rate == rate)
    }

    /// The rates to try next with a method: the first ones, then the one beyond the edge at which the best lies.
    fn left(&self, name: MethodName) -> Vec<f64> {
        let is_new = |rate: &f64| !self.has(name, *rate);
        let first: Vec<f64> = RATES[FIRST].iter().copied().filter(is_new).collect();
        if !first.is_empty() {
            return first;
        }
        let chosen = self.chosen.get(&name);
        let at = chosen.and_then(|chosen| RATES.iter().position(|rate| rate == chosen));
        let beyond = match (at, self.edge(name)) {
            (Some(at), Some(Edge::Upper)) => RATES.get(at + 1),
            (Some(at), Some(Edge::Lower)) => at.checked_sub(1).map(|at| &RATES[at]),
            _ => None,
        };
        beyond.copied().into_iter().filter(is_new).collect()
    }

    /// The edge of the tried rates at which the chosen one lies; `None` inside.
    fn edge(&self, name: MethodName) -> Option<Edge> {
        let (chosen, tried) = (self.chosen.get(&name)?, self.tried.get(&name)?);
        if tried.last()?.learning_rate == *chosen {
            Some(Edge::Upper)
        } else if tried.first()?.learning_rate == *chosen {
            Some(Edge::Lower)
        } else {
            None
        }
    }
}

/// Edge of the rates that were tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Lower,
    Upper,
}

/// The methods whose rate in a folder's `learning-rates.json` lies at an edge of what was tried.
///
/// # Errors
///
/// The file is there and cannot be read.
pub(super) fn edges(folder: &Path) -> Result<BTreeMap<MethodName, Edge>> {
    let record: Record = files::find_json(&folder.join(FILE))?.unwrap_or_default();
    let edge = |name: &MethodName| Some((*name, record.edge(*name)?));
    Ok(record.chosen.keys().filter_map(edge).collect())
}

/// The rate of the least loss among those that find about as much as the best; `None` where all diverged. Rates are
/// left out whose loss is far worse than that of a rate that finds nearly as much, and rates whose uncertainty tells
/// nothing apart while another's does.
fn best(tried: &[RateTrial]) -> Option<f64> {
    let converged = tried.iter();
    let converged = converged.filter_map(|one| Some((one.learning_rate, one.validation?)));
    let mut converged: Vec<(f64, Validation)> = converged.collect();
    if converged.iter().any(|(_, found)| found.tells_levels_apart) {
        converged.retain(|(_, found)| found.tells_levels_apart);
    }
    let like = finding_at_least(LIKE_BEST, &converged);
    let least = like.iter().map(|(_, found)| found.loss).reduce(f64::min)?;
    let bearable = like
        .into_iter()
        .filter(|(_, found)| found.loss <= least + FAR_WORSE * least.abs());
    let near = finding_at_least(NEAR_BEST, &bearable.collect::<Vec<_>>());
    let chosen = near.into_iter();
    let chosen = chosen.min_by(|a, b| a.1.loss.total_cmp(&b.1.loss));
    chosen.map(|(rate, _)| rate)
}

/// Rates whose recall reaches a share of the best among them.
fn finding_at_least(share: f64, rates: &[(f64, Validation)]) -> Vec<(f64, Validation)> {
    let recalls = rates.iter().map(|(_, found)| found.recall_sum);
    let enough = share * recalls.fold(0.0, f64::max);
    let rates = rates.iter().copied();
    rates
        .filter(|(_, found)| found.recall_sum >= enough)
        .collect()
}

impl Grid<'_> {
    /// Tries what was not tried yet; returns the rate of each method for which any training converged.
    ///
    /// # Errors
    ///
    /// The user interrupted, or a file cannot be read or written.
    pub fn run(&self) -> Result<BTreeMap<MethodName, f64>> {
        files::make_folder(self.folder)?;
        let path = self.folder.join(FILE);
        let record: Record = files::find_json(&path)?.unwrap_or_default();
        let is_possible = |name: &&MethodName| self.data.why_not(**name).is_none();
        let trained = |name: &&MethodName| name.optimizer(self.plan.follow).is_some();
        let methods = self.methods.iter().filter(trained).filter(is_possible);
        let kept = kept_rates(self.folder)?;
        let methods = methods.filter(|name| !kept.contains_key(name));
        let methods: Vec<MethodName> = methods.copied().collect();
        if left(&record, &methods).is_empty() {
            return Ok(with_kept(record.chosen, kept));
        }
        let evaluator = Evaluator::new(self.data, self.device);
        let (split, record) = (evaluator.validation_split(), Mutex::new(record));
        loop {
            let left = left(&locked(&record), &methods);
            if left.is_empty() {
                break;
            }
            side_by_side(self.n_jobs, left, |(name, rate)| {
                let tried = self.try_rate(name, rate, (&evaluator, &split))?;
                let mut record = locked(&record);
                record.put(name, tried);
                files::put_json(&path, &*record)
            })?;
        }
        let chosen = locked(&record).chosen.clone();
        Ok(with_kept(chosen, kept))
    }

    /// Validation of a learning rate on held-out pictures.
    fn try_rate(
        &self,
        name: MethodName,
        rate: f64,
        (evaluator, split): (&Evaluator, &ValidationSplit),
    ) -> Result<RateTrial> {
        let optimizer = name.optimizer(self.plan.follow);
        let validation = match optimizer {
            Some(optimizer) => {
                let training = Training {
                    optimizer: optimizer.at(rate),
                    batch: self.plan.batch,
                    epochs: self.epochs,
                    seed: SEED,
                };
                let request = FitRequest { name, seed: SEED };
                evaluator.validate(request, training, self.plan, split)?
            }
            None => None,
        };
        Ok(RateTrial {
            learning_rate: rate,
            validation,
        })
    }
}

/// The rates that a grid chose for the results of a folder, which were planned with them.
fn kept_rates(folder: &Path) -> Result<BTreeMap<MethodName, f64>> {
    let environment = environment::read(folder)?.unwrap_or_default();
    if !environment["grid_epochs"].is_u64() {
        return Ok(BTreeMap::new());
    }
    let rates = environment::recorded_rates(&environment);
    Ok(rates.into_iter().collect())
}

fn with_kept(
    mut chosen: BTreeMap<MethodName, f64>,
    kept: BTreeMap<MethodName, f64>,
) -> BTreeMap<MethodName, f64> {
    chosen.extend(kept);
    chosen
}

/// Learning rates that are still to be tried, for all methods.
fn left(record: &Record, methods: &[MethodName]) -> Vec<(MethodName, f64)> {
    let of_method = |name: MethodName| record.left(name).into_iter().map(move |rate| (name, rate));
    methods.iter().copied().flat_map(of_method).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried((learning_rate, found): (f64, Option<[f64; 2]>)) -> RateTrial {
        let validation = found.map(|[loss, recall_sum]| Validation {
            loss,
            recall_sum,
            tells_levels_apart: true,
        });
        RateTrial {
            learning_rate,
            validation,
        }
    }

    #[test]
    fn the_least_loss_is_chosen_among_rates_that_find_about_as_much_as_the_best() {
        let collapsed = (5e-3, Some([1.0, 3.0]));
        let all = [
            (1e-2, None),
            collapsed,
            (1e-3, Some([2.5, 300.0])),
            (5e-4, Some([2.0, 298.0])),
            (1e-4, Some([3.0, 250.0])),
        ];
        let mut record = Record::default();
        for one in all.map(tried) {
            record.put(MethodName::Pfe, one);
        }
        assert_eq!(record.chosen[&MethodName::Pfe], 5e-4, "{record:?}");
        let known = [1e-2, 5e-2].map(|rate| record.has(MethodName::Pfe, rate));
        assert_eq!(known, [true, false], "what diverged was tried, too");
        let json = serde_json::to_string(&record).expect("plain data");
        let read: Record = serde_json::from_str(&json).expect("as it was written");
        assert_eq!(read, record, "{json}");
        assert_eq!(best(&[tried((1e-2, None))]), None, "nothing converged");
    }

    #[test]
    fn a_rate_whose_loss_is_far_worse_than_one_of_like_recall_is_left_out() {
        for (loss, recall_sum, expected) in [
            // ELIP's bottlenecks on photographs: at the least rate they find what the frozen features find.
            (358.0, 296.0, 5e-4),
            (358.0, 270.0, 1e-4),
            (480.0, 296.0, 1e-4),
        ] {
            let all = [
                (1e-4, Some([486.0, 332.0])),
                (5e-4, Some([loss, recall_sum])),
            ];
            let found = best(&all.map(tried));
            assert_eq!(found, Some(expected), "{loss} at {recall_sum}");
        }
    }

    #[test]
    fn a_rate_whose_uncertainty_tells_nothing_apart_is_left_out_where_another_tells() {
        // PCME++* on photographs: recall is that of the frozen means, and variances vanish where the loss is least.
        let all = [(5e-3, 140.0), (1e-2, 139.0), (5e-2, 138.0)];
        let at = |tells: [bool; 3]| {
            let one = |((rate, loss), tells_levels_apart)| RateTrial {
                learning_rate: rate,
                validation: Some(Validation {
                    loss,
                    recall_sum: 300.0,
                    tells_levels_apart,
                }),
            };
            let tried: Vec<RateTrial> = all.into_iter().zip(tells).map(one).collect();
            best(&tried)
        };
        assert_eq!(at([true, true, false]), Some(1e-2), "the next one");
        assert_eq!(at([false; 3]), Some(5e-2), "all are alike");
        let early = r#"{"loss": 1.0, "recall_sum": 2.0}"#;
        let early: Validation = serde_json::from_str(early).expect("an earlier record");
        assert!(early.tells_levels_apart, "it was not asked then");
    }

    #[test]
    fn a_folder_keeps_the_rates_that_it_has_results_with() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let kept = |grid_epochs: Option<u64>| {
            let environment = serde_json::json!({
                "grid_epochs": grid_epochs, "learning_rates": { "pfe": 5e-2 }
            });
            files::put_json(&folder.path().join("environment.json"), &environment)
                .expect("a folder to write to");
            kept_rates(folder.path()).expect("as it was written")
        };
        let of_grid = kept(Some(4));
        let beyond = BTreeMap::from([(MethodName::Pfe, 1e-1), (MethodName::Prolip, 1e-2)]);
        let chosen = with_kept(beyond, of_grid);
        let expected = [(MethodName::Pfe, 5e-2), (MethodName::Prolip, 1e-2)];
        assert_eq!(chosen, expected.into(), "another method gets its own");
        assert!(kept(None).is_empty(), "published rates are no choice");
    }

    #[test]
    fn the_committed_rates_are_those_that_the_rule_chooses_of_the_committed_grids() {
        for world in ["scenes", "photos"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence");
            let record: Option<Record> =
                files::find_json(&folder.join(world).join(FILE)).expect("committed");
            let Record { tried, chosen } = record.expect("a grid");
            assert!(!chosen.is_empty(), "{world}: of some methods");
            for (name, tried) in &tried {
                assert_eq!(best(tried), chosen.get(name).copied(), "{world}: {name:?}");
            }
        }
    }

    #[test]
    fn rates_beyond_an_edge_are_tried_until_the_best_lies_within() {
        // The best rate, and those that are tried after the first six.
        for (optimum, expected) in [
            (5e-3, vec![]),
            (5e-2, vec![1e-1]),
            (5e-1, vec![1e-1, 5e-1, 1.0]),
            (5e-5, vec![5e-5, 1e-5]),
            // Nothing lies beyond the last.
            (10.0, vec![1e-1, 5e-1, 1.0]),
        ] {
            let (mut record, mut rounds) = (Record::default(), Vec::new());
            while let left @ [_, ..] = &record.left(MethodName::Pfe)[..] {
                for rate in left {
                    let loss = (rate / optimum).ln().abs();
                    record.put(MethodName::Pfe, tried((*rate, Some([loss, 300.0]))));
                }
                rounds.push(left.to_vec());
            }
            assert_eq!(rounds[0], RATES[FIRST], "the paper's");
            assert_eq!(rounds[1..].concat(), expected, "one by one: {rounds:?}");
            let expected = (optimum > 1.0).then_some(Edge::Upper);
            assert_eq!(record.edge(MethodName::Pfe), expected, "{optimum}");
        }
    }

    #[test]
    fn nothing_is_tried_beyond_where_every_rate_diverged() {
        let mut record = Record::default();
        for rate in &RATES[FIRST] {
            record.put(MethodName::Pfe, tried((*rate, None)));
        }
        let left = record.left(MethodName::Pfe);
        assert!(left.is_empty(), "no best, no edge: {left:?}");
    }
}
