//! The rule by which a comparison speaks for a finding, against it, or not at all.

use std::fmt::Write as _;

use super::results::Summary;
use crate::report::{FindingVerdict, VerdictCounts, VerdictWord};
use crate::train::methods::MethodName;

/// Seeds that a trained method needs before it decides anything.
pub(super) const MIN_SEEDS: usize = 3;
/// Standard errors by which two means must differ.
const STANDARD_ERRORS: f64 = 2.0;

/// A number of a method over its seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) over_seeds: Summary,
    /// Whether nothing is trained, so that every seed gives the same.
    pub(super) is_exact: bool,
}

/// Support of one comparison for a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    For,
    Against,
    /// The difference is no greater than what seeds make.
    WithinSpread,
    Undecided(Undecided),
}

/// Reason why a comparison decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecided {
    /// A side has fewer than [`MIN_SEEDS`].
    TooFewSeeds,
    /// A method's uncertainty does not tell ten levels apart.
    SaysTheSame(MethodName),
    /// A method's recall is the same at every level.
    SameRecall(MethodName),
    /// Fewer queries of a method find than there are levels.
    TooFewHits(MethodName),
    /// A method finds nothing, or little beside the other, on clean data.
    TooLittleToLose(MethodName),
}

/// One row of a finding.
#[derive(Debug)]
pub(super) struct FindingRow {
    pub(super) what: String,
    pub(super) found: String,
    /// The paper's own number; empty where it prints none.
    pub(super) paper: String,
    pub(super) support: Support,
}

/// Claim of a paper, and how it is judged.
#[derive(Debug)]
pub(super) struct PaperClaim {
    pub(super) text: &'static str,
    /// Rule by which the claim is judged, where it needs to be stated.
    pub(super) rule: &'static str,
    /// Groups of methods with their names, of each of which one method at least must be measured.
    pub(super) groups: &'static [(&'static str, &'static [MethodName])],
    /// Reason why the claim is undecided where its methods are measured and nothing can be compared.
    pub(super) otherwise: &'static str,
}

/// A claim, and the comparisons that decide it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) claim: &'static PaperClaim,
    pub(super) rows: Vec<FindingRow>,
    /// Methods of the claim that were not measured.
    pub(super) unmeasured: Vec<MethodName>,
}

impl Estimate {
    /// Standard error of the mean; `None` with too few seeds.
    fn standard_error(&self) -> Option<f64> {
        let Summary { sd, n, .. } = self.over_seeds;
        match self.is_exact {
            true => Some(0.0),
            false => (n >= MIN_SEEDS).then(|| sd / ((n - 1) as f64).sqrt()),
        }
    }

    /// Mean and spread; no spread of one seed or of what does not depend on it.
    pub(super) fn shown(&self) -> String {
        match (self.is_exact, self.over_seeds.n) {
            (true, _) => format!("{:.3}", self.over_seeds.mean),
            (false, 1) => format!("{:.3} (one seed)", self.over_seeds.mean),
            (false, _) => format!("{:.3} ± {:.3}", self.over_seeds.mean, self.over_seeds.sd),
        }
    }

    /// The estimate with the opposite sign.
    pub(super) fn turned(self) -> Self {
        let mean = -self.over_seeds.mean;
        Self {
            over_seeds: Summary {
                mean,
                ..self.over_seeds
            },
            ..self
        }
    }

    /// Whether the mean is above a bound, if `gain` is 1, or below, if it is −1.
    pub(super) fn beyond(&self, gain: f64, bound: f64) -> Support {
        decide(gain * (self.over_seeds.mean - bound), self.standard_error())
    }

    /// Whether it is greater than another, if `gain` is 1, or less, if it is −1.
    pub(super) fn against(&self, other: &Self, gain: f64) -> Support {
        let difference = self.over_seeds.mean - other.over_seeds.mean;
        decide(gain * difference, self.joint_error(other))
    }

    /// Whether it differs from another by less than a share of that.
    pub(super) fn near(&self, other: &Self, share: f64) -> Support {
        let difference = (self.over_seeds.mean - other.over_seeds.mean).abs();
        let allowed = share * other.over_seeds.mean.abs();
        decide(allowed - difference, self.joint_error(other))
    }

    /// Standard error of a difference.
    fn joint_error(&self, other: &Self) -> Option<f64> {
        let errors = self.standard_error().zip(other.standard_error());
        errors.map(|(a, b)| a.hypot(b))
    }
}

