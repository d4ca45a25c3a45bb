//! What ELIP's parts add: its table 4, and its loss under shift.

use super::super::judge::{ClaimedOrder, Judge};
use super::super::paper;
use super::super::verdict::{Finding, FindingRow, PaperClaim};
use crate::report::{Impacted, Metric, Retrieval, Shift};
use crate::train::methods::MethodName::{
    self, Clip, ElipBottleneck, ElipContrastive, ElipImageBottleneck, ElipTextBottleneck,
};

const WHOLE: [MethodName; 1] = [ElipBottleneck];
/// ELIP with one part left out, and without any bottleneck, which is the frozen encoder.
const ABLATIONS: [MethodName; 4] = [
    ElipTextBottleneck,
    ElipImageBottleneck,
    ElipContrastive,
    Clip,
];

static ADD: PaperClaim = PaperClaim {
    text: "ELIP needs its evidential loss and the adapters of both towers (Recall@1)",
    rule: "The paper's bottlenecks lie inside CLIP's blocks, those here read its last features; without the evidential \
           loss they are trained by the contrastive one.",
    groups: &[("ELIP", &WHOLE), ("without a part or all", &ABLATIONS)],
    otherwise: "not all of ELIP's parts were left out in turn on these data, undisturbed",
};
static KEEPS: PaperClaim = PaperClaim {
    text: "With its evidential loss ELIP loses less under shift (MMI)",
    rule: "The share of Recall@1 that is lost in the mean of three scenarios: pictures, captions or both are disturbed.",
    groups: &[("ELIP", &WHOLE), ("contrastive loss", &[ElipContrastive])],
    otherwise: "pictures and captions are never disturbed together here",
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    vec![
        judge.finding(&ADD, added(judge)),
        judge.finding(&KEEPS, kept(judge)),
    ]
}

fn added(judge: &Judge<'_>) -> Vec<FindingRow> {
    let found = Metric::Recall(Retrieval::TextToImage, 1);
    let is_measured = |method: &MethodName| judge.results.summary(*method, &found).is_some();
    if judge.undisturbed.is_some() || !ABLATIONS.iter().all(is_measured) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for direction in judge.directions() {
        let (metric, what) = (Metric::Recall(direction, 1), direction.title());
        let what = format!("Recall@1, {what}");
        for ablation in ABLATIONS {
            let pair = [ElipBottleneck, ablation];
            let row = judge.compare(&metric, &what, pair, ClaimedOrder::Better);
            let paper = paper::of_elip_without(direction, ablation);
            rows.extend(row.map(|row| FindingRow { paper, ..row }));
        }
    }
    rows
}

fn kept(judge: &Judge<'_>) -> Vec<FindingRow> {
    let [_, of_pictures] = judge.directions();
    let pictures = match of_pictures {
        Retrieval::ImageToOwnText => Impacted::ImageToOwnText,
        _ => Impacted::ImageToText,
    };
    let both = [(Impacted::TextToImage, "T2I"), (pictures, "I2T")];
    let rows = both.into_iter().filter_map(|(of, name)| {
        let metric = Metric::Shifted(of, Shift::NoiseImpact);
        let pair = [ElipBottleneck, ElipContrastive];
        let row = judge.compare(
            &metric,
            &format!("{name} R@1 lost"),
            pair,
            ClaimedOrder::Better,
        )?;
        let paper = paper::of_elip_without_evidence(of);
        Some(FindingRow { paper, ..row })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{finding_on, sentence};
    use super::*;

    const FOUND: Metric = Metric::Recall(Retrieval::TextToImage, 1);

    #[test]
    fn a_part_adds_costs_or_makes_no_difference() {
        for (whole, expected) in [
            (&[0.5, 0.51, 0.5][..], "holds in all 4"),
            (&[0.3, 0.31, 0.3], "does not hold"),
            (&[0.35, 0.45, 0.4], "not decided: no difference"),
            (&[0.5], "not decided: fewer than 3 seeds"),
        ] {
            let without = ABLATIONS.map(|part| (part, FOUND, &[0.4, 0.4, 0.4][..]));
            let rows = [&[(ElipBottleneck, FOUND, whole)][..], &without].concat();
            let found = sentence("ELIP needs its evidential loss", &rows);
            assert!(found.starts_with(expected), "{whole:?}: {found}");
            for (dataset, rows) in [("scenes, shot 5", &rows[..]), ("scenes", &rows[..4])] {
                let found = finding_on(dataset, "ELIP needs its evidential loss", rows);
                let found = found.sentence();
                assert!(found.starts_with("not decided"), "{dataset}: {found}");
            }
        }
    }

    #[test]
    fn losing_less_under_shift_is_better() {
        let lost = Metric::Shifted(Impacted::TextToImage, Shift::NoiseImpact);
        for (ours, expected) in [(0.1, "holds in all 1"), (0.3, "does not hold")] {
            let (ours, theirs) = ([ours; 3], [0.2; 3]);
            let rows = [
                (ElipBottleneck, lost.clone(), &ours[..]),
                (ElipContrastive, lost.clone(), &theirs[..]),
            ];
            let found = sentence("With its evidential loss", &rows);
            assert!(found.starts_with(expected), "{ours:?}: {found}");
        }
    }
}
