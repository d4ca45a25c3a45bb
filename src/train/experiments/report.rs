//! `report.md`: how the results came about, which of the paper's findings hold, tables and figures.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::results::Results;
use super::{findings, tables};
use crate::train::files;

/// Beside the report: what a person has to say of the results, which stands at the end of every report of them.
const NOTES: &str = "notes.md";

/// Entries of `environment.json` that the report repeats: as they are called there, and their keys.
const SETTINGS: [(&str, &str); 10] = [
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

/// The report, a chapter for each data set; `figures` are the names of files beside it.
#[must_use]
pub(super) fn markdown(results: &Results, environment: &Value, figures: &[String]) -> String {
    let mut text = "# Every method on frozen features\n\n".to_owned();
    let encoder = &environment["features"]["model"];
    let settings = SETTINGS.map(|(name, key)| (name, &environment[key]));
    for (name, value) in settings.into_iter().chain([("encoder", encoder)]) {
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
                "## What holds of the papers' findings\n\n{}\n\n{found}",
                findings::rule()
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

/// The notes beside the report of a folder; nothing where there are none.
///
/// # Errors
///
/// The file cannot be read.
pub(super) fn notes(folder: &Path) -> Result<String> {
    Ok(files::find_text(&folder.join(NOTES))?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::measure::Numbers;
    use super::*;
    use crate::report::{Metric, Retrieval, SHOWN_ON_THE_PAGE, SummaryRow};
    use crate::train::methods::MethodName;

    #[test]
    fn a_report_tells_how_the_results_came_about_and_shows_the_figures() {
        let mut results = Results::default();
        let numbers = |recall| Numbers::from([(Metric::Recall(Retrieval::TextToImage, 1), recall)]);
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

    #[test]
    fn the_committed_report_is_what_the_committed_results_say() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence/scenes");
        let results = Results::read(&folder.join("results.json")).expect("committed results");
        let environment = files::read_json(&folder.join("environment.json")).expect("settings");
        let figures = [
            "recall-by-level",
            "ablation",
            "hierarchy",
            "tokens",
            "rejection",
        ];
        let figures = figures.map(|name| format!("{name}.svg"));
        let committed = std::fs::read_to_string(folder.join("report.md")).expect("a report");
        let notes = notes(&folder).expect("notes");
        assert!(!notes.is_empty(), "what was written by hand is kept");
        let text = markdown(&results, &environment, &figures) + &notes;
        for (found, expected) in text.lines().zip(committed.lines()) {
            assert_eq!(found, expected, "as `train reproduce` writes it");
        }
        assert_eq!(text.len(), committed.len(), "the whole report");
        let summary = results.on("scenes").summaries(&SHOWN_ON_THE_PAGE);
        let committed: Vec<SummaryRow> =
            files::read_json(&folder.join("summary.json")).expect("a summary");
        assert_eq!(summary, committed, "what the page shows");
    }
}
