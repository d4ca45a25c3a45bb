//! Results of `train reproduce` for every method of the papers on the scenes, in tables.

use crate::explorer::views::evidence::evaluation::{EvidenceTable, Measured, UNIT};
use crate::report::{Better, LevelStatistic, Metric, Retrieval, SummaryRow};

/// Standard deviations of the best number of a column within which others are marked, too.
const BEST_WITHIN: f64 = 2.0;

/// A column: its head and the number in it.
type SummaryColumn = (&'static str, Metric);

/// One table a question, with a row for each method that was measured and a column for each number that was.
pub fn summary_tables(summary: &[SummaryRow]) -> Vec<EvidenceTable> {
    let n_seeds = summary.iter().map(|row| row.n_seeds).max().unwrap_or(0);
    let seeds = format!(
        "Means over {n_seeds} seeds, ± standard deviation; a number without ± is of one seed, or of a method that trains \
         nothing. Bold: best of its column, or within two standard deviations of the best; no mean that some of a \
         method’s seeds are missing from."
    );
    let spearman = |of| Metric::Levels(of, LevelStatistic::Spearman);
    let recall = |of| Metric::Recall(of, 1);
    let (uncertainty, heads) = measured_columns(
        summary,
        vec![
            ("caption → picture", spearman(Retrieval::TextToImage)),
            ("picture → its caption", spearman(Retrieval::ImageToOwnText)),
            ("picture → its caption", spearman(Retrieval::ImageToText)),
            ("with bits", Metric::UncertaintyVsBitsDistinct),
            ("with bits, repeats counted", Metric::UncertaintyVsBits),
        ],
    );
    let none = vec![None; heads.len()];
    let order = EvidenceTable::new(
        "Does a method’s uncertainty say where retrieval fails?",
        format!(
            "Rank correlation of recall with ten levels of uncertainty, and of uncertainty with a caption’s bits; −1 is \
             perfect. A dash where it orders nothing, or fewer than ten queries find. {seeds}"
        ),
        &heads,
        rows(summary, &uncertainty),
        &none,
    );
    let (found, heads) = measured_columns(
        summary,
        vec![
            ("any caption → picture", recall(Retrieval::TextToImage)),
            ("full caption → picture", Metric::FullCaptionRecall),
            ("picture → its caption", recall(Retrieval::ImageToOwnText)),
            ("picture → its caption", recall(Retrieval::ImageToText)),
            (
                "picture → true caption of a level",
                recall(Retrieval::ImageToLevelText),
            ),
        ],
    );
    let shares = vec![Some(UNIT); heads.len()];
    let recall = EvidenceTable::new(
        "Does it still find the picture?",
        format!(
            "Share of queries whose answer came first: captions of all levels, full captions, and pictures. {seeds}"
        ),
        &heads,
        rows(summary, &found),
        &shares,
    );
    vec![order, recall]
}

/// The columns of which a number was measured: metrics and heads.
fn measured_columns(
    summary: &[SummaryRow],
    columns: Vec<SummaryColumn>,
) -> (Vec<Metric>, Vec<&'static str>) {
    let is_measured = |(_, metric): &SummaryColumn| summary.iter().any(|row| row.metric == *metric);
    let measured = columns.into_iter().filter(is_measured);
    measured.map(|(head, metric)| (metric, head)).unzip()
}

fn rows(summary: &[SummaryRow], metrics: &[Metric]) -> Vec<(String, Vec<Option<Measured>>)> {
    let mut methods: Vec<&str> = summary.iter().map(|row| &*row.method).collect();
    methods.dedup();
    let row = |method: &str| {
        let cells = metrics.iter();
        let cells = cells.map(|metric| measured(summary, method, metric));
        (method.to_owned(), cells.collect::<Vec<_>>())
    };
    let rows = methods.into_iter().map(row);
    rows.filter(|(_, cells)| cells.iter().any(Option::is_some))
        .collect()
}

fn measured(summary: &[SummaryRow], method: &str, metric: &Metric) -> Option<Measured> {
    let of_metric = || summary.iter().filter(|row| row.metric == *metric);
    let merit = |row: &SummaryRow| match metric.better() {
        Better::Higher => row.mean,
        Better::Lower => -row.mean,
    };
    let row = of_metric().find(|row| row.method == method)?;
    let whole = of_metric().filter(|row| is_whole(summary, row));
    let best = whole.max_by(|a, b| merit(a).total_cmp(&merit(b)));
    let is_near = |best: &SummaryRow| merit(best) - merit(row) <= BEST_WITHIN * best.sd;
    Some(Measured {
        is_best: is_whole(summary, row) && best.is_some_and(is_near),
        ..Measured::over_seeds(row.mean, row.sd, row.n_seeds)
    })
}

/// Whether a mean is over all seeds that the method was fitted with: fits that find nothing have no order, and those
/// that are left would flatter it.
fn is_whole(summary: &[SummaryRow], row: &SummaryRow) -> bool {
    let of_method = summary.iter().filter(|other| other.method == row.method);
    of_method.map(|other| other.n_seeds).max() == Some(row.n_seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Vec<SummaryRow> {
        let number = |method, metric, mean| {
            serde_json::json!({
                "method": method, "metric": metric, "mean": mean, "sd": 0.125, "n_seeds": 5
            })
        };
        let numbers = serde_json::json!([
            number("CLIP", "t2i_recall_at_1", 0.5),
            number("AsymVLM", "t2i_recall_at_1", 0.75),
            number("AsymVLM", "t2i_spearman", -1.0),
        ]);
        serde_json::from_value(numbers).expect("it is what train reproduce writes")
    }

    #[test]
    fn the_best_are_marked_in_the_direction_of_their_metric() {
        let number = |method, metric, mean, sd| {
            serde_json::json!({
                "method": method, "metric": metric, "mean": mean, "sd": sd, "n_seeds": 5
            })
        };
        let numbers = serde_json::json!([
            number("AsymVLM", "t2i_recall_at_1", 0.9, 0.01),
            number("AsymVLM", "t2i_spearman", -0.5, 0.2),
            number("SymVLM", "t2i_recall_at_1", 0.89, 0.0),
            number("SymVLM", "t2i_spearman", -0.9, 0.05),
            number("CLIP", "t2i_recall_at_1", 0.87, 0.5),
            number("CLIP", "t2i_spearman", -0.82, 0.0),
        ]);
        let numbers: Vec<SummaryRow> = serde_json::from_value(numbers).expect("it is its form");
        let best = |table: &EvidenceTable| -> Vec<String> {
            let is_best =
                |cells: &[Option<Measured>]| cells.iter().flatten().any(|one| one.is_best);
            let rows = table.rows.iter();
            let best = rows.filter(|(_, cells)| is_best(cells));
            best.map(|(method, _)| method.clone()).collect()
        };
        let found: Vec<Vec<String>> = summary_tables(&numbers).iter().map(best).collect();
        assert_eq!(
            found,
            [["SymVLM", "CLIP"], ["AsymVLM", "SymVLM"]],
            "the lowest correlations, and the highest recalls"
        );
    }

    #[test]
    fn a_mean_that_seeds_are_missing_from_is_not_the_best() {
        let number = |method, metric, mean, n_seeds: usize| {
            serde_json::json!({
                "method": method, "metric": metric, "mean": mean, "sd": 0.0, "n_seeds": n_seeds
            })
        };
        let numbers = serde_json::json!([
            number("sigmoid", "t2i_recall_at_1", 0.06, 5),
            number("sigmoid", "t2i_spearman", -1.0, 1),
            number("AsymVLM", "t2i_recall_at_1", 0.3, 5),
            number("AsymVLM", "t2i_spearman", -0.98, 5),
            number("entropy", "t2i_spearman", -0.95, 1),
        ]);
        let numbers: Vec<SummaryRow> = serde_json::from_value(numbers).expect("it is its form");
        let tables = summary_tables(&numbers);
        let best = tables[0].rows.iter().filter(|(_, cells)| {
            let mut cells = cells.iter().flatten();
            cells.any(|cell| cell.is_best)
        });
        let best: Vec<&str> = best.map(|(method, _)| &**method).collect();
        assert_eq!(best, ["AsymVLM"], "one fit of five orders well by chance");
    }

    #[test]
    fn every_method_that_is_shown_is_explained() {
        let committed = |file: &str| {
            let path = format!("{}/public/evidence/{file}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).expect("the file is there")
        };
        let lines: Vec<String> = serde_json::from_str(&committed("names.json")).expect("lines");
        let terms = lines.iter().map(|line| line.split_once(": "));
        let terms: Vec<&str> = terms.map(|line| line.expect("a colon").0).collect();
        let is_known = |part: &str| {
            let part = part.trim_end_matches(" vMF").trim_end_matches(" PS");
            terms.iter().any(|term| {
                let rest = part.strip_prefix(*term);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        for world in ["scenes", "photos"] {
            let summary = committed(&format!("{world}/summary.json"));
            let summary: Vec<SummaryRow> = serde_json::from_str(&summary).expect("rows");
            for SummaryRow { method, .. } in &summary {
                let unknown: Vec<&str> =
                    method.split(", ").filter(|part| !is_known(part)).collect();
                assert_eq!(unknown, [""; 0], "{method} on {world}");
            }
        }
    }

    #[test]
    fn a_method_stands_where_it_was_measured_and_nowhere_else() {
        let [uncertainty, recall] = &summary_tables(&summary())[..] else {
            panic!("two questions");
        };
        let cell = |value, words: &str| {
            Some(Measured {
                value,
                words: words.to_owned(),
                is_best: true,
            })
        };
        assert_eq!(
            uncertainty.rows,
            [("AsymVLM".to_owned(), vec![cell(-1.0, "−1.000 ± 0.125")])],
            "CLIP has no uncertainty"
        );
        assert_eq!(
            recall.rows,
            [
                ("CLIP".to_owned(), vec![cell(0.5, "0.500 ± 0.125")]),
                ("AsymVLM".to_owned(), vec![cell(0.75, "0.750 ± 0.125")]),
            ],
            "both retrieve"
        );
        let columns = [&uncertainty.columns, &recall.columns].map(|heads| heads.clone());
        assert_eq!(
            columns,
            [["caption → picture"], ["any caption → picture"]],
            "a column of nothing is none"
        );
        assert!(
            recall.about.contains("5 seeds"),
            "it says how often: {}",
            recall.about
        );
    }
}
