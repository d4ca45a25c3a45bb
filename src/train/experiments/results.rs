//! `results.json`: one number a row, and what several seeds say together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::fit_plan::FitRequest;
use super::numbers::{LEVELS, Numbers};
use crate::metrics::{mean, population_sd};
use crate::report::{Grouped, Metric, Retrieval, SummaryRow};
use crate::train::files;
use crate::train::methods::MethodName;

/// One number of one method with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The method that was fitted.
    pub method: MethodName,
    /// Data set that was measured on, after that which was trained on where it is another one.
    pub dataset: String,
    /// Seed of the training.
    pub seed: u64,
    /// The metric, written as in `results.json`.
    pub metric: Metric,
    /// The number, in the metric's own unit.
    pub value: f64,
}

/// Mean and population standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Arithmetic mean over seeds.
    pub mean: f64,
    /// Standard deviation over seeds with divisor N, which fits the papers' printed pairs.
    pub sd: f64,
    /// Number of seeds that the mean is taken over.
    pub n: usize,
}

impl Summary {
    /// Summary of the values of all seeds; `None` without any.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        (!values.is_empty()).then(|| Self {
            mean: mean(values),
            sd: population_sd(values),
            n: values.len(),
        })
    }
}

/// Tie of the quantiles of captions' uncertainty: half of them or all are one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    Half,
    All,
}

impl Tie {
    /// Tie of these quantiles; `None` where fewer than half of them are the same.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let n_tied = values.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
        match n_tied {
            all if all == values.len() => Some(Self::All),
            half if 2 * half >= values.len() => Some(Self::Half),
            _ => None,
        }
    }
}

impl ResultRow {
    fn is_of(&self, method: MethodName, dataset: &str, seed: u64) -> bool {
        self.method == method && self.dataset == dataset && self.seed == seed
    }
}

/// All rows of a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Results(Vec<ResultRow>);

