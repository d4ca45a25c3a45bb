//! Learning rates chosen on validation data, one grid for all methods: {1, 5} × {10⁻⁴, 10⁻³, 10⁻²}, as the paper's appendix
//! B.4. A tenth of the training pictures is held out. Of the rates whose recall there is within a hundredth of the best,
//! the one with the least loss is taken: loss alone would take a rate at which a method finds nothing and says so, recall
//! alone knows nothing of uncertainties. The test split has no part in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::evaluation_data::EvaluationData;
use super::fit_plan::{FitPlan, FitRequest};
use super::run::Evaluator;
use super::side_by_side::{locked, side_by_side};
use super::validation::Validation;
use crate::train::files;
use crate::train::methods::{MethodName, Training};

/// The rates that are tried.
pub const RATES: [f64; 6] = [1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2];
/// Seed of the fits of the grid.
const SEED: u64 = 0;
/// Share of the best recall that a rate must reach.
const NEAR_BEST: f64 = 0.99;
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
    /// Where `learning-rates.json` lies; what is in it is not tried again.
    pub folder: &'a Path,
    /// Where to compute, and fits at a time.
    pub device: &'a Device,
    /// Fits at a time.
    pub n_jobs: usize,
}

/// A rate and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Tried {
    learning_rate: f64,
    /// On held-out pictures; none where the training diverged.
    validation: Option<Validation>,
}

/// The whole of `learning-rates.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    tried: BTreeMap<MethodName, Vec<Tried>>,
    chosen: BTreeMap<MethodName, f64>,
}

impl Record {
    fn put(&mut self, name: MethodName, tried: Tried) {
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
}

/// The rate of the least loss among those that find about as much as the best; `None` where all diverged.
fn best(tried: &[Tried]) -> Option<f64> {
    let converged = tried.iter();
    let converged = converged.filter_map(|one| Some((one.learning_rate, one.validation?)));
    let converged: Vec<(f64, Validation)> = converged.collect();
    let recalls = converged.iter().map(|(_, found)| found.recall_sum);
    let enough = NEAR_BEST * recalls.fold(0.0, f64::max);
    let near = converged
        .into_iter()
        .filter(|(_, found)| found.recall_sum >= enough);
    let least = near.min_by(|a, b| a.1.loss.total_cmp(&b.1.loss));
    least.map(|(rate, _)| rate)
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
        let all = methods.flat_map(|name| RATES.map(|rate| (*name, rate)));
        let left: Vec<_> = all
            .filter(|(name, rate)| !record.has(*name, *rate))
            .collect();
        if left.is_empty() {
            return Ok(record.chosen);
        }
        let evaluator = Evaluator::new(self.data, self.device);
        let (split, record) = (evaluator.validation_split(), Mutex::new(record));
        side_by_side(self.n_jobs, left, |(name, rate)| {
            let Some(optimizer) = name.optimizer(self.plan.follow) else {
                return Ok(());
            };
            let training = Training {
                optimizer: optimizer.at(rate),
                batch: self.plan.batch,
                epochs: self.epochs,
                seed: SEED,
            };
            let request = FitRequest { name, seed: SEED };
            let validation = evaluator.validate(request, training, self.plan, &split)?;
            let mut record = locked(&record);
            record.put(
                name,
                Tried {
                    learning_rate: rate,
                    validation,
                },
            );
            files::put_json(&path, &*record)
        })?;
        let chosen = locked(&record).chosen.clone();
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried((learning_rate, found): (f64, Option<[f64; 2]>)) -> Tried {
        let validation = found.map(|[loss, recall_sum]| Validation { loss, recall_sum });
        Tried {
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
}