fn decide(gain: f64, standard_error: Option<f64>) -> Support {
    let Some(error) = standard_error else {
        return Support::Undecided(Undecided::TooFewSeeds);
    };
    let margin = STANDARD_ERRORS * error;
    if gain > margin {
        Support::For
    } else if gain < -margin {
        Support::Against
    } else {
        Support::WithinSpread
    }
}

impl Support {
    /// Support of several comparisons that must all say yes: the opposite if one says so, else undecided if one is,
    /// else no difference if one finds none.
    pub(super) fn of_all(all: &[Self]) -> Self {
        let undecided = all.iter().find(|one| matches!(one, Self::Undecided(_)));
        let first = |support| all.contains(&support).then_some(support);
        let least = first(Self::Against).or(undecided.copied());
        least.or(first(Self::WithinSpread)).unwrap_or(Self::For)
    }

    fn word(self) -> String {
        match self {
            Self::For => "yes".to_owned(),
            Self::Against => "opposite".to_owned(),
            Self::WithinSpread => "no difference".to_owned(),
            Self::Undecided(why) => {
                let method: Vec<MethodName> = why.method().into_iter().collect();
                format!("not decided: {}", why.text(&method))
            }
        }
    }
}

impl Undecided {
    /// The reason, of which several methods may give the same.
    const fn reason(self) -> &'static str {
        match self {
            Self::TooFewSeeds => "fewer than 3 seeds",
            Self::SaysTheSame(_) => "says the same of all or most",
            Self::SameRecall(_) => "finds as much at every level",
            Self::TooFewHits(_) => "finds fewer than one a level",
            Self::TooLittleToLose(_) => "finds too little to lose",
        }
    }

    /// The method that gives it; none of seeds.
    const fn method(self) -> Option<MethodName> {
        match self {
            Self::TooFewSeeds => None,
            Self::SaysTheSame(method)
            | Self::SameRecall(method)
            | Self::TooFewHits(method)
            | Self::TooLittleToLose(method) => Some(method),
        }
    }

    /// The reason with the methods that give it.
    fn text(self, methods: &[MethodName]) -> String {
        match methods {
            [] => self.reason().to_owned(),
            _ => format!("{}: {}", titles(methods), self.reason()),
        }
    }
}

impl Finding {
    /// Verdict of its comparisons together, with the reason where some or all are not decided.
    pub(super) fn verdict(&self) -> FindingVerdict {
        let counts = self.counts();
        FindingVerdict {
            verdict: counts.verdict(),
            counts,
            reason: self.reason(counts),
        }
    }

