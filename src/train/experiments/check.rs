//! `train reproduce --check`: a random share of the fits of a folder once more, and whether they give its numbers.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use burn::tensor::Device;
use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde_json::Value;

use super::environment;
use super::evaluation_data::EvaluationData;
use super::fit_plan::{FitPlan, FitRequest};
use super::measure::Numbers;
use super::results::Results;
use super::run::Evaluator;
use crate::report::Metric;
use crate::train::methods::MethodName;

/// Of a number, how far it may lie from the one that is checked: rounding differs between machines, and what it moves is
/// the rank of a few queries.
const SHARE_OF_VALUE: f64 = 0.02;
const AT_LEAST: f64 = 0.02;
/// Share of a fit's numbers that must be as near: of hundreds a few hang on single queries.
const NEAR: f64 = 0.95;

/// What to check, and with what.
#[derive(Debug)]
pub struct Check<'a> {
    /// The folder that is checked.
    pub folder: &'a Path,
    /// Share of its fits.
    pub share: f64,
    /// Seed by which they are drawn.
    pub seed: u64,
    /// Features that the committed fits were made on.
    pub data: &'a EvaluationData,
    /// Device on which the fits are repeated.
    pub device: &'a Device,
}

/// How near one fit's numbers are to those of the folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Method and seed of the fit that is repeated.
    pub request: FitRequest,
    /// Numbers that were compared.
    pub n: usize,
    /// Of those, how many are as near as rounding explains.
    pub n_near: usize,
    /// The metric that differs most, with both numbers: there, and now.
    pub farthest: Option<(Metric, [f64; 2])>,
}

impl Checked {
    /// Whether nearly all numbers are the same.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.n > 0 && self.n_near as f64 >= NEAR * self.n as f64
    }
}

impl Check<'_> {
    /// Fits and compares.
    ///
    /// # Errors
    ///
    /// The folder holds no results, the features are other ones, or a fit fails.
    pub fn run(&self) -> Result<Vec<Checked>> {
        let environment = environment::read(self.folder)?;
        let environment = environment
            .with_context(|| format!("{}: no environment.json", self.folder.display()))?;
        self.same_features(&environment)?;
        let plan = FitPlan::recorded(&environment)?;
        let results = Results::read(&self.folder.join("results.json"))?;
        let own = results.on(&self.data.own.config.dataset);
        let evaluator = Evaluator::new(self.data, self.device);
        let drawn = drawn(own.fits(), self.share, self.seed).into_iter();
        let check = |request: FitRequest| {
            let measured = evaluator.fit(request, &plan, None)?;
            let (_, now) = measured
                .into_iter()
                .next()
                .context("nothing was measured")?;
            Ok(compared(request, &own, &now))
        };
        drawn.map(check).collect()
    }

    fn same_features(&self, environment: &Value) -> Result<()> {
        let found = &self.data.own.config;
        ensure!(
            environment["features"]["weights"] == serde_json::to_value(&found.weights)?,
            "the features are of another encoder than those of {}",
            self.folder.display()
        );
        let recorded = environment["features_sha256"].as_object();
        let differs = recorded.into_iter().flatten().find(|(file, hash)| {
            let now = self.data.hashes.get(*file).map(String::as_str);
            // The command is in it, with the folder that it was given.
            *file != "features.json" && hash.as_str() != now
        });
        if let Some((file, _)) = differs {
            eprintln!(
                "{file} is not, byte for byte, the one that was fitted on: another machine may round otherwise"
            );
        }
        Ok(())
    }
}

/// A random share of fits, at least one.
fn drawn(mut fits: Vec<FitRequest>, share: f64, seed: u64) -> Vec<FitRequest> {
    fits.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let n = rounded_up(share * fits.len() as f64).max(1);
    fits.truncate(n);
    fits
}

/// The least whole number that is not less.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is counted is neither negative nor many"
)]
fn rounded_up(value: f64) -> usize {
    value.max(0.0).ceil() as usize
}

fn compared(request: FitRequest, there: &Results, now: &Numbers) -> Checked {
    let FitRequest { name, seed } = request;
    let times = [Metric::FitSeconds, Metric::MeasureSeconds, Metric::Session];
    let pairs = now.iter().filter(|(metric, _)| !times.contains(metric));
    let pairs = pairs.filter_map(|(metric, now)| {
        let there = there.by_seed(name, metric).get(&seed).copied()?;
        Some((metric, [there, *now]))
    });
    let mut checked = Checked {
        request,
        n: 0,
        n_near: 0,
        farthest: None,
    };
    let mut most = 0.0;
    for (metric, [there, now]) in pairs {
        // In units of what is allowed.
        let off = (there - now).abs() / (SHARE_OF_VALUE * there.abs()).max(AT_LEAST);
        checked.n += 1;
        checked.n_near += usize::from(off <= 1.0);
        if off > most {
            most = off;
            checked.farthest = Some((metric.clone(), [there, now]));
        }
    }
    checked
}

