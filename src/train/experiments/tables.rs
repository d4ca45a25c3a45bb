//! The tables of the paper in Markdown, from `results.json` alone.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::paper;
use super::results::{Results, Summary};
use crate::report::LevelStatistic::{RSquared, Slope, Spearman};
use crate::report::RejectionResult::{Auroc, Negative, Positive};
use crate::report::RejectionRule::{Dummy, Margin, Threshold};
use crate::report::Retrieval::{ImageToOwnText, ImageToText, TextToImage};
use crate::report::{
    Impacted, LevelStatistic, Metric, RejectionResult, RejectionRule, Retrieval, Shift,
};
use crate::train::methods::MethodName;

/// A column: its head and the metric in it.
type Column = (&'static str, Metric);

const fn recall(of: Retrieval, k: usize) -> Metric {
    Metric::Recall(of, k)
}

const fn levels(of: Retrieval, statistic: LevelStatistic) -> Metric {
    Metric::Levels(of, statistic)
}

const fn shifted(of: Impacted, shift: Shift) -> Metric {
    Metric::Shifted(of, shift)
}

const fn corrupted(kind: &'static str) -> Column {
    (
        kind,
        shifted(Impacted::RecallSum, Shift::Kind(Cow::Borrowed(kind))),
    )
}

const fn accuracy(head: &'static str, task: &'static str) -> Column {
    (head, Metric::Accuracy(Cow::Borrowed(task)))
}

const fn rejection(head: &'static str, rule: RejectionRule, result: RejectionResult) -> Column {
    (head, Metric::Rejection(rule, result))
}

/// The tables in order: title, what the numbers are, and columns.
#[rustfmt::skip]
static TABLES: [(&str, &str, &[Column]); 11] = [
    (
        "Retrieval and its uncertainty",
        "S and R² are of recall over ten levels of uncertainty; S should be −1. R² is blind to the sign of the \
         slope, which stands beside it. Where the truth is known, a picture may find any caption that is true \
         of it.",
        &[
            ("I2T R@1", recall(ImageToText, 1)), ("I2T R²", levels(ImageToText, RSquared)),
            ("I2T slope", levels(ImageToText, Slope)), ("I2T S", levels(ImageToText, Spearman)),
            ("T2I R@1", recall(TextToImage, 1)), ("T2I R²", levels(TextToImage, RSquared)),
            ("T2I slope", levels(TextToImage, Slope)), ("T2I S", levels(TextToImage, Spearman)),
            ("RSUM", Metric::RecallSum),
        ],
    ),
    (
        "Own captions",
        "The same where a picture must find a caption that was said of itself.",
        &[
            ("I2T R@1", recall(ImageToOwnText, 1)), ("I2T R²", levels(ImageToOwnText, RSquared)),
            ("I2T slope", levels(ImageToOwnText, Slope)), ("I2T S", levels(ImageToOwnText, Spearman)),
        ],
    ),
    (
        "Recall",
        "Among all pictures, or all captions, that are measured on.",
        &[
            ("I2T R@1", recall(ImageToText, 1)), ("I2T R@5", recall(ImageToText, 5)), ("I2T R@10", recall(ImageToText, 10)),
            ("T2I R@1", recall(TextToImage, 1)), ("T2I R@5", recall(TextToImage, 5)), ("T2I R@10", recall(TextToImage, 10)),
        ],
    ),
    (
        "Noise",
        "With both, recall is as above; MMI is the share of Recall@1 that is lost in the mean of the three.",
        &[
            ("I2T R@1, noisy pictures", shifted(Impacted::ImageToText, Shift::NoisyPictures)),
            ("I2T R@1, noisy captions", shifted(Impacted::ImageToText, Shift::NoisyCaptions)),
            ("I2T MMI", shifted(Impacted::ImageToText, Shift::NoiseImpact)),
            ("T2I R@1, noisy pictures", shifted(Impacted::TextToImage, Shift::NoisyPictures)),
            ("T2I R@1, noisy captions", shifted(Impacted::TextToImage, Shift::NoisyCaptions)),
            ("T2I MMI", shifted(Impacted::TextToImage, Shift::NoiseImpact)),
        ],
    ),
    (
        "Disturbed pictures or captions",
        "RSUM, the sum of six recalls in percent: with clean pictures and captions, and with one side of the test \
         split disturbed, in the mean of the severities that `train disturb` was given. MMI is the share that is \
         lost in the mean of the kinds. A number without ± is of one seed.",
        &[
            ("clean", Metric::RecallSum),
            corrupted("gaussian"), corrupted("shot"), corrupted("impulse"), corrupted("speckle"),
            corrupted("defocus"), corrupted("zoom"), corrupted("snow"), corrupted("jpeg"), corrupted("pixelate"),
            corrupted("keyboard"), corrupted("spelling"),
            ("mean of the disturbed", shifted(Impacted::RecallSum, Shift::Corrupted)),
            ("MMI", shifted(Impacted::RecallSum, Shift::CorruptionImpact)),
        ],
    ),
    (
        "Recall@1 with disturbed pictures or captions",
        "In the mean of the same kinds.",
        &[
            ("I2T R@1", recall(ImageToText, 1)),
            ("disturbed", shifted(Impacted::ImageToText, Shift::Corrupted)),
            ("MMI", shifted(Impacted::ImageToText, Shift::CorruptionImpact)),
            ("T2I R@1", recall(TextToImage, 1)),
            ("disturbed", shifted(Impacted::TextToImage, Shift::Corrupted)),
            ("MMI", shifted(Impacted::TextToImage, Shift::CorruptionImpact)),
        ],
    ),
    (
        "Captions whose truth is known",
        "Uncertainty against the information of captions; both correlations should be −1.",
        &[
            ("full captions, T2I R@1", Metric::FullCaptionRecall),
            ("adjacent levels in order", Metric::AdjacentLevelsOrdered),
            ("Spearman with bits", Metric::UncertaintyVsBits),
            ("Spearman with tokens", Metric::UncertaintyVsTokens),
        ],
    ),
    (
        "Zero-shot accuracy",
        "Pictures given to the class whose captions score best.",
        &[
            accuracy("CIFAR-10", "cifar10"), accuracy("CIFAR-100", "cifar100"),
            accuracy("STL-10", "stl10"), accuracy("ImageNet", "imagenet"),
        ],
    ),
    (
        "Zero-shot accuracy by attribute",
        "Single objects named by captions alone.",
        &[
            accuracy("shape", "shape"), accuracy("colour", "colour"), accuracy("size", "size"),
            accuracy("texture", "texture"), accuracy("place", "place"), accuracy("count", "count"),
        ],
    ),
    (
        "None of the above",
        "Accuracy on pictures of a class and on pictures of none, with each of three dummies. Threshold and margin \
         are on CLIP's probabilities, at the point nearest to the paper's.",
        &[
            rejection("dummy 1 pos.", Dummy(0), Positive), rejection("dummy 1 neg.", Dummy(0), Negative),
            rejection("dummy 2 pos.", Dummy(1), Positive), rejection("dummy 2 neg.", Dummy(1), Negative),
            rejection("dummy 3 pos.", Dummy(2), Positive), rejection("dummy 3 neg.", Dummy(2), Negative),
            rejection("threshold pos.", Threshold, Positive), rejection("threshold neg.", Threshold, Negative),
            rejection("threshold AUROC", Threshold, Auroc), rejection("margin pos.", Margin, Positive),
            rejection("margin neg.", Margin, Negative), rejection("margin AUROC", Margin, Auroc),
        ],
    ),
    (
        "Time",
        "On the machine of `environment.json`.",
        &[("fit, seconds", Metric::FitSeconds), ("measure, seconds", Metric::MeasureSeconds)],
    ),
];

/// Every table of one data set for which there are numbers: mean ± population standard deviation over seeds, and what
/// the paper prints.
#[must_use]
pub(super) fn markdown(results: &Results, dataset: &str) -> String {
    let mut text = String::new();
    for (title, note, columns) in &TABLES {
        let mut methods = results.methods();
        methods.retain(|method| is_measured(results, *method, columns));
        if methods.is_empty() {
            continue;
        }
        let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let (heads, rule) = (heads.join(" | "), "---|".repeat(columns.len() + 2));
        let head = format!("## {title}\n\n{note}\n\n| method | seeds | {heads} |\n|{rule}\n");
        text.push_str(&head);
        for method in methods {
            let cells = |of: &dyn Fn(&Metric) -> Option<Summary>| {
                columns
                    .iter()
                    .map(|column| of(&column.1))
                    .collect::<Vec<_>>()
            };
            let found = cells(&|metric| results.summary(method, metric));
            write_row(&mut text, method.title(), &seeds(&found), &found);
            let papers = cells(&|metric| paper::printed(dataset, method, metric));
            if papers.iter().any(Option::is_some) {
                write_row(&mut text, "– in the paper", &seeds(&papers), &papers);
            }
        }
        text.push('\n');
    }
    text
}

/// Whether a method has numbers of a table. One of corruptions repeats clean numbers, which every method has.
fn is_measured(results: &Results, method: MethodName, columns: &[Column]) -> bool {
    let is_corrupted = |column: &&Column| match &column.1 {
        Metric::Shifted(_, shift) => !shift.is_of_noise(),
        _ => false,
    };
    let has_corrupted = columns.iter().any(|column| is_corrupted(&column));
    let mut shown = columns
        .iter()
        .filter(|column| !has_corrupted || is_corrupted(column));
    shown.any(|(_, metric)| results.summary(method, metric).is_some())
}

fn write_row(text: &mut String, name: &str, n_seeds: &str, cells: &[Option<Summary>]) {
    let cells: Vec<String> = cells.iter().map(|found| cell(*found)).collect();
    writeln!(text, "| {name} | {n_seeds} | {} |", cells.join(" | ")).ok();
}

/// How many seeds stand behind a row; some numbers may be of fewer than others.
fn seeds(found: &[Option<Summary>]) -> String {
    let n_seeds = found.iter().flatten().map(|summary| summary.n);
    match (n_seeds.clone().min(), n_seeds.max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

fn cell(found: Option<Summary>) -> String {
    match found {
        None => "–".to_owned(),
        Some(summary) if summary.n == 1 => format!("{:.3}", summary.mean),
        Some(summary) => format!("{:.3} ± {:.3}", summary.mean, summary.sd),
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Numbers;
    use super::*;

    #[test]
    fn a_table_shows_mean_and_spread_and_what_was_not_measured() {
        let mut results = Results::default();
        for (seed, value) in [(0, 0.25), (1, 0.75)] {
            let numbers = Numbers::from([(recall(TextToImage, 1), value)]);
            results.add(MethodName::Pfe, "scenes", seed, numbers);
        }
        let text = markdown(&results, "scenes");
        assert!(text.contains("| PFE* | 2 | – |"), "{text}");
        assert!(text.contains("| 0.500 ± 0.250 |"), "{text}");
        assert!(
            !text.contains("None of the above"),
            "no empty table: {text}"
        );
    }

    #[test]
    fn a_row_says_where_some_of_its_numbers_are_of_fewer_seeds() {
        let mut results = Results::default();
        for seed in 0..2 {
            let clean = (Metric::RecallSum, 400.0 + seed as f64);
            let corrupted = shifted(Impacted::RecallSum, Shift::Corrupted);
            let numbers = [clean, (corrupted, 300.0)].into_iter().take(2 - seed);
            results.add(MethodName::Pfe, "scenes", seed as u64, numbers.collect());
        }
        let text = markdown(&results, "scenes");
        let mut lines = text.lines();
        let row = lines.find(|line| line.starts_with("| PFE* | 1 to 2 |"));
        let row = row.unwrap_or_else(|| panic!("two of the one, one of the other: {text}"));
        assert!(
            row.contains("400.500 ± 0.500") && row.contains("| 300.000 |"),
            "{row}"
        );
    }

    #[test]
    fn the_papers_numbers_stand_below_those_of_its_data_sets() {
        let mut results = Results::default();
        for dataset in ["coco", "scenes"] {
            let numbers = Numbers::from([(recall(TextToImage, 1), 0.4)]);
            results.add(MethodName::AsymvlmVmf, dataset, 0, numbers);
        }
        let [coco, scenes] =
            ["coco", "scenes"].map(|dataset| markdown(&results.on(dataset), dataset));
        assert!(
            coco.contains("| – in the paper | 5 |") && coco.contains("| 0.392 ± 0.001 |"),
            "{coco}"
        );
        assert!(!scenes.contains("in the paper"), "{scenes}");
    }
}
