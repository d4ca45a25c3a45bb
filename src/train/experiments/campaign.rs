//! Fits and measures methods with several seeds, some of them side by side; what is done is not done again.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;

use super::environment::Environment;
use super::evaluation_data::EvaluationData;
use super::measure::Numbers;
use super::report;
use super::results::Results;
use super::run::{Evaluator, FitPlan, FitRequest, MeasuredSets};
use crate::report::{Impacted, Metric, Shift};
use crate::train::files;
use crate::train::methods::MethodName;
use crate::train::optimize::Diverged;
use crate::train::progress::Interrupt;

/// What to fit and measure, and where the results go.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The methods to fit, in the order of the tables.
    pub methods: &'a [MethodName],
    /// Seeds 0, 1, ….
    pub n_seeds: u64,
    /// Fits at a time.
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

/// What the workers share: the fits that are left, and the results so far.
struct Remaining {
    fits: VecDeque<FitRequest>,
    results: Results,
    /// Number of this run of the command.
    session: usize,
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
        let remaining = Mutex::new(Remaining {
            fits,
            results,
            session,
        });
        self.work_side_by_side(&remaining)?;
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

    /// What is not in the results, seed by seed.
    fn left(&self, results: &Results) -> VecDeque<FitRequest> {
        let all = (0..self.n_seeds).flat_map(|seed| {
            let request = move |&name: &MethodName| FitRequest { name, seed };
            self.methods.iter().map(request)
        });
        let is_left = |request: &FitRequest| {
            let &FitRequest { name, seed } = request;
            // What trains nothing is the same for every seed.
            let is_fixed = name.optimizer(self.plan.follow).is_none() && seed > 0;
            !is_fixed && !self.is_done(results, *request)
        };
        all.filter(is_left).collect()
    }

    /// Whether all was measured that is to be: what was measured before there were corruptions is measured anew.
    fn is_done(&self, results: &Results, FitRequest { name, seed }: FitRequest) -> bool {
        let has = |metric| results.has_number(name, self.dataset(), seed, &metric);
        if self.data.corrupted.is_empty() {
            return results.has(name, self.dataset(), seed);
        }
        let corrupted = Metric::Shifted(Impacted::TextToImage, Shift::Corrupted);
        has(corrupted) || has(Metric::DivergedAtStep)
    }

    fn work_side_by_side(&self, remaining: &Mutex<Remaining>) -> Result<()> {
        let evaluator = Evaluator::new(self.data, self.device.1);
        std::thread::scope(|scope| {
            let worker = |_| scope.spawn(|| self.work(&evaluator, remaining));
            let workers: Vec<_> = (0..self.n_jobs.max(1)).map(worker).collect();
            let outcomes = workers.into_iter().map(|worker| worker.join());
            // All of them, so that each has saved what it had, then the first that failed.
            let outcomes: Vec<_> = outcomes.collect();
            let failed = |panic| std::panic::resume_unwind(panic);
            let mut outcomes = outcomes.into_iter();
            outcomes.try_for_each(|outcome| outcome.unwrap_or_else(failed))
        })
    }

    /// Takes one fit after the other from the list, until none is left or one fails.
    fn work(&self, evaluator: &Evaluator<'_>, remaining: &Mutex<Remaining>) -> Result<()> {
        let interrupt = Interrupt::install();
        // A function, so that the lock is released before the fit begins.
        let next = || locked(remaining).fits.pop_front();
        while let Some(request) = next() {
            let is_set = interrupt.is_set();
            ensure!(!is_set, "interrupted; the same command goes on from there");
            let done = self.fit(evaluator, request).and_then(|measured| {
                let Remaining {
                    results, session, ..
                } = &mut *locked(remaining);
                for (dataset, mut numbers) in measured {
                    if numbers.contains_key(&Metric::FitSeconds) {
                        numbers.insert(Metric::Session, *session as f64);
                    }
                    results.put(request.name, &dataset, request.seed, numbers);
                }
                results.write(&self.results_path())
            });
            if done.is_err() {
                locked(remaining).fits.clear();
                return done;
            }
        }
        Ok(())
    }

    /// One fit; its checkpoint lies in a folder of its own until it is done.
    fn fit(&self, evaluator: &Evaluator<'_>, request: FitRequest) -> Result<MeasuredSets> {
        let FitRequest { name, seed } = request;
        let job = format!("{}-{seed}", name.slug());
        let unfinished = self.folder.join("unfinished").join(job);
        let measured = evaluator
            .fit(request, self.plan, Some(&unfinished))
            .or_else(|error| -> Result<MeasuredSets> {
                // That a recipe diverges is a result.
                let diverged = error.downcast::<Diverged>()?;
                let numbers = Numbers::from([(Metric::DivergedAtStep, diverged.step as f64)]);
                Ok(vec![(self.dataset().to_owned(), numbers)])
            })
            .with_context(|| format!("{} with seed {seed}", name.slug()))?;
        std::fs::remove_dir_all(&unfinished)?;
        Ok(measured)
    }
}

fn locked(remaining: &Mutex<Remaining>) -> MutexGuard<'_, Remaining> {
    remaining.lock().unwrap_or_else(PoisonError::into_inner)
}
