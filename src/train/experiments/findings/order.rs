//! Order of recall by uncertainty: S, and R² of a falling line.

use super::super::judge::{
    ASYMVLM, BASELINES, ClaimedOrder, ENCODER_MEAN, Judge, MethodComparison, R_SQUARED, SPEARMAN,
    pairs, versus,
};
use super::super::paper;
use super::super::verdict::{Finding, FindingRow, PaperClaim};
use crate::train::methods::MethodName::{
    self, Density, ElipBottleneck, Entropy, ImageDensity, ImageEntropy,
};

/// Scores of newer papers for which nothing is trained, entropies and densities of frozen features, and ELIP's.
const PEERS: [MethodName; 5] = [Entropy, ImageEntropy, Density, ImageDensity, ElipBottleneck];
const NO_LEVELS: &str = "recall over levels of uncertainty is not measured here";
/// Note on methods that keep the encoder's own mean directions.
const ENCODERS_MEAN: &str = "No finding of the paper, whose perceptron learns μ and κ; here it learns κ alone, and \
                             captions find what they find by the cosine.";
const NEWER: &str = "Other scores are those that nothing is trained for, and ELIP's. No finding of AsymVLM's paper: \
                     newer ones score captions and pictures by entropies and densities. Here the entropy is that of \
                     the frozen cosines' softmax at CLIP's factor of 100, the density that of training features around \
                     a feature by its ten nearest, not the papers' flow or diffusion. ELIP's uncertainty is that of \
                     its evidence.";
const BLIND: &str = "R² is blind to the sign of the slope: where recall rises with uncertainty it counts as negative.";

static ORDER: PaperClaim = PaperClaim {
    text: "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
    rule: "ProbVLM stands twice: with the uncertainty of its released code, one over the variance, and with the other \
           sign, the variance itself (or the reverse, if the settings above say `variance`).",
    groups: &[("AsymVLM", &ASYMVLM), ("the baselines", &BASELINES)],
    otherwise: NO_LEVELS,
};
static ORDER_OF_PEERS: PaperClaim = PaperClaim {
    text: "AsymVLM's uncertainty orders recall better than other scores do (S)",
    rule: NEWER,
    groups: &[("AsymVLM", &ASYMVLM), ("other scores", &PEERS)],
    otherwise: NO_LEVELS,
};
static LINE: PaperClaim = PaperClaim {
    text: "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
    rule: BLIND,
    groups: &[("AsymVLM", &ASYMVLM), ("the baselines", &BASELINES)],
    otherwise: NO_LEVELS,
};
static LINE_OF_PEERS: PaperClaim = PaperClaim {
    text: "Recall falls more linearly with AsymVLM's uncertainty than with other scores (R²)",
    rule: NEWER,
    groups: &[("AsymVLM", &ASYMVLM), ("other scores", &PEERS)],
    otherwise: NO_LEVELS,
};
static ORDER_OF_KAPPA_ALONE: PaperClaim = PaperClaim {
    text: "With the encoder's means AsymVLM orders recall better than the baselines (S)",
    rule: ENCODERS_MEAN,
    groups: &[
        ("AsymVLM with the encoder's mean", &ENCODER_MEAN),
        ("the baselines", &BASELINES),
    ],
    otherwise: NO_LEVELS,
};
static LINE_OF_KAPPA_ALONE: PaperClaim = PaperClaim {
    text: "With the encoder's means recall falls more linearly than with the baselines (R²)",
    rule: ENCODERS_MEAN,
    groups: &[
        ("AsymVLM with the encoder's mean", &ENCODER_MEAN),
        ("the baselines", &BASELINES),
    ],
    otherwise: NO_LEVELS,
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let order = |claim: &'static PaperClaim, ours: &[MethodName], theirs: &[MethodName]| {
        let rows = judge.by_direction(SPEARMAN, &pairs(ours, theirs), ClaimedOrder::Better);
        judge.finding(claim, rows)
    };
    let line = |claim: &'static PaperClaim, ours: &[MethodName], theirs: &[MethodName]| {
        judge.finding(claim, linear(judge, &pairs(ours, theirs)))
    };
    vec![
        order(&ORDER, &ASYMVLM, &BASELINES),
        order(&ORDER_OF_PEERS, &ASYMVLM, &PEERS),
        line(&LINE, &ASYMVLM, &BASELINES),
        line(&LINE_OF_PEERS, &ASYMVLM, &PEERS),
        order(&ORDER_OF_KAPPA_ALONE, &ENCODER_MEAN, &BASELINES),
        line(&LINE_OF_KAPPA_ALONE, &ENCODER_MEAN, &BASELINES),
    ]
}

