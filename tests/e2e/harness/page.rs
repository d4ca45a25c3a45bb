//! What the tests know of the page: its `data-` hooks, and the native program that must agree with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use kappascope::weights::manifest::Manifest;
use serde_json::{Value, json};

use super::{Browser, dist};

/// Loading an engine on a slow machine, the software GPU's included.
const LOADING: Duration = Duration::from_secs(240);
/// One change of a caption, on the software GPU.
pub const ANSWERING: Duration = Duration::from_secs(120);

/// The numbers of a caption, by the name that the page and the native program give them.
const CAPTION_FIELDS: [&str; 3] = ["kappa", "uncertainty", "percentile"];

/// What a page shows: numbers by caption and field, and nats by caption and picture.
#[derive(Debug, PartialEq)]
pub struct Reading {
    pub captions: BTreeMap<(String, String), f64>,
    pub nats: BTreeMap<(String, String), f64>,
}

/// Opens the page and waits until an engine has answered.
pub fn open_ready(browser: &Browser, address: &str) {
    browser.open(address);
    wait_until_ready(browser, LOADING);
}

/// Waits until the page rests: its numbers are there, and the parts that come after them, unless it says that they do
/// not.
pub fn wait_until_ready(browser: &Browser, limit: Duration) {
    browser.wait_for(
        "a page at rest",
        limit,
        "return document.querySelector('[data-status=\"ready\"]') !== null
            && ([...document.querySelectorAll('.later')].every(place => place.firstElementChild)
                || document.querySelector('.notice') !== null)",
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

/// Waits until these words stand anywhere on the page.
pub fn wait_until_it_says(browser: &Browser, words: &str) {
    browser.wait_for(
        words,
        Duration::from_secs(60),
        "return document.body.innerText.includes(arguments[0])",
        &[json!(words)],
    );
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
    new_picture(browser, || browser.choose_file(".add-picture input", file))
}

/// The name of the picture that this brings, once it has its numbers.
pub fn new_picture(browser: &Browser, bring: impl FnOnce()) -> String {
    let before = pictures(browser);
    bring();
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
    let script = "const all = field => [...document.querySelectorAll(`[data-field=\"${field}\"][data-value]`)];
        const row = cell => cell.closest('tr[data-caption]');
        const captions = arguments[0].flatMap(field => all(field).filter(row).map(cell =>
            [row(cell).dataset.caption, field, Number(cell.dataset.value)]));
        const nats = all('nats').filter(cell => cell.dataset.image).map(cell =>
            [cell.dataset.caption, cell.dataset.image, Number(cell.dataset.value)]);
        return { captions, nats }";
    let found = browser.run(script, &[json!(CAPTION_FIELDS)]);
    let numbers = |key: &str| {
        let rows = found[key].as_array().cloned().unwrap_or_default();
        let entry = |row: &Value| ((text_at(row, 0), text_at(row, 1)), number(&row[2]));
        rows.iter().map(entry).collect()
    };
    Reading {
        captions: numbers("captions"),
        nats: numbers("nats"),
    }
}

/// The answer of `train score` for captions and files by the model of scenes, as it prints it.
pub fn native_table<'a>(
    captions: impl IntoIterator<Item = &'a str>,
    files: impl IntoIterator<Item = &'a Path>,
) -> Value {
    native_table_of("scenes", captions, files)
}

fn native_table_of<'a>(
    world: &str,
    captions: impl IntoIterator<Item = &'a str>,
    files: impl IntoIterator<Item = &'a Path>,
) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
    command
        .arg("score")
        .arg("--model")
        .arg(dist().join("models").join(world))
        .arg("--json");
    for caption in captions {
        command.arg("--caption").arg(caption);
    }
    for file in files {
        command.arg("--image").arg(file);
    }
    let output = command.output().expect("the train program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// What `train score` says of the same captions and files by a world's model; pictures are named as the page names them.
pub fn native_reading(
    world: &str,
    captions: &BTreeSet<String>,
    pictures: &[(String, &Path)],
) -> Reading {
    let answer = native_table_of(
        world,
        captions.iter().map(String::as_str),
        pictures.iter().map(|(_, file)| *file),
    );
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
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let of_caption = |row: &Value| {
        CAPTION_FIELDS.map(|field| {
            (
                (word(row, "caption"), field.to_owned()),
                number(&row[field]),
            )
        })
    };
    let of_pair = |row: &Value| {
        (
            (word(row, "caption"), name_of(word(row, "image"))),
            number(&row["nats"]),
        )
    };
    Reading {
        captions: list("captions").iter().flat_map(of_caption).collect(),
        nats: list("pairs").iter().map(of_pair).collect(),
    }
}

/// A step among the reference captions may lie between two κ that agree.
const PERCENTILE_TOLERANCE: f64 = 0.5;

/// Compares numbers that both have, relative to the value or to 1.
pub fn assert_agree(page: &Reading, native: &Reading, tolerance: f64) {
    for (page, native) in [
        (&page.captions, &native.captions),
        (&page.nats, &native.nats),
    ] {
        assert!(!native.is_empty(), "nothing to compare {page:?} with");
        for (key, expected) in native {
            let found = page
                .get(key)
                .unwrap_or_else(|| panic!("the page has no number for {key:?}: {page:?}"));
            let allowed = match key.1.as_str() {
                "percentile" => PERCENTILE_TOLERANCE,
                _ => tolerance * expected.abs().max(1.0),
            };
            let error = (found - expected).abs();
            assert!(
                error <= allowed,
                "{key:?}: the page shows {found}, the native program {expected}: {error:e} > {allowed:e}"
            );
        }
    }
}

fn text_at(row: &Value, index: usize) -> String {
    row[index].as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

/// κ of each caption from the native program.
pub fn native_kappas(captions: &[&str]) -> HashMap<String, f64> {
    let mut asked = captions.to_vec();
    asked.sort_unstable();
    asked.dedup();
    let table = native_table(asked, [gallery_picture().as_path()]);
    let row = |row: &Value| {
        let caption = row["caption"].as_str().expect("a caption").to_owned();
        (caption, row["kappa"].as_f64().expect("a number"))
    };
    let rows = table["captions"].as_array().expect("captions");
    rows.iter().map(row).collect()
}

/// The folder of the model that the page brings.
pub fn built_in_model() -> PathBuf {
    dist().join("models/scenes")
}

/// The manifest of the model that the page brings.
pub fn manifest() -> Value {
    let text = fs::read_to_string(built_in_model().join("manifest.json"))
        .expect("the page brings a model");
    serde_json::from_str(&text).expect("the manifest is JSON")
}

/// The digits by which links and files name the weights of the model that the page brings.
pub fn weights() -> String {
    let manifest = serde_json::from_value::<Manifest>(manifest());
    manifest.expect("it is a manifest").weights()
}

/// The picture that the model is checked with.
pub fn golden_picture() -> PathBuf {
    let manifest = manifest();
    built_in_model().join(Path::new(
        manifest["golden"]["image"]["file"]
            .as_str()
            .expect("the manifest names a picture"),
    ))
}

/// A picture of the gallery.
pub fn gallery_picture() -> PathBuf {
    dist().join("gallery/lone-red-star.png")
}

/// Numbers by row and field, once the page rests.
pub fn rows(browser: &Browser, selector: &str, fields: &[&str]) -> Vec<Vec<Option<f64>>> {
    wait_until_ready(browser, ANSWERING);
    let script =
        "return [...document.querySelectorAll(arguments[0])].map(row => arguments[1].map(field =>
        row.querySelector(`[data-field=\"${field}\"]`)?.dataset.value ?? null))";
    let found = browser.run(script, &[json!(selector), json!(fields)]);
    let number = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let row = |row: &Value| {
        let cells = row.as_array().into_iter().flatten();
        cells.map(number).collect()
    };
    found.as_array().into_iter().flatten().map(row).collect()
}

