//! The failure of an engine as a text that a visitor can pass on: nothing in it is theirs.

use std::cmp::Reverse;
use std::fmt::Write as _;

/// Text that stands for a visitor's own words in a report.
const LEFT_OUT: &str = "…";
/// Characters of the shortest words that are looked for: fewer are found by chance, and say nothing.
const LEAST_CHARACTERS: usize = 3;

/// A line for the message, without what is the visitor's own: captions and names of files; and one for each other fact.
pub fn error_report(message: &str, facts: &[(&str, &str)], mut own: Vec<String>) -> String {
    own.retain(|text| text.trim().chars().count() >= LEAST_CHARACTERS);
    // A caption may be a part of another.
    own.sort_by_key(|text| Reverse(text.len()));
    let message = own.iter().fold(message.to_owned(), |message, text| {
        message.replace(text.trim(), LEFT_OUT)
    });
    let mut report = format!("Kappascope, report of a failure\nmessage: {message}\n");
    for (name, fact) in facts {
        writeln!(report, "{name}: {fact}").ok();
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_failed_and_nothing_of_the_visitors() {
        let own = ["a star", " a red star", "a", "holiday.jpg"].map(str::to_owned);
        let message = "“a red star” and holiday.jpg stopped a shader";
        let facts = [("stage", "answering"), ("engine", "gpu")];
        let report = error_report(message, &facts, own.to_vec());
        let expected = "Kappascope, report of a failure\nmessage: “…” and … stopped a shader\nstage: answering\nengine: gpu\n";
        assert_eq!(
            report, expected,
            "the longer caption goes first, and “a” stays"
        );
    }
}
