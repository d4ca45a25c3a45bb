//! How well S can come out of so few queries: beside S, the mean S of recalls that fall along an exact line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use super::numbers::LEVELS;
use super::results::{Results, Summary, queries};
use super::tables::{cell, is_truth_known};
use crate::metrics::{linear_fit, spearman};
use crate::report::{LevelStatistic, Metric, Retrieval};
use crate::train::methods::MethodName;

/// Draws of all levels' hits; the standard error of their mean S is below .01 where S is below −.8.
const N_DRAWS: usize = 100;

/// A table of S beside that of an exact line, for every method whose S was measured; empty without any.
#[must_use]
pub(super) fn markdown(results: &Results) -> String {
    let of_pictures = match is_truth_known(results) {
        true => Retrieval::ImageToOwnText,
        false => Retrieval::ImageToText,
    };
    let directions = [Retrieval::TextToImage, of_pictures];
    let rows = results.methods().into_iter().filter_map(|method| {
        let cells = directions.map(|direction| both(results, method, direction));
        let is_measured = cells.iter().any(|[_, line]| line.is_some());
        let cells = cells.concat().into_iter().map(cell);
        let cells: Vec<String> = cells.collect();
        is_measured.then(|| format!("| {} | {} |\n", method.title(), cells.join(" | ")))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    let size = |direction| {
        let mut methods = results.methods().into_iter();
        methods.find_map(|method| level_size(results, method, direction))
    };
    let sizes = directions.map(|direction| size(direction).unwrap_or(0));
    let [first, second] = directions.map(Retrieval::title);
    let mut text = "## How well S can come out of so few queries\n\n".to_owned();
    writeln!(
        text,
        "A level's recall is counted from a tenth of the queries ({first}: {}, {second}: {}), so that S misses −1 also \
         where recall falls along an exact line. Beside S stands the mean S of {N_DRAWS} draws of every level's hits, \
         whose chance lies on the straight line through the levels as they were measured, for each seed. An S as low \
         as that says no less than a line would.\n\n\
         | method | {first}: S | of an exact line | {second}: S | of an exact line |\n|---|---|---|---|---|\n{rows}",
        sizes[0], sizes[1]
    )
    .ok();
    text
}

/// S over the seeds, and S of an exact line.
fn both(results: &Results, method: MethodName, direction: Retrieval) -> [Option<Summary>; 2] {
    let found = results.summary(method, &Metric::Levels(direction, LevelStatistic::Spearman));
    let size = level_size(results, method, direction).unwrap_or(0);
    let lines: Vec<f64> = recalls_by_seed(results, method, direction)
        .iter()
        .filter_map(|recalls| expected_spearman(recalls, size))
        .collect();
    [found, found.and_then(|_| Summary::of(&lines))]
}

/// Recall of every level, for each seed that has all levels.
fn recalls_by_seed(results: &Results, method: MethodName, direction: Retrieval) -> Vec<Vec<f64>> {
    let mut of_seeds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for level in 0..LEVELS {
        for (seed, recall) in results.by_seed(method, &Metric::LevelRecall(direction, level)) {
            of_seeds.entry(seed).or_default().push(recall);
        }
    }
    of_seeds.retain(|_, recalls| recalls.len() == LEVELS);
    of_seeds.into_values().collect()
}

/// Queries in a level of a method's test split.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small number of queries, kept as all numbers are"
)]
fn level_size(results: &Results, method: MethodName, direction: Retrieval) -> Option<usize> {
    let n_queries = results.summary(method, &queries(direction))?;
    Some(n_queries.mean as usize / LEVELS)
}

/// Mean S over draws of the hits of each level's queries, whose chance lies on the line fitted to the recalls; `None`
/// without queries, or where the recalls are all the same.
fn expected_spearman(recalls: &[f64], queries_per_level: usize) -> Option<f64> {
    let levels: Vec<f64> = (0..recalls.len()).map(|level| level as f64).collect();
    let line = linear_fit(&levels, recalls)?;
    let chances = levels
        .iter()
        .map(|level| line.intercept + line.slope * level);
    let chances: Vec<f64> = chances.map(|chance| chance.clamp(0.0, 1.0)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut drawn = |chance: f64| {
        let hits = (0..queries_per_level).filter(|_| rng.random_bool(chance));
        hits.count() as f64
    };
    let draws = (0..N_DRAWS).filter_map(|_| {
        let hits: Vec<f64> = chances.iter().map(|chance| drawn(*chance)).collect();
        spearman(&levels, &hits)
    });
    let draws: Vec<f64> = draws.collect();
    Summary::of(&draws).map(|summary| summary.mean)
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Numbers;
    use super::*;

    /// Recalls that fall along a line.
    fn line(from: f64, to: f64) -> Vec<f64> {
        let step = (to - from) / (LEVELS - 1) as f64;
        (0..LEVELS)
            .map(|level| step.mul_add(level as f64, from))
            .collect()
    }

    #[test]
    fn more_queries_or_a_steeper_line_come_nearer_to_minus_one() {
        let of = |from, to, n| expected_spearman(&line(from, to), n).expect("a line");
        let (few, many) = (of(0.5, 0.3, 50), of(0.5, 0.3, 2000));
        assert!(few < 0.0 && many < few - 0.05, "{few}, {many}");
        assert!(many < -0.97, "hardly any noise: {many}");
        assert!(of(0.9, 0.1, 50) < few, "steep against flat");
        assert!(of(0.3, 0.5, 2000) > 0.97, "a line that rises");
        assert_eq!(expected_spearman(&[0.5; LEVELS], 50), None, "flat");
    }

    #[test]
    fn each_method_with_levels_stands_beside_its_line() {
        let mut results = Results::default();
        for seed in 0..3 {
            let mut numbers = Numbers::from([
                (
                    Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman),
                    -1.0,
                ),
                (Metric::CaptionCount, 20_000.0),
                (Metric::PictureCount, 4_000.0),
            ]);
            for (level, recall) in line(0.8, 0.2).into_iter().enumerate() {
                numbers.insert(Metric::LevelRecall(Retrieval::TextToImage, level), recall);
            }
            results.add(MethodName::AsymvlmVmf, "photos", seed, numbers);
        }
        let text = markdown(&results);
        for part in [
            "text → image: 2000, image → text: 400",
            "| AsymVLM vMF | -1.000 ± 0.000 | -1.000 ± 0.000 | – | – |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(markdown(&Results::default()), "", "nothing was measured");
    }
}