impl Results {
    /// Reads a file; empty if there is none.
    ///
    /// # Errors
    ///
    /// The file is broken.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(files::find_json(path)?.unwrap_or_default())
    }

    /// Writes the file, one row a line.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let rows: serde_json::Result<Vec<String>> =
            self.0.iter().map(serde_json::to_string).collect();
        files::put(path, format!("[\n{}\n]\n", rows?.join(",\n")))
    }

    /// Whether a method was measured with a seed.
    #[must_use]
    pub fn has(&self, method: MethodName, dataset: &str, seed: u64) -> bool {
        self.0.iter().any(|row| row.is_of(method, dataset, seed))
    }

    /// Whether a number of a method was measured with a seed.
    #[must_use]
    pub fn has_number(
        &self,
        method: MethodName,
        dataset: &str,
        seed: u64,
        metric: &Metric,
    ) -> bool {
        let mut rows = self.0.iter().filter(|row| row.is_of(method, dataset, seed));
        rows.any(|row| row.metric == *metric)
    }

    /// Adds what was measured, in place of what was there of the method, the data set and the seed.
    pub fn put(&mut self, method: MethodName, dataset: &str, seed: u64, numbers: Numbers) {
        self.0.retain(|row| !row.is_of(method, dataset, seed));
        self.add(method, dataset, seed, numbers);
    }

    /// Adds the numbers that were measured of a method on a data set with one seed.
    pub fn add(&mut self, method: MethodName, dataset: &str, seed: u64, numbers: Numbers) {
        // JSON has no infinity, and a missing number is left out rather than written as null.
        let finite = numbers.into_iter().filter(|(_, value)| value.is_finite());
        self.0.extend(finite.map(|(metric, value)| ResultRow {
            method,
            dataset: dataset.to_owned(),
            seed,
            metric,
            value,
        }));
    }

    /// The data sets that were measured on, in order of the first row.
    #[must_use]
    pub fn datasets(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for row in &self.0 {
            if !found.contains(&row.dataset) {
                found.push(row.dataset.clone());
            }
        }
        found
    }

    /// The rows of one data set.
    #[must_use]
    pub fn on(&self, dataset: &str) -> Self {
        let rows = self.0.iter().filter(|row| row.dataset == dataset);
        Self(rows.cloned().collect())
    }

    /// The methods that were measured, in the order of the tables.
    #[must_use]
    pub fn methods(&self) -> Vec<MethodName> {
        let is_there = |name: &MethodName| self.0.iter().any(|row| row.method == *name);
        MethodName::ALL.into_iter().filter(is_there).collect()
    }

    /// These results without numbers that chance decided: those of levels whose uncertainty is one value for half of
    /// the captions or more, as the quantiles tell, and S, R² and slope where fewer queries find than there are levels.
    /// New measurements leave them out; earlier results hold them.
    #[must_use]
    pub(super) fn without_chance_levels(mut self) -> Self {
        let (ties, found) = (self.ties(), self.queries_that_find());
        let tie = |row: &ResultRow| ties.get(&(row.method, row.dataset.clone(), row.seed));
        let finds_too_few = |row: &ResultRow, of: Retrieval| {
            let n_found = found.get(&(row.method, row.dataset.clone(), row.seed, of));
            n_found.is_some_and(|n_found| *n_found < LEVELS as f64)
        };
        let is_kept = |row: &ResultRow| match row.metric {
            Metric::Levels(of, _) => tie(row).is_none() && !finds_too_few(row, of),
            Metric::LevelRecall(..) => tie(row).is_none(),
            Metric::AdjacentLevelsOrdered => tie(row) != Some(&Tie::All),
            _ => true,
        };
        self.0 = self.0.iter().filter(|row| is_kept(row)).cloned().collect();
        self
    }

    /// The fits whose captions' uncertainties are the same, as far as their quantiles show.
    fn ties(&self) -> BTreeMap<(MethodName, String, u64), Tie> {
        let mut quantiles: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for row in &self.0 {
            if let Metric::Quantile(of, ..) = row.metric
                && of != Grouped::ScoreByLevel
            {
                let fit = (row.method, row.dataset.clone(), row.seed);
                quantiles.entry(fit).or_default().push(row.value);
            }
        }
        let ties = quantiles.into_iter();
        ties.filter_map(|(fit, values)| Some((fit, Tie::of(values)?)))
            .collect()
    }

    /// Number of queries of each fit that find what they look for, where it was counted.
    fn queries_that_find(&self) -> BTreeMap<(MethodName, String, u64, Retrieval), f64> {
        let of_fits = |metric: &Metric| -> BTreeMap<_, f64> {
            let rows = self.0.iter().filter(|row| row.metric == *metric);
            rows.map(|row| ((row.method, &row.dataset, row.seed), row.value))
                .collect()
        };
        let mut found = BTreeMap::new();
        for of in Retrieval::ALL.iter().copied() {
            let n_queries = of_fits(&queries(of));
            for (fit, recall) in of_fits(&Metric::Recall(of, 1)) {
                if let Some(n_queries) = n_queries.get(&fit) {
                    let (method, dataset, seed) = fit;
                    found.insert((method, dataset.clone(), seed, of), n_queries * recall);
                }
            }
        }
        found
    }

    /// The seeds of one number, in order of the seed.
    #[must_use]
    pub fn values(&self, method: MethodName, metric: &Metric) -> Vec<f64> {
        self.by_seed(method, metric).into_values().collect()
    }

    /// A number of each seed that has it.
    #[must_use]
    pub fn by_seed(&self, method: MethodName, metric: &Metric) -> BTreeMap<u64, f64> {
        let is_it = |row: &&ResultRow| row.method == method && row.metric == *metric;
        let rows = self.0.iter().filter(is_it).map(|row| (row.seed, row.value));
        rows.collect()
    }

    /// Two numbers of each seed that has both.
    #[must_use]
    pub fn paired(&self, method: MethodName, metrics: [&Metric; 2]) -> Vec<[f64; 2]> {
        let [first, second] = metrics.map(|metric| self.by_seed(method, metric));
        let pairs = first.into_iter();
        pairs
            .filter_map(|(seed, value)| Some([value, *second.get(&seed)?]))
            .collect()
    }

    /// Mean and deviation of one number over the seeds; `None` where it was not measured.
    #[must_use]
    pub fn summary(&self, method: MethodName, metric: &Metric) -> Option<Summary> {
        Summary::of(&self.values(method, metric))
    }

    /// Mean and deviation of some numbers over the seeds, method by method; what was not measured is left out.
    #[must_use]
    pub fn summaries(&self, metrics: &[Metric]) -> Vec<SummaryRow> {
        let of_method = |method: MethodName| {
            metrics.iter().filter_map(move |metric| {
                let Summary { mean, sd, n } = self.summary(method, metric)?;
                Some(SummaryRow {
                    method: method.title().to_owned(),
                    metric: metric.clone(),
                    mean,
                    sd,
                    n_seeds: n,
                })
            })
        };
        self.methods().into_iter().flat_map(of_method).collect()
    }

    /// The fits, in the order of methods and seeds.
    #[must_use]
    pub fn fits(&self) -> Vec<FitRequest> {
        let fits = self.0.iter().map(|row| (row.method, row.seed));
        let fits = fits.collect::<BTreeSet<_>>().into_iter();
        fits.map(|(name, seed)| FitRequest { name, seed }).collect()
    }

    /// The metrics of a method that were measured, each once.
    #[must_use]
    pub fn metrics(&self, method: MethodName) -> BTreeSet<&Metric> {
        let rows = self.0.iter().filter(|row| row.method == method);
        rows.map(|row| &row.metric).collect()
    }
}

