//! Arguments of `train inspect`, and its description of a folder that one of the commands wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;

use crate::report::{LevelStatistic, Metric, Retrieval};
use crate::train::files::read_json;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  train inspect public/models/scenes\n  train inspect runs/features"
)]
pub(super) struct InspectArgs {
    /// A model, features, a fit, results, or a training.
    folder: PathBuf,
}

pub(super) fn run(args: &InspectArgs) -> Result<()> {
    print!("{}", describe(&args.folder)?);
    Ok(())
}

/// A kind of folder: the file that identifies it, and the function that describes it.
type FolderKind = (&'static str, fn(&Path, &Value) -> String);

/// Kinds of folders, in the order in which they are looked for: a folder of features may hold pieces too.
const KINDS: [FolderKind; 7] = [
    ("manifest.json", model),
    ("features.json", features),
    ("pieces/plan.json", pieces),
    ("results.json", results),
    ("numbers.json", fit),
    ("checkpoint.json", unfinished_fit),
    ("encoder/checkpoint.json", encoder),
];

/// Description of the content of a folder that one of the commands wrote.
///
/// # Errors
///
/// It holds nothing that the program wrote, or a broken file.
pub fn describe(folder: &Path) -> Result<String> {
    let mut text = String::new();
    for (file, say) in KINDS {
        let path = folder.join(file);
        if path.exists() {
            let said = say(folder, &read_json::<Value>(&path)?);
            writeln!(text, "{}: {said}", folder.display()).ok();
        }
    }
    if text.is_empty() {
        let files: Vec<&str> = KINDS.iter().map(|(file, _)| *file).collect();
        let (folder, files) = (folder.display(), files.join(", "));
        bail!("{folder}: nothing that `train` wrote; one of {files} was expected");
    }
    Ok(text)
}

/// A value as a reader wants it: a string without quotes.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn line(text: &mut String, name: &str, value: &Value) {
    if !value.is_null() && value.as_str() != Some("") {
        write!(text, "\n  {name:<12} {}", plain(value)).ok();
    }
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn model(_: &Path, manifest: &Value) -> String {
    let shards = manifest["shards"].as_array().cloned().unwrap_or_default();
    let n_bytes = shards.iter().filter_map(|shard| shard["bytes"].as_u64());
    let megabytes = n_bytes.sum::<u64>() as f64 / 1e6;
    let mut text = format!("a model, {}, {megabytes:.1} MB", plain(&manifest["title"]));
    let parts: BTreeSet<String> = shards.iter().map(|shard| plain(&shard["part"])).collect();
    let parts: Vec<String> = parts.into_iter().collect();
    line(&mut text, "parts", &parts.join(", ").into());
    line(&mut text, "width", &manifest["clip"]["embed_dim"]);
    let provenance = &manifest["provenance"];
    for name in ["command", "seed", "date", "commit"] {
        line(&mut text, name, &provenance[name]);
    }
    for (name, value) in provenance["metrics"].as_object().into_iter().flatten() {
        line(&mut text, name, value);
    }
    text
}

fn features(folder: &Path, config: &Value) -> String {
    let (dataset, model) = (plain(&config["dataset"]), plain(&config["model"]));
    let mut text = format!("features of {dataset} by {model}");
    for split in ["train", "test"] {
        if let Ok(ids) = read_json::<Value>(&folder.join(format!("{split}.json"))) {
            let (n_captions, n_images) = (length(&ids["captions"]), length(&ids["images"]));
            let said = format!("{n_captions} captions of {n_images} pictures");
            line(&mut text, split, &said.into());
        }
    }
    let tasks: Value = read_json(&folder.join("tasks.json")).unwrap_or_default();
    for task in tasks.as_array().into_iter().flatten() {
        let (n_images, n_classes) = (length(&task["labels"]), length(&task["classes"]));
        let said = format!("{n_images} pictures, {n_classes} classes");
        line(&mut text, &plain(&task["name"]), &said.into());
    }
    let skipped: Value = read_json(&folder.join("skipped.json")).unwrap_or_default();
    for (split, skipped) in skipped.as_object().into_iter().flatten() {
        let said = format!("{} of {split}, listed in skipped.json", length(skipped));
        line(&mut text, "left out", &said.into());
    }
    for name in ["seed", "command"] {
        line(&mut text, name, &config[name]);
    }
    text
}

fn pieces(folder: &Path, plan: &Value) -> String {
    let names = plan["pieces"].as_array().cloned().unwrap_or_default();
    let is_done = |name: &&Value| folder.join(format!("pieces/{}.json", plain(name))).exists();
    let n_done = names.iter().filter(is_done).count();
    let next = if n_done == names.len() {
        "`train merge` puts them together"
    } else {
        "the same `train embed` resumes"
    };
    format!(
        "embedding of {} under way, {n_done} of {} pieces; {next}",
        plain(&plan["config"]["dataset"]),
        names.len()
    )
}

fn results(folder: &Path, rows: &Value) -> String {
    let mut seeds: BTreeMap<(String, String), BTreeSet<u64>> = BTreeMap::new();
    for row in rows.as_array().into_iter().flatten() {
        let of = (plain(&row["dataset"]), plain(&row["method"]));
        let seed = row["seed"].as_u64().unwrap_or_default();
        seeds.entry(of).or_default().insert(seed);
    }
    let mut text = format!("results, {} numbers; read report.md", length(rows));
    for ((dataset, method), seeds) in seeds {
        let said = format!("{method}, {} seeds", seeds.len());
        line(&mut text, &dataset, &said.into());
    }
    let environment: Value = read_json(&folder.join("environment.json")).unwrap_or_default();
    let names = [
        "batch",
        "epochs",
        "rate_factor",
        "device",
        "n_cores",
        "command",
        "commit",
    ];
    for name in names {
        line(&mut text, name, &environment[name]);
    }
    text
}

fn fit(_: &Path, fit: &Value) -> String {
    let (method, seed) = (plain(&fit["method"]), plain(&fit["seed"]));
    let mut text = format!("a fit of {method} with seed {seed}");
    for (dataset, numbers) in fit["numbers"].as_object().into_iter().flatten() {
        for metric in [
            Metric::Recall(Retrieval::TextToImage, 1),
            Metric::Recall(Retrieval::ImageToText, 1),
            Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman),
            Metric::Levels(Retrieval::ImageToText, LevelStatistic::Spearman),
        ] {
            let name = metric.to_string();
            line(&mut text, &format!("{dataset} {name}"), &numbers[&name]);
        }
    }
    line(&mut text, "command", &fit["command"]);
    text
}

