//! Counting tests in the output of test programs.

use std::ops::AddAssign;

/// How many tests passed, failed and were skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Tally {
    /// One test that passed or failed.
    pub(crate) fn one(passed: bool) -> Self {
        Self {
            passed: usize::from(passed),
            failed: usize::from(!passed),
            skipped: 0,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Sums the `test result:` lines of `cargo test` and of wasm-bindgen's runner.
///
/// A program that failed without naming a failed test (it did not compile, or died) counts as one failure; so does one
/// that succeeded without a single result.
pub(crate) fn tally(output: &str, succeeded: bool) -> Tally {
    let mut sum = Tally::default();
    for line in output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("test result:"))
    {
        sum += Tally {
            passed: count_before(line, "passed"),
            failed: count_before(line, "failed"),
            skipped: count_before(line, "ignored"),
        };
    }
    if (!succeeded && sum.failed == 0) || sum == Tally::default() {
        sum.failed += 1;
    }
    sum
}

/// Names and reasons of the tests that were skipped, from lines like `test name ... ignored, reason`.
pub(crate) fn skipped(output: &str) -> impl Iterator<Item = String> {
    output.lines().filter_map(|line| {
        let (name, reason) = line
            .trim()
            .strip_prefix("test ")?
            .split_once(" ... ignored")?;
        let reason = reason.trim_start_matches(", ");
        Some(format!(
            "skipped: {name}: {}",
            if reason.is_empty() {
                "no reason given"
            } else {
                reason
            }
        ))
    })
}

fn count_before(line: &str, word: &str) -> usize {
    let before = line
        .split(';')
        .find_map(|part| part.trim().strip_suffix(word));
    before
        .and_then(|text| text.split_whitespace().last()?.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a ... ok
test b ... ignored, needs a GPU
test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 filtered out; finished in 0.31s
";

    #[test]
    fn results_of_all_programs_are_summed() {
        assert_eq!(
            tally(OUTPUT, false),
            Tally {
                passed: 11,
                failed: 2,
                skipped: 1
            },
            "sum of both lines"
        );
    }

    #[test]
    fn a_program_that_died_counts_as_a_failure() {
        assert_eq!(
            tally("error: could not compile", false),
            Tally::one(false),
            "no result line at all"
        );
        assert_eq!(tally("", true), Tally::one(false), "success without a test");
        let died_later = tally("test result: ok. 3 passed; 0 failed; 0 ignored", false);
        assert_eq!(
            died_later,
            Tally {
                passed: 3,
                failed: 1,
                skipped: 0
            },
            "a later program died"
        );
    }

    #[test]
    fn skipped_tests_are_named_with_their_reason() {
        assert_eq!(
            skipped(OUTPUT).collect::<Vec<_>>(),
            ["skipped: b: needs a GPU"],
            "the ignored test"
        );
    }
}
