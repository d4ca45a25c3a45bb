//! `environment.json`: how results came about, so that they can be repeated, and on which machines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evaluation_data::EvaluationData;
use super::fit_plan::FitPlan;
use crate::train::files;
use crate::train::methods::{MethodName, Variant};
use crate::train::provenance::{Tree, commit_and_date, tree};

/// The file in the folder of the results.
const FILE: &str = "environment.json";
/// Changes that no commit holds, beside it.
const CHANGES: &str = "uncommitted.diff";
/// Key of the learning rates.
const RATES: &str = "learning_rates";
/// Key of the corruptions.
const CORRUPTIONS: &str = "disturbances";
/// Key of the sessions.
const SESSIONS: &str = "sessions";
/// Keys of the sizes of the splits.
pub(super) const TRAINED_ON: &str = "trained_on";
pub(super) const MEASURED_ON: &str = "measured_on";
/// Entries of a table that a message names when they differ.
const MAX_NAMED: usize = 4;
/// Keys whose values must be the same for all results of a folder.
const PLANNED: [&str; 10] = [
    "batch",
    "epochs",
    "rate_factor",
    "follow",
    "probvlm_uncertainty",
    "deterministic_scale",
    "hidden_width",
    "features",
    "features_sha256",
    "also_measured_on",
];

/// One run of the command: fits of several can lie in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunSession {
    /// Processor, number of cores, and system.
    pub(super) machine: String,
    /// Device that computed, as `--device` calls it.
    pub(super) device: String,
    /// Number of fits that ran at a time.
    pub(super) jobs: usize,
    /// Commit of the program's source.
    pub(super) commit: String,
    /// Whether the source was as committed.
    pub(super) tree: String,
    /// The command as it was given.
    pub(super) command: String,
}

impl RunSession {
    /// Sessions whose times can be compared.
    pub(super) fn clock(&self) -> String {
        let Self {
            machine,
            device,
            jobs,
            ..
        } = self;
        format!("{machine}; device {device}, fits at a time: {jobs}")
    }

    /// The present session. Changes that no commit holds are kept in the folder, under the hash that the session names.
    fn now(plan: &FitPlan, device: &str, jobs: usize, folder: &Path) -> Result<Self> {
        let Tree { state, changes } = tree(folder);
        if !changes.is_empty() {
            files::put(&folder.join(CHANGES), changes)?;
        }
        Ok(Self {
            machine: machine(),
            device: device.to_owned(),
            jobs,
            commit: commit_and_date().commit,
            tree: state,
            command: plan.command.clone(),
        })
    }
}

/// Plan and surroundings of a run, written before the first fit.
#[derive(Debug)]
pub(super) struct Environment<'a> {
    pub(super) plan: &'a FitPlan,
    pub(super) data: &'a EvaluationData,
    pub(super) methods: &'a [MethodName],
    pub(super) device: &'a str,
    pub(super) jobs: usize,
    pub(super) folder: &'a Path,
}

