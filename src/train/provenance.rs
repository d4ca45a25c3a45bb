//! Provenance of a file, as a manifest records it.

use std::path::Path;

use super::files::sha256;
use crate::weights::manifest::Provenance;

/// The command line as it was typed, with the program's name; what a shell would take apart is quoted.
#[must_use]
pub fn command_line() -> String {
    let arguments = std::env::args().skip(1).map(|argument| quoted(&argument));
    format!("train {}", arguments.collect::<Vec<_>>().join(" "))
}

/// An argument as a shell reads it back.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// The commit of this repository and the date; empty where they cannot be told.
pub(super) fn commit_and_date() -> Provenance {
    Provenance {
        commit: output("git", &["rev-parse", "HEAD"]).trim().to_owned(),
        date: output("date", &["-u", "+%Y-%m-%d"]).trim().to_owned(),
        ..Provenance::default()
    }
}

/// Whether the source is as committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    /// `clean`, or the hash of the changes; empty outside a repository.
    pub(super) state: String,
    /// The changes as git prints them; empty where there are none.
    pub(super) changes: String,
}

/// The state of the working tree without a folder, in which results may be written meanwhile, and without what the page
/// is served.
pub(super) fn tree(without: &Path) -> Tree {
    let excluded = format!(":(exclude,top){}", without.display());
    let outside = ["--", ":/", ":(exclude,top)public"];
    let is_inside = without.is_relative();
    let paths: Vec<&str> = match is_inside {
        true => outside.into_iter().chain([excluded.as_str()]).collect(),
        false => outside.to_vec(),
    };
    let of = |first: &[&str]| output("git", &[first, &paths].concat());
    let mut changes = of(&["diff", "HEAD", "--binary"]);
    for file in of(&["ls-files", "--others", "--exclude-standard"]).lines() {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        changes += &format!("untracked {file}\n{text}");
    }
    let is_repository = !output("git", &["rev-parse", "HEAD"]).is_empty();
    Tree {
        state: match (is_repository, changes.is_empty()) {
            (false, _) => String::new(),
            (true, true) => "clean".to_owned(),
            (true, false) => format!("changed, sha256 {}", sha256(changes.as_bytes())),
        },
        changes,
    }
}

/// Standard output of a program; empty where it fails.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output();
    let text = output.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_repeated_as_a_shell_reads_it() {
        for (argument, expected) in [
            ("--train-scenes", "--train-scenes"),
            ("a photo of a {}", "'a photo of a {}'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(argument), expected, "{argument}");
        }
    }
}