fn unfinished_fit(_: &Path, checkpoint: &Value) -> String {
    let mut text = format!(
        "a fit that was interrupted after step {}; the same `train fit` resumes it",
        plain(&checkpoint["step"])
    );
    let training = &checkpoint["training"];
    for name in ["optimizer", "batch", "epochs", "seed"] {
        line(&mut text, name, &training[name]);
    }
    text
}

fn encoder(folder: &Path, position: &Value) -> String {
    let config: Value = read_json(&folder.join("config.json")).unwrap_or_default();
    let mut text = format!(
        "a training of the scenes model, {} of {} steps; the same `train scenes` resumes it",
        plain(&position["step"]),
        plain(&config["clip"]["steps"])
    );
    let adapters = ["vmf", "power_spherical"];
    let is_there = |name: &&str| folder.join(format!("{name}.bpk")).exists();
    let there: Vec<&str> = adapters.into_iter().filter(is_there).collect();
    line(&mut text, "adapters", &there.join(", ").into());
    let metrics: Value = read_json(&folder.join("metrics.json")).unwrap_or_default();
    for (name, value) in metrics.as_object().into_iter().flatten() {
        line(&mut text, name, value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_is_described() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/models/scenes");
        let text = describe(&folder).expect("a model");
        assert!(text.contains("a model, Scenes (built in)"), "{text}");
        let has_parts = text.contains("parts        adapter_power_spherical");
        assert!(has_parts, "{text}");
    }

    #[test]
    fn unfinished_work_says_how_to_go_on() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::fs::create_dir(folder.path().join("pieces")).expect("a folder for the test");
        for (name, json) in [
            (
                "pieces/plan.json",
                r#"{"config": {"dataset": "coco"}, "pieces": ["a", "b"]}"#,
            ),
            ("pieces/a.json", "{}"),
            (
                "checkpoint.json",
                r#"{"step": 70, "training": {"batch": 8}}"#,
            ),
        ] {
            std::fs::write(folder.path().join(name), json).expect("the folder is the test's own");
        }
        let text = describe(folder.path()).expect("pieces and a checkpoint");
        for part in [
            "of coco under way, 1 of 2 pieces; the same",
            "interrupted after step 70",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn an_empty_folder_is_no_run() {
        let error = describe(Path::new("nowhere")).expect_err("nothing is there");
        let names_files = error.to_string().contains("manifest.json, features.json");
        assert!(names_files, "{error}");
    }
}
