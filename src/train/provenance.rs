//! What a manifest records of how a file was made.

/// The command line as it was typed, with the program's name.
#[must_use]
pub fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("train {}", arguments.join(" "))
}
