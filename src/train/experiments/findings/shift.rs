//! ELIP's findings: what is lost where pictures or captions are shifted, and on other data.

use std::collections::BTreeMap;

use super::super::judge::{ClaimedOrder, Judge, versus};
use super::super::numbers::LEVELS;
use super::super::paper;
use super::super::results::queries;
use super::super::verdict::{Finding, FindingRow, PaperClaim, Support, Undecided};
use crate::report::{Grouped, Impacted, Metric, Retrieval, Shift};
use crate::train::methods::MethodName::{
    self, Clip, Deterministic, Elip, ElipBottleneck, ElipReleased,
};

const ELIP: [MethodName; 3] = [ElipBottleneck, Elip, ElipReleased];
/// Methods that the paper compares it with: CLIP as it is, and fine-tuned.
const COMPARED: [MethodName; 2] = [Clip, Deterministic];
const ON_FEATURES: &str = "The paper tunes bottlenecks inside CLIP's blocks; here bottlenecks, or a new perceptron, \
                           read its last features. “Determ. FT” stands for the paper's fine-tuned CLIP.";
const NOT_DISTURBED: &str = "nothing disturbed is measured here";
/// The greatest sum of recalls, of six in percent.
const GREATEST_SUM: f64 = 600.0;
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
static DOUBTS: PaperClaim = PaperClaim {
    text: "ELIP is less certain of shifted captions",
    rule: "By the median uncertainty of each level of captions, shifted against clean, seed by seed: it must rise at \
           every level. That of pictures is not measured here.",
    groups: &[("ELIP", &ELIP)],
    otherwise: "these captions are not disturbed, or have no levels",
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
        judge.finding(&DOUBTS, doubts(judge)),
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
    let is_little = |(method, clean): &(MethodName, Option<f64>)| {
        let few = |clean| hits(judge, *method, of, clean).is_some_and(|n| n < LEVELS as f64);
        clean.is_some_and(|clean| clean == 0.0 || clean < little || few(clean))
    };
    let (who, _) = found.into_iter().find(is_little)?;
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

/// Queries that find, of so many that were measured; their mean over six recalls of a sum.
fn hits(judge: &Judge<'_>, method: MethodName, of: Impacted, clean: f64) -> Option<f64> {
    let (direction, greatest) = match of {
        Impacted::TextToImage => (Retrieval::TextToImage, 1.0),
        Impacted::ImageToText | Impacted::ImageToOwnText => (Retrieval::ImageToText, 1.0),
        Impacted::RecallSum | Impacted::OwnRecallSum => (Retrieval::ImageToText, GREATEST_SUM),
    };
    let n_queries = judge.results.summary(method, &queries(direction))?;
    Some(n_queries.mean * clean / greatest)
}

/// Uncertainty of disturbed captions beside that of clean ones.
fn doubts(judge: &Judge<'_>) -> Vec<FindingRow> {
    let rows = ELIP
        .into_iter()
        .filter_map(|method| doubts_of(judge, method));
    rows.collect()
}

fn doubts_of(judge: &Judge<'_>, method: MethodName) -> Option<FindingRow> {
    let clean = judge.undisturbed?;
    let (mut rises, mut shown) = (Vec::new(), [Vec::new(), Vec::new()]);
    for level in 0.. {
        let median = Metric::Quantile(Grouped::UncertaintyByLevel, level, 50);
        let both = [clean, judge.results].map(|of| of.by_seed(method, &median));
        let Some(means) = both_means(&both) else {
            break;
        };
        let with_mean = shown.iter_mut().zip(means);
        with_mean.for_each(|(shown, mean)| shown.push(format!("{mean:.4}")));
        let [clean, shifted] = both;
        let rise = |(seed, value): (&u64, &f64)| Some(value - clean.get(seed)?);
        let of_seeds: Vec<f64> = shifted.iter().filter_map(rise).collect();
        rises.push(judge.estimate_of(method, &of_seeds)?.beyond(1.0, 0.0));
    }
    let says_the_same = judge
        .why_no_levels(method, Retrieval::TextToImage)
        .filter(|why| matches!(why, Undecided::SaysTheSame(_)));
    (!rises.is_empty()).then(|| FindingRow {
        what: format!(
            "median uncertainty by level, clean and shifted: {}",
            method.title()
        ),
        found: shown.map(|medians| medians.join(", ")).join(" and "),
        paper: String::new(),
        support: says_the_same.map_or_else(|| Support::of_all(&rises), Support::Undecided),
    })
}

/// Means over seeds of both; `None` where a side was not measured.
fn both_means(both: &[BTreeMap<u64, f64>; 2]) -> Option<[f64; 2]> {
    let is_measured = both.iter().all(|of| !of.is_empty());
    is_measured.then(|| {
        both.each_ref()
            .map(|of| of.values().sum::<f64>() / of.len() as f64)
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
    use super::super::super::numbers::Numbers;
    use super::super::fixture::{finding_of, finding_on, results, sentence, written};
    use super::*;
    use crate::report::LevelStatistic;

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
    fn of_what_finds_fewer_than_one_a_level_nothing_is_lost() {
        let lost = Metric::Shifted(Impacted::TextToImage, Shift::CorruptionImpact);
        for (clean, expected) in [(0.004, "not decided: “ELIP, b"), (0.02, "holds in all 1")] {
            let rows = [
                (ElipBottleneck, CLEAN, &[clean; 3][..]),
                (ElipBottleneck, lost.clone(), &[0.1, 0.11, 0.1]),
                (ElipBottleneck, Metric::CaptionCount, &[1000.0; 3]),
                (Clip, CLEAN, &[clean]),
                (Clip, Metric::CaptionCount, &[1000.0]),
                (Clip, lost.clone(), &[0.6]),
            ];
            let found = sentence("ELIP loses less under shift", &rows);
            assert!(found.starts_with(expected), "{clean}: {found}");
        }
    }

    #[test]
    fn shifted_captions_are_less_certain_more_certain_or_nothing_is_said() {
        let median = |level| Metric::Quantile(Grouped::UncertaintyByLevel, level, 50);
        let claim = "ELIP is less certain of shifted captions";
        let same = "not decided: “ELIP, bottlenecks on features”: says the same";
        for (shifted, is_told, expected) in [
            ([0.3, 0.31, 0.32], true, "holds in all 1"),
            ([0.1, 0.11, 0.12], true, "does not hold"),
            ([0.1, 0.31, 0.22], true, "not decided: no difference"),
            ([0.3, 0.31, 0.32], false, same),
        ] {
            let clean = [(ElipBottleneck, median(0), &[0.2, 0.21, 0.22][..])];
            let mut all = results("scenes", &clean);
            for (seed, value) in (0..).zip(shifted) {
                let order = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
                let mut numbers = Numbers::from([(median(0), value), (CLEAN, 0.5)]);
                numbers.extend(is_told.then_some((order, -0.9)));
                all.add(ElipBottleneck, "scenes, shot 5", seed, numbers);
            }
            let found = finding_of(&all, "scenes, shot 5", claim).sentence();
            assert!(found.starts_with(expected), "{shifted:?}: {found}");
            let found = finding_of(&all, "scenes", claim).sentence();
            assert_eq!(
                found,
                "not decided: these captions are not disturbed, or have no levels"
            );
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
