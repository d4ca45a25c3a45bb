//! Evaluations as a table: what `train evaluate` prints.

use std::fmt::Write as _;

use crate::metrics::mean;
use crate::report::{BothWays, Evaluation, FamilyEvaluation};

/// A line of the table: what is measured, the target, and the numbers.
type TableRow = (String, &'static str, Vec<f64>);

const ATTRIBUTES: [&str; 6] = ["shape", "colour", "size", "texture", "place", "count"];

fn rows(found: &FamilyEvaluation) -> Vec<TableRow> {
    let row = |label: &str, target, values| (label.to_owned(), target, values);
    let both = |ways: BothWays| vec![ways.text_to_image, ways.image_to_text];
    let mut rows = vec![
        row(
            "Recall@1, full captions, text→image / image→text",
            "≥ .95",
            both(found.recall_at_1),
        ),
        row(
            "the same, unseen compositions",
            "",
            both(found.recall_at_1_new_compositions),
        ),
        row(
            "the same, unseen wordings",
            "",
            both(found.recall_at_1_new_wording),
        ),
    ];
    rows.extend(ATTRIBUTES.map(|attribute| {
        let accuracy = found.attribute_accuracy.get(attribute).copied();
        let label = format!("{attribute} named from captions alone");
        (label, "≥ .95", accuracy.into_iter().collect())
    }));
    rows.extend([
        row(
            "recall against 10 levels of 1/κ: Spearman S, both ways",
            "≤ −.97",
            both(found.spearman_levels),
        ),
        row(
            "adjacent levels whose 1/κ falls",
            "≥ .95",
            vec![found.adjacent_levels_ordered],
        ),
    ]);
    rows.extend(rows_of_bits(found));
    rows.push(row(
        "evidence over a blind guess (nats), vaguest to fullest level",
        "rising",
        found.nats_by_level.clone(),
    ));
    rows
}

fn rows_of_bits(found: &FamilyEvaluation) -> impl Iterator<Item = TableRow> {
    let groups = [
        ("all", "all captions", "≥ .95"),
        ("one_attribute", "one attribute", "≥ .6"),
        ("several_attributes", "two or three attributes", "≥ .7"),
    ];
    groups.into_iter().map(|(key, captions, target)| {
        let against = found.kappa_vs_bits.get(key);
        let numbers = against.map(|a| vec![a.kappa, a.word_count, a.minus_feature_norm]);
        let label = format!("bits, {captions}: κ / words / −norm");
        (label, target, numbers.unwrap_or_default())
    })
}

/// Evaluations as a Markdown table: both families of the first one, and mean and range of the von Mises–Fisher family
/// over all of them, which differ in their seed.
#[must_use]
pub fn markdown(evaluations: &[Evaluation]) -> String {
    let Some(first) = evaluations.first() else {
        return String::new();
    };
    let several = evaluations.len() > 1;
    let mut table = "| measure | target | vMF | power spherical |".to_owned();
    if several {
        write!(table, " vMF, {} seeds: mean (range) |", evaluations.len()).ok();
    }
    table.push_str(if several {
        "\n|---|---|---|---|---|\n"
    } else {
        "\n|---|---|---|---|\n"
    });
    let seeds: Vec<Vec<TableRow>> = evaluations
        .iter()
        .map(|one| rows(&one.families.vmf))
        .collect();
    for (i, (label, target, numbers)) in rows(&first.families.power_spherical).iter().enumerate() {
        let (vmf, power_spherical) = (joined(&seeds[0][i].2), joined(numbers));
        write!(table, "| {label} | {target} | {vmf} | {power_spherical} |").ok();
        if several {
            let of_row: Vec<Vec<f64>> = seeds.iter().map(|rows| rows[i].2.clone()).collect();
            write!(table, " {} |", mean_and_range(&of_row)).ok();
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
            "{} ({} to {})",
            number(mean(&values)),
            number(least),
            number(greatest)
        )
    };
    (0..n_values).map(of).collect::<Vec<_>>().join(" / ")
}

/// Three decimals without the zero before the point.
pub(in crate::train) fn number(value: f64) -> String {
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
            ".900 (.800 to 1.000) / 3.000 (2.000 to 4.000)",
            "two numbers, three seeds"
        );
    }

    #[test]
    fn the_readme_quotes_the_committed_evaluations_exactly() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
        let folder = root.join("public/models/scenes");
        let seeds = (0..10).map(|seed| format!("evaluation-seed-{seed}.json"));
        let evaluations: Vec<Evaluation> = std::iter::once("evaluation.json".to_owned())
            .chain(seeds)
            .map(|file| folder.join(file))
            .filter(|path| path.exists())
            .map(|path| {
                let json = std::fs::read(&path).expect("a report");
                serde_json::from_slice(&json).expect("a report of this form")
            })
            .collect();
        assert!(!evaluations.is_empty(), "evaluation.json is committed");
        let table = markdown(&evaluations);
        assert!(
            readme.contains(&table),
            "the README lacks this table:\n{table}"
        );
    }

    #[test]
    fn the_notes_quote_the_encoders_of_plain_contrast_beside_their_twins() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("public/evidence/scenes");
        let notes = std::fs::read_to_string(folder.join("notes.md")).expect("notes");
        let mut means = Vec::new();
        for encoder in ["both losses", "plain contrast"] {
            let seeds = [0, 1, 2].map(|seed| {
                let file = format!("control-{}-{seed}.json", encoder.replace(' ', "-"));
                let json = std::fs::read(folder.join(file)).expect("a committed report");
                serde_json::from_slice::<serde_json::Value>(&json).expect("JSON")
            });
            let cell = |pointer: String| {
                let number = |of: &serde_json::Value| of.pointer(&pointer)?.as_f64();
                let of_seeds = seeds
                    .each_ref()
                    .map(|of| vec![number(of).expect("a number")]);
                mean_and_range(&of_seeds)
            };
            let against_bits = |key: &str| {
                ["all", "one_attribute", "several_attributes"]
                    .map(|captions| cell(format!("/vmf/kappa_vs_bits/{captions}/{key}")))
            };
            let named = ["shape", "place", "count", "texture"]
                .map(|attribute| cell(format!("/vmf/attribute_accuracy/{attribute}")));
            for (label, cells) in [
                (format!("{encoder}, κ"), &against_bits("kappa")[..]),
                (
                    format!("{encoder}, −norm"),
                    &against_bits("minus_feature_norm"),
                ),
                (encoder.to_owned(), &named),
            ] {
                let row = format!("| {label} | {} |", cells.join(" | "));
                assert!(notes.contains(&row), "the notes lack {row}");
            }
            let of_all = against_bits("kappa")[0].clone();
            means.extend(of_all.split(' ').next().map(str::to_owned));
        }
        let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
        let sentence = format!("({} against {} over all captions)", means[1], means[0]);
        assert!(readme.contains(&sentence), "the README lacks {sentence}");
    }
}
