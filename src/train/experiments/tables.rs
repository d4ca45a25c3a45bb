//! The tables of the paper in Markdown, from `results.json` alone.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::paper;
use super::results::{Results, Summary};
use crate::report::LevelStatistic::{RSquared, Slope, Spearman};
use crate::report::PathRoot::{MostInclusive, NoWords};
use crate::report::PathScore::{Precision, RootRecall};
use crate::report::RejectionResult::{Auroc, Negative, Positive};
use crate::report::RejectionRule::{Dummy, Margin, Threshold};
use crate::report::Retrieval::{ImageToLevelText, ImageToOwnText, ImageToText, TextToImage};
use crate::report::{
    Impacted, LevelStatistic, Metric, Modality, PathRoot, PathScore, RejectionResult,
    RejectionRule, Retrieval, Shift,
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

const fn corrupted(of: Impacted, kind: &'static str) -> Column {
    (kind, shifted(of, Shift::Kind(Cow::Borrowed(kind))))
}

/// The columns of a number under each corruption.
macro_rules! disturbed {
    ($of:expr, $clean:expr) => {
        [
            ("clean", $clean),
            corrupted($of, "gaussian"),
            corrupted($of, "shot"),
            corrupted($of, "impulse"),
            corrupted($of, "speckle"),
            corrupted($of, "defocus"),
            corrupted($of, "zoom"),
            corrupted($of, "snow"),
            corrupted($of, "jpeg"),
            corrupted($of, "pixelate"),
            corrupted($of, "keyboard"),
            corrupted($of, "spelling"),
            ("mean of the disturbed", shifted($of, Shift::Corrupted)),
            ("MMI", shifted($of, Shift::CorruptionImpact)),
        ]
    };
}

const fn accuracy(head: &'static str, task: &'static str) -> Column {
    (head, Metric::Accuracy(Cow::Borrowed(task)))
}

const fn path(root: PathRoot, score: PathScore) -> Metric {
    Metric::Path(root, score)
}

const fn rejection(head: &'static str, rule: RejectionRule, result: RejectionResult) -> Column {
    (head, Metric::Rejection(rule, result))
}

/// The tables in order: title, what the numbers are, and columns. Pictures look for their own captions; where truth is
/// not known there are no others, and the columns hold the plain numbers.
#[rustfmt::skip]
static TABLES: [(&str, &str, &[Column]); 17] = [
    (
        "Retrieval and its uncertainty",
        "T2I: a caption looks for its picture. I2T: a picture looks for a caption that was said of itself. S and R² \
         are of recall over ten levels of uncertainty; S should be −1. R² is blind to the sign of the slope, which \
         stands beside it. None of the three is there without an uncertainty, where it says the same of all or of most \
         queries, where recall is the same at every level, or where fewer queries find than there are levels: of three \
         hits it is chance. RSUM is the sum of the six recalls in percent. ProbVLM's released \
         code calls one over the variance uncertainty; with the other sign its order is read backwards, which is the \
         variance itself.",
        &[
            ("T2I R@1", recall(TextToImage, 1)), ("T2I R²", levels(TextToImage, RSquared)),
            ("T2I slope", levels(TextToImage, Slope)), ("T2I S", levels(TextToImage, Spearman)),
            ("I2T R@1", recall(ImageToOwnText, 1)), ("I2T R²", levels(ImageToOwnText, RSquared)),
            ("I2T slope", levels(ImageToOwnText, Slope)), ("I2T S", levels(ImageToOwnText, Spearman)),
            ("RSUM", Metric::OwnRecallSum),
        ],
    ),
    (
        "What a picture may find",
        "Recall@1 of pictures by how much the caption must say: one that was said of itself; any that is true of it \
         among the captions of one level of the hierarchy, which say equally much, in the mean of the levels and for \
         each, the vaguest first; any that is true of it. The last rewards saying nothing: who answers “a picture” to \
         every picture has 1.",
        &[
            ("own caption", recall(ImageToOwnText, 1)), ("true of its level", recall(ImageToLevelText, 1)),
            ("level 0", Metric::LevelTextRecall(0)), ("level 1", Metric::LevelTextRecall(1)),
            ("level 2", Metric::LevelTextRecall(2)), ("level 3", Metric::LevelTextRecall(3)),
            ("level 4", Metric::LevelTextRecall(4)), ("any true caption", recall(ImageToText, 1)),
        ],
    ),
    (
        "Any true caption",
        "The same as the first table where a picture may find any caption that is true of it; no verdict rests on it.",
        &[
            ("I2T R@1", recall(ImageToText, 1)), ("I2T R²", levels(ImageToText, RSquared)),
            ("I2T slope", levels(ImageToText, Slope)), ("I2T S", levels(ImageToText, Spearman)),
            ("RSUM", Metric::RecallSum),
        ],
    ),
    (
        "Recall",
        "Among all pictures, or all captions, that are measured on.",
        &[
            ("I2T R@1", recall(ImageToOwnText, 1)), ("I2T R@5", recall(ImageToOwnText, 5)), ("I2T R@10", recall(ImageToOwnText, 10)),
            ("T2I R@1", recall(TextToImage, 1)), ("T2I R@5", recall(TextToImage, 5)), ("T2I R@10", recall(TextToImage, 10)),
        ],
    ),
    (
        "Noise",
        "With both, recall is as above; MMI is the share of Recall@1 that is lost in the mean of the three.",
        &[
            ("I2T R@1, noisy pictures", shifted(Impacted::ImageToOwnText, Shift::NoisyPictures)),
            ("I2T R@1, noisy captions", shifted(Impacted::ImageToOwnText, Shift::NoisyCaptions)),
            ("I2T MMI", shifted(Impacted::ImageToOwnText, Shift::NoiseImpact)),
            ("T2I R@1, noisy pictures", shifted(Impacted::TextToImage, Shift::NoisyPictures)),
            ("T2I R@1, noisy captions", shifted(Impacted::TextToImage, Shift::NoisyCaptions)),
            ("T2I MMI", shifted(Impacted::TextToImage, Shift::NoiseImpact)),
        ],
    ),
    (
        "Disturbed pictures or captions",
        "RSUM with clean pictures and captions, and with one side of the test split disturbed, in the mean of the \
         severities above. MMI is the share that is lost in the mean of the kinds. A number without ± is of one seed.",
        &disturbed!(Impacted::OwnRecallSum, Metric::OwnRecallSum),
    ),
    (
        "Disturbed pictures or captions, any true caption",
        "The same where a picture may find any caption that is true of it, which rewards saying nothing.",
        &disturbed!(Impacted::RecallSum, Metric::RecallSum),
    ),
    (
        "Recall@1 with disturbed pictures or captions",
        "In the mean of the same kinds.",
        &[
            ("I2T R@1", recall(ImageToOwnText, 1)),
            ("disturbed", shifted(Impacted::ImageToOwnText, Shift::Corrupted)),
            ("MMI", shifted(Impacted::ImageToOwnText, Shift::CorruptionImpact)),
            ("T2I R@1", recall(TextToImage, 1)),
            ("disturbed", shifted(Impacted::TextToImage, Shift::Corrupted)),
            ("MMI", shifted(Impacted::TextToImage, Shift::CorruptionImpact)),
        ],
    ),
    (
        "Captions whose truth is known",
        "Uncertainty against the information of captions; all correlations should be −1. With bits over distinct \
         captions, as `train evaluate` counts for κ, whose sign is the opposite; earlier results counted a caption as \
         often as it was said.",
        &[
            ("full captions, T2I R@1", Metric::FullCaptionRecall),
            ("adjacent levels in order", Metric::AdjacentLevelsOrdered),
            ("Spearman with bits", Metric::UncertaintyVsBitsDistinct),
            ("with bits, repeats counted", Metric::UncertaintyVsBits),
            ("Spearman with tokens", Metric::UncertaintyVsTokens),
        ],
    ),
    (
        "Captions by length and level",
        "What captions say is not known here, only how long they are and, where someone wrote a hierarchy, at which \
         level they stand. Spearman correlation of uncertainty with the number of tokens: −1 where a longer caption is \
         always more certain. Of a hierarchy, the share of neighbouring levels whose uncertainty falls, and what \
         captions of the fullest level find.",
        &[
            ("full captions, T2I R@1", Metric::FullCaptionRecall),
            ("adjacent levels in order", Metric::AdjacentLevelsOrdered),
            ("Spearman with tokens", Metric::UncertaintyVsTokens),
        ],
    ),
    (
        "Uncertainty of pictures",
        "Of methods in which a picture is uncertain by itself. Where captions are uncertain in the same measure, the \
         medians of both (of the mean variance, of 1/κ) and the share of captions whose own picture is more certain \
         than they are. S and R² are of pictures' Recall@1 over ten levels of their own uncertainty. “Disturbed” is \
         the share of pictures that are less certain when they are disturbed, in the mean of the kinds and severities.",
        &[
            ("captions, median", Metric::MedianUncertainty(Modality::Captions)),
            ("pictures, median", Metric::MedianUncertainty(Modality::Pictures)),
            ("picture more certain", Metric::PictureMoreCertain),
            ("own S", Metric::PictureLevels(Spearman)), ("own R²", Metric::PictureLevels(RSquared)),
            ("own slope", Metric::PictureLevels(Slope)),
            ("disturbed", Metric::CorruptedLessCertain(Shift::Corrupted)),
        ],
    ),
    (
        "Paths through hierarchies",
        "From the caption that a picture retrieves in fifty steps to a root, each step at the nearest caption: the \
         share of the captions met that are of the picture's hierarchy (precision), the share of the hierarchy that is \
         met (recall), and what the root alone finds of it. The root is the embedding of no words, or that and the \
         caption whose distribution includes the picture's most. Of methods in which both sides are Gaussians.",
        &[
            ("precision, no words", path(NoWords, Precision)), ("with uncertainty", path(MostInclusive, Precision)),
            ("recall, no words", path(NoWords, PathScore::Recall)), ("with uncertainty", path(MostInclusive, PathScore::Recall)),
            ("root, no words", path(NoWords, RootRecall)), ("with uncertainty", path(MostInclusive, RootRecall)),
        ],
    ),
    (
        "Fitted scale and concentration",
        "The factor τ on the logits at the end of the fit, and quantiles of κ over the captions that are measured on, \
         of the pictures where theirs is uncertain. A density that τ has tempered has the concentration τκ; a fit \
         identifies the two together.",
        &[
            ("τ", Metric::FittedScale), ("κ, 10 %", Metric::Concentration(10)),
            ("κ, median", Metric::Concentration(50)), ("κ, 90 %", Metric::Concentration(90)),
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
        "Accuracy on positives, pictures of a class, and on negatives, pictures of none, with each of three dummies. \
         Who refuses everything has 0 and 1.",
        &[
            rejection("dummy 1 pos.", Dummy(0), Positive), rejection("dummy 1 neg.", Dummy(0), Negative),
            rejection("dummy 2 pos.", Dummy(1), Positive), rejection("dummy 2 neg.", Dummy(1), Negative),
            rejection("dummy 3 pos.", Dummy(2), Positive), rejection("dummy 3 neg.", Dummy(2), Negative),
        ],
    ),
    (
        "None of the above, by CLIP's probabilities",
        "Without a dummy: threshold and margin at the point nearest to the paper's.",
        &[
            rejection("threshold pos.", Threshold, Positive), rejection("threshold neg.", Threshold, Negative),
            rejection("threshold AUROC", Threshold, Auroc), rejection("margin pos.", Margin, Positive),
            rejection("margin neg.", Margin, Negative), rejection("margin AUROC", Margin, Auroc),
        ],
    ),
];

/// Every table of one data set for which there are numbers: mean ± population standard deviation over seeds, and what
/// the paper prints.
#[must_use]
pub(super) fn markdown(results: &Results, dataset: &str) -> String {
    let mut text = String::new();
    let is_truth_known = is_truth_known(results);
    for (title, note, columns) in &TABLES {
        let left_out = if is_truth_known {
            &NEEDS_NO_TRUTH[..]
        } else {
            &NEEDS_TRUTH
        };
        if left_out.contains(title) {
            continue;
        }
        let mut columns: Vec<Column> = match is_truth_known {
            true => columns.to_vec(),
            false => columns.iter().map(without_truth).collect(),
        };
        let mut methods = results.methods();
        methods.retain(|method| is_measured(results, *method, &columns));
        if methods.is_empty() {
            continue;
        }
        columns.retain(|(_, metric)| {
            let mut summaries = methods.iter().map(|name| results.summary(*name, metric));
            summaries.any(|summary| summary.is_some())
        });
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
            if method == MethodName::Probvlm {
                let turned = cells(&|metric| other_sign(metric, results.summary(method, metric)?));
                if turned.iter().any(Option::is_some) {
                    write_row(&mut text, "– with the other sign", &seeds(&turned), &turned);
                }
            }
            let papers = cells(&|metric| paper::printed(dataset, method, metric));
            if papers.iter().any(Option::is_some) {
                write_row(&mut text, "– in the paper", &seeds(&papers), &papers);
            }
        }
        text.push('\n');
    }
    text
}

/// A number with uncertainty read the other way round, where it follows: `ProbVLM`'s released code takes one over the
/// variance, its paper speaks of the variance.
pub(super) fn other_sign(metric: &Metric, found: Summary) -> Option<Summary> {
    let mean = match metric {
        Metric::Levels(_, Spearman | Slope)
        | Metric::PictureLevels(Spearman | Slope)
        | Metric::UncertaintyVsBits
        | Metric::UncertaintyVsBitsDistinct
        | Metric::UncertaintyVsTokens => -found.mean,
        Metric::Levels(_, RSquared) | Metric::PictureLevels(RSquared) => found.mean,
        Metric::AdjacentLevelsOrdered
        | Metric::PictureMoreCertain
        | Metric::CorruptedLessCertain(_) => 1.0 - found.mean,
        _ => return None,
    };
    Some(Summary { mean, ..found })
}

/// Tables that say something where it is known which captions are true of a picture, and repeat others elsewhere.
const NEEDS_TRUTH: [&str; 4] = [
    "What a picture may find",
    "Any true caption",
    "Disturbed pictures or captions, any true caption",
    "Captions whose truth is known",
];
/// Tables in the place of others where truth is not known.
const NEEDS_NO_TRUTH: [&str; 1] = ["Captions by length and level"];

/// Whether pictures found more captions that are true of them than those that were said of them.
#[must_use]
pub(super) fn is_truth_known(results: &Results) -> bool {
    let own = recall(ImageToOwnText, 1);
    let mut methods = results.methods().into_iter();
    methods.any(|method| results.summary(method, &own).is_some())
}

/// The column of a data set whose captions are true of their own pictures alone.
fn without_truth((head, metric): &Column) -> Column {
    let plain = match metric {
        Metric::Recall(ImageToOwnText, k) => recall(ImageToText, *k),
        Metric::Levels(ImageToOwnText, of) => levels(ImageToText, *of),
        Metric::OwnRecallSum => Metric::RecallSum,
        Metric::Shifted(Impacted::OwnRecallSum, shift) => shifted_by(Impacted::RecallSum, shift),
        Metric::Shifted(Impacted::ImageToOwnText, shift) => {
            shifted_by(Impacted::ImageToText, shift)
        }
        other => other.clone(),
    };
    (head, plain)
}

fn shifted_by(of: Impacted, shift: &Shift) -> Metric {
    Metric::Shifted(of, shift.clone())
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

/// Number of seeds behind a row, or its range where some numbers have fewer than others.
fn seeds(found: &[Option<Summary>]) -> String {
    let n_seeds = found.iter().flatten().map(|summary| summary.n);
    match (n_seeds.clone().min(), n_seeds.max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

pub(super) fn cell(found: Option<Summary>) -> String {
    match found {
        None => "–".to_owned(),
        Some(summary) if summary.n == 1 => format!("{:.3}", summary.mean),
        Some(summary) => format!("{:.3} ± {:.3}", summary.mean, summary.sd),
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Numbers;
    use super::*;

    #[test]
    fn what_rewards_saying_nothing_has_a_name_and_stands_apart() {
        let mut results = Results::default();
        let numbers = [
            (recall(ImageToText, 1), 1.0),
            (recall(ImageToOwnText, 1), 0.0),
            (recall(ImageToLevelText, 1), 0.25),
            (Metric::RecallSum, 400.0),
            (Metric::OwnRecallSum, 100.0),
        ];
        results.add(MethodName::Clip, "scenes", 0, numbers.into());
        let text = markdown(&results, "scenes");
        for part in [
            "| method | seeds | I2T R@1 | RSUM |\n|---|---|---|---|\n| CLIP zero-shot | 1 | 0.000 | 100.000 |",
            "| CLIP zero-shot | 1 | 0.000 | 0.250 | 1.000 |",
            "## Any true caption",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let mut plain = Results::default();
        let numbers = [(recall(ImageToText, 1), 0.5), (Metric::RecallSum, 300.0)];
        plain.add(MethodName::Clip, "photos", 0, numbers.into());
        let text = markdown(&plain, "photos");
        let row = "| CLIP zero-shot | 1 | 0.500 | 300.000 |";
        assert!(text.contains(row), "own captions are all there are: {text}");
        assert!(
            !text.contains("## Any true"),
            "which is not said twice: {text}"
        );
    }

    #[test]
    fn captions_have_a_table_of_their_own_where_what_they_say_is_not_known() {
        let of = |is_truth_known: bool| {
            let mut results = Results::default();
            let mut numbers = Numbers::from([(Metric::UncertaintyVsTokens, -0.5)]);
            if is_truth_known {
                numbers.insert(recall(ImageToOwnText, 1), 0.5);
            }
            results.add(MethodName::Pfe, "a", 0, numbers);
            markdown(&results, "a")
        };
        for (is_truth_known, there, not_there) in [
            (
                true,
                "## Captions whose truth is known",
                "## Captions by length",
            ),
            (
                false,
                "## Captions by length and level",
                "## Captions whose truth",
            ),
        ] {
            let text = of(is_truth_known);
            assert!(text.contains(there), "{there} in {text}");
            assert!(!text.contains(not_there), "{not_there} in {text}");
            assert!(text.contains("| PFE* | 1 | -0.500 |"), "{text}");
        }
    }

    #[test]
    fn probvlm_stands_with_both_signs() {
        let mut results = Results::default();
        let numbers = [
            (levels(TextToImage, Spearman), 0.5),
            (levels(TextToImage, RSquared), 0.25),
        ];
        results.add(MethodName::Probvlm, "scenes", 0, numbers.into());
        let text = markdown(&results, "scenes");
        let row = "| method | seeds | T2I R² | T2I S |\n|---|---|---|---|\n\
                   | ProbVLM | 1 | 0.250 | 0.500 |\n| – with the other sign | 1 | 0.250 | -0.500 |";
        assert!(text.contains(row), "{row} in {text}");
    }

    #[test]
    fn scale_and_concentration_have_a_table_where_they_were_measured() {
        let mut results = Results::default();
        let numbers = [(Metric::FittedScale, 2.5), (Metric::Concentration(50), 8.0)];
        results.add(MethodName::AsymvlmVmf, "scenes", 0, numbers.into());
        let scaled = [(Metric::FittedScale, 14.0)];
        results.add(MethodName::Deterministic, "scenes", 0, scaled.into());
        let recalled = [(recall(TextToImage, 1), 0.5)];
        results.add(MethodName::Clip, "scenes", 0, recalled.into());
        let text = markdown(&results, "scenes");
        let table = text.split("## Fitted scale and concentration").nth(1);
        let table = table.expect("it was measured");
        for row in [
            "| AsymVLM vMF | 1 | 2.500 | 8.000 |",
            "| Determ. FT | 1 | 14.000 | – |",
        ] {
            assert!(table.contains(row), "{row} in {table}");
        }
        assert!(!table.contains("CLIP"), "which fits nothing: {table}");
    }

    #[test]
    fn a_table_shows_mean_and_spread_and_what_was_not_measured() {
        let mut results = Results::default();
        for (seed, value) in [(0, 0.25), (1, 0.75)] {
            let numbers = Numbers::from([(recall(TextToImage, 1), value)]);
            results.add(MethodName::Pfe, "scenes", seed, numbers);
        }
        let ranked = Numbers::from([(levels(TextToImage, Spearman), -1.0)]);
        results.add(MethodName::Density, "scenes", 0, ranked);
        let text = markdown(&results, "scenes");
        assert!(
            text.contains("| PFE* | 2 | 0.500 ± 0.250 | – |\n"),
            "{text}"
        );
        assert!(!text.contains("T2I R²"), "which no method has: {text}");
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
