//! The commands of `train` one after the other, as a user gives them: features, fits, a model folder, a look at each.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::path::{Path, PathBuf};

use clap::Parser as _;
use kappascope::train::cli::{Cli, run};
use kappascope::train::exit::{BAD_INPUT, code_of};
use kappascope::train::inspect::describe;

/// A folder of a test's own, which is deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("kappascope-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::remove_dir_all(&path).ok();
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn train(words: &[&str]) -> anyhow::Result<()> {
    let words = std::iter::once("train").chain(words.iter().copied());
    run(&Cli::try_parse_from(words)?)
}

fn model() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("public/models/scenes").display().to_string()
}

fn embed(out: &str, more: &[&str]) {
    let model = model();
    let words = [
        "embed",
        "--model",
        &model,
        "--train-scenes",
        "12",
        "--test-scenes",
        "8",
        "--task-scenes",
        "6",
    ];
    train(&[&words[..], &["--out", out], more].concat()).expect("embedded");
}

#[test]
fn two_fits_become_a_model_folder_that_reproduces_its_golden_values() {
    let folder = Folder::new("commands");
    let features = folder.path("features");
    embed(&features, &[]);
    let fit = |method: &str, out: &str| {
        let words = [
            "fit",
            "--method",
            method,
            "--features",
            &features,
            "--out",
            out,
        ];
        train(&[&words[..], &["--batch", "32", "--epochs", "1"]].concat())
    };
    let (vmf, ps, out) = (folder.path("vmf"), folder.path("ps"), folder.path("model"));
    fit("asymvlm-vmf", &vmf).expect("fitted");
    fit("asymvlm-ps", &ps).expect("fitted");
    let again = fit("asymvlm-ps", &ps).expect_err("it is there");
    assert!(again.to_string().contains("--force"), "{again}");
    assert_eq!(code_of(&again), BAD_INPUT, "the exit code");

    let model = model();
    let export = |vmf: &str, ps: &str| {
        train(&[
            "export", "--model", &model, "--vmf", vmf, "--ps", ps, "--out", &out,
        ])
    };
    let swapped = format!("{:#}", export(&ps, &vmf).expect_err("the wrong way round"));
    assert!(
        swapped.contains("one of asymvlm-vmf was expected"),
        "{swapped}"
    );
    // It opens what it wrote and holds it to its golden values.
    export(&vmf, &ps).expect("exported and tested");

    for (path, part) in [
        (&features, "84 captions of 12 pictures"),
        (&vmf, "a fit of asymvlm-vmf with seed 0"),
        (&out, "a model, Scenes"),
    ] {
        let said = describe(Path::new(path)).expect("a known folder");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn noisy_features_tell_what_noise_costs() {
    let folder = Folder::new("noisy");
    let (features, noisy, out) = (folder.path("f"), folder.path("n"), folder.path("out"));
    embed(&features, &[]);
    embed(&noisy, &["--distort", "shot:5", "--misspell", "keyboard:7"]);
    let words = [
        "reproduce",
        "--features",
        &features,
        "--measure-on",
        &noisy,
        "--out",
        &out,
    ];
    let more = [
        "--seeds",
        "1",
        "--methods",
        "clip,pfe",
        "--batch",
        "32",
        "--epochs",
        "1",
    ];
    train(&[&words[..], &more].concat()).expect("reproduced");
    let tables = std::fs::read_to_string(folder.0.join("out/tables.md")).expect("tables");
    let (own, shifted) = tables
        .split_once("# scenes → shot 5, keyboard 7")
        .expect("two chapters");
    assert!(!own.contains("## Noise"), "{own}");
    assert!(shifted.contains("## Noise"), "{shifted}");
}
