//! What `train reproduce` found of every method of the papers on the scenes, in tables.

use crate::explorer::views::evidence::evaluation::{EvidenceTable, Measured, UNIT};
use crate::report::{LevelStatistic, Metric, Retrieval, SummaryRow};

/// One table a question, with a row for each method that was measured.
pub fn summary_tables(summary: &[SummaryRow]) -> Vec<EvidenceTable> {
    let n_seeds = summary.iter().map(|row| row.n_seeds).max().unwrap_or(0);
    let seeds = format!("Means over {n_seeds} seeds, ± standard deviation.");
    let spearman = |of| Metric::Levels(of, LevelStatistic::Spearman);
    let recall = |of| Metric::Recall(of, 1);
    vec![
        EvidenceTable::new(
            "Does a method’s uncertainty say where retrieval fails?",
            format!(
                "Rank correlation of recall with ten levels of uncertainty, and of uncertainty with a caption’s bits; −1 is \
                 perfect. {seeds}"
            ),
            &["caption → picture", "picture → its caption", "with bits"],
            rows(
                summary,
                [
                    spearman(Retrieval::TextToImage),
                    spearman(Retrieval::ImageToOwnText),
                    Metric::UncertaintyVsBits,
                ],
            ),
            &[None; 3],
        ),
        EvidenceTable::new(
            "Does it still find the picture?",
            format!(
                "Share of queries whose answer came first: captions of all levels, full captions, and pictures. {seeds}"
            ),
            &[
                "any caption → picture",
                "full caption → picture",
                "picture → its caption",
            ],
            rows(
                summary,
                [
                    recall(Retrieval::TextToImage),
                    Metric::FullCaptionRecall,
                    recall(Retrieval::ImageToOwnText),
                ],
            ),
            &[Some(UNIT); 3],
        ),
    ]
}

fn rows(summary: &[SummaryRow], metrics: [Metric; 3]) -> Vec<(String, Vec<Option<Measured>>)> {
    let mut methods: Vec<&str> = summary.iter().map(|row| &*row.method).collect();
    methods.dedup();
    let row = |method: &str| {
        let cells = metrics.each_ref();
        let cells = cells.map(|metric| measured(summary, method, metric));
        (method.to_owned(), cells.to_vec())
    };
    let rows = methods.into_iter().map(row);
    rows.filter(|(_, cells)| cells.iter().any(Option::is_some))
        .collect()
}

fn measured(summary: &[SummaryRow], method: &str, metric: &Metric) -> Option<Measured> {
    let mut rows = summary.iter();
    let row = rows.find(|row| row.method == method && row.metric == *metric)?;
    Some(Measured::over_seeds(row.mean, row.sd, row.n_seeds))
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
    fn a_method_stands_where_it_was_measured_and_nowhere_else() {
        let [uncertainty, recall] = &summary_tables(&summary())[..] else {
            panic!("two questions");
        };
        let cell = |value, words: &str| {
            Some(Measured {
                value,
                words: words.to_owned(),
            })
        };
        assert_eq!(
            uncertainty.rows,
            [(
                "AsymVLM".to_owned(),
                vec![cell(-1.0, "−1.000 ± 0.125"), None, None]
            )],
            "CLIP has no uncertainty"
        );
        assert_eq!(
            recall.rows,
            [
                (
                    "CLIP".to_owned(),
                    vec![cell(0.5, "0.500 ± 0.125"), None, None]
                ),
                (
                    "AsymVLM".to_owned(),
                    vec![cell(0.75, "0.750 ± 0.125"), None, None]
                ),
            ],
            "both retrieve"
        );
        assert!(
            recall.about.contains("5 seeds"),
            "it says how often: {}",
            recall.about
        );
    }
}
