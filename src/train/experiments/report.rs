//! `report.md`: how the results came about, which of the paper's findings hold, tables and figures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::grid::Edge;
use super::results::Results;
use super::{environment, figures, findings, grid, level_noise, tables, times};
use crate::report::{Figure, Metric, SummaryRow, shown_on_the_page};
use crate::train::files;
use crate::train::methods::MethodName;

/// The methods whose learning rate lies at an edge of what was tried.
type Edges = BTreeMap<MethodName, Edge>;

/// Beside the report: what a person has to say of the results, which stands at the end of every report of them.
const NOTES: &str = "notes.md";

/// Figures that the page draws.
const FIGURES: &str = "figures.json";
/// The verdicts that the page shows.
const FINDINGS: &str = "findings.json";

/// Entries of `environment.json` that the report repeats: as they are called there, and their keys.
const SETTINGS: [(&str, &str); 8] = [
    ("steps of each fit", "steps"),
    ("pairs in a batch", "batch"),
    ("passes over the captions", "epochs"),
    ("factor on published learning rates", "rate_factor"),
    ("width of hidden layers", "hidden_width"),
    ("where paper and released code differ, as in the", "follow"),
    (
        "ProbVLM's uncertainty is of its variance the",
        "probvlm_uncertainty",
    ),
    (
        "BayesVLM's curvature is that of logits with",
        "bayesvlm_curvature",
    ),
];

/// Writes report, figures, verdicts and summary of the results in a folder.
///
/// # Errors
///
/// There are no results, or a file cannot be read or written.
pub fn write(folder: &Path) -> Result<()> {
    let results = Results::read(&folder.join("results.json"))?.without_chance_levels();
    let environment = environment::read(folder)?.unwrap_or_default();
    let mut drawn = Vec::new();
    for dataset in results.datasets() {
        let found = results.on(&dataset);
        drawn.extend(figures::figures(&found, &dataset));
    }
    let edges = grid::edges(folder)?;
    let text = markdown(&results, (&environment, &edges), &drawn) + &notes(folder)?;
    files::put(&folder.join(FIGURES), serde_json::to_string(&drawn)?)?;
    let verdicts = findings::for_the_page(&results);
    files::put(&folder.join(FINDINGS), serde_json::to_string(&verdicts)?)?;
    files::put(&folder.join("report.md"), text)?;
    files::put_json(
        &folder.join("summary.json"),
        &summary(&results, &environment),
    )
}

/// Rows of the data set that was trained on which the page shows.
fn summary(results: &Results, environment: &Value) -> Vec<SummaryRow> {
    let own = environment["features"]["dataset"].as_str();
    let first = results.datasets().into_iter().next();
    let own = own.map(str::to_owned).or(first).unwrap_or_default();
    let found = results.on(&own);
    found.summaries(&shown_on_the_page(tables::is_truth_known(&found)))
}

/// The report, a chapter for each data set; the page draws the figures.
#[must_use]
fn markdown(
    results: &Results,
    (environment, edges): (&Value, &Edges),
    figures: &[Figure],
) -> String {
    let mut text = "# Every method on frozen features\n\n".to_owned();
    write_origin(&mut text, results, (environment, edges));
    text.push_str(
        "\nNumbers are mean ± population standard deviation over seeds; a number without ± is of one seed, or of a \
         method that trains nothing.\n\n",
    );
    for dataset in results.datasets() {
        let of = results.on(&dataset);
        writeln!(text, "# {dataset}\n").ok();
        let found = findings::markdown(results, &dataset);
        if !found.is_empty() {
            let rule = findings::rule();
            writeln!(
                text,
                "## What holds of the papers' findings\n\n{rule}\n\n{found}"
            )
            .ok();
        }
        text.push_str(&tables::markdown(&of, &dataset));
        text.push_str(&level_noise::markdown(&of));
        text.push_str(&times::markdown(&of, &environment::sessions(environment)));
    }
    if !figures.is_empty() {
        writeln!(
            text,
            "# Figures\n\nThe page draws them (view Evidence), of [{FIGURES}]({FIGURES}).\n"
        )
        .ok();
    }
    for figure in figures {
        writeln!(
            text,
            "- {}, {}: {}.",
            figure.dataset, figure.name, figure.caption
        )
        .ok();
    }
    text
}

