//! The page's numbers as files, and the command that computes them again.

use std::fmt::Write as _;

use crate::explorer::readings::pair::Readings;
use crate::explorer::state::ExplorerState;
use crate::numerics::Family;

/// One line for each caption and picture, after a line of names; numbers in full.
pub fn csv(state: &ExplorerState, readings: &Readings) -> String {
    let mut lines = String::from("caption,kappa,image,nats,log_density,cosine,posterior\n");
    for row in rows(state, readings) {
        let [kappa, nats, log_density, cosine, posterior] = row.numbers;
        let (caption, image) = (quoted(row.caption), quoted(row.image));
        // Writing to a string cannot fail.
        writeln!(
            lines,
            "{caption},{kappa},{image},{nats},{log_density},{cosine},{posterior}"
        )
        .ok();
    }
    lines
}

/// The same as JSON: the law, and one object for each caption and picture.
pub fn json(state: &ExplorerState, readings: &Readings) -> String {
    let objects = rows(state, readings).map(|row| {
        let [kappa, nats, log_density, cosine, posterior] = row.numbers;
        let (caption, image) = (json_text(row.caption), json_text(row.image));
        format!(
            "{{\"caption\":{caption},\"kappa\":{kappa},\"image\":{image},\"nats\":{nats},\"log_density\":{log_density},\
             \"cosine\":{cosine},\"posterior\":{posterior}}}"
        )
    });
    let objects: Vec<String> = objects.collect();
    let law = law(state.family);
    format!(
        "{{\"law\":\"{law}\",\"pairs\":[\n{}\n]}}\n",
        objects.join(",\n")
    )
}

/// The command that computes the same numbers natively; pictures are named as files of the gallery.
pub fn command(state: &ExplorerState, file: impl Fn(&str) -> String) -> String {
    let mut command = String::from("cargo run --release -- score");
    if state.family == Family::PowerSpherical {
        command.push_str(" --family power-spherical");
    }
    for caption in state.askable().1 {
        write!(command, " --caption {}", shell_text(&caption)).ok();
    }
    for image in &state.pictures {
        write!(command, " --image {}", shell_text(&file(image))).ok();
    }
    command
}

/// Text as the data of an address that holds a whole file.
pub fn data_address(kind: &str, text: &str) -> String {
    format!(
        "data:{kind};charset=utf-8,{}",
        crate::explorer::link::escape(text)
    )
}

/// One caption against one picture.
struct Row<'a> {
    caption: &'a str,
    image: &'a str,
    /// κ, nats, log-density, cosine, posterior.
    numbers: [f64; 5],
}

fn rows<'a>(state: &'a ExplorerState, readings: &'a Readings) -> impl Iterator<Item = Row<'a>> {
    state.captions.iter().flat_map(move |caption| {
        let view = readings.caption(caption.key);
        state.pictures.iter().filter_map(move |image| {
            let (view, pair) = (view?, readings.pair(caption.key, image)?);
            Some(Row {
                caption: &view.caption,
                image,
                numbers: [
                    view.concentration,
                    pair.nats,
                    pair.log_density,
                    pair.cosine,
                    pair.posterior,
                ],
            })
        })
    })
}

fn law(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "vmf",
        Family::PowerSpherical => "power-spherical",
    }
}

/// A field as RFC 4180 quotes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn json_text(text: &str) -> String {
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

/// A word that a shell takes as it is.
fn shell_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_json() {
        for text in ["a \"red\" star", "back\\slash", "tab\there", "κ → ∞"] {
            let back: String = serde_json::from_str(&json_text(text)).expect("it is JSON");
            assert_eq!(back, text, "through {}", json_text(text));
        }
    }

    #[test]
    fn the_command_quotes_what_a_shell_would_read() {
        let mut state = ExplorerState::new(["it's $HOME"], ["star"]);
        state.family = Family::PowerSpherical;
        let command = command(&state, |image| format!("{image}.png"));
        let expected = r"cargo run --release -- score --family power-spherical --caption 'it'\''s $HOME' --image 'star.png'";
        assert_eq!(command, expected, "with an apostrophe and a variable");
    }

    #[test]
    fn a_field_with_quotes_keeps_them_doubled() {
        assert_eq!(
            quoted("a \"b\", c"),
            "\"a \"\"b\"\", c\"",
            "as RFC 4180 says"
        );
    }

    #[test]
    fn without_numbers_only_the_names_are_exported() {
        let state = ExplorerState::new(["a"], ["x"]);
        let readings = Readings::default();
        assert_eq!(
            csv(&state, &readings).lines().count(),
            1,
            "the line of names"
        );
        let whole: serde_json::Value =
            serde_json::from_str(&json(&state, &readings)).expect("it is JSON");
        assert_eq!(whole["pairs"], serde_json::json!([]), "no pairs");
    }
}
