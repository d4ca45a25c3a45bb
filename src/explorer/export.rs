//! The page's numbers as CSV and JSON, and the command that computes them again.

use std::fmt::Write as _;
use std::path::Path;

use super::link::{escape, family_slug};
use super::readings::matrix::Readings;
use super::state::ExplorerState;
use super::world::World;
use crate::numerics::Family;

/// Columns of the CSV, and keys of the JSON objects.
const COLUMNS: [&str; 8] = [
    "caption",
    "kappa",
    "image",
    "nats",
    "log_density",
    "cosine",
    "posterior",
    "is_read",
];

/// CSV with a line for each caption and picture after the header, the last column the digits of the model's weights;
/// numbers in full.
pub fn csv(state: &ExplorerState, readings: &Readings) -> String {
    let rows = rows(state, readings, quoted, "").map(|row| (row.join(","), &*readings.weights));
    let lines = std::iter::once((COLUMNS.join(","), "weights")).chain(rows);
    lines
        .map(|(line, last)| format!("{line},{last}\n"))
        .collect()
}

/// JSON with the family, the model, the digits of its weights, and an object for each caption and picture; numbers in
/// full.
pub fn json(state: &ExplorerState, readings: &Readings) -> String {
    let objects = rows(state, readings, json_text, "null").map(|row| {
        let fields = COLUMNS.iter().zip(row);
        let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    });
    let objects = objects.collect::<Vec<_>>().join(",\n");
    let (family, model) = (family_slug(state.family), state.model.slug());
    let weights = &readings.weights;
    format!(
        "{{\"law\":\"{family}\",\"model\":\"{model}\",\"weights\":\"{weights}\",\"pairs\":[\n{objects}\n]}}\n"
    )
}

/// The command that computes the same numbers natively; `file` names the file of a picture.
pub fn command(state: &ExplorerState, file: impl Fn(&str) -> String) -> String {
    let mut command = String::from("cargo run --release -- score");
    if let Some(world @ World::Photographs) = state.model.built_in() {
        let manifest = Path::new(world.manifest());
        let folder = manifest.parent().unwrap_or(manifest);
        write!(command, " --model public/{}", folder.display()).ok();
    }
    if state.family == Family::PowerSpherical {
        write!(command, " --family {}", family_slug(state.family)).ok();
    }
    for caption in state.askable().1 {
        write!(command, " --caption {}", shell_text(&caption)).ok();
    }
    for image in &state.pictures {
        write!(command, " --image {}", shell_text(&file(image))).ok();
    }
    command
}

/// A `data:` address that holds a whole text file.
pub fn data_address(kind: &str, text: &str) -> String {
    format!("data:{kind};charset=utf-8,{}", escape(text))
}

/// The values of [`COLUMNS`] for each caption and picture, with a word for a share that an unread caption does not
/// have.
fn rows<'a>(
    state: &'a ExplorerState,
    readings: &'a Readings,
    text: fn(&str) -> String,
    nothing: &'a str,
) -> impl Iterator<Item = [String; COLUMNS.len()]> {
    state.captions.iter().flat_map(move |caption| {
        let view = readings.caption(caption.key);
        state.pictures.iter().filter_map(move |image| {
            let (view, pair) = (view?, readings.pair(caption.key, image)?);
            Some([
                text(&view.caption),
                view.concentration.to_string(),
                text(image),
                pair.nats.to_string(),
                pair.log_density.to_string(),
                pair.cosine.to_string(),
                match pair.posterior.is_nan() {
                    true => nothing.to_owned(),
                    false => pair.posterior.to_string(),
                },
                (!view.is_unread()).to_string(),
            ])
        })
    })
}

/// A field as RFC 4180 quotes it, with an apostrophe before what a spreadsheet would take for a formula and compute.
fn quoted(text: &str) -> String {
    let is_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let is_formula = is_formula || text.starts_with(['\t', '\r', '\n']);
    let apostrophe = if is_formula { "'" } else { "" };
    format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
}

pub(super) fn json_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Text in quotes that a shell takes as it is.
fn shell_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::state::ModelChoice;

    #[test]
    fn texts_come_back_from_json() {
        for text in ["a \"red\" star", "back\\slash", "tab\there", "κ → ∞"] {
            let back: String = serde_json::from_str(&json_text(text)).expect("it is JSON");
            assert_eq!(back, text, "through {}", json_text(text));
        }
    }

    #[test]
    fn the_command_quotes_what_a_shell_would_read() {
        let mut state = ExplorerState::new(ModelChoice::SCENES, ["it's $HOME"], ["star"]);
        state.family = Family::PowerSpherical;
        let command = command(&state, |image| format!("{image}.png"));
        let expected = r"cargo run --release -- score --family power-spherical --caption 'it'\''s $HOME' --image 'star.png'";
        assert_eq!(command, expected, "with an apostrophe and a variable");
    }

    #[test]
    fn the_command_names_a_model_that_is_not_the_usual_one() {
        let state = ExplorerState::new(ModelChoice::BuiltIn(World::Photographs), ["a dog"], []);
        let command = command(&state, str::to_owned);
        let expected =
            "cargo run --release -- score --model public/models/photos --caption 'a dog'";
        assert_eq!(command, expected, "of the photographs");
    }

    #[test]
    fn a_field_with_quotes_keeps_them_doubled() {
        let field = quoted(r#"a "b", c"#);
        assert_eq!(field, r#""a ""b"", c""#, "as RFC 4180 says");
    }

    #[test]
    fn a_text_that_a_spreadsheet_would_compute_is_a_text() {
        for text in ["=1+2", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r1", "＝1"] {
            let expected = format!("\"'{text}\"");
            assert_eq!(quoted(text), expected, "an apostrophe goes before {text:?}");
        }
        assert_eq!(
            quoted("a red-white star"),
            "\"a red-white star\"",
            "no formula"
        );
    }

    #[test]
    fn without_numbers_only_the_names_are_exported() {
        let state = ExplorerState::new(ModelChoice::SCENES, ["a"], ["x"]);
        let mut readings = Readings::default();
        readings.weights.push_str("0f1e2d3c");
        let csv = csv(&state, &readings);
        assert_eq!(csv.lines().count(), 1, "the line of names");
        assert!(csv.ends_with("is_read,weights\n"), "{csv}");
        let whole: serde_json::Value =
            serde_json::from_str(&json(&state, &readings)).expect("it is JSON");
        assert_eq!(whole["pairs"], serde_json::json!([]), "no pairs");
        assert_eq!(whole["weights"], "0f1e2d3c", "whose numbers they are");
        assert_eq!(whole["model"], "scenes", "as a link has it");
    }
}
