//! `summary.json`: the numbers of each method over its seeds that the page shows.

use serde::{Deserialize, Serialize};

use super::metric::{LevelStatistic, Metric, Retrieval};

/// The metrics of `summary.json`, of those that were measured. Where truth is known, pictures look for captions that were
/// said of themselves; elsewhere that is the same.
#[must_use]
pub const fn shown_on_the_page(is_truth_known: bool) -> [Metric; 8] {
    let of_pictures = if is_truth_known {
        Retrieval::ImageToOwnText
    } else {
        Retrieval::ImageToText
    };
    [
        Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman),
        Metric::Levels(of_pictures, LevelStatistic::Spearman),
        Metric::UncertaintyVsBits,
        Metric::UncertaintyVsBitsDistinct,
        Metric::Recall(Retrieval::TextToImage, 1),
        Metric::Recall(of_pictures, 1),
        Metric::Recall(Retrieval::ImageToLevelText, 1),
        Metric::FullCaptionRecall,
    ]
}

/// A line of `summary.json`: a metric of a method over its seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRow {
    /// The method, as people call it.
    pub method: String,
    /// The metric, written as in `results.json`.
    pub metric: Metric,
    /// Mean over the seeds.
    pub mean: f64,
    /// Population standard deviation over the seeds.
    pub sd: f64,
    /// Number of seeds that the mean is over.
    pub n_seeds: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_summary_is_written_as_it_was_read() {
        let committed = include_str!("../../public/evidence/scenes/summary.json");
        let rows: Vec<SummaryRow> = serde_json::from_str(committed).expect("a summary");
        let written = serde_json::to_string_pretty(&rows).expect("plain data");
        assert_eq!(written, committed.trim_end(), "to the last digit");
    }
}