/// Origin of the results: commands, sizes, severities, learning rates, and machines.
fn write_origin(text: &mut String, results: &Results, (environment, edges): (&Value, &Edges)) {
    let features = &environment["features"];
    write_commands(text, environment);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            writeln!(text, "- {name}: {value}").ok();
        }
    };
    line("encoder", plain(&features["model"]));
    line("trained on", size(&environment["trained_on"]));
    line("measured on", measured_on(results, environment));
    for (name, key) in settings(environment) {
        line(name, plain(&environment[*key]));
    }
    let rates = rates(results, (environment, edges));
    line("learning rates", rates.clone());
    line(
        "disturbed test splits, kind and severity",
        severities(&environment["disturbances"]),
    );
    for (method, why) in environment["not_measured"]
        .as_object()
        .into_iter()
        .flatten()
    {
        line(
            &format!("{method} is not measured"),
            why.as_str().unwrap_or_default().to_owned(),
        );
    }
    line(
        "rates that were tried, with loss and recall on held-out training pictures",
        grid(environment),
    );
    for key in ["commit", "tree", "system", "n_cores", "device", "jobs"] {
        line(key, plain(&environment[key]));
    }
    for session in environment::sessions(environment) {
        let (clock, commit) = (
            session.clock(),
            format!("{} ({})", session.commit, session.tree),
        );
        line(
            "run",
            format!("`{}`, on {clock}, of commit {commit}", session.command),
        );
    }
    let hashes = environment["features_sha256"].as_object();
    let hashes = hashes.map_or(0, serde_json::Map::len);
    if hashes > 0 {
        line(
            "hashes",
            format!(
                "SHA-256 of {hashes} files of features in [environment.json](environment.json)"
            ),
        );
    }
    text.push_str(of_edges(&rates));
}

/// The settings that say something: where a grid chose every rate, the factor on published ones does not.
fn settings(environment: &Value) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let is_of_grid = environment["grid_epochs"].is_u64();
    SETTINGS
        .iter()
        .filter(move |(_, key)| !is_of_grid || *key != "rate_factor")
}

/// The commands as they were given, word for word.
fn write_commands(text: &mut String, environment: &Value) {
    text.push_str("The commands, in order:\n\n```sh\n");
    let others = environment["also_measured_on"].as_array();
    let others = others.into_iter().flatten().map(|other| &other["command"]);
    let mut commands = vec![&environment["features"]["command"]];
    commands.extend(others);
    commands.push(&environment["command"]);
    commands.dedup();
    for command in commands.into_iter().filter_map(Value::as_str) {
        if !command.is_empty() {
            writeln!(text, "{command}").ok();
        }
    }
    text.push_str("```\n\n");
}

/// The file of the grid, where rates were chosen by one.
fn grid(environment: &Value) -> String {
    match environment["grid_epochs"].as_u64() {
        Some(epochs) => {
            format!("[learning-rates.json](learning-rates.json), fits of {epochs} passes")
        }
        None => String::new(),
    }
}

/// A value as people read it; nothing of `null`.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.is_empty() => String::new(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn size(value: &Value) -> String {
    let of = |key: &str| value[key].as_u64();
    let both = of("captions").zip(of("pictures"));
    both.map(|(captions, pictures)| format!("{captions} captions of {pictures} pictures"))
        .unwrap_or_default()
}

/// The size of the test split: as planned, or as it was counted.
fn measured_on(results: &Results, environment: &Value) -> String {
    let planned = size(&environment["measured_on"]);
    if !planned.is_empty() {
        return planned;
    }
    let counted = |metric| {
        let mut methods = results.methods().into_iter();
        methods.find_map(|method| results.values(method, &metric).first().copied())
    };
    let both = counted(Metric::CaptionCount).zip(counted(Metric::PictureCount));
    both.map(|(captions, pictures)| format!("{captions} captions of {pictures} pictures"))
        .unwrap_or_default()
}

