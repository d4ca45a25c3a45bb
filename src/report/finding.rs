//! `findings.json`: findings of the papers, with the verdicts of a suite's numbers on them, for the page to show.

use serde::{Deserialize, Serialize};

/// The whole of `findings.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteFindings {
    /// Data sets that were measured on, in order; one that was not trained on is written with an arrow, as in
    /// `photos → hierarcaps`.
    pub datasets: Vec<String>,
    /// The findings, in the order of the report.
    pub findings: Vec<SuiteFinding>,
}

/// A finding of a paper, and its verdict on each data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteFinding {
    /// Claim of the paper, in one sentence without its full stop.
    pub claim: String,
    /// One verdict for each of the data sets, in their order; a single one where it is the same on all.
    pub verdicts: Vec<FindingVerdict>,
}

/// Verdict on a finding by the comparisons of one data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingVerdict {
    /// The verdict in words.
    pub verdict: VerdictWord,
    /// Numbers of comparisons; absent where none was made.
    #[serde(default, skip_serializing_if = "VerdictCounts::is_empty")]
    pub counts: VerdictCounts,
    /// Reason for which comparisons are not decided, or for which there are none; empty where all are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Verdict on a finding, by the answers of its comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictWord {
    /// Every comparison says yes.
    #[serde(rename = "holds")]
    Holds,
    /// Some comparisons say yes, no more of them the opposite, and half at most no difference.
    #[serde(rename = "holds in part")]
    HoldsInPart,
    /// Some comparisons say yes, and more than half of those that are decided show no difference.
    #[serde(rename = "mostly no difference")]
    MostlyNoDifference,
    /// Some comparisons say yes, and more of them the opposite.
    #[serde(rename = "mostly not")]
    MostlyNot,
    /// Some comparisons say the opposite, and none yes.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// No comparison says yes or the opposite.
    #[serde(rename = "not decided")]
    NotDecided,
}

/// Numbers of comparisons by their answer; in JSON four numbers in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[usize; 4]", into = "[usize; 4]")]
pub struct VerdictCounts {
    /// Comparisons that say yes.
    pub yes: usize,
    /// Comparisons that say the opposite.
    pub opposite: usize,
    /// Comparisons whose difference is no greater than what seeds make.
    pub no_difference: usize,
    /// Comparisons that decide nothing, for a reason.
    pub not_decided: usize,
}

impl SuiteFinding {
    /// A claim with its verdict on each data set, in their order.
    #[must_use]
    pub fn new(claim: &str, mut verdicts: Vec<FindingVerdict>) -> Self {
        // What needs other experiments says the same everywhere.
        if verdicts.windows(2).all(|pair| pair[0] == pair[1]) {
            verdicts.truncate(1);
        }
        let claim = claim.to_owned();
        Self { claim, verdicts }
    }

    /// The verdict on a data set by its place in [`SuiteFindings::datasets`]; `None` beyond them.
    #[must_use]
    pub fn on(&self, i_dataset: usize) -> Option<&FindingVerdict> {
        match &self.verdicts[..] {
            [all] => Some(all),
            each => each.get(i_dataset),
        }
    }
}

impl VerdictWord {
    /// The verdict as people read it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsInPart => "holds in part",
            Self::MostlyNoDifference => "mostly no difference",
            Self::MostlyNot => "mostly not",
            Self::DoesNotHold => "does not hold",
            Self::NotDecided => "not decided",
        }
    }
}

impl VerdictCounts {
    /// Number of comparisons of a finding, decided or not.
    #[must_use]
    pub const fn total(self) -> usize {
        self.yes + self.opposite + self.no_difference + self.not_decided
    }

