//! What a manifest records of how a file was made.

use crate::weights::manifest::Provenance;

/// The command line as it was typed, with the program's name.
#[must_use]
pub fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("train {}", arguments.join(" "))
}

/// The commit of this repository and the date; empty where they cannot be told.
pub(super) fn commit_and_date() -> Provenance {
    let run = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
        text.unwrap_or_default()
    };
    Provenance {
        commit: run("git", &["rev-parse", "HEAD"]),
        date: run("date", &["-u", "+%Y-%m-%d"]),
        ..Provenance::default()
    }
}
