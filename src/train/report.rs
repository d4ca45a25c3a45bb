//! What `train evaluate` found, as a file and as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::outside::OutsideReport;
use crate::metrics::mean;

/// A number in both directions of retrieval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BothWays {
    /// A caption looks for its picture.
    pub text_to_image: f64,
    /// A picture looks for one of its captions.
    pub image_to_text: f64,
}

/// Spearman correlations with `information_bits`, beside two baselines that need no adapter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AgainstBits {
    /// Of κ.
    pub kappa: f64,
    /// Of the number of words.
    pub word_count: f64,
    /// Of minus the norm of the text feature.
    pub minus_feature_norm: f64,
    /// Captions compared.
    pub n_captions: usize,
}

/// What was measured of one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyReport {
    /// Full captions against the first thousand scenes, by likelihood.
    pub recall_at_1: BothWays,
    /// The same in wordings that training never used.
    pub recall_at_1_new_wording: BothWays,
    /// The same, of scenes with a composition that training never showed.
    pub recall_at_1_new_compositions: BothWays,
    /// All of them by CLIP's cosine.
    pub recall_at_1_cosine: BothWays,
    /// Rank correlation of recall with ten levels of uncertainty.
    pub spearman_levels: BothWays,
    /// Share of adjacent levels of one hierarchy whose 1/κ falls.
    pub adjacent_levels_ordered: f64,
    /// Single-object scenes classified by captions alone, by likelihood.
    pub attribute_accuracy: BTreeMap<String, f64>,
    /// The same by CLIP's cosine.
    pub attribute_accuracy_cosine: BTreeMap<String, f64>,
    /// κ against the information of captions.
    pub kappa_vs_bits: BTreeMap<String, AgainstBits>,
    /// Mean nats above uniform of the true picture, vaguest level first.
    pub nats_by_level: Vec<f64>,
    /// Mean information of the captions, in bits.
    pub bits_by_level: Vec<f64>,
    /// Mean κ.
    pub kappa_by_level: Vec<f64>,
}

/// The whole of `evaluation.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Test scenes.
    pub n_scenes: usize,
    /// Their seed.
    pub seed: u64,
    /// Whether pictures from elsewhere are noticed.
    pub outside: OutsideReport,
    /// Under von Mises–Fisher.
    pub vmf: FamilyReport,
    /// Under power spherical.
    pub power_spherical: FamilyReport,
}

/// A line of the table: what is measured, the target, and the numbers.
struct Row {
    label: String,
    target: &'static str,
    values: fn(&FamilyReport, &str) -> Vec<f64>,
    /// Which entry of a map, where the values come from one.
    key: &'static str,
}

const ATTRIBUTES: [&str; 6] = ["shape", "colour", "size", "texture", "place", "count"];

fn rows() -> Vec<Row> {
    let row = |label: &str, target, values, key| Row {
        label: label.to_owned(),
        target,
        values,
        key,
    };
    let mut rows = vec![row(
        "Recall@1, full captions, text→image / image→text",
        "≥ .95",
        |report, _| both_ways(report.recall_at_1),
        "",
    )];
    rows.push(row(
        "the same, unseen compositions",
        "",
        |report, _| both_ways(report.recall_at_1_new_compositions),
        "",
    ));
    rows.push(row(
        "the same, unseen wordings",
        "",
        |report, _| both_ways(report.recall_at_1_new_wording),
        "",
    ));
    rows.extend(ATTRIBUTES.map(|attribute| Row {
        label: format!("{attribute} named from captions alone"),
        target: "≥ .95",
        values: |report, key| {
            report
                .attribute_accuracy
                .get(key)
                .copied()
                .into_iter()
                .collect()
        },
        key: attribute,
    }));
    let bits = |report: &FamilyReport, key: &str| -> Vec<f64> {
        let against = report.kappa_vs_bits.get(key);
        against.map_or(Vec::new(), |a| {
            vec![a.kappa, a.word_count, a.minus_feature_norm]
        })
    };
    rows.extend([
        row(
            "recall against 10 levels of 1/κ: Spearman S, both ways",
            "≤ −.97",
            |report, _| both_ways(report.spearman_levels),
            "",
        ),
        row(
            "adjacent levels whose 1/κ falls",
            "≥ .95",
            |report, _| vec![report.adjacent_levels_ordered],
            "",
        ),
        row(
            "bits, all captions: κ / words / −norm",
            "≥ .95",
            bits,
            "all",
        ),
        row(
            "bits, one attribute: κ / words / −norm",
            "≥ .6",
            bits,
            "one_attribute",
        ),
        row(
            "bits, two or three attributes: κ / words / −norm",
            "≥ .7",
            bits,
            "several_attributes",
        ),
        row(
            "nats above uniform, vaguest to fullest level",
            "rising",
            |report, _| report.nats_by_level.clone(),
            "",
        ),
    ]);
    rows
}

