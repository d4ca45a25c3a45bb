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

/// Seeds of the paper.
const PAPERS_SEEDS: usize = 5;

/// A column: its head and the metric in it.
type Column = (&'static str, Metric);

const fn recall(of: Retrieval, k: usize) -> Metric {
    Metric::Recall(of, k)
}

const fn levels(of: Retrieval, statistic: LevelStatistic) -> Metric {
    Metric::Levels(of, statistic)
}

const fn corrupted(kind: &'static str) -> Column {
    let shift = Shift::Kind(Cow::Borrowed(kind));
    (kind, Metric::Shifted(Impacted::RecallSum, shift))
}

const fn accuracy(head: &'static str, task: &'static str) -> Column {
    (head, Metric::Accuracy(Cow::Borrowed(task)))
}

const fn rejection(head: &'static str, rule: RejectionRule, result: RejectionResult) -> Column {
    (head, Metric::Rejection(rule, result))
}

static RETRIEVAL: [Column; 9] = [
    ("I2T R@1", recall(ImageToText, 1)),
    ("I2T R²", levels(ImageToText, RSquared)),
    ("I2T slope", levels(ImageToText, Slope)),
    ("I2T S", levels(ImageToText, Spearman)),
    ("T2I R@1", recall(TextToImage, 1)),
    ("T2I R²", levels(TextToImage, RSquared)),
    ("T2I slope", levels(TextToImage, Slope)),
    ("T2I S", levels(TextToImage, Spearman)),
    ("RSUM", Metric::RecallSum),
];
static OWN: [Column; 4] = [
    ("I2T R@1", recall(ImageToOwnText, 1)),
    ("I2T R²", levels(ImageToOwnText, RSquared)),
    ("I2T slope", levels(ImageToOwnText, Slope)),
    ("I2T S", levels(ImageToOwnText, Spearman)),
];
static RECALL: [Column; 6] = [
    ("I2T R@1", recall(ImageToText, 1)),
    ("I2T R@5", recall(ImageToText, 5)),
    ("I2T R@10", recall(ImageToText, 10)),
    ("T2I R@1", recall(TextToImage, 1)),
    ("T2I R@5", recall(TextToImage, 5)),
    ("T2I R@10", recall(TextToImage, 10)),
];
#[rustfmt::skip]
static NOISE: [Column; 6] = [
    ("I2T R@1, noisy pictures", Metric::Shifted(Impacted::ImageToText, Shift::NoisyPictures)),
    ("I2T R@1, noisy captions", Metric::Shifted(Impacted::ImageToText, Shift::NoisyCaptions)),
    ("I2T MMI", Metric::Shifted(Impacted::ImageToText, Shift::NoiseImpact)),
    ("T2I R@1, noisy pictures", Metric::Shifted(Impacted::TextToImage, Shift::NoisyPictures)),
    ("T2I R@1, noisy captions", Metric::Shifted(Impacted::TextToImage, Shift::NoisyCaptions)),
    ("T2I MMI", Metric::Shifted(Impacted::TextToImage, Shift::NoiseImpact)),
];
#[rustfmt::skip]
static CORRUPTED: [Column; 14] = [
    ("clean", Metric::RecallSum),
    corrupted("gaussian"),
    corrupted("shot"),
    corrupted("impulse"),
    corrupted("speckle"),
    corrupted("defocus"),
    corrupted("zoom"),
    corrupted("snow"),
    corrupted("jpeg"),
    corrupted("pixelate"),
    corrupted("keyboard"),
    corrupted("spelling"),
    ("mean of the disturbed", Metric::Shifted(Impacted::RecallSum, Shift::Corrupted)),
    ("MMI", Metric::Shifted(Impacted::RecallSum, Shift::CorruptionImpact)),
];
static CORRUPTED_RECALL: [Column; 6] = [
    ("I2T R@1", recall(ImageToText, 1)),
    (
        "disturbed",
        Metric::Shifted(Impacted::ImageToText, Shift::Corrupted),
    ),
    (
        "MMI",
        Metric::Shifted(Impacted::ImageToText, Shift::CorruptionImpact),
    ),
    ("T2I R@1", recall(TextToImage, 1)),
    (
        "disturbed",
        Metric::Shifted(Impacted::TextToImage, Shift::Corrupted),
    ),
    (
        "MMI",
        Metric::Shifted(Impacted::TextToImage, Shift::CorruptionImpact),
    ),
];
static CAPTIONS: [Column; 4] = [
    ("full captions, T2I R@1", Metric::FullCaptionRecall),
    ("adjacent levels in order", Metric::AdjacentLevelsOrdered),
    ("Spearman with bits", Metric::UncertaintyVsBits),
    ("Spearman with tokens", Metric::UncertaintyVsTokens),
];
static ZERO_SHOT: [Column; 4] = [
    accuracy("CIFAR-10", "cifar10"),
    accuracy("CIFAR-100", "cifar100"),
    accuracy("STL-10", "stl10"),
    accuracy("ImageNet", "imagenet"),
];
static ATTRIBUTES: [Column; 6] = [
    accuracy("shape", "shape"),
    accuracy("colour", "colour"),
    accuracy("size", "size"),
    accuracy("texture", "texture"),
    accuracy("place", "place"),
    accuracy("count", "count"),
];
static NONE_OF_THE_ABOVE: [Column; 12] = [
    rejection("dummy 1 pos.", Dummy(0), Positive),
    rejection("dummy 1 neg.", Dummy(0), Negative),
    rejection("dummy 2 pos.", Dummy(1), Positive),
    rejection("dummy 2 neg.", Dummy(1), Negative),
    rejection("dummy 3 pos.", Dummy(2), Positive),
    rejection("dummy 3 neg.", Dummy(2), Negative),
    rejection("threshold pos.", Threshold, Positive),
    rejection("threshold neg.", Threshold, Negative),
    rejection("threshold AUROC", Threshold, Auroc),
    rejection("margin pos.", Margin, Positive),
    rejection("margin neg.", Margin, Negative),
    rejection("margin AUROC", Margin, Auroc),
];
static COST: [Column; 2] = [
    ("fit, seconds", Metric::FitSeconds),
    ("measure, seconds", Metric::MeasureSeconds),
];

/// The tables in order: title, what the numbers are, and columns.
static TABLES: [(&str, &str, &[Column]); 11] = [
    (
        "Retrieval and its uncertainty",
        "S and R² are of recall over ten levels of uncertainty; S should be −1. R² is blind to the sign of the \
         slope, which stands beside it. Where the truth is known, a picture may find any caption that is true \
         of it.",
        &RETRIEVAL,
    ),
    (
        "Own captions",
        "The same where a picture must find a caption that was said of itself.",
        &OWN,
    ),
    (
        "Recall",
        "Among all pictures, or all captions, that are measured on.",
        &RECALL,
    ),
    (
        "Noise",
        "With both, recall is as above; MMI is the share of Recall@1 that is lost in the mean of the three.",
        &NOISE,
    ),
    (
        "Disturbed pictures or captions",
        "RSUM, the sum of six recalls in percent: with clean pictures and captions, and with one side of the test \
         split disturbed, in the mean of the severities that `train disturb` was given. MMI is the share that is \
         lost in the mean of the kinds. A number without ± is of one seed.",
        &CORRUPTED,
    ),
    (
        "Recall@1 with disturbed pictures or captions",
        "In the mean of the same kinds.",
        &CORRUPTED_RECALL,
    ),
    (
        "Captions whose truth is known",
        "Uncertainty against the information of captions; both correlations should be −1.",
        &CAPTIONS,
    ),
    (
        "Zero-shot accuracy",
        "Pictures given to the class whose captions score best.",
        &ZERO_SHOT,
    ),
    (
        "Zero-shot accuracy by attribute",
        "Single objects named by captions alone.",
        &ATTRIBUTES,
    ),
    (
        "None of the above",
        "Accuracy on pictures of a class and on pictures of none, with each of three dummies. Threshold and margin \
         are on CLIP's probabilities, at the point nearest to the paper's.",
        &NONE_OF_THE_ABOVE,
    ),
    ("Time", "On the machine of `environment.json`.", &COST),
];

/// Every table of one data set for which there are numbers: mean ± population standard deviation over seeds, and what
/// the paper prints.
#[must_use]
pub(super) fn markdown(results: &Results, dataset: &str) -> String {
    let mut text = String::new();
    for (title, note, columns) in &TABLES {
        let methods = results.methods().into_iter();
        let methods: Vec<MethodName> = methods
            .filter(|method| is_measured(results, *method, columns))
            .collect();
        if methods.is_empty() {
            continue;
        }
        let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let (heads, rule) = (heads.join(" | "), "---|".repeat(columns.len() + 2));
        let head = format!("## {title}\n\n{note}\n\n| method | seeds | {heads} |\n|{rule}\n");
        text.push_str(&head);
        for method in methods {
            let cells = columns.iter();
            let found: Vec<Option<Summary>> = cells
                .clone()
                .map(|(_, metric)| results.summary(method, metric))
                .collect();
            write_row(&mut text, method.title(), &seeds(&found), &found);
            let papers: Vec<Option<Summary>> = cells
                .map(|(_, metric)| printed(dataset, method, metric))
                .collect();
            if papers.iter().any(Option::is_some) {
                let n_seeds = PAPERS_SEEDS.to_string();
                write_row(&mut text, "– in the paper", &n_seeds, &papers);
            }
        }
        text.push('\n');
    }
    text
}

/// Whether a method has numbers of a table. One of corruptions repeats clean numbers, which every method has.
fn is_measured(results: &Results, method: MethodName, columns: &[Column]) -> bool {
    let is_corrupted = |column: &&Column| {
        let shift = match &column.1 {
            Metric::Shifted(_, shift) => shift,
            _ => return false,
        };
        !matches!(
            shift,
            Shift::NoisyPictures | Shift::NoisyCaptions | Shift::NoiseImpact
        )
    };
    let has_corrupted = columns.iter().any(|column| is_corrupted(&column));
    let mut columns = columns
        .iter()
        .filter(|column| !has_corrupted || is_corrupted(column));
    columns.any(|(_, metric)| results.summary(method, metric).is_some())
}

/// What the paper prints of a number.
fn printed(dataset: &str, method: MethodName, metric: &Metric) -> Option<Summary> {
    let (mean, sd) = paper::printed(dataset, method, metric)?;
    let n = PAPERS_SEEDS;
    Some(Summary { mean, sd, n })
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
            let corrupted = (
                Metric::Shifted(Impacted::RecallSum, Shift::Corrupted),
                300.0,
            );
            let numbers = [clean, corrupted].into_iter().take(2 - seed);
            results.add(MethodName::Pfe, "scenes", seed as u64, numbers.collect());
        }
        let text = markdown(&results, "scenes");
        let row = text
            .lines()
            .find(|line| line.starts_with("| PFE* | 1 to 2 |"));
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