fn linear(judge: &Judge<'_>, pairs: &[[MethodName; 2]]) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for direction in judge.directions() {
        let what = format!("R², {}", direction.title());
        rows.extend(pairs.iter().filter_map(|pair| {
            let comparison = MethodComparison {
                what: versus(&what, *pair),
                pair: *pair,
                estimates: pair.map(|method| judge.falling_r_squared(method, direction)),
                levels_of: Some(direction),
                paper: paper::of_pair(&judge.dataset(), &R_SQUARED(direction), *pair),
            };
            judge.row(comparison, |ours, theirs| ours.against(theirs, 1.0))
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{SeedValues, sentence, written};
    use crate::report::Retrieval::TextToImage;
    use crate::report::{LevelStatistic, Metric};
    use crate::train::methods::MethodName::{
        self, AsymvlmVmf, Bayesvlm, ElipBottleneck, Pcmepp, Pfe, Probvlm,
    };

    const S: Metric = Metric::Levels(TextToImage, LevelStatistic::Spearman);
    const R_SQUARED: Metric = Metric::Levels(TextToImage, LevelStatistic::RSquared);
    const SLOPE: Metric = Metric::Levels(TextToImage, LevelStatistic::Slope);
    const RECALL: Metric = Metric::Recall(TextToImage, 1);

    #[test]
    fn an_order_is_better_worse_alike_or_not_decided() {
        for (ours, expected) in [
            (&[-0.98, -0.97, -0.99][..], "holds in all 1"),
            (&[-0.5, -0.52, -0.51], "does not hold"),
            (&[-0.7, -0.9, -0.6], "not decided: no difference"),
            (&[-0.98, -0.98], "not decided: fewer than 3 seeds"),
        ] {
            for (claim, theirs) in [
                (
                    "AsymVLM's uncertainty orders recall better than the baselines",
                    Pfe,
                ),
                (
                    "AsymVLM's uncertainty orders recall better than other",
                    ElipBottleneck,
                ),
            ] {
                let found = sentence(claim, &[(AsymvlmVmf, S, ours), (theirs, S, &[-0.75; 3])]);
                assert!(
                    found.starts_with(expected),
                    "{ours:?}: {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn an_uncertainty_that_says_the_same_of_all_loses_to_none() {
        let rows = [
            (AsymvlmVmf, S, &[-0.9; 3][..]),
            (AsymvlmVmf, RECALL, &[0.5; 3]),
            (Pcmepp, RECALL, &[0.5; 3]),
        ];
        let claim = "AsymVLM's uncertainty orders recall better than the baselines";
        let text = written(claim, &rows);
        for part in [
            "— not decided: PCME++*: says the same of all or most.",
            "-0.900 ± 0.000 against none | COCO: -1.000 against -0.990 | not decided: PCME++*: says the same of all or",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn an_order_of_fewer_hits_than_levels_decides_nothing() {
        let with_hits = |recall: f64| {
            let of = |method: MethodName, s: f64, recall: f64| {
                [(S, s), (RECALL, recall), (Metric::CaptionCount, 1000.0)]
                    .map(|(metric, value)| (method, metric, [value; 3]))
            };
            let rows = [of(AsymvlmVmf, -0.9, 0.5), of(Pfe, -0.2, recall)].concat();
            let rows: Vec<SeedValues<'_>> = rows
                .iter()
                .map(|row| (row.0, row.1.clone(), &row.2[..]))
                .collect();
            sentence(
                "AsymVLM's uncertainty orders recall better than the baselines",
                &rows,
            )
        };
        let few = with_hits(0.003);
        assert_eq!(
            few, "not decided: PFE*: finds fewer than one a level",
            "three of a thousand"
        );
        assert_eq!(
            with_hits(0.01),
            "holds in all 1 comparisons",
            "ten of a thousand"
        );
    }

    #[test]
    fn the_papers_own_numbers_stand_beside_ours() {
        let rows = [(AsymvlmVmf, S, &[-0.5; 3][..]), (Pfe, S, &[0.1; 3])];
        let text = written("AsymVLM's uncertainty orders", &rows);
        let part = "| COCO: -1.000 against -0.988 | yes |";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn probvlm_is_compared_with_both_signs() {
        let rows = [(AsymvlmVmf, S, &[-0.5; 3][..]), (Probvlm, S, &[0.9; 3])];
        let text = written("AsymVLM's uncertainty orders", &rows);
        for part in [
            "against ProbVLM | -0.500 ± 0.000 against 0.900 ± 0.000 | COCO: -1.000 against -1.000 | yes |",
            "with the other sign | -0.500 ± 0.000 against -0.900 ± 0.000 | none printed | opposite |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_straight_line_that_rises_is_not_a_decline() {
        for (slope, shown, expected) in [
            (0.1, "| 0.700 ± 0.000 against -0.900 |", "holds in all"),
            (-0.1, "| 0.700 ± 0.000 against 0.900 |", "does not hold"),
        ] {
            let rows = [
                (AsymvlmVmf, R_SQUARED, &[0.7; 3][..]),
                (AsymvlmVmf, SLOPE, &[-0.1; 3]),
                (Bayesvlm, R_SQUARED, &[0.9]),
                (Bayesvlm, SLOPE, &[slope]),
            ];
            let claim = "Recall falls more linearly with AsymVLM's uncertainty than with the base";
            let text = written(claim, &rows);
            for part in [shown, expected] {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }
}