/// Compares a number of the page with the one expected, relative to the value or to 1.
pub fn assert_near(found: Option<f64>, expected: f64, tolerance: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what}: the page shows no number"));
    let error = (found - expected).abs();
    assert!(
        error <= tolerance * expected.abs().max(1.0),
        "{what}: the page shows {found}, expected {expected}"
    );
}

/// The addresses that the service worker keeps.
pub fn kept(browser: &Browser) -> Vec<String> {
    let keys = browser.run_async(
        "const done = arguments[arguments.length - 1], keys = async name => (await caches.open(name)).keys();
         caches.keys().then(names => Promise.all(names.map(keys))).then(all => done(all.flat().map(key => key.url)))",
    );
    let keys = keys.as_array().cloned().unwrap_or_default();
    let word = |key: &Value| key.as_str().unwrap_or_default().to_owned();
    keys.iter().map(word).collect()
}

/// Waits until the service worker keeps the page and its engine.
pub fn wait_until_kept(browser: &Browser) {
    let start = Instant::now();
    while !kept(browser)
        .iter()
        .any(|key| key.contains("engine_cpu_bg"))
    {
        assert!(
            start.elapsed() < ANSWERING,
            "kept so far: {:?}",
            kept(browser)
        );
        thread::sleep(Duration::from_millis(200));
    }
}

