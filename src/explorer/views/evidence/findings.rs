//! Verdicts on the papers' findings, in words.

use crate::report::VerdictCounts;

/// Comparisons of a verdict by their answer, the reason after them: `17 of 22 yes, 1 the opposite, 4 no difference`.
pub fn counts_text(counts: VerdictCounts, reason: &str) -> String {
    let others = [
        (counts.opposite, "the opposite"),
        (counts.no_difference, "no difference"),
        (counts.not_decided, "not decided"),
    ];
    let others = others.into_iter().filter(|(n, _)| *n > 0);
    let others: String = others
        .map(|(n, answer)| format!(", {n} {answer}"))
        .collect();
    let yes = match counts.total() {
        0 => String::new(),
        total => format!("{} of {total} yes", counts.yes),
    };
    let end = if yes.is_empty() || reason.is_empty() {
        ""
    } else {
        ": "
    };
    format!("{yes}{others}{end}{reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_nobody_gave_are_left_out() {
        let text = |counts: [usize; 4], reason| counts_text(counts.into(), reason);
        assert_eq!(
            text([17, 1, 4, 0], ""),
            "17 of 22 yes, 1 the opposite, 4 no difference"
        );
        assert_eq!(text([3, 0, 0, 0], ""), "3 of 3 yes");
        assert_eq!(
            text([0, 0, 0, 2], "one seed"),
            "0 of 2 yes, 2 not decided: one seed"
        );
        assert_eq!(text([0, 0, 0, 0], "no such data"), "no such data");
    }
}
