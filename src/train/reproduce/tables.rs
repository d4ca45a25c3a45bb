//! The tables of the paper in Markdown, from `results.json` alone.

use std::fmt::Write as _;

use super::paper;
use super::results::{Results, Summary};
use crate::train::methods::MethodName;

/// Seeds of the paper.
const PAPERS_SEEDS: usize = 5;

/// A column: its head and the number in it.
type Column = (&'static str, &'static str);

const RETRIEVAL: [Column; 9] = [
    ("I2T R@1", "i2t_recall_at_1"),
    ("I2T R²", "i2t_r_squared"),
    ("I2T slope", "i2t_slope"),
    ("I2T S", "i2t_spearman"),
    ("T2I R@1", "t2i_recall_at_1"),
    ("T2I R²", "t2i_r_squared"),
    ("T2I slope", "t2i_slope"),
    ("T2I S", "t2i_spearman"),
    ("RSUM", "rsum"),
];
const OWN: [Column; 4] = [
    ("I2T R@1", "i2t_own_recall_at_1"),
    ("I2T R²", "i2t_own_r_squared"),
    ("I2T slope", "i2t_own_slope"),
    ("I2T S", "i2t_own_spearman"),
];
const RECALL: [Column; 6] = [
    ("I2T R@1", "i2t_recall_at_1"),
    ("I2T R@5", "i2t_recall_at_5"),
    ("I2T R@10", "i2t_recall_at_10"),
    ("T2I R@1", "t2i_recall_at_1"),
    ("T2I R@5", "t2i_recall_at_5"),
    ("T2I R@10", "t2i_recall_at_10"),
];
const NOISE: [Column; 6] = [
    ("I2T R@1, noisy pictures", "i2t_recall_at_1_noisy_pictures"),
    ("I2T R@1, noisy captions", "i2t_recall_at_1_noisy_captions"),
    ("I2T MMI", "i2t_recall_at_1_mmi"),
    ("T2I R@1, noisy pictures", "t2i_recall_at_1_noisy_pictures"),
    ("T2I R@1, noisy captions", "t2i_recall_at_1_noisy_captions"),
    ("T2I MMI", "t2i_recall_at_1_mmi"),
];
const DISTURBED: [Column; 14] = [
    ("clean", "rsum"),
    ("gaussian", "disturbed_rsum_gaussian"),
    ("shot", "disturbed_rsum_shot"),
    ("impulse", "disturbed_rsum_impulse"),
    ("speckle", "disturbed_rsum_speckle"),
    ("defocus", "disturbed_rsum_defocus"),
    ("zoom", "disturbed_rsum_zoom"),
    ("snow", "disturbed_rsum_snow"),
    ("jpeg", "disturbed_rsum_jpeg"),
    ("pixelate", "disturbed_rsum_pixelate"),
    ("keyboard", "disturbed_rsum_keyboard"),
    ("spelling", "disturbed_rsum_spelling"),
    ("mean of the disturbed", "disturbed_rsum"),
    ("MMI", "disturbed_rsum_mmi"),
];
const DISTURBED_RECALL: [Column; 6] = [
    ("I2T R@1", "i2t_recall_at_1"),
    ("disturbed", "disturbed_i2t_recall_at_1"),
    ("MMI", "disturbed_i2t_recall_at_1_mmi"),
    ("T2I R@1", "t2i_recall_at_1"),
    ("disturbed", "disturbed_t2i_recall_at_1"),
    ("MMI", "disturbed_t2i_recall_at_1_mmi"),
];
const CAPTIONS: [Column; 4] = [
    ("full captions, T2I R@1", "t2i_recall_at_1_full"),
    ("adjacent levels in order", "adjacent_levels_ordered"),
    ("Spearman with bits", "uncertainty_vs_bits"),
    ("Spearman with tokens", "uncertainty_vs_tokens"),
];
const ZERO_SHOT: [Column; 4] = [
    ("CIFAR-10", "accuracy_cifar10"),
    ("CIFAR-100", "accuracy_cifar100"),
    ("STL-10", "accuracy_stl10"),
    ("ImageNet", "accuracy_imagenet"),
];
const ATTRIBUTES: [Column; 6] = [
    ("shape", "accuracy_shape"),
    ("colour", "accuracy_colour"),
    ("size", "accuracy_size"),
    ("texture", "accuracy_texture"),
    ("place", "accuracy_place"),
    ("count", "accuracy_count"),
];
const NONE_OF_THE_ABOVE: [Column; 12] = [
    ("dummy 1 pos.", "dummy_0_positive"),
    ("dummy 1 neg.", "dummy_0_negative"),
    ("dummy 2 pos.", "dummy_1_positive"),
    ("dummy 2 neg.", "dummy_1_negative"),
    ("dummy 3 pos.", "dummy_2_positive"),
    ("dummy 3 neg.", "dummy_2_negative"),
    ("threshold pos.", "threshold_positive"),
    ("threshold neg.", "threshold_negative"),
    ("threshold AUROC", "threshold_auroc"),
    ("margin pos.", "margin_positive"),
    ("margin neg.", "margin_negative"),
    ("margin AUROC", "margin_auroc"),
];
const COST: [Column; 2] = [
    ("fit, seconds", "fit_seconds"),
    ("measure, seconds", "measure_seconds"),
];

