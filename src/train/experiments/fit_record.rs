//! `numbers.json`: what a fit in a folder is of, and what it measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::fit_plan::{FitPlan, FitRequest};
use super::numbers::Numbers;
use super::run::Evaluator;
use crate::model::adapter::AdapterConfig;
use crate::train::features::cache::CacheConfig;
use crate::train::files;
use crate::train::methods::{FitOutputs, MethodName};
use crate::train::optimize::Checkpoint;

const FILE: &str = "numbers.json";
/// File of the probe sentences' uncertainty during the fit, beside it.
const PROBES: &str = "probes.json";

/// The whole of `numbers.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// The command that fitted it.
    pub command: String,
    /// Encoder and data set of the features.
    pub features: CacheConfig,
    /// Folder of the features.
    pub features_folder: PathBuf,
    /// The method that was fitted.
    pub method: MethodName,
    /// Measured numbers, by data set.
    pub numbers: BTreeMap<String, Numbers>,
    /// Seed of the weights and of the order of captions.
    pub seed: u64,
    /// Sizes of the perceptrons.
    pub sizes: AdapterConfig,
}

impl FitRecord {
    /// Path of the record in a fit's folder.
    #[must_use]
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// The numbers of the data set that was trained on.
    #[must_use]
    pub fn own_numbers(&self) -> Option<&Numbers> {
        self.numbers.get(&self.features.dataset)
    }
}

impl Evaluator<'_> {
    /// Fits one method into a folder: its weights, the course of its probe sentences and, last, its record. An
    /// interrupted fit goes on there.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::fit`].
    pub fn fit_into(
        &self,
        folder: &Path,
        request: FitRequest,
        plan: &FitPlan,
        features_folder: &Path,
    ) -> Result<FitRecord> {
        if FitRecord::path(folder).exists() {
            // The fit that is overwritten was finished, so its checkpoint must not be resumed by another.
            Checkpoint::delete(folder)?;
        }
        let probes = self.probe_log(folder.join(PROBES));
        let outputs = FitOutputs {
            checkpoint: Some(folder),
            probes: probes.as_ref(),
        };
        let measured = self.fit_with(request, plan, outputs)?;
        let mut numbers: BTreeMap<String, Numbers> = measured.into_iter().collect();
        // JSON has no infinity, and a missing number is left out rather than written as null.
        let of_sets = numbers.values_mut();
        of_sets.for_each(|of_set| of_set.retain(|_, value| value.is_finite()));
        let features = self.data.own.config.clone();
        let record = FitRecord {
            command: plan.command.clone(),
            sizes: plan.sizes(features.embed_dim),
            features,
            features_folder: features_folder.to_owned(),
            method: request.name,
            numbers,
            seed: request.seed,
        };
        files::put_json(&FitRecord::path(folder), &record)?;
        Checkpoint::delete(folder)?;
        Ok(record)
    }
}