/// The number of queries of a direction of retrieval.
pub(super) const fn queries(of: Retrieval) -> Metric {
    match of {
        Retrieval::TextToImage => Metric::CaptionCount,
        _ => Metric::PictureCount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::LevelStatistic;

    fn numbers(value: f64) -> Numbers {
        Numbers::from([(Metric::RecallSum, value), (Metric::FitSeconds, f64::NAN)])
    }

    #[test]
    fn seeds_are_summed_up_with_divisor_n() {
        let (mut results, pfe) = (Results::default(), MethodName::Pfe);
        results.add(pfe, "scenes", 1, numbers(0.5));
        results.add(pfe, "scenes", 0, numbers(0.3));
        let summary = results.summary(pfe, &Metric::RecallSum).expect("measured");
        assert_eq!((summary.mean, summary.n), (0.4, 2), "mean of two seeds");
        assert!((summary.sd - 0.1).abs() < 1e-15, "sd {}", summary.sd);
        assert_eq!(
            results.values(pfe, &Metric::RecallSum),
            [0.3, 0.5],
            "by seed"
        );
        let seconds = results.summary(pfe, &Metric::FitSeconds);
        assert_eq!(seconds, None, "no number is no row");
        let known = [pfe, MethodName::Elip].map(|method| results.has(method, "scenes", 1));
        assert_eq!(known, [true, false], "what was measured is known");
    }

    #[test]
    fn data_sets_are_told_apart() {
        let mut results = Results::default();
        results.add(MethodName::Pfe, "coco", 0, numbers(0.5));
        results.add(MethodName::Pfe, "coco → flickr30k", 0, numbers(0.3));
        assert_eq!(results.datasets(), ["coco", "coco → flickr30k"], "in order");
        let shifted = results.on("coco → flickr30k");
        let found = shifted.values(MethodName::Pfe, &Metric::RecallSum);
        assert_eq!(found, [0.3], "its own");
    }

    /// S, recall of a level, the share of levels in order, and quantiles of captions' uncertainty.
    fn with_quantiles(quantiles: &[f64]) -> Results {
        let t2i = Retrieval::TextToImage;
        let mut numbers = Numbers::from([
            (Metric::Recall(t2i, 1), 0.25),
            (Metric::Levels(t2i, LevelStatistic::Spearman), -0.08),
            (Metric::LevelRecall(t2i, 0), 0.25),
            (Metric::AdjacentLevelsOrdered, 0.0),
        ]);
        let of = |tokens| Metric::Quantile(Grouped::UncertaintyByTokens, tokens, 50);
        numbers.extend((0..).map(of).zip(quantiles.iter().copied()));
        let mut results = Results::default();
        results.add(MethodName::Pcmepp, "photos", 0, numbers);
        results
    }

    #[test]
    fn levels_are_left_out_where_uncertainty_says_the_same_of_most() {
        for (quantiles, n_left) in [
            (&[0.0, 0.0, 0.0, 0.0][..], 1),
            (&[0.0, 0.0, 0.5, 0.75], 2),
            (&[0.0, 0.25, 0.5, 0.75], 4),
            (&[], 4),
        ] {
            let left = with_quantiles(quantiles).without_chance_levels();
            let n_others = left.metrics(MethodName::Pcmepp).len() - quantiles.len();
            assert_eq!(n_others, n_left, "of four, with {quantiles:?}");
            let recall = Metric::Recall(Retrieval::TextToImage, 1);
            assert_eq!(left.values(MethodName::Pcmepp, &recall), [0.25], "stays");
        }
    }

    #[test]
    fn levels_of_fewer_hits_than_levels_have_no_trend() {
        let of = Retrieval::ImageToOwnText;
        let trend = Metric::Levels(of, LevelStatistic::Spearman);
        let level = Metric::LevelRecall(of, 0);
        for (recall, n_trends) in [(0.003, 0), (0.02, 1)] {
            let mut results = Results::default();
            let numbers = [
                (Metric::Recall(of, 1), recall),
                (Metric::PictureCount, 1000.0),
                (Metric::CaptionCount, 7000.0),
                (trend.clone(), -0.25),
                (level.clone(), 0.0),
            ];
            results.add(MethodName::Pcmepp, "scenes", 0, numbers.into());
            let left = results.without_chance_levels();
            let found =
                [&trend, &level].map(|metric| left.values(MethodName::Pcmepp, metric).len());
            assert_eq!(found, [n_trends, 1], "{recall} of a thousand pictures");
        }
    }

    #[test]
    fn of_the_committed_photographs_no_method_says_the_same_of_all() {
        let committed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/photos/results.json");
        let results = Results::read(&committed)
            .expect("committed results")
            .on("photos");
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        let ordered = |results: &Results| -> Vec<MethodName> {
            let methods = results.methods().into_iter();
            methods
                .filter(|method| results.summary(*method, &spearman).is_some())
                .collect()
        };
        let before = ordered(&results);
        assert!(before.contains(&MethodName::Pcmepp), "it once did");
        let after = ordered(&results.without_chance_levels());
        assert_eq!(after, before, "all keep their S");
    }

    #[test]
    fn committed_results_stay_as_they_are_when_they_are_read_and_written() {
        let committed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/scenes/results.json");
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("results.json");
        let results = Results::read(&committed).expect("committed results");
        results.write(&path).expect("a folder to write to");
        let [before, after] =
            [committed, path].map(|path| std::fs::read_to_string(path).expect("a file of text"));
        for (before, after) in before.lines().zip(after.lines()) {
            assert_eq!(before, after, "to the last digit");
        }
        assert_eq!(before.len(), after.len(), "every row");
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut results = Results::default();
        results.add(MethodName::AsymvlmVmf, "scenes", 0, numbers(0.25));
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("results.json");
        results.write(&path).expect("a folder to write to");
        assert_eq!(Results::read(&path).expect("whole"), results, "rows");
        std::fs::remove_file(&path).expect("the file is the test's own");
        let none = Results::read(&path).expect("no file");
        assert_eq!(none, Results::default(), "no file is no rows");
    }
}
