//! What the tests know of the page: its `data-` hooks, and the native program that must agree with it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::dist;
use crate::webdriver::Browser;

/// Loading an engine on a slow machine, the software GPU's included.
const LOADING: Duration = Duration::from_secs(240);
/// One change of a caption, on the software GPU.
const ANSWERING: Duration = Duration::from_secs(120);

/// What a page shows: κ by caption, and nats by caption and picture.
#[derive(Debug, PartialEq)]
pub struct Reading {
    pub kappa: BTreeMap<String, f64>,
    pub nats: BTreeMap<(String, String), f64>,
}

/// Opens the page and waits until an engine has answered.
pub fn open_ready(browser: &Browser, address: &str) {
    browser.open(address);
    wait_until_ready(browser, LOADING);
}

/// Waits until the page rests.
pub fn wait_until_ready(browser: &Browser, limit: Duration) {
    browser.wait_for(
        "a page at rest",
        limit,
        "return document.querySelector('[data-status=\"ready\"]') !== null",
        &[],
    );
}

/// The engine that the page names.
pub fn engine(browser: &Browser) -> String {
    let name = browser.run(
        "return document.querySelector('[data-engine]')?.dataset.engine ?? ''",
        &[],
    );
    name.as_str().unwrap_or_default().to_owned()
}

/// What the page says in words, anywhere.
pub fn text(browser: &Browser) -> String {
    browser
        .run("return document.body.innerText", &[])
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Replaces the first caption and waits for its row and for the page to rest.
pub fn type_first_caption(browser: &Browser, caption: &str) {
    browser.fill("[data-caption] :is(input, textarea)", caption);
    wait_for_caption(browser, caption);
}

/// Waits until a caption has a row with a κ and the page rests.
pub fn wait_for_caption(browser: &Browser, caption: &str) {
    let script = "const row = [...document.querySelectorAll('[data-caption]')]
            .find(row => row.dataset.caption === arguments[0] && row.querySelector('[data-field=\"kappa\"][data-value]'));
        return row !== undefined && document.querySelector('[data-status=\"ready\"]') !== null";
    browser.wait_for(
        &format!("an answer to {caption:?}"),
        ANSWERING,
        script,
        &[json!(caption)],
    );
}

/// Adds a picture from a file and waits for its column; returns the page's name for it.
pub fn add_picture(browser: &Browser, file: &Path) -> String {
    let before = pictures(browser);
    browser.choose_file("input[type=file]", file);
    let script = "const names = new Set([...document.querySelectorAll('[data-field=\"nats\"][data-value]')].map(cell => cell.dataset.image));
        arguments[0].forEach(name => names.delete(name));
        return document.querySelector('[data-status=\"ready\"]') && names.size > 0 ? [...names][0] : null";
    let name = browser.wait_for(
        "a column for the picture",
        ANSWERING,
        script,
        &[json!(before)],
    );
    name.as_str().expect("a picture has a name").to_owned()
}

/// The names of the pictures that have numbers.
pub fn pictures(browser: &Browser) -> Vec<String> {
    let names = reading(browser).nats.into_keys().map(|(_, image)| image);
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Every number on the page, as it stands in `data-value`.
pub fn reading(browser: &Browser) -> Reading {
    let script = "const all = selector => [...document.querySelectorAll(selector)];
        const kappa = all('[data-field=\"kappa\"][data-value]').map(cell =>
            [cell.closest('[data-caption]').dataset.caption, Number(cell.dataset.value)]);
        const nats = all('[data-field=\"nats\"][data-value]').map(cell =>
            [cell.dataset.caption, cell.dataset.image, Number(cell.dataset.value)]);
        return { kappa, nats }";
    let found = browser.run(script, &[]);
    let rows = |key: &str| found[key].as_array().cloned().unwrap_or_default();
    Reading {
        kappa: rows("kappa")
            .iter()
            .map(|row| (text_at(row, 0), number(&row[1])))
            .collect(),
        nats: rows("nats")
            .iter()
            .map(|row| ((text_at(row, 0), text_at(row, 1)), number(&row[2])))
            .collect(),
    }
}

/// What `train score` says of the same captions and files; pictures are named as the page names them.
pub fn native_reading(captions: &[String], pictures: &[(String, &Path)]) -> Reading {
    let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
    command
        .arg("score")
        .arg("--model")
        .arg(dist().join("models/scenes"))
        .arg("--json");
    for caption in captions {
        command.arg("--caption").arg(caption);
    }
    for (_, file) in pictures {
        command.arg("--image").arg(file);
    }
    let output = command.output().expect("the train program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let answer: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let list = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let name_of = |file: String| {
        let named = pictures
            .iter()
            .find(|(_, path)| path.to_str() == Some(&file));
        named
            .unwrap_or_else(|| panic!("a picture that was not asked for: {file}"))
            .0
            .clone()
    };
    let by_name = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    Reading {
        kappa: list("captions")
            .iter()
            .map(|row| (by_name(row, "caption"), number(&row["kappa"])))
            .collect(),
        nats: list("pairs")
            .iter()
            .map(|row| {
                (
                    (by_name(row, "caption"), name_of(by_name(row, "image"))),
                    number(&row["nats"]),
                )
            })
            .collect(),
    }
}

/// Compares numbers that both have, relative to the value or to 1.
pub fn assert_agree(page: &Reading, native: &Reading, tolerance: f64) {
    assert!(
        !native.kappa.is_empty() && !native.nats.is_empty(),
        "nothing to compare with: {native:?}"
    );
    for (caption, expected) in &native.kappa {
        let found = page
            .kappa
            .get(caption)
            .unwrap_or_else(|| panic!("the page has no κ of {caption:?}: {page:?}"));
        assert_close(&format!("κ of {caption:?}"), *found, *expected, tolerance);
    }
    for (pair, expected) in &native.nats {
        let found = page
            .nats
            .get(pair)
            .unwrap_or_else(|| panic!("the page has no nats of {pair:?}: {page:?}"));
        assert_close(&format!("nats of {pair:?}"), *found, *expected, tolerance);
    }
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(
        error <= tolerance,
        "{what}: the page shows {found}, the native program {expected}: {error:e} > {tolerance:e}"
    );
}

fn text_at(row: &Value, index: usize) -> String {
    row[index].as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}