impl Environment<'_> {
    /// Writes the file, or checks that what is there was planned the same way; returns the number of this session.
    ///
    /// # Errors
    ///
    /// The folder holds results of another plan, or a file cannot be read or written.
    pub(super) fn claim(&self) -> Result<usize> {
        let (now, there) = (self.json(), read(self.folder)?);
        let mut environment = match there {
            None => now,
            Some(there) => self.same_plan(there, &now)?,
        };
        let session = RunSession::now(self.plan, self.device, self.jobs, self.folder)?;
        let mut known = sessions(&environment);
        let place = known.iter().position(|other| *other == session);
        let place = place.unwrap_or_else(|| {
            known.push(session);
            known.len() - 1
        });
        environment[SESSIONS] = serde_json::to_value(known)?;
        files::put_json(&self.folder.join(FILE), &environment)?;
        Ok(place)
    }

    fn same_plan(&self, mut there: Value, now: &Value) -> Result<Value> {
        for key in PLANNED {
            let [before, after] = [&there, now].map(|settings| without_commands(&settings[key]));
            ensure!(
                before == after,
                "{} holds results with {}; choose another folder",
                self.folder.display(),
                difference(key, &before, &after)
            );
        }
        // A later session may add methods, each with its rate.
        for (method, rate) in now[RATES].as_object().into_iter().flatten() {
            let before = &there[RATES][method];
            ensure!(
                before.is_null() || before == rate,
                "{} holds results of {method} with the learning rate {before}, not {rate}; choose another folder",
                self.folder.display()
            );
            there[RATES][method] = rate.clone();
        }
        // Earlier results have no corruptions; a later session may add them.
        let is_none = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
        if !is_none(&now[CORRUPTIONS]) && there[CORRUPTIONS] != now[CORRUPTIONS] {
            ensure!(
                is_none(&there[CORRUPTIONS]),
                "{} holds results with {}; choose another folder",
                self.folder.display(),
                difference(CORRUPTIONS, &there[CORRUPTIONS], &now[CORRUPTIONS])
            );
            there[CORRUPTIONS] = now[CORRUPTIONS].clone();
        }
        Ok(there)
    }

    /// Data at which the curvature of `BayesVLM` is taken, if that is among the methods.
    fn curvature(&self) -> Option<String> {
        let is_of_it =
            |name: &MethodName| matches!(name, MethodName::Bayesvlm | MethodName::BayesvlmCosine);
        let asked = self.methods.iter().any(is_of_it);
        asked.then(|| self.data.curvature()).flatten()
    }

    /// Settings that a reader needs to repeat the numbers.
    fn json(&self) -> Value {
        let (plan, config) = (self.plan, &self.data.own.config);
        let others = self.data.others.iter().map(|cache| &cache.config);
        let corruptions = self.data.corrupted.iter().map(|split| &split.corruption);
        let [train, test] = sizes(self.data);
        let why_not = |name: &MethodName| Some((name.slug(), self.data.why_not(*name)?));
        let not_measured: BTreeMap<_, _> = self.methods.iter().filter_map(why_not).collect();
        let n_captions = self.data.own.train.ids.captions.len();
        let rates = self.methods.iter().filter_map(|name| {
            let rate = plan.optimizer(*name)?.learning_rate();
            Some((name.slug(), rate))
        });
        serde_json::json!({
            "command": plan.command,
            "versions": versions(),
            "batch": plan.batch,
            "epochs": plan.epochs,
            "steps": n_captions.div_ceil(plan.batch) * plan.epochs,
            TRAINED_ON: train,
            MEASURED_ON: test,
            "not_measured": not_measured,
            "bayesvlm_curvature": self.curvature(),
            "rate_factor": plan.rate_factor,
            RATES: rates.collect::<BTreeMap<_, _>>(),
            "grid_epochs": plan.grid_epochs,
            "follow": plan.follow,
            "probvlm_uncertainty": plan.probvlm_uncertainty,
            "deterministic_scale": plan.deterministic_scale,
            "hidden_width": plan.sizes(config.embed_dim).hidden_width,
            "features": config,
            "features_sha256": self.data.hashes,
            "also_measured_on": others.collect::<Vec<_>>(),
            CORRUPTIONS: corruptions.collect::<Vec<_>>(),
        })
    }
}

/// Pictures and captions of the splits that are trained and measured on.
pub(super) fn sizes(data: &EvaluationData) -> [Value; 2] {
    [&data.own.train, &data.own.test].map(|split| {
        let (pictures, captions) = (split.ids.images.len(), split.ids.captions.len());
        serde_json::json!({ "pictures": pictures, "captions": captions })
    })
}

/// A setting without the commands in it: features are the same whatever command made them, and earlier results do not
/// name that of photographs.
fn without_commands(setting: &Value) -> Value {
    match setting {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(key, _)| *key != "command");
            let entries = entries.map(|(key, value)| (key.clone(), without_commands(value)));
            Value::Object(entries.collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(without_commands).collect()),
        other => other.clone(),
    }
}

/// What a setting was, and is not, in a few words: of tables and lists the first entries that differ.
fn difference(key: &str, before: &Value, after: &Value) -> String {
    let differing: Vec<String> = match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            let names = names.into_iter();
            let differs = |name: &&String| before.get(*name) != after.get(*name);
            names.filter(differs).cloned().collect()
        }
        (Value::Array(before), Value::Array(after)) => {
            let on_one_side = |entry: &&Value| before.contains(entry) != after.contains(entry);
            let entries = before.iter().chain(after).filter(on_one_side);
            entries.map(Value::to_string).collect()
        }
        _ => return format!("{key} {before}, not {after}"),
    };
    let named = differing.len().min(MAX_NAMED);
    let more = match differing.len() - named {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("another {key}: {}{more}", differing[..named].join(", "))
}

/// The file of a folder; `None` where there is none.
///
/// # Errors
///
/// The file is broken.
pub(super) fn read(folder: &Path) -> Result<Option<Value>> {
    files::find_json(&folder.join(FILE))
}

