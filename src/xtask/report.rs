//! Counting tests in the output of test programs.

use std::ops::AddAssign;

/// Numbers of tests that passed, failed and were skipped.
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
    let results = output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("test result:"));
    for line in results {
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
        let test = line.trim().strip_prefix("test ")?;
        let (name, reason) = test.split_once(" ... ignored")?;
        let reason = reason.strip_prefix(", ").unwrap_or("no reason given");
        Some(format!("skipped: {name}: {reason}"))
    })
}

fn count_before(line: &str, word: &str) -> usize {
    let before = line
        .split(';')
        .find_map(|part| part.trim().strip_suffix(word));
    let count = before.and_then(|text| text.split_whitespace().last()?.parse().ok());
    count.unwrap_or(0)
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

    fn of(passed: usize, failed: usize, skipped: usize) -> Tally {
        Tally {
            passed,
            failed,
            skipped,
        }
    }

    #[test]
    fn results_of_all_programs_are_summed() {
        assert_eq!(tally(OUTPUT, false), of(11, 2, 1), "sum of both lines");
    }

    #[test]
    fn a_program_that_died_counts_as_a_failure() {
        let died = tally("error: could not compile", false);
        assert_eq!(died, Tally::one(false), "no result line at all");
        assert_eq!(tally("", true), Tally::one(false), "success without a test");
        let died_later = tally("test result: ok. 3 passed; 0 failed; 0 ignored", false);
        assert_eq!(died_later, of(3, 1, 0), "a later program died");
    }

    #[test]
    fn skipped_tests_are_named_with_their_reason() {
        let found: Vec<String> = skipped(OUTPUT).collect();
        assert_eq!(found, ["skipped: b: needs a GPU"], "the ignored test");
    }
}