/// Learning rates, with a word at those that a grid chose at its edge.
fn rates(results: &Results, (environment, edges): (&Value, &Edges)) -> String {
    let is_of_grid = environment["grid_epochs"].is_u64();
    let rates = environment::learning_rates(environment, &results.methods());
    let rates = rates.iter().map(|(name, rate)| {
        let edge = edges.get(name).filter(|_| is_of_grid);
        let edge = edge.map_or("", |edge| match edge {
            Edge::Lower => " (lower edge of the grid)",
            Edge::Upper => " (upper edge of the grid)",
        });
        format!("{} {rate}{edge}", name.slug())
    });
    rates.collect::<Vec<_>>().join(", ")
}

/// Note on learning rates at the edge of the grid; empty where there is none.
fn of_edges(rates: &str) -> &'static str {
    match rates.contains(" of the grid)") {
        true => {
            "\nA learning rate at the edge of the grid may not be the best: what lies beyond was not tried.\n"
        }
        false => "",
    }
}

fn severities(disturbances: &Value) -> String {
    let all = disturbances.as_array().into_iter().flatten();
    let all = all.filter_map(|one| Some(format!("{} {}", one["kind"].as_str()?, one["severity"])));
    all.collect::<Vec<_>>().join(", ")
}

/// The notes beside the report of a folder; nothing where there are none.
///
/// # Errors
///
/// The file cannot be read.
fn notes(folder: &Path) -> Result<String> {
    Ok(files::find_text(&folder.join(NOTES))?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Numbers;
    use super::*;
    use crate::report::Retrieval;

    /// Results that the page shows.
    const SUITES: [&str; 2] = ["public/evidence/scenes", "public/evidence/photos"];

    #[test]
    fn a_report_tells_how_the_results_came_about_and_shows_the_figures() {
        let mut results = Results::default();
        let numbers = |recall| Numbers::from([(Metric::Recall(Retrieval::TextToImage, 1), recall)]);
        for seed in 0..3 {
            results.add(MethodName::AsymvlmVmf, "scenes", seed, numbers(0.5));
        }
        results.add(MethodName::Clip, "scenes", 0, numbers(0.25));
        let environment = serde_json::json!({
            "command": "train reproduce --seeds 3", "batch": 8, "commit": "", "steps": 40, "rate_factor": 2.0,
            "follow": "code",
            "features": {"model": "scenes", "dataset": "scenes", "command": "train embed --train-scenes 7"},
            "trained_on": {"pictures": 7, "captions": 49}, "measured_on": {"pictures": 5, "captions": 30},
            "disturbances": [{"kind": "shot", "severity": 3}],
        });
        let figure = Figure {
            name: "recall-by-level".to_owned(),
            dataset: "scenes".to_owned(),
            caption: "Recall falls".to_owned(),
            panels: Vec::new(),
        };
        let text = markdown(&results, (&environment, &Edges::new()), &[figure]);
        for part in [
            "```sh\ntrain embed --train-scenes 7\ntrain reproduce --seeds 3\n```",
            "- trained on: 49 captions of 7 pictures",
            "- measured on: 30 captions of 5 pictures",
            "- steps of each fit: `40`",
            "- pairs in a batch: `8`",
            "- learning rates: asymvlm-vmf 0.02",
            "- disturbed test splits, kind and severity: shot 3",
            "- encoder: `scenes`",
            "(Recall@1)** — holds in all 1",
            "| AsymVLM vMF | 3 |",
            "- scenes, recall-by-level: Recall falls.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(
            !text.contains("- commit"),
            "nothing is said of nothing: {text}"
        );
    }

    #[test]
    fn commands_are_in_the_order_in_which_they_were_run() {
        let environment = serde_json::json!({
            "features": {"command": "train embed --out a"},
            "also_measured_on": [{"command": "train embed --out b"}],
            "command": "train reproduce --out c",
        });
        let mut text = String::new();
        write_commands(&mut text, &environment);
        let expected = "train embed --out a\ntrain embed --out b\ntrain reproduce --out c\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_rate_at_the_edge_of_the_grid_is_said() {
        let mut results = Results::default();
        for method in [
            MethodName::Pfe,
            MethodName::Prolip,
            MethodName::Deterministic,
        ] {
            results.add(
                method,
                "scenes",
                0,
                Numbers::from([(Metric::RecallSum, 1.0)]),
            );
        }
        let report_for = |grid_epochs: Option<u64>| {
            let environment = serde_json::json!({
                "follow": "code", "grid_epochs": grid_epochs, "rate_factor": 5.0,
                "learning_rates": { "pfe": 5e-2, "prolip": 1e-2, "deterministic": 1e-4 },
            });
            let edges = [
                (MethodName::Pfe, Edge::Upper),
                (MethodName::Deterministic, Edge::Lower),
            ];
            markdown(&results, (&environment, &edges.into()), &[])
        };
        let chosen = report_for(Some(4));
        let rates = "pfe 0.05 (upper edge of the grid), prolip 0.01, deterministic 0.0001 (lower edge of the grid)";
        for part in [rates, "may not be the best"] {
            assert!(chosen.contains(part), "{part} in {chosen}");
        }
        let given = report_for(None);
        assert!(!given.contains("edge"), "no grid, no edge: {given}");
        let has_factor = [&chosen, &given].map(|report| report.contains("factor on published"));
        assert_eq!(has_factor, [false, true], "a grid asks for no factor");
    }

    #[test]
    fn the_committed_report_is_what_the_committed_results_say() {
        for suite in SUITES {
            is_what_the_results_say(&Path::new(env!("CARGO_MANIFEST_DIR")).join(suite));
        }
    }

    #[test]
    fn the_rows_of_committed_tables_have_as_many_cells_as_their_heads() {
        for suite in SUITES {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(suite);
            let text = std::fs::read_to_string(path.join("report.md")).expect("committed");
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let is_table = pair.iter().all(|line| line.starts_with('|'));
                let [above, below] = [pair[0], pair[1]].map(|line| line.matches('|').count());
                assert!(!is_table || above == below, "{suite}: {}", pair[1]);
            }
        }
    }

    fn is_what_the_results_say(committed: &Path) {
        let again = tempfile::tempdir().expect("a folder for the test");
        for file in [
            "results.json",
            "environment.json",
            "learning-rates.json",
            "notes.md",
        ] {
            std::fs::copy(committed.join(file), again.path().join(file)).expect("committed");
        }
        write(again.path()).expect("a report");
        for file in ["report.md", "summary.json", FIGURES, FINDINGS] {
            let [found, expected] = [again.path(), committed]
                .map(|folder| std::fs::read_to_string(folder.join(file)).expect("a file of text"));
            for (found, expected) in found.lines().zip(expected.lines()) {
                assert_eq!(
                    found, expected,
                    "{file} as `train reproduce --report-only` writes it"
                );
            }
            assert_eq!(found.len(), expected.len(), "the whole of {file}");
        }
    }

    #[test]
    fn a_committed_environment_names_a_commit_that_exists_or_says_that_it_is_lost() {
        for suite in SUITES {
            names_a_commit_that_exists(suite);
        }
    }

    fn names_a_commit_that_exists(suite: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let environment = environment::read(&root.join(suite));
        let environment = environment.expect("JSON").expect("a file");
        let is_lost = environment["tree"] == "unknown: the commit is not in the repository";
        let sessions = environment::sessions(&environment);
        assert!(is_lost || !sessions.is_empty(), "{environment}");
        let has_history = root.join(".git").exists();
        for session in sessions.iter().filter(|_| has_history) {
            let object = format!("{}^{{commit}}", session.commit);
            let git = std::process::Command::new("git")
                .args(["cat-file", "-e", &object])
                .current_dir(root)
                .status();
            assert!(git.is_ok_and(|status| status.success()), "{object} exists");
        }
    }
}