fn both_ways(ways: BothWays) -> Vec<f64> {
    vec![ways.text_to_image, ways.image_to_text]
}

/// The reports as a Markdown table: both families of the first one, and mean and range of the von Mises–Fisher family
/// over all of them, which differ in their seed.
#[must_use]
pub fn markdown(reports: &[Report]) -> String {
    let Some(first) = reports.first() else {
        return String::new();
    };
    let several = reports.len() > 1;
    let mut table = "| measure | target | vMF | power spherical |".to_owned();
    if several {
        write!(table, " vMF, {} seeds: mean (range) |", reports.len()).ok();
    }
    table.push_str(if several {
        "\n|---|---|---|---|---|\n"
    } else {
        "\n|---|---|---|---|\n"
    });
    for row in rows() {
        let of = |family: &FamilyReport| (row.values)(family, row.key);
        write!(
            table,
            "| {} | {} | {} | {} |",
            row.label,
            row.target,
            joined(&of(&first.vmf)),
            joined(&of(&first.power_spherical))
        )
        .ok();
        if several {
            let seeds: Vec<Vec<f64>> = reports.iter().map(|report| of(&report.vmf)).collect();
            write!(table, " {} |", mean_and_range(&seeds)).ok();
        }
        table.push('\n');
    }
    table
}

fn joined(values: &[f64]) -> String {
    values
        .iter()
        .map(|value| number(*value))
        .collect::<Vec<_>>()
        .join(" / ")
}

/// Each number's mean and range over the seeds.
fn mean_and_range(seeds: &[Vec<f64>]) -> String {
    let n_values = seeds.iter().map(Vec::len).min().unwrap_or(0);
    let of = |i: usize| {
        let values: Vec<f64> = seeds.iter().map(|seed| seed[i]).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!(
            "{} ({}…{})",
            number(mean(&values)),
            number(least),
            number(greatest)
        )
    };
    (0..n_values).map(of).collect::<Vec<_>>().join(" / ")
}

/// Three decimals without the zero before the point.
fn number(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let digits = format!("{:.3}", value.abs());
    let digits = digits
        .strip_prefix('0')
        .filter(|rest| rest.starts_with('.'))
        .unwrap_or(&digits);
    format!("{sign}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_decimals_and_no_leading_zero() {
        for (value, expected) in [
            (0.98765, ".988"),
            (-0.5, "−.500"),
            (1.0, "1.000"),
            (-12.25, "−12.250"),
        ] {
            assert_eq!(number(value), expected, "{value}");
        }
    }

    #[test]
    fn seeds_give_mean_and_range_of_each_number() {
        let seeds = [vec![0.9, 2.0], vec![0.8, 4.0], vec![1.0, 3.0]];
        assert_eq!(
            mean_and_range(&seeds),
            ".900 (.800…1.000) / 3.000 (2.000…4.000)",
            "two numbers, three seeds"
        );
    }

    #[test]
    fn the_readme_quotes_the_committed_evaluations_exactly() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
        let folder = root.join("public/models/scenes");
        let reports: Vec<Report> = [
            "evaluation.json",
            "evaluation-seed-1.json",
            "evaluation-seed-2.json",
        ]
        .iter()
        .map(|file| folder.join(file))
        .filter(|path| path.exists())
        .map(|path| {
            let json = std::fs::read(&path).expect("a report");
            serde_json::from_slice(&json).expect("a report of this form")
        })
        .collect();
        assert!(!reports.is_empty(), "evaluation.json is committed");
        let table = markdown(&reports);
        assert!(
            readme.contains(&table),
            "the README lacks this table:\n{table}"
        );
    }
}
