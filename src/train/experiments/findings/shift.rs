//! ELIP's findings: what is lost where pictures or captions are shifted, and on other data.

use super::super::judge::{ClaimedOrder, Judge, versus};
use super::super::paper;
use super::super::verdict::{Finding, FindingRow, PaperClaim, Support, Undecided};
use crate::report::{Impacted, Metric, Retrieval, Shift};
use crate::train::methods::MethodName::{
    self, Clip, Deterministic, Elip, ElipBottleneck, ElipReleased,
};

const ELIP: [MethodName; 3] = [ElipBottleneck, Elip, ElipReleased];
/// Methods that the paper compares it with: CLIP as it is, and fine-tuned.
const COMPARED: [MethodName; 2] = [Clip, Deterministic];
const ON_FEATURES: &str = "The paper tunes bottlenecks inside CLIP's blocks; here bottlenecks, or a new perceptron, \
                           read its last features. “Determ. FT” stands for the paper's fine-tuned CLIP.";
const NOT_DISTURBED: &str = "nothing disturbed is measured here";
/// Share of what one method finds below which the other finds too little: what it loses of that is chance.
const LITTLE: f64 = 0.1;

static LOSES_LESS: PaperClaim = PaperClaim {
    text: "ELIP loses less under shift than CLIP (MMI)",
    rule: ON_FEATURES,
    groups: &[("ELIP", &ELIP), ("CLIP", &COMPARED)],
    otherwise: NOT_DISTURBED,
};
static KEEPS_MORE: PaperClaim = PaperClaim {
    text: "ELIP finds more under shift than CLIP (RSUM)",
    rule: ON_FEATURES,
    groups: &[("ELIP", &ELIP), ("CLIP", &COMPARED)],
    otherwise: NOT_DISTURBED,
};
static SCENARIOS: PaperClaim = PaperClaim {
    text: "ELIP loses less in its four scenarios of shift (MMI)",
    rule: ON_FEATURES,
    groups: &[("ELIP", &ELIP), ("CLIP", &COMPARED)],
    otherwise: "pictures and captions are never disturbed together here",
};
static TRANSFERS: PaperClaim = PaperClaim {
    text: "ELIP finds more than CLIP on data that it was not trained on (Recall@1)",
    rule: ON_FEATURES,
    groups: &[("ELIP", &ELIP), ("CLIP", &[Clip])],
    otherwise: "this data set was trained on",
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let [_, of_pictures] = judge.directions();
    let (pictures, sum) = match of_pictures {
        Retrieval::ImageToOwnText => (Impacted::ImageToOwnText, Impacted::OwnRecallSum),
        _ => (Impacted::ImageToText, Impacted::RecallSum),
    };
    let single = [(Impacted::TextToImage, "T2I R@1"), (pictures, "I2T R@1")];
    let of_all = [&[(sum, "RSUM")][..], &single].concat();
    let kept = compare(
        judge,
        &[(sum, "RSUM")],
        &Shift::Corrupted,
        "under disturbance",
    );
    vec![
        judge.finding(
            &LOSES_LESS,
            compare(judge, &of_all, &Shift::CorruptionImpact, "lost"),
        ),
        judge.finding(&KEEPS_MORE, kept),
        judge.finding(
            &SCENARIOS,
            compare(judge, &single, &Shift::NoiseImpact, "lost"),
        ),
        judge.finding(&TRANSFERS, transfers(judge)),
    ]
}

/// Every number of ELIP under a shift beside CLIP's.
fn compare(
    judge: &Judge<'_>,
    numbers: &[(Impacted, &str)],
    shift: &Shift,
    word: &str,
) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for (of, name) in numbers {
        let metric = Metric::Shifted(*of, shift.clone());
        let what = format!("{name} {word}");
        for (ours, theirs) in ELIP
            .iter()
            .flat_map(|a| COMPARED.iter().map(move |b| (*a, *b)))
        {
            let pair = [ours, theirs];
            let row = too_little_to_lose(judge, (*of, shift), &what, pair);
            let row = row.or_else(|| judge.compare(&metric, &what, pair, ClaimedOrder::Better));
            let paper = paper::of_elip(*of, shift, theirs);
            rows.extend(row.map(|row| FindingRow { paper, ..row }));
        }
    }
    rows
}

/// The row of two methods one of which finds nothing on clean data, of which no share can be lost, or so little beside
/// the other that the share it loses is chance; `None` for what is found.
fn too_little_to_lose(
    judge: &Judge<'_>,
    (of, shift): (Impacted, &Shift),
    what: &str,
    pair: [MethodName; 2],
) -> Option<FindingRow> {
    if *shift == Shift::Corrupted {
        return None;
    }
    let shifted = pair.map(|method| judge.estimate(method, &Metric::Shifted(of, shift.clone())));
    let found = pair.map(|method| {
        let clean = judge.results.summary(method, &of.clean());
        (method, clean.map(|clean| clean.mean))
    });
    let most = found.iter().filter_map(|(_, clean)| *clean);
    let little = LITTLE * most.fold(0.0, f64::max);
    let is_little = |clean: f64| clean == 0.0 || clean < little;
    let mut lacking = found.into_iter();
    let (who, _) = lacking.find(|(_, clean)| clean.is_some_and(is_little))?;
    shifted.iter().flatten().next()?;
    let [ours, theirs] =
        shifted.map(|side| side.map_or_else(|| "none".to_owned(), |side| side.shown()));
    Some(FindingRow {
        what: versus(what, pair),
        found: format!("{ours} against {theirs}"),
        paper: String::new(),
        support: Support::Undecided(Undecided::TooLittleToLose(who)),
    })
}