/// The sessions of a folder in order; results from before they were recorded have none.
pub(super) fn sessions(environment: &Value) -> Vec<RunSession> {
    serde_json::from_value(environment[SESSIONS].clone()).unwrap_or_default()
}

/// The learning rates that were recorded.
pub(super) fn recorded_rates(environment: &Value) -> Vec<(MethodName, f64)> {
    let of = |name: &MethodName| Some((*name, environment[RATES][name.slug()].as_f64()?));
    MethodName::ALL.iter().filter_map(of).collect()
}

/// The learning rate of each method: as recorded, or the published one times the factor where it was not.
pub(super) fn learning_rates(
    environment: &Value,
    methods: &[MethodName],
) -> Vec<(MethodName, f64)> {
    let follow = serde_json::from_value(environment["follow"].clone()).unwrap_or(Variant::Code);
    let factor = environment["rate_factor"].as_f64();
    let of = |name: &MethodName| {
        let recorded = environment[RATES][name.slug()].as_f64();
        let published = name.optimizer(follow)?.learning_rate();
        Some((*name, recorded.or_else(|| Some(published * factor?))?))
    };
    methods.iter().filter_map(of).collect()
}

fn versions() -> Value {
    let rustc = std::process::Command::new("rustc")
        .arg("--version")
        .output();
    let rustc = rustc.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
    serde_json::json!({
        "kappascope": env!("CARGO_PKG_VERSION"),
        "rustc": rustc.unwrap_or_default(),
        "cargo_lock_sha256": files::sha256(include_bytes!("../../../Cargo.lock")),
    })
}

/// Processor, number of cores, and system.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = cpus.lines().filter_map(|line| line.split_once(':'));
    let model = lines.find(|(key, _)| key.trim() == "model name");
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{model}, {n_cores} cores, {os} {arch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_that_were_recorded_or_follow_from_the_factor() {
        let methods = [MethodName::Clip, MethodName::Pfe, MethodName::AsymvlmVmf];
        let early = serde_json::json!({ "rate_factor": 5.0, "follow": "code" });
        let expected = [(MethodName::Pfe, 5e-3), (MethodName::AsymvlmVmf, 5e-2)];
        assert_eq!(
            learning_rates(&early, &methods),
            expected,
            "published, times five"
        );
        let recorded = serde_json::json!({
            "rate_factor": 1.0, "follow": "code", "learning_rates": { "pfe": 1e-2 }
        });
        let expected = [(MethodName::Pfe, 1e-2), (MethodName::AsymvlmVmf, 1e-2)];
        assert_eq!(learning_rates(&recorded, &methods), expected, "by the grid");
    }

    #[test]
    fn features_are_the_same_whatever_command_made_them() {
        let features = |command: &str, weights: &str| {
            let config = serde_json::json!({ "command": command, "weights": [weights] });
            without_commands(&serde_json::json!([config]))
        };
        let recorded = features("", "a");
        assert_eq!(recorded, features("train photos", "a"), "the same features");
        assert_ne!(recorded, features("", "b"), "of another encoder");
    }

    #[test]
    fn a_difference_is_told_by_what_differs_and_not_by_everything() {
        let difference = |before: Value, after: Value| difference("hashes", &before, &after);
        let one = serde_json::json!({ "a": "1", "b": "2", "c": "3" });
        let other = serde_json::json!({ "a": "1", "b": "4", "d": "3" });
        assert_eq!(difference(one.clone(), other), "another hashes: b, c, d");
        let none = serde_json::json!({ "e": 1, "f": 2, "g": 3, "h": 4 });
        let found = difference(one, none);
        assert_eq!(found, "another hashes: a, b, c, e and 3 more");
        let lists = [[1, 2], [2, 3]].map(|list| serde_json::json!(list));
        let [before, after] = lists;
        assert_eq!(difference(before, after), "another hashes: 1, 3");
        let plain = difference(512.into(), 256.into());
        assert_eq!(plain, "hashes 512, not 256");
    }

    #[test]
    fn times_of_other_machines_devices_or_loads_are_not_compared() {
        let session = RunSession {
            machine: "a".to_owned(),
            device: "cpu".to_owned(),
            jobs: 2,
            commit: "1".to_owned(),
            tree: "clean".to_owned(),
            command: "train reproduce".to_owned(),
        };
        let other_commit = RunSession {
            commit: "2".to_owned(),
            ..session.clone()
        };
        let busier = RunSession {
            jobs: 1,
            ..session.clone()
        };
        assert_eq!(session.clock(), other_commit.clock(), "the same machine");
        assert_ne!(session.clock(), busier.clock(), "fewer fits at a time");
    }
}