/// Every table of one data set for which there are numbers: mean ± population standard deviation over seeds, and what
/// the paper prints.
#[must_use]
pub fn markdown(results: &Results, dataset: &str) -> String {
    let mut text = String::new();
    for (title, note, columns) in [
        (
            "Retrieval and its uncertainty",
            "S and R² are of recall over ten levels of uncertainty; S should be −1. R² is blind to the sign of the \
             slope, which stands beside it. Where the truth is known, a picture may find any caption that is true \
             of it.",
            &RETRIEVAL[..],
        ),
        (
            "Own captions",
            "The same where a picture must find a caption that was said of itself.",
            &OWN[..],
        ),
        (
            "Recall",
            "Among all pictures, or all captions, that are measured on.",
            &RECALL[..],
        ),
        (
            "Noise",
            "With both, recall is as above; MMI is the share of Recall@1 that is lost in the mean of the three.",
            &NOISE[..],
        ),
        (
            "Disturbed pictures or captions",
            "RSUM, the sum of six recalls in percent: with clean pictures and captions, and with one side of the test \
             split disturbed, in the mean of the severities that `train disturb` was given. MMI is the share that is \
             lost in the mean of the kinds. A number without ± is of one seed.",
            &DISTURBED[..],
        ),
        (
            "Recall@1 with disturbed pictures or captions",
            "In the mean of the same kinds.",
            &DISTURBED_RECALL[..],
        ),
        (
            "Captions whose truth is known",
            "Uncertainty against the information of captions; both correlations should be −1.",
            &CAPTIONS[..],
        ),
        (
            "Zero-shot accuracy",
            "Pictures given to the class whose captions score best.",
            &ZERO_SHOT[..],
        ),
        (
            "Zero-shot accuracy by attribute",
            "Single objects named by captions alone.",
            &ATTRIBUTES[..],
        ),
        (
            "None of the above",
            "Accuracy on pictures of a class and on pictures of none, with each of three dummies. Threshold and margin \
             are on CLIP's probabilities, at the point nearest to the paper's.",
            &NONE_OF_THE_ABOVE[..],
        ),
        ("Time", "On the machine of `environment.json`.", &COST[..]),
    ] {
        let table = Table {
            title,
            note,
            columns,
            dataset,
        };
        table.write(&mut text, results);
    }
    text
}

struct Table<'a> {
    title: &'a str,
    note: &'a str,
    columns: &'a [Column],
    dataset: &'a str,
}

impl Table<'_> {
    fn write(&self, text: &mut String, results: &Results) {
        let Self {
            title,
            note,
            columns,
            dataset,
        } = self;
        // A table of disturbances repeats clean numbers, which every method has.
        let is_disturbed = |column: &Column| column.1.starts_with("disturbed_");
        let has_disturbed = columns.iter().any(is_disturbed);
        let is_measured = |method: &MethodName| {
            columns
                .iter()
                .filter(|column| !has_disturbed || is_disturbed(column))
                .any(|c| results.summary(*method, c.1).is_some())
        };
        let methods: Vec<MethodName> = results.methods().into_iter().filter(is_measured).collect();
        if methods.is_empty() {
            return;
        }
        let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
        let rule = "---|".repeat(columns.len() + 2);
        writeln!(
            text,
            "## {title}\n\n{note}\n\n| method | seeds | {} |\n|{rule}",
            heads.join(" | ")
        )
        .ok();
        for method in methods {
            let found = columns
                .iter()
                .map(|column| results.summary(method, column.1));
            let found: Vec<Option<Summary>> = found.collect();
            write_row(text, method.title(), &seeds(&found), &found);
            let papers = columns
                .iter()
                .map(|column| paper::printed(dataset, method, column.1));
            let papers: Vec<Option<Summary>> = papers
                .map(|printed| {
                    printed.map(|(mean, sd)| Summary {
                        mean,
                        sd,
                        n: PAPERS_SEEDS,
                    })
                })
                .collect();
            if papers.iter().any(Option::is_some) {
                write_row(text, "– in the paper", &PAPERS_SEEDS.to_string(), &papers);
            }
        }
        text.push('\n');
    }
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
    use super::*;
    use crate::train::reproduce::measure::Numbers;

    #[test]
    fn a_table_shows_mean_and_spread_and_what_was_not_measured() {
        let mut results = Results::default();
        for (seed, recall) in [(0, 0.25), (1, 0.75)] {
            let numbers = Numbers::from([("t2i_recall_at_1".to_owned(), recall)]);
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
            let clean = ("rsum".to_owned(), 400.0 + seed as f64);
            let disturbed = ("disturbed_rsum".to_owned(), 300.0);
            let numbers = [clean, disturbed].into_iter().take(2 - seed);
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
            let numbers = Numbers::from([("t2i_recall_at_1".to_owned(), 0.4)]);
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
