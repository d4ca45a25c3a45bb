//! The tables of the paper in Markdown, from `results.json` alone.

use std::fmt::Write as _;

use super::results::Results;
use crate::train::methods::MethodName;

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
const CAPTIONS: [Column; 4] = [
    ("full captions, T2I R@1", "t2i_recall_at_1_full"),
    ("adjacent levels in order", "adjacent_levels_ordered"),
    ("Spearman with bits", "uncertainty_vs_bits"),
    ("Spearman with tokens", "uncertainty_vs_tokens"),
];
const ZERO_SHOT: [Column; 6] = [
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

/// Every table for which there are numbers: mean ± population standard deviation over seeds.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let mut text = String::new();
    for (title, note, columns) in [
        (
            "Retrieval and its uncertainty",
            "S and R² are of recall over ten levels of uncertainty; S should be −1. R² is blind to the sign of the \
             slope, which stands beside it.",
            &RETRIEVAL[..],
        ),
        (
            "Captions whose truth is known",
            "Uncertainty against the information of captions; both correlations should be −1.",
            &CAPTIONS[..],
        ),
        (
            "Zero-shot accuracy by attribute",
            "Single objects named by captions alone.",
            &ZERO_SHOT[..],
        ),
        (
            "None of the above",
            "Accuracy on pictures of a class and on pictures of none. Dummies: \"a picture\", \"a shape\", \
             \"something\". Threshold and margin are on CLIP's probabilities, at the point nearest to the paper's.",
            &NONE_OF_THE_ABOVE[..],
        ),
        ("Time", "On the machine of `environment.json`.", &COST[..]),
    ] {
        write_table(&mut text, results, title, note, columns);
    }
    text
}

fn write_table(text: &mut String, results: &Results, title: &str, note: &str, columns: &[Column]) {
    let is_measured = |method: &MethodName| {
        columns
            .iter()
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
        let cells = columns.iter().map(|column| cell(results, method, column.1));
        let n_seeds = columns
            .iter()
            .filter_map(|column| results.summary(method, column.1))
            .map(|summary| summary.n)
            .max();
        writeln!(
            text,
            "| {} | {} | {} |",
            method.title(),
            n_seeds.unwrap_or(0),
            cells.collect::<Vec<_>>().join(" | ")
        )
        .ok();
    }
    text.push('\n');
}

fn cell(results: &Results, method: MethodName, metric: &str) -> String {
    match results.summary(method, metric) {
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
        let text = markdown(&results);
        assert!(text.contains("| PFE* | 2 | – |"), "{text}");
        assert!(text.contains("| 0.500 ± 0.250 |"), "{text}");
        assert!(
            !text.contains("None of the above"),
            "no empty table: {text}"
        );
    }
}
