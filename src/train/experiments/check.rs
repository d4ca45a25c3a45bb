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
use super::numbers::Numbers;
use super::results::Results;
use super::run::Evaluator;
use crate::report::Metric;
use crate::train::methods::MethodName;

/// Difference from recorded numbers within which others count as repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatTolerance {
    /// Difference between the two runs, in words.
    pub of: &'static str,
    /// Share of a number by which it may be off.
    pub share_of_value: f64,
    /// Difference that is allowed in any case, in the number's own unit.
    pub at_least: f64,
    /// Share of a fit's numbers that must be as near.
    pub share_near: f64,
}

/// Tolerance on the same features: rounding differs between machines and moves the rank of a few queries; of hundreds
/// of numbers, a few depend on single queries.
const SAME_FEATURES: RepeatTolerance = RepeatTolerance {
    of: "the same features",
    share_of_value: 0.02,
    at_least: 0.02,
    share_near: 0.95,
};
/// Tolerance on features of the same towers by heads that were trained anew. Those differ on each machine as with
/// another seed: S of a method moves by several hundredths, and single levels by more.
const OTHER_HEADS: RepeatTolerance = RepeatTolerance {
    of: "features by heads trained anew",
    share_of_value: 0.1,
    at_least: 0.1,
    share_near: 0.8,
};

/// A check of a folder's results by fitting a share of them again.
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

/// One fit's numbers beside those of the folder.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedFit {
    /// Method and seed of the fit that is repeated.
    pub request: FitRequest,
    /// Numbers that were compared.
    pub n: usize,
    /// Number of them that are as near as rounding explains.
    pub n_near: usize,
    /// The number that differs most: data set, metric, and both values, there and now.
    pub farthest: Option<(String, Metric, [f64; 2])>,
    /// Tolerance within which they had to come.
    pub tolerance: RepeatTolerance,
}

impl CheckedFit {
    /// Whether enough numbers are near the recorded ones.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.n > 0 && self.n_near as f64 >= self.tolerance.share_near * self.n as f64
    }
}

impl Check<'_> {
    /// Fits and compares, on every data set that was measured on.
    ///
    /// # Errors
    ///
    /// The folder holds no results, the features are other ones, or a fit fails.
    pub fn run(&self) -> Result<Vec<CheckedFit>> {
        let environment = environment::read(self.folder)?;
        let environment = environment
            .with_context(|| format!("{}: no environment.json", self.folder.display()))?;
        same_sizes(self.folder, &environment, &environment::sizes(self.data))?;
        let tolerance = self.tolerance(&environment)?;
        let plan = FitPlan::recorded(&environment)?;
        let results = Results::read(&self.folder.join("results.json"))?;
        let own = results.on(&self.data.own.config.dataset);
        self.warn_of_others(&results);
        let evaluator = Evaluator::new(self.data, self.device);
        let drawn = drawn(own.fits(), self.share, self.seed).into_iter();
        let check = |request: FitRequest| {
            let measured = evaluator.fit_or_divergence(request, &plan, None)?;
            Ok(compared(request, &results, &measured, tolerance))
        };
        drawn.map(check).collect()
    }

    /// Says which recorded data sets are not measured now.
    fn warn_of_others(&self, results: &Results) {
        let now = self.data.measured();
        for dataset in results.datasets() {
            if !now.iter().any(|(name, _)| *name == dataset) {
                eprintln!("{dataset} is recorded and not measured now: it is not compared");
            }
        }
    }

    /// Tolerance of the numbers: on the recorded features, or on those of the same towers by other heads.
    fn tolerance(&self, environment: &Value) -> Result<RepeatTolerance> {
        let recorded: Vec<String> =
            serde_json::from_value(environment["features"]["weights"].clone())?;
        let found = &self.data.own.config.weights;
        let hashes = environment["features_sha256"].as_object();
        let hashes: Vec<(&str, &str)> = hashes
            .into_iter()
            .flatten()
            .filter_map(|(file, hash)| Some((file.as_str(), hash.as_str()?)))
            .collect();
        if recorded == *found {
            self.warn_of_bytes(&hashes);
            return Ok(SAME_FEATURES);
        }
        ensure!(
            differ_in_heads(&recorded, found, &hashes),
            "the features are of another encoder than those of {}",
            self.folder.display()
        );
        eprintln!(
            "the heads of the towers are not those of {}: they were trained anew, and numbers are compared within {} \
             of their value, or {}",
            self.folder.display(),
            OTHER_HEADS.share_of_value,
            OTHER_HEADS.at_least
        );
        Ok(OTHER_HEADS)
    }

    fn warn_of_bytes(&self, recorded: &[(&str, &str)]) {
        let differs = recorded.iter().find(|(file, hash)| {
            let now = self.data.hashes.get(*file).map(String::as_str);
            // The file holds the command with its folder, so it differs elsewhere.
            *file != "features.json" && Some(*hash) != now
        });
        if let Some((file, _)) = differs {
            eprintln!(
                "{file} is not, byte for byte, the one that was fitted on: another machine may round otherwise"
            );
        }
    }
}