    fn counts(&self) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
        for row in &self.rows {
            let of_its_kind = match row.support {
                Support::For => &mut counts.yes,
                Support::Against => &mut counts.opposite,
                Support::WithinSpread => &mut counts.no_difference,
                Support::Undecided(_) => &mut counts.not_decided,
            };
            *of_its_kind += 1;
        }
        counts
    }

    fn reason(&self, counts: VerdictCounts) -> String {
        if self.rows.is_empty() {
            return self.why_empty();
        }
        let mut reasons: Vec<String> = Vec::new();
        if counts.verdict() == VerdictWord::NotDecided && counts.no_difference > 0 {
            reasons.push("no difference is greater than what seeds make".to_owned());
        }
        for (why, methods) in self.undecided() {
            reasons.push(why.text(&methods));
        }
        reasons.join("; ")
    }

    /// Each reason once, in order, with the methods that give it.
    fn undecided(&self) -> Vec<(Undecided, Vec<MethodName>)> {
        let mut found: Vec<(Undecided, Vec<MethodName>)> = Vec::new();
        for row in &self.rows {
            let Support::Undecided(why) = row.support else {
                continue;
            };
            let place = found
                .iter()
                .position(|(known, _)| known.reason() == why.reason());
            let place = place.unwrap_or_else(|| {
                found.push((why, Vec::new()));
                found.len() - 1
            });
            let methods = &mut found[place].1;
            methods.extend(why.method().filter(|method| !methods.contains(method)));
        }
        found
    }

    /// Reason why nothing was compared: a group of which no method was measured, or whatever else is missing.
    fn why_empty(&self) -> String {
        let is_absent = |(_, group): &&(&str, &[MethodName])| {
            let mut methods = group.iter();
            methods.all(|method| self.unmeasured.contains(method))
        };
        match self.claim.groups.iter().find(is_absent) {
            Some((name, _)) => format!("not measured here: {name}"),
            None => self.claim.otherwise.to_owned(),
        }
    }

    /// The verdict as a sentence, without its full stop.
    pub(super) fn sentence(&self) -> String {
        let FindingVerdict {
            verdict,
            counts,
            reason,
        } = self.verdict();
        let word = verdict.text();
        let n = counts.total();
        let [yes, opposite, no_difference, not_decided] = counts.into();
        let counted = format!(
            "yes in {yes} of {n} comparisons, the opposite in {opposite}, no difference in {no_difference}, not \
             decided in {not_decided}"
        );
        let because = match reason.is_empty() {
            true => String::new(),
            false => format!(" ({reason})"),
        };
        match verdict {
            VerdictWord::Holds => format!("{word} in all {n} comparisons"),
            VerdictWord::NotDecided if yes + no_difference == 0 => format!("{word}: {reason}"),
            VerdictWord::NotDecided => format!("{word}: {reason}; {counted}"),
            VerdictWord::HoldsInPart
            | VerdictWord::MostlyNoDifference
            | VerdictWord::MostlyNot
            | VerdictWord::DoesNotHold => format!("{word}: {counted}{because}"),
        }
    }

    /// The verdict with its comparisons.
    pub(super) fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        writeln!(text, "**{}** — {}.\n", self.claim.text, self.sentence()).ok();
        if self.rows.is_empty() {
            return;
        }
        if !self.claim.rule.is_empty() {
            writeln!(text, "{}\n", self.claim.rule).ok();
        }
        if !self.unmeasured.is_empty() {
            let unmeasured = titles(&self.unmeasured);
            writeln!(text, "Not compared, as not measured here: {unmeasured}.\n").ok();
        }
        text.push_str("<details><summary>Comparisons</summary>\n\n");
        text.push_str("| comparison | found | the paper's own | |\n|---|---|---|---|\n");
        for row in &self.rows {
            let paper = match row.paper.is_empty() {
                true => "none printed",
                false => &row.paper,
            };
            let word = row.support.word();
            writeln!(text, "| {} | {} | {paper} | {word} |", row.what, row.found).ok();
        }
        text.push_str("\n</details>\n\n");
    }
}