/// The result as a table, and whether all of it is repeated.
#[must_use]
pub fn table(checked: &[Checked]) -> (String, bool) {
    let mut text =
        "| fit | numbers as recorded | farthest: recorded, now | |\n|---|---|---|---|\n".to_owned();
    for one in checked {
        let Checked {
            request,
            n,
            n_near,
            farthest,
        } = one;
        let fit = format!("{}, seed {}", request.name.slug(), request.seed);
        let farthest = farthest.as_ref();
        let farthest =
            farthest.map(|(metric, [there, now])| format!("{metric} {there:.4}, {now:.4}"));
        let (farthest, word) = (
            farthest.unwrap_or_default(),
            if one.is_repeated() {
                "repeated"
            } else {
                "differs"
            },
        );
        writeln!(text, "| {fit} | {n_near} of {n} | {farthest} | {word} |").ok();
    }
    (text, checked.iter().all(Checked::is_repeated))
}

impl FitPlan {
    /// The plan of a folder, as its `environment.json` has it.
    ///
    /// # Errors
    ///
    /// A setting is missing.
    pub(super) fn recorded(environment: &Value) -> Result<Self> {
        let number = |key: &str| {
            let number = environment[key]
                .as_u64()
                .and_then(|value| usize::try_from(value).ok());
            number.with_context(|| format!("environment.json: {key} is missing"))
        };
        let setting = |key: &str| environment[key].clone();
        let rates = environment::learning_rates(environment, &MethodName::ALL);
        Ok(Self {
            batch: number("batch")?,
            epochs: number("epochs")?,
            rate_factor: environment["rate_factor"]
                .as_f64()
                .context("environment.json: rate_factor is missing")?,
            learning_rates: rates.into_iter().collect(),
            grid_epochs: None,
            follow: serde_json::from_value(setting("follow"))?,
            probvlm_uncertainty: serde_json::from_value(setting("probvlm_uncertainty"))?,
            deterministic_scale: serde_json::from_value(setting("deterministic_scale"))?,
            hidden_width: Some(number("hidden_width")?),
            command: String::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: FitRequest = FitRequest {
        name: MethodName::Pfe,
        seed: 2,
    };

    fn numbers(recall: f64, seconds: f64) -> Numbers {
        let recall_at = |k| Metric::Recall(crate::report::Retrieval::TextToImage, k);
        Numbers::from([
            (recall_at(1), recall),
            (recall_at(5), 0.75),
            (Metric::FitSeconds, seconds),
        ])
    }

    #[test]
    fn a_number_that_is_not_repeated_is_named() {
        let mut there = Results::default();
        there.add(REQUEST.name, "scenes", REQUEST.seed, numbers(0.5, 1.0));
        let same = compared(REQUEST, &there, &numbers(0.501, 99.0));
        assert_eq!((same.n, same.n_near), (2, 2), "times do not count");
        assert!(same.is_repeated(), "{same:?}");
        let other = compared(REQUEST, &there, &numbers(0.6, 1.0));
        assert!(!other.is_repeated(), "{other:?}");
        let (text, all) = table(&[same, other]);
        assert!(!all, "one differs");
        assert!(
            text.contains("t2i_recall_at_1 0.5000, 0.6000 | differs |"),
            "{text}"
        );
        let nothing = compared(REQUEST, &Results::default(), &numbers(0.5, 1.0));
        assert!(!nothing.is_repeated(), "nothing was compared");
    }

    #[test]
    fn a_tenth_of_the_fits_is_drawn_by_the_seed() {
        let fits = || {
            (0..45)
                .map(|seed| FitRequest { seed, ..REQUEST })
                .collect::<Vec<_>>()
        };
        let one = drawn(fits(), 0.1, 7);
        assert_eq!(one.len(), 5, "rounded up");
        assert_eq!(one, drawn(fits(), 0.1, 7), "the same again");
        assert_ne!(one, drawn(fits(), 0.1, 8), "another seed");
    }

    #[test]
    fn the_plan_of_the_committed_results_is_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/scenes");
        let environment = environment::read(&folder).expect("JSON").expect("a file");
        let plan = FitPlan::recorded(&environment).expect("whole");
        let found = (
            plan.batch,
            plan.epochs,
            plan.learning_rates[&MethodName::Pfe],
        );
        assert_eq!(found, (512, 30, 5e-2), "the rate that the grid chose");
    }
}