/// Refuses features with other splits than those of the results: numbers among other pictures are other numbers.
fn same_sizes(folder: &Path, environment: &Value, [train, test]: &[Value; 2]) -> Result<()> {
    for (key, found) in [
        (environment::TRAINED_ON, train),
        (environment::MEASURED_ON, test),
    ] {
        let recorded = &environment[key];
        let words = |size: &Value| {
            format!(
                "{} captions of {} pictures",
                size["captions"], size["pictures"]
            )
        };
        ensure!(
            recorded.is_null() || recorded == found,
            "{} was {} {}, and these features have {}; its report.md begins with the command that embeds the same",
            folder.display(),
            key.replace('_', " "),
            words(recorded),
            words(found)
        );
    }
    Ok(())
}

/// Whether encoders differ only in the last of their weights, and those are a file of the run that made the features:
/// heads that `train photos` trains on each machine, on towers that are the same for all.
fn differ_in_heads(recorded: &[String], found: &[String], hashes: &[(&str, &str)]) -> bool {
    let (Some((heads, towers)), Some((_, same))) = (recorded.split_last(), found.split_last())
    else {
        return false;
    };
    let is_trained_there = hashes.iter().any(|(_, hash)| hash == heads);
    !towers.is_empty() && towers == same && is_trained_there
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

/// Numbers of each data set beside the recorded ones.
fn compared(
    request: FitRequest,
    there: &Results,
    now: &[(String, Numbers)],
    tolerance: RepeatTolerance,
) -> CheckedFit {
    let mut checked = CheckedFit {
        request,
        n: 0,
        n_near: 0,
        farthest: None,
        tolerance,
    };
    let mut most = 0.0;
    for (dataset, metric, [there, now]) in both(request, there, now) {
        // In units of what is allowed.
        let allowed = (tolerance.share_of_value * there.abs()).max(tolerance.at_least);
        let off = (there - now).abs() / allowed;
        checked.n += 1;
        checked.n_near += usize::from(off <= 1.0);
        if off > most {
            most = off;
            checked.farthest = Some((dataset, metric, [there, now]));
        }
    }
    checked
}

/// Recorded and repeated value of each number that both have; times are left out.
fn both(
    FitRequest { name, seed }: FitRequest,
    there: &Results,
    now: &[(String, Numbers)],
) -> Vec<(String, Metric, [f64; 2])> {
    let times = [Metric::FitSeconds, Metric::MeasureSeconds, Metric::Session];
    let mut found = Vec::new();
    for (dataset, numbers) in now {
        let there = there.on(dataset);
        let numbers = numbers.iter().filter(|(metric, _)| !times.contains(metric));
        found.extend(numbers.filter_map(|(metric, now)| {
            let recorded = there.by_seed(name, metric).get(&seed).copied()?;
            Some((dataset.clone(), metric.clone(), [recorded, *now]))
        }));
    }
    found
}

/// The result as a table, and whether all of it is repeated.
#[must_use]
pub fn table(checked: &[CheckedFit]) -> (String, bool) {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(CheckedFit { tolerance, .. }) = checked.first() {
        let RepeatTolerance {
            of,
            share_of_value,
            at_least,
            share_near,
        } = tolerance;
        writeln!(
            text,
            "On {of}: a number is repeated within {share_of_value} of its value, or {at_least}; of a fit's numbers \
             {share_near} must be.\n"
        )
        .ok();
    }
    text.push_str("| fit | numbers as recorded | farthest: recorded, now | |\n|---|---|---|---|\n");
    for one in checked {
        let CheckedFit {
            request, n, n_near, ..
        } = one;
        let fit = format!("{}, seed {}", request.name.slug(), request.seed);
        let farthest = one
            .farthest
            .as_ref()
            .map(|(dataset, metric, [there, now])| {
                format!("{dataset}: {metric} {there:.4}, {now:.4}")
            });
        let farthest = farthest.unwrap_or_default();
        let word = match one.is_repeated() {
            true => "repeated",
            false => "differs",
        };
        writeln!(text, "| {fit} | {n_near} of {n} | {farthest} | {word} |").ok();
    }
    (text, checked.iter().all(CheckedFit::is_repeated))
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

    fn on(dataset: &str, numbers: Numbers) -> Vec<(String, Numbers)> {
        vec![(dataset.to_owned(), numbers)]
    }

    #[test]
    fn a_number_that_is_not_repeated_is_named() {
        let mut there = Results::default();
        there.add(REQUEST.name, "scenes", REQUEST.seed, numbers(0.5, 1.0));
        let compare = |there: &Results, recall, seconds| {
            let now = on("scenes", numbers(recall, seconds));
            compared(REQUEST, there, &now, SAME_FEATURES)
        };
        let same = compare(&there, 0.501, 99.0);
        assert_eq!((same.n, same.n_near), (2, 2), "times do not count");
        assert!(same.is_repeated(), "{same:?}");
        let other = compare(&there, 0.6, 1.0);
        assert!(!other.is_repeated(), "{other:?}");
        let (text, all) = table(&[same, other]);
        assert!(!all, "one differs");
        for part in [
            "scenes: t2i_recall_at_1 0.5000, 0.6000 | differs |",
            "On the same features: a number is repeated within 0.02",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let nothing = compare(&Results::default(), 0.5, 1.0);
        assert!(!nothing.is_repeated(), "nothing was compared");
    }

    #[test]
    fn every_data_set_is_compared() {
        let elsewhere = "photos → hierarcaps";
        let mut there = Results::default();
        there.add(REQUEST.name, "photos", REQUEST.seed, numbers(0.5, 1.0));
        there.add(REQUEST.name, elsewhere, REQUEST.seed, numbers(0.3, 1.0));
        let now = [
            on("photos", numbers(0.5, 1.0)),
            on(elsewhere, numbers(0.1, 1.0)),
        ];
        let found = compared(REQUEST, &there, &now.concat(), SAME_FEATURES);
        assert_eq!((found.n, found.n_near), (4, 3), "two numbers of each");
        let farthest = found
            .farthest
            .as_ref()
            .map(|(dataset, ..)| dataset.as_str());
        assert_eq!(farthest, Some(elsewhere), "which differs");
    }

    #[test]
    fn other_heads_are_allowed_more_than_the_same_features() {
        let mut there = Results::default();
        there.add(REQUEST.name, "photos", REQUEST.seed, numbers(0.25, 1.0));
        for (recall, tolerance, expected) in [
            (0.32, SAME_FEATURES, false),
            (0.32, OTHER_HEADS, true),
            (0.45, OTHER_HEADS, false),
        ] {
            let now = on("photos", numbers(recall, 1.0));
            let found = compared(REQUEST, &there, &now, tolerance);
            assert_eq!(found.is_repeated(), expected, "{recall}: {found:?}");
        }
    }

    #[test]
    fn heads_that_were_trained_here_may_differ_and_towers_may_not() {
        let environment = {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/photos");
            environment::read(&folder).expect("JSON").expect("a file")
        };
        let recorded: Vec<String> =
            serde_json::from_value(environment["features"]["weights"].clone()).expect("hashes");
        let hashes = environment["features_sha256"].as_object().expect("hashes");
        let hashes: Vec<(&str, &str)> = hashes
            .iter()
            .filter_map(|(file, hash)| Some((file.as_str(), hash.as_str()?)))
            .collect();
        let changed = |place: usize| {
            let mut found = recorded.clone();
            found[place] = "another".to_owned();
            found
        };
        let last = recorded.len() - 1;
        assert!(differ_in_heads(&recorded, &changed(last), &hashes), "heads");
        assert!(!differ_in_heads(&recorded, &changed(0), &hashes), "a tower");
        let shipped = differ_in_heads(&recorded, &changed(last), &[]);
        assert!(!shipped, "the last file of a shipped model is no head");
    }

    #[test]
    fn features_of_other_sizes_are_refused_with_both_sizes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/scenes");
        let environment = environment::read(&folder).expect("JSON").expect("a file");
        let size =
            |pictures, captions| serde_json::json!({ "pictures": pictures, "captions": captions });
        let check = |train| same_sizes(&folder, &environment, &[train, size(1000, 6000)]);
        check(size(10_000, 70_000)).expect("as its command has it");
        let error = check(size(2000, 14_000)).expect_err("of the small preset alone");
        let text = error.to_string();
        let part = "was trained on 70000 captions of 10000 pictures, and these features have 14000 captions of 2000";
        assert!(text.contains(part), "{text}");
        same_sizes(&folder, &Value::Null, &[size(1, 1), size(1, 1)]).expect("none was recorded");
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
        assert_eq!(found, (512, 20, 5e-2), "the rate that the grid chose");
    }
}