/// Text as a part of an address.
pub fn escaped(text: &str) -> String {
    text.replace(' ', "%20")
}

/// A window that every view must fit: name, width, height, and what the visitor prefers, by media feature.
pub type Window = (
    &'static str,
    u32,
    u32,
    &'static [(&'static str, &'static str)],
);

const LIGHT: (&str, &str) = ("prefers-color-scheme", "light");
const DARK: (&str, &str) = ("prefers-color-scheme", "dark");
const FORCED: (&str, &str) = ("forced-colors", "active");
/// The windows that every view must fit.
pub const WINDOWS: [Window; 12] = [
    ("laptop", 1280, 800, &[LIGHT]),
    ("laptop-dark", 1280, 800, &[DARK]),
    ("laptop-forced", 1280, 800, &[DARK, FORCED]),
    ("wide", 1920, 1080, &[LIGHT]),
    ("wide-dark", 1920, 1080, &[DARK]),
    ("wide-forced", 1920, 1080, &[DARK, FORCED]),
    (
        "tablet",
        820,
        1180,
        &[LIGHT, ("prefers-reduced-motion", "reduce")],
    ),
    ("tablet-dark", 820, 1180, &[DARK]),
    ("tablet-forced", 820, 1180, &[DARK, FORCED]),
    ("phone", 390, 844, &[LIGHT]),
    ("phone-dark", 390, 844, &[DARK]),
    ("phone-forced", 390, 844, &[DARK, FORCED]),
];

/// The program of axe-core, which `cargo xtask test` fetches.
pub fn axe() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/axe-core/axe.min.js");
    fs::read_to_string(path).expect("npm install --no-save axe-core")
}

/// Words that the page shows on two lines, and fields whose text is cut.
const BROKEN: &str = r"
    const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) {
        const text = walk.currentNode, place = text.parentElement;
        if (place.closest('option, script, style, code, .command, svg, textarea') || !place.checkVisibility()) continue;
        for (const word of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter(part => part.width > 0).map(part => Math.round(part.top)));
            if (lines.size > 1) found.push(word[0]);
        }
    }
    const fields = [...document.querySelectorAll('textarea.words, .row textarea')];
    return found.concat(fields.filter(field => field.scrollWidth > field.clientWidth).map(field => field.value))";

/// Nothing stands beyond the window's edge, no word is broken or cut, and axe-core, which the page has been given,
/// finds nothing.
pub fn assert_sound(browser: &Browser, name: &str) {
    assert_fits(browser, name);
    let found = axe_finds(browser, None);
    assert_eq!(found, json!([]), "{name}: what axe found");
}

/// Nothing stands beyond the window's edge, and no word is broken or cut.
pub fn assert_fits(browser: &Browser, name: &str) {
    let overflow = browser.run(
        "return document.documentElement.scrollWidth - window.innerWidth",
        &[],
    );
    assert!(
        overflow.as_f64().expect("a width") <= 0.0,
        "{name}: {overflow} pixels too wide"
    );
    let broken = browser.run(BROKEN, &[]);
    assert_eq!(broken, json!([]), "{name}: broken or cut");
}

/// What axe-core, which the page has been given, finds on it, or on a part of it: rules and elements.
pub fn axe_finds(browser: &Browser, part: Option<&str>) -> Value {
    // Links of the views that a phone has scrolled out of their row are not skip links; the page's own is a button.
    // Colours that the system forces are not the page's. Unless asked, axe-core leaves WCAG 2.2's size of targets out.
    browser.run_async_with(
        "const [part, done] = arguments;
         const rules = { 'skip-link': { enabled: false }, 'target-size': { enabled: true },
             'color-contrast': { enabled: !matchMedia('(forced-colors: active)').matches } };
         axe.run(part ?? document, { resultTypes: ['violations'], rules }).then(result => done(result.violations.map(
             violation => [violation.id, violation.nodes.map(node => node.html)])), error => done(String(error)))",
        &[json!(part)],
    )
}
