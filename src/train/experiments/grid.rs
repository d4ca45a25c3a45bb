//! Learning rates chosen on validation data, one grid for all methods: {1, 5} × {10⁻⁴, 10⁻³, 10⁻²}, as the paper's appendix
//! B.4. A tenth of the training pictures is held out; the rate with the least loss there is taken. The test split has no
//! part in it.

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
use crate::train::files;
use crate::train::methods::{MethodName, Training};

/// The rates that are tried.
pub const RATES: [f64; 6] = [1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2];
/// Seed of the fits of the grid.
const SEED: u64 = 0;
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
    /// Mean loss on validation pairs; none where the training diverged.
    validation_loss: Option<f64>,
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
        let finite = of_method
            .iter()
            .filter_map(|one| Some((one.learning_rate, one.validation_loss?)));
        if let Some((rate, _)) = finite.min_by(|a, b| a.1.total_cmp(&b.1)) {
            self.chosen.insert(name, rate);
        }
    }

    fn has(&self, name: MethodName, rate: f64) -> bool {
        let tried = self.tried.get(&name).into_iter().flatten();
        tried.into_iter().any(|one| one.learning_rate == rate)
    }
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
        let (split, record) = (evaluator.split(), Mutex::new(record));
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
            let loss = evaluator.validation_loss(request, training, self.plan, &split)?;
            let mut record = locked(&record);
            record.put(
                name,
                Tried {
                    learning_rate: rate,
                    validation_loss: loss,
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

    #[test]
    fn the_rate_with_the_least_loss_is_chosen_and_what_diverged_is_not() {
        let mut record = Record::default();
        for (learning_rate, validation_loss) in [(1e-2, None), (1e-3, Some(2.0)), (1e-4, Some(3.0))]
        {
            record.put(
                MethodName::Pfe,
                Tried {
                    learning_rate,
                    validation_loss,
                },
            );
        }
        assert_eq!(record.chosen[&MethodName::Pfe], 1e-3, "{record:?}");
        let known = [1e-2, 5e-2].map(|rate| record.has(MethodName::Pfe, rate));
        assert_eq!(known, [true, false], "what diverged was tried, too");
        let json = serde_json::to_string(&record).expect("plain data");
        let read: Record = serde_json::from_str(&json).expect("as it was written");
        assert_eq!(read, record, "{json}");
    }
}