/// Methods as people call them; a name with a comma in it stands in quotation marks.
fn titles(methods: &[MethodName]) -> String {
    let title = |method: &MethodName| match method.title() {
        title if title.contains(',') => format!("“{title}”"),
        title => title.to_owned(),
    };
    let titles: Vec<String> = methods.iter().map(title).collect();
    titles.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn estimate(mean: f64, sd: f64, n: usize) -> Estimate {
        let over_seeds = Summary { mean, sd, n };
        let is_exact = false;
        Estimate {
            over_seeds,
            is_exact,
        }
    }

    #[test]
    fn fewer_than_three_seeds_decide_nothing_and_one_has_no_spread() {
        let exact = Estimate {
            is_exact: true,
            ..estimate(0.4, 0.0, 1)
        };
        for n in [1, 2] {
            let found = estimate(0.9, 0.0, n).against(&exact, 1.0);
            assert_eq!(
                found,
                Support::Undecided(Undecided::TooFewSeeds),
                "{n} seeds"
            );
        }
        assert_eq!(
            estimate(0.9, 0.0, 3).against(&exact, 1.0),
            Support::For,
            "three"
        );
        assert_eq!(
            estimate(0.9, 0.0, 1).shown(),
            "0.900 (one seed)",
            "no ± 0.000"
        );
        assert_eq!(exact.shown(), "0.400", "seeds do not change it");
    }

    #[test]
    fn a_difference_counts_beyond_two_standard_errors() {
        // Two standard errors of five seeds are the standard deviation with divisor N.
        let ours = estimate(0.5, 0.03, 5);
        for (theirs, expected) in [
            (0.44, Support::For),
            (0.46, Support::WithinSpread),
            (0.56, Support::Against),
        ] {
            let found = ours.against(&estimate(theirs, 0.04, 5), 1.0);
            assert_eq!(found, expected, "0.5 ± 0.03 against {theirs} ± 0.04");
        }
        assert_eq!(ours.beyond(-1.0, 0.6), Support::For, "below");
        assert_eq!(
            ours.beyond(1.0, 0.52),
            Support::WithinSpread,
            "too near to say"
        );
    }

    #[test]
    fn a_number_is_near_another_within_a_share_of_it() {
        let theirs = estimate(0.5, 0.0, 3);
        for (ours, sd, expected) in [
            (0.48, 0.005, Support::For),
            (0.40, 0.005, Support::Against),
            (0.55, 0.005, Support::WithinSpread),
        ] {
            let found = estimate(ours, sd, 3).near(&theirs, 0.1);
            assert_eq!(found, expected, "{ours} ± {sd} within .05 of .5");
        }
    }

    #[test]
    fn what_must_hold_everywhere_fails_where_one_comparison_says_the_opposite() {
        use Support::{Against, For, WithinSpread};
        let few = Support::Undecided(Undecided::TooFewSeeds);
        for (all, expected) in [
            (&[For, For][..], For),
            (&[For, WithinSpread], WithinSpread),
            (&[WithinSpread, few, For], few),
            (&[few, Against, For], Against),
        ] {
            assert_eq!(Support::of_all(all), expected, "{all:?}");
        }
    }

    static CLAIM: PaperClaim = PaperClaim {
        text: "κ says much",
        rule: "",
        groups: &[
            ("baselines", &[MethodName::Pfe, MethodName::Elip]),
            ("CLIP", &[MethodName::Clip]),
        ],
        otherwise: "no test pictures",
    };

    fn finding(supports: &[Support], unmeasured: &[MethodName]) -> Finding {
        let row = |support: &Support| FindingRow {
            what: String::new(),
            found: String::new(),
            paper: String::new(),
            support: *support,
        };
        Finding {
            claim: &CLAIM,
            rows: supports.iter().map(row).collect(),
            unmeasured: unmeasured.to_vec(),
        }
    }

    #[test]
    fn the_verdict_counts_what_speaks_for_against_and_not_at_all() {
        use Support::{Against, For, WithinSpread};
        let few = Support::Undecided(Undecided::TooFewSeeds);
        let same = Support::Undecided(Undecided::SaysTheSame(MethodName::Pcmepp));
        for (supports, expected) in [
            (&[For, For][..], "holds in all 2 comparisons"),
            (&[few, few], "not decided: fewer than 3 seeds"),
            (
                &[few, same],
                "not decided: fewer than 3 seeds; PCME++*: says the same of all or most",
            ),
            (&[WithinSpread], "not decided: no difference"),
            (
                &[WithinSpread, few],
                "not decided: no difference is greater than what seeds make; fewer than 3 seeds; yes in 0 of 2",
            ),
            (
                &[Against, WithinSpread],
                "does not hold: yes in 0 of 2 comparisons, the opposite in 1",
            ),
            (&[For, few], "holds in part: yes in 1 of 2"),
            (
                &[For, Against, Against],
                "mostly not: yes in 1 of 3 comparisons, the opposite in 2",
            ),
            (
                &[For, WithinSpread, WithinSpread, few],
                "mostly no difference: yes in 1 of 4",
            ),
        ] {
            let found = finding(supports, &[]).sentence();
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
        assert!(
            Undecided::TooFewSeeds
                .reason()
                .contains(&MIN_SEEDS.to_string()),
            "the number of seeds is said as it is"
        );
        let pfe = Support::Undecided(Undecided::SaysTheSame(MethodName::Pfe));
        let both = finding(&[same, pfe, same], &[]).sentence();
        let once = "not decided: PCME++*, PFE*: says the same of all or most";
        assert_eq!(both, once, "a reason stands once");
        let part = finding(&[For, same], &[]).sentence();
        let because = "not decided in 1 (PCME++*: says the same of all or most)";
        assert!(part.ends_with(because), "{part}");
    }

    #[test]
    fn a_finding_without_comparisons_says_what_is_missing() {
        use MethodName::{Clip, Elip, Pfe};
        for (unmeasured, expected) in [
            (&[Pfe, Elip][..], "not measured here: baselines"),
            (&[Pfe, Clip], "not measured here: CLIP"),
            (&[Elip], "no test pictures"),
        ] {
            let finding = finding(&[], unmeasured);
            assert_eq!(finding.verdict().reason, expected, "{unmeasured:?}");
            let mut text = String::new();
            finding.write(&mut text);
            assert_eq!(
                text,
                format!("**κ says much** — not decided: {expected}.\n\n")
            );
        }
    }
}
