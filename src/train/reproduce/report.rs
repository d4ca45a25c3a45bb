//! `report.md`: how the results came about, which of the paper's findings hold, tables and figures.

use std::fmt::Write as _;

use serde_json::Value;

use super::results::Results;
use super::{findings, tables};

/// What is said of how the results came about, of what is in `environment.json`.
const CIRCUMSTANCES: [(&str, &str); 10] = [
    ("command", "command"),
    ("program", "version"),
    ("commit", "commit"),
    ("system", "system"),
    ("cores", "n_cores"),
    ("device", "device"),
    ("fits at a time", "jobs"),
    ("batch", "batch"),
    ("epochs", "epochs"),
    ("factor on the published learning rates", "rate_factor"),
];

/// The numbers of `summary.json`, which the page's view of the evidence shows.
pub const SHOWN_ON_THE_PAGE: [&str; 6] = [
    "t2i_spearman",
    "i2t_own_spearman",
    "uncertainty_vs_bits",
    "t2i_recall_at_1",
    "i2t_own_recall_at_1",
    "t2i_recall_at_1_full",
];

/// The report, a chapter for each data set; `figures` are the names of files beside it.
#[must_use]
pub fn markdown(results: &Results, environment: &Value, figures: &[String]) -> String {
    let mut text = "# Every method on frozen features\n\n".to_owned();
    let encoder = &environment["features"]["model"];
    for (name, value) in CIRCUMSTANCES
        .map(|(name, key)| (name, &environment[key]))
        .into_iter()
        .chain([("encoder", encoder)])
    {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        if !value.is_empty() && value != "null" {
            writeln!(text, "- {name}: `{value}`").ok();
        }
    }
    text.push_str("\nNumbers are mean ± population standard deviation over seeds.\n\n");
    for dataset in results.datasets() {
        let of = results.on(&dataset);
        writeln!(text, "# {dataset}\n").ok();
        let found = findings::markdown(&of);
        if !found.is_empty() {
            writeln!(
                text,
                "## What holds of the paper's findings\n\nBy rule: a difference counts when it is greater than the \
                 spread over seeds of both sides; a finding holds when all of its comparisons do.\n\n{found}"
            )
            .ok();
        }
        text.push_str(&tables::markdown(&of, &dataset));
    }
    if !figures.is_empty() {
        text.push_str("# Figures\n\n");
    }
    for name in figures {
        let title = name.trim_end_matches(".svg").replace('-', " ");
        writeln!(text, "![{title}]({name})\n").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::methods::MethodName;
    use crate::train::reproduce::measure::Numbers;

    #[test]
    fn a_report_tells_how_the_results_came_about_and_shows_the_figures() {
        let mut results = Results::default();
        let numbers = |recall| Numbers::from([("t2i_recall_at_1".to_owned(), recall)]);
        results.add(MethodName::AsymvlmVmf, "scenes", 0, numbers(0.5));
        results.add(MethodName::Clip, "scenes", 0, numbers(0.25));
        let environment = serde_json::json!({
            "command": "train reproduce", "batch": 8, "commit": "", "features": {"model": "scenes"},
        });
        let text = markdown(&results, &environment, &["recall-by-level.svg".to_owned()]);
        for part in [
            "- command: `train reproduce`",
            "- batch: `8`",
            "- encoder: `scenes`",
            "(Recall@1)** — holds.",
            "| AsymVLM vMF | 1 |",
            "![recall by level](recall-by-level.svg)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(
            !text.contains("commit"),
            "nothing is said of nothing: {text}"
        );
    }
}
