//! `summary.json`: the numbers of each method over its seeds that the page shows.

use serde::{Deserialize, Serialize};

use super::metric::{LevelStatistic, Metric, Retrieval};

/// The metrics of `summary.json`, of those that were measured. Where truth is known, pictures look for captions that
/// were said of themselves; elsewhere that is the same.
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

/// Commands that made the results, of `environment.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SuiteEnvironment {
    /// The command that fitted and measured.
    pub command: String,
    /// The command that made its features, if another one did.
    #[serde(default)]
    pub features: SuiteFeatures,
    /// The commands that made the other features that it measured on.
    #[serde(default)]
    pub also_measured_on: Vec<SuiteFeatures>,
}

/// Command that made the features, of `environment.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SuiteFeatures {
    /// The command that embedded pictures and captions; empty where the one that fits embeds them too.
    #[serde(default)]
    pub command: String,
}

impl SuiteEnvironment {
    /// The commands as they are typed in the repository, in the order in which they were run, word for word.
    #[must_use]
    pub fn commands(&self) -> String {
        let features = std::iter::once(&self.features).chain(&self.also_measured_on);
        let all = features.map(|features| &features.command);
        let all = all.chain(std::iter::once(&self.command));
        let all = all.filter_map(|command| command.strip_prefix("train "));
        let typed = all.map(|arguments| format!("cargo run --release -- {arguments}"));
        typed.collect::<Vec<_>>().join(" && ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_those_that_were_run() {
        let committed = include_str!("../../public/evidence/scenes/environment.json");
        let environment: SuiteEnvironment = serde_json::from_str(committed).expect("commands");
        let commands = environment.commands();
        let [noisy, fits] = commands
            .split(" && ")
            .collect::<Vec<_>>()
            .try_into()
            .expect("one command embeds noisy scenes, the other the rest, fits and measures");
        let begins = |command: &str, with: &str| command.starts_with(with);
        assert!(begins(noisy, "cargo run --release -- embed "), "{noisy}");
        assert!(begins(fits, "cargo run --release -- reproduce "), "{fits}");
        assert!(fits.contains("--measure-on runs/noisy"), "{fits}");
        let both = SuiteEnvironment {
            command: "train reproduce --out b".into(),
            features: SuiteFeatures {
                command: "train embed --out a".into(),
            },
            also_measured_on: vec![SuiteFeatures {
                command: "train embed --out c".into(),
            }],
        };
        assert_eq!(
            both.commands(),
            "cargo run --release -- embed --out a && cargo run --release -- embed --out c && \
             cargo run --release -- reproduce --out b",
            "in the order in which they are run"
        );
    }

    #[test]
    fn the_committed_summary_is_written_as_it_was_read() {
        let committed = include_str!("../../public/evidence/scenes/summary.json");
        let rows: Vec<SummaryRow> = serde_json::from_str(committed).expect("a summary");
        let written = serde_json::to_string_pretty(&rows).expect("plain data");
        assert_eq!(written, committed.trim_end(), "to the last digit");
    }
}
