//! What `train reproduce` found of every method of the papers on the scenes, in tables.

use serde::Deserialize;

use crate::explorer::views::evidence::evaluation::{EvidenceTable, Measured, UNIT};

/// `summary.json`: each method's numbers over the seeds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Suite(Vec<Number>);

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Number {
    method: String,
    metric: String,
    mean: f64,
    sd: f64,
    n_seeds: usize,
}

impl Suite {
    /// One table a question, with a row for each method that was measured.
    pub fn tables(&self) -> Vec<EvidenceTable> {
        let seeds = format!("Means over {} seeds, ± standard deviation.", self.n_seeds());
        vec![
            EvidenceTable::new(
                "Does a method’s uncertainty say where retrieval fails?",
                format!(
                    "Rank correlation of recall with ten levels of uncertainty, and of uncertainty with a caption’s bits; −1 is \
                     perfect. {seeds}"
                ),
                &["caption → picture", "picture → its caption", "with bits"],
                self.rows(["t2i_spearman", "i2t_own_spearman", "uncertainty_vs_bits"]),
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
                self.rows([
                    "t2i_recall_at_1",
                    "t2i_recall_at_1_full",
                    "i2t_own_recall_at_1",
                ]),
                &[Some(UNIT); 3],
            ),
        ]
    }

    fn n_seeds(&self) -> usize {
        self.0
            .iter()
            .map(|number| number.n_seeds)
            .max()
            .unwrap_or(0)
    }

    fn rows(&self, metrics: [&str; 3]) -> Vec<(String, Vec<Option<Measured>>)> {
        let mut methods: Vec<&str> = self.0.iter().map(|number| &*number.method).collect();
        methods.dedup();
        let row = |method: &str| {
            let cells = metrics.map(|metric| self.measured(method, metric));
            (method.to_owned(), cells.to_vec())
        };
        let rows = methods.into_iter().map(row);
        rows.filter(|(_, cells)| cells.iter().any(Option::is_some))
            .collect()
    }

    fn measured(&self, method: &str, metric: &str) -> Option<Measured> {
        let mut numbers = self.0.iter();
        let number = numbers.find(|number| number.method == method && number.metric == metric)?;
        let words = match number.n_seeds {
            1 => decimals(number.mean),
            _ => format!("{} ± {}", decimals(number.mean), decimals(number.sd)),
        };
        Some(Measured {
            value: number.mean,
            words,
        })
    }
}

/// Three decimals, so that a number and its spread end at the same place.
fn decimals(value: f64) -> String {
    format!("{value:.3}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let number = |method, metric, mean| serde_json::json!({"method": method, "metric": metric, "mean": mean, "sd": 0.125, "n_seeds": 5});
        let numbers = serde_json::json!([
            number("CLIP", "t2i_recall_at_1", 0.5),
            number("AsymVLM", "t2i_recall_at_1", 0.75),
            number("AsymVLM", "t2i_spearman", -1.0),
        ]);
        serde_json::from_value(numbers).expect("it is what train reproduce writes")
    }

    #[test]
    fn a_method_stands_where_it_was_measured_and_nowhere_else() {
        let [uncertainty, recall] = &suite().tables()[..] else {
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