    /// Whether no comparison was made.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The verdict that these comparisons make.
    #[must_use]
    pub const fn verdict(self) -> VerdictWord {
        let decided = self.yes + self.opposite + self.no_difference;
        if self.yes + self.opposite == 0 {
            VerdictWord::NotDecided
        } else if self.yes == self.total() {
            VerdictWord::Holds
        } else if self.yes == 0 {
            VerdictWord::DoesNotHold
        } else if 2 * self.no_difference > decided {
            VerdictWord::MostlyNoDifference
        } else if self.opposite > self.yes {
            VerdictWord::MostlyNot
        } else {
            VerdictWord::HoldsInPart
        }
    }
}

impl From<[usize; 4]> for VerdictCounts {
    fn from([yes, opposite, no_difference, not_decided]: [usize; 4]) -> Self {
        Self {
            yes,
            opposite,
            no_difference,
            not_decided,
        }
    }
}

impl From<VerdictCounts> for [usize; 4] {
    fn from(counts: VerdictCounts) -> Self {
        let VerdictCounts {
            yes,
            opposite,
            no_difference,
            not_decided,
        } = counts;
        [yes, opposite, no_difference, not_decided]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_what_most_comparisons_say() {
        for (counts, expected) in [
            ([3, 0, 0, 0], VerdictWord::Holds),
            ([2, 0, 0, 1], VerdictWord::HoldsInPart),
            ([1, 1, 0, 0], VerdictWord::HoldsInPart),
            ([2, 1, 3, 9], VerdictWord::HoldsInPart),
            ([1, 10, 9, 0], VerdictWord::MostlyNot),
            ([3, 8, 5, 4], VerdictWord::MostlyNot),
            ([2, 0, 16, 0], VerdictWord::MostlyNoDifference),
            ([4, 2, 10, 4], VerdictWord::MostlyNoDifference),
            ([0, 1, 2, 0], VerdictWord::DoesNotHold),
            ([0, 0, 2, 1], VerdictWord::NotDecided),
            ([0, 0, 0, 0], VerdictWord::NotDecided),
        ] {
            let found = VerdictCounts::from(counts).verdict();
            assert_eq!(found, expected, "{counts:?}");
        }
    }

    #[test]
    fn verdicts_that_are_alike_stand_once_and_are_found_on_every_data_set() {
        let verdict = |counts: [usize; 4]| FindingVerdict {
            verdict: VerdictCounts::from(counts).verdict(),
            counts: counts.into(),
            reason: String::new(),
        };
        let (yes, no) = (verdict([1, 0, 0, 0]), verdict([0, 1, 0, 0]));
        for (verdicts, n_kept) in [
            ([yes.clone(), yes.clone(), yes.clone()], 1),
            ([yes.clone(), yes, no], 3),
        ] {
            let finding = SuiteFinding::new("", verdicts.to_vec());
            assert_eq!(finding.verdicts.len(), n_kept, "{finding:?}");
            let found = [0, 1, 2].map(|i| finding.on(i).expect("three").clone());
            assert_eq!(found, verdicts, "each in its place");
        }
    }

    #[test]
    fn committed_findings_are_small_and_written_as_they_were_read() {
        const MOST_BYTES: usize = 10_000;
        for committed in [
            include_str!("../../public/evidence/scenes/findings.json"),
            include_str!("../../public/evidence/photos/findings.json"),
        ] {
            let findings: SuiteFindings = serde_json::from_str(committed).expect("findings");
            let written = serde_json::to_string(&findings).expect("plain data");
            assert_eq!(written, committed.trim_end(), "to the last letter");
            assert!(committed.len() <= MOST_BYTES, "{} bytes", committed.len());
            for finding in &findings.findings {
                for i_dataset in 0..findings.datasets.len() {
                    let found = finding.on(i_dataset).expect("a verdict on each data set");
                    assert_eq!(found.verdict, found.counts.verdict(), "{}", finding.claim);
                    let is_told =
                        found.verdict != VerdictWord::NotDecided || !found.reason.is_empty();
                    assert!(is_told, "{}: undecided without a reason", finding.claim);
                }
            }
        }
    }
}
