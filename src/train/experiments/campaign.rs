//! Fits and measures methods with several seeds, some of them side by side; what is done is not done again.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;

use super::environment::Environment;
use super::evaluation_data::EvaluationData;
use super::fit_plan::{FitPlan, FitRequest};
use super::report;
use super::results::Results;
use super::run::{Evaluator, NumbersBySet};
use super::side_by_side::{locked, side_by_side};
use crate::report::{Impacted, Metric, Shift};
use crate::train::files;
use crate::train::methods::MethodName;

/// Fits of several methods and seeds, with their data and the folder of the results.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The methods to fit, in the order of the tables.
    pub methods: &'a [MethodName],
    /// Number of seeds, counted from 0.
    pub n_seeds: u64,
    /// Number of fits that run at a time.
    pub n_jobs: usize,
    /// Batch, epochs and options of every fit.
    pub plan: &'a FitPlan,
    /// Features to train and to measure on.
    pub data: &'a EvaluationData,
    /// Folder of the results.
    pub folder: &'a Path,
    /// The device, and what the command line calls it.
    pub device: (&'a str, &'a Device),
}

impl Campaign<'_> {
    /// Writes `results.json` after each fit, and tables, figures and findings at the end.
    ///
    /// # Errors
    ///
    /// The user interrupted, the folder holds results of another plan, or a file cannot be read or written.
    pub fn run(&self) -> Result<()> {
        ensure!(self.n_seeds > 0, "no seeds: at least one is needed");
        files::make_folder(self.folder)?;
        let session = self.environment().claim()?;
        let results = Results::read(&self.results_path())?;
        let fits = self.left(&results);
        self.fit_all(fits, &Mutex::new(results), session)?;
        // Empty by now; it may also never have been made.
        std::fs::remove_dir(self.folder.join("unfinished")).ok();
        report::write(self.folder)
    }

    const fn environment(&self) -> Environment<'_> {
        Environment {
            plan: self.plan,
            data: self.data,
            methods: self.methods,
            device: self.device.0,
            jobs: self.n_jobs,
            folder: self.folder,
        }
    }

    fn results_path(&self) -> PathBuf {
        self.folder.join("results.json")
    }

    fn dataset(&self) -> &str {
        &self.data.own.config.dataset
    }

    /// Fits that are not in the results yet, seed by seed.
    fn left(&self, results: &Results) -> Vec<FitRequest> {
        let all = (0..self.n_seeds).flat_map(|seed| {
            let request = move |&name: &MethodName| FitRequest { name, seed };
            self.methods.iter().map(request)
        });
        let is_left = |request: &FitRequest| {
            let &FitRequest { name, seed } = request;
            // A method that trains nothing is the same for every seed.
            let is_fixed = name.optimizer(self.plan.follow).is_none() && seed > 0;
            let is_possible = self.data.why_not(name).is_none();
            is_possible && !is_fixed && !self.is_done(results, *request)
        };
        all.filter(is_left).collect()
    }

    /// Whether every number of a fit is there: results from before there were corruptions are measured again.
    fn is_done(&self, results: &Results, FitRequest { name, seed }: FitRequest) -> bool {
        let has = |metric| results.has_number(name, self.dataset(), seed, &metric);
        if self.data.corrupted.is_empty() {
            return results.has(name, self.dataset(), seed);
        }
        let corrupted = Metric::Shifted(Impacted::TextToImage, Shift::Corrupted);
        has(corrupted) || has(Metric::DivergedAtStep)
    }

    fn fit_all(
        &self,
        fits: Vec<FitRequest>,
        results: &Mutex<Results>,
        session: usize,
    ) -> Result<()> {
        let evaluator = Evaluator::new(self.data, self.device.1);
        side_by_side(self.n_jobs, fits, |request| {
            let measured = self.fit(&evaluator, request)?;
            let mut results = locked(results);
            for (dataset, mut numbers) in measured {
                if numbers.contains_key(&Metric::FitSeconds) {
                    numbers.insert(Metric::Session, session as f64);
                }
                results.put(request.name, &dataset, request.seed, numbers);
            }
            results.write(&self.results_path())
        })
    }

    /// One fit; its checkpoint lies in a folder of its own until it is done.
    fn fit(&self, evaluator: &Evaluator<'_>, request: FitRequest) -> Result<NumbersBySet> {
        let FitRequest { name, seed } = request;
        let job = format!("{}-{seed}", name.slug());
        let unfinished = self.folder.join("unfinished").join(job);
        let measured = evaluator
            .fit_or_divergence(request, self.plan, Some(&unfinished))
            .with_context(|| format!("{} with seed {seed}", name.slug()))?;
        std::fs::remove_dir_all(&unfinished)?;
        Ok(measured)
    }
}