/// Recall beside CLIP's, where the data set is another one than that which was trained on.
fn transfers(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    if !judge.dataset().contains(" → ") {
        return rows;
    }
    for direction in judge.directions() {
        let (metric, what) = (Metric::Recall(direction, 1), direction.title());
        let what = format!("Recall@1, {what}");
        for method in ELIP {
            let row = judge.compare(&metric, &what, [method, Clip], ClaimedOrder::Better);
            let paper = paper::of_elip_elsewhere(direction);
            rows.extend(row.map(|row| FindingRow { paper, ..row }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{finding_on, sentence, written};
    use super::*;

    const CLEAN: Metric = Metric::Recall(Retrieval::TextToImage, 1);

    #[test]
    fn elip_loses_less_more_as_much_or_it_is_not_decided() {
        for (claim, of, shift) in [
            (
                "ELIP loses less under shift",
                Impacted::RecallSum,
                Shift::CorruptionImpact,
            ),
            (
                "ELIP loses less in its four",
                Impacted::TextToImage,
                Shift::NoiseImpact,
            ),
        ] {
            let lost = Metric::Shifted(of, shift);
            for (ours, expected) in [
                (&[0.1, 0.11, 0.1][..], "holds in all 1"),
                (&[0.4, 0.41, 0.4], "does not hold"),
                (&[0.25, 0.15, 0.21], "not decided: no difference"),
                (&[0.1], "not decided: fewer than 3 seeds"),
            ] {
                let rows = [
                    (ElipBottleneck, lost.clone(), ours),
                    (Clip, lost.clone(), &[0.2]),
                ];
                let found = sentence(claim, &rows);
                assert!(
                    found.starts_with(expected),
                    "{ours:?}: {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn what_finds_nothing_has_nothing_to_lose() {
        let lost = Metric::Shifted(Impacted::TextToImage, Shift::CorruptionImpact);
        let rows = [(ElipBottleneck, CLEAN, &[0.0; 3][..]), (Clip, lost, &[0.2])];
        let text = written("ELIP loses less under shift", &rows);
        let part = "none against 0.200 | none printed | not decided: “ELIP, bottlenecks on features”: finds too little";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn what_finds_little_beside_the_other_loses_by_chance() {
        let lost = Metric::Shifted(Impacted::TextToImage, Shift::CorruptionImpact);
        for (clean, expected) in [(0.03, "not decided: “ELIP, b"), (0.06, "holds in all 1")] {
            let rows = [
                (ElipBottleneck, CLEAN, &[clean; 3][..]),
                (ElipBottleneck, lost.clone(), &[0.1, 0.11, 0.1]),
                (Clip, CLEAN, &[0.5]),
                (Clip, lost.clone(), &[0.2]),
            ];
            let found = sentence("ELIP loses less under shift", &rows);
            assert!(found.starts_with(expected), "{clean}: {found}");
        }
    }

    #[test]
    fn more_found_under_shift_is_better() {
        let kept = Metric::Shifted(Impacted::RecallSum, Shift::Corrupted);
        for (ours, expected) in [(300.0, "holds in all"), (100.0, "does not hold")] {
            let ours = [ours; 3];
            let rows = [
                (ElipBottleneck, kept.clone(), &ours[..]),
                (Clip, kept.clone(), &[200.0]),
            ];
            let found = sentence("ELIP finds more under shift", &rows);
            assert!(found.starts_with(expected), "{ours:?}: {found}");
        }
    }

    #[test]
    fn transfer_is_judged_on_data_that_was_not_trained_on() {
        for (dataset, ours, expected) in [
            ("photos", 0.5, "not decided: this data set was trained on"),
            (
                "scenes, shot 5",
                0.5,
                "not decided: this data set was trained on",
            ),
            ("photos → hierarcaps", 0.5, "holds in all 1"),
            ("photos → hierarcaps", 0.3, "does not hold"),
            ("photos → hierarcaps", 0.4, "not decided: no difference"),
        ] {
            let ours = [ours; 3];
            let rows = [(ElipBottleneck, CLEAN, &ours[..]), (Clip, CLEAN, &[0.4])];
            let found = finding_on(dataset, "ELIP finds more than CLIP on data", &rows).sentence();
            assert!(found.starts_with(expected), "{dataset}, {ours:?}: {found}");
        }
    }
}
