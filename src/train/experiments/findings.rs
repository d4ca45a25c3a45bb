//! Which of the papers' findings hold: rules over `results.json`, so that nobody has to look kindly at a table.

use std::fmt::Write as _;

use super::judge::{ASYMVLM, Claimed, Judge, RECALL_AT_1, SPEARMAN, pairs};
use super::results::Results;
use super::verdict::{Finding, FindingRow, MIN_SEEDS};
use crate::report::Metric;
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmPsEncoderMean, AsymvlmVmf, AsymvlmVmfEncoderMean, Bayesvlm, Clip,
    Density, Entropy, ImageDensity, ImageEntropy, Pcmepp, Pfe, Probvlm, Prolip, SymvlmPs,
    SymvlmPsRaw, SymvlmVmf, SymvlmVmfRaw,
};

/// The same with mean directions that stay the encoder's, as in the adapters of the photographs' model.
const ENCODER_MEAN: [MethodName; 2] = [AsymvlmVmfEncoderMean, AsymvlmPsEncoderMean];
/// What the paper compares it with.
const BASELINES: [MethodName; 5] = [Pfe, Pcmepp, Bayesvlm, Probvlm, Prolip];
/// Training-free scores of peers: entropies and densities of frozen features.
const TRAINING_FREE: [MethodName; 4] = [Entropy, ImageEntropy, Density, ImageDensity];
/// The rule of all findings, for the reader of the report.
#[must_use]
pub(super) fn rule() -> String {
    format!(
        "By rule: a difference counts when it is greater than twice its standard error over seeds. A trained method with \
         fewer than {MIN_SEEDS} seeds decides nothing; what trains nothing is the same for every seed. Seeds change \
         weights and batches, not the test split. The paper's own numbers are of its data, named beside them, and CLIP's \
         features: they say in which direction it differs there, not how much it should here."
    )
}

/// The findings as Markdown, for which there are numbers of one data set.
#[must_use]
pub(super) fn markdown(results: &Results) -> String {
    let mut text = String::new();
    for finding in findings(&Judge { results }) {
        finding.write(&mut text);
    }
    for method in results.methods() {
        if let Some(found) = results.summary(method, &Metric::DivergedAtStep) {
            let (title, step) = (method.title(), found.mean);
            let seeds = match found.n {
                1 => "(one seed)".to_owned(),
                n => format!("(mean of {n} seeds)"),
            };
            let lost = "it has no other numbers of them";
            writeln!(
                text,
                "{title} diverged: its loss was not finite after step {step:.0} {seeds}; {lost}.\n"
            )
            .ok();
        }
    }
    text
}

/// A distribution on both sides, and the same one for captions alone.
const SYMMETRIC_AND_NOT: [[MethodName; 2]; 4] = [
    [SymvlmVmf, AsymvlmVmf],
    [SymvlmPs, AsymvlmPs],
    [SymvlmVmfRaw, AsymvlmVmf],
    [SymvlmPsRaw, AsymvlmPs],
];

/// Of which method a finding speaks.
const ENCODERS_MEAN: &str = "No finding of the paper, whose perceptron learns μ and κ; here it learns κ alone, and captions find \
                             what they find by the cosine.";

/// What the papers say, and what these results say of it.
fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let mut findings = Vec::from(of_order(judge));
    findings.extend(of_recall_and_the_rest(judge));
    findings
}

const fn finding(claim: &'static str, rule: &'static str, rows: Vec<FindingRow>) -> Finding {
    Finding { claim, rule, rows }
}

/// How well uncertainties order recall.
fn of_order(judge: &Judge<'_>) -> [Finding; 5] {
    let with_baselines = pairs(&ASYMVLM, &BASELINES);
    [
        finding(
            "AsymVLM's uncertainty orders recall better than the baselines' does (S)",
            "ProbVLM stands twice: with the uncertainty of its released code, one over the variance, and with the other \
             sign, the variance itself (or the reverse, if the settings above say `variance`).",
            judge.by_direction(SPEARMAN, &with_baselines, Claimed::Better),
        ),
        finding(
            "AsymVLM's uncertainty orders recall better than scores that nothing is trained for (S)",
            "No finding of AsymVLM's paper: newer ones score captions and pictures by entropies and densities. Here the \
             entropy is that of the frozen cosines' softmax at CLIP's factor of 100, the density that of training features \
             around a feature by its ten nearest, not the papers' flow or diffusion.",
            judge.by_direction(SPEARMAN, &pairs(&ASYMVLM, &TRAINING_FREE), Claimed::Better),
        ),
        finding(
            "Recall falls more linearly with AsymVLM's uncertainty than with the baselines' (R²)",
            "R² is blind to the sign of the slope: where recall rises with uncertainty it counts as negative.",
            judge.linear(&with_baselines),
        ),
        finding(
            "With the encoder's own mean directions AsymVLM's uncertainty orders recall better than the baselines' (S)",
            ENCODERS_MEAN,
            judge.by_direction(SPEARMAN, &pairs(&ENCODER_MEAN, &BASELINES), Claimed::Better),
        ),
        finding(
            "With the encoder's own mean directions recall falls more linearly than with the baselines' uncertainty (R²)",
            ENCODERS_MEAN,
            judge.linear(&pairs(&ENCODER_MEAN, &BASELINES)),
        ),
    ]
}

fn of_recall_and_the_rest(judge: &Judge<'_>) -> [Finding; 7] {
    let with_all = pairs(&ASYMVLM, &[&[Clip][..], &BASELINES].concat());
    [
        finding(
            "AsymVLM finds more than CLIP and the baselines (Recall@1)",
            ANY_TRUE_CAPTION,
            judge.by_direction(RECALL_AT_1, &with_all, Claimed::Better),
        ),
        finding(
            "An uncertainty of pictures says nothing of recall (S is near zero)",
            "Two-sided: a strong S of either sign speaks against it. Below −.648 recall falls with the uncertainty of \
             pictures, above .648 it rises.",
            judge.pictures_uncertainty(),
        ),
        finding(
            "A distribution for pictures too finds less (Recall@1)",
            ANY_TRUE_CAPTION,
            judge.by_direction(RECALL_AT_1, &SYMMETRIC_AND_NOT, Claimed::Worse),
        ),
        finding(
            "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
            "The paper gives one line to its Gaussian. AsymVLM(Gaussian) reads it literally, κ being the precision; “per \
             dimension” is our parametrisation of the same family (precision d·κ, density over d), “diagonal” has a \
             variance for each axis.",
            judge.gaussians(),
        ),
        finding(
            "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
            "",
            judge.zero_shot_of_fine_tuning(),
        ),
        finding(
            "A dummy caption sorts out pictures of no class only where captions have a concentration",
            "By balanced accuracy, the mean of that on positives (pictures of a class, given to it) and on negatives \
             (pictures of none, refused): who refuses everything, or nothing, has at most a half.",
            judge.dummies(),
        ),
        finding(
            "Fuller captions are more certain, and their pictures more likely",
            "",
            judge.hierarchies(),
        ),
    ]
}

/// Why a picture that may find any true caption is no part of a verdict.
const ANY_TRUE_CAPTION: &str = "Where truth is known, a picture must find a caption that was said of itself: any caption \
    that is true of it would let those win that say nothing.";

#[cfg(test)]
mod tests {
    use super::super::judge::R_SQUARED;
    use super::super::measure::Numbers;
    use super::*;
    use crate::report::{Grouped, LevelStatistic, RejectionResult, RejectionRule, Retrieval};
    use crate::train::methods::MethodName::{Gaussian, ImageVmf};

    const RECALL: Metric = Metric::Recall(Retrieval::TextToImage, 1);

    fn results(rows: &[(MethodName, Metric, &[f64])]) -> Results {
        let mut results = Results::default();
        for (method, metric, values) in rows {
            for (seed, value) in (0..).zip(*values) {
                let numbers = Numbers::from([(metric.clone(), *value)]);
                results.add(*method, "scenes", seed, numbers);
            }
        }
        results
    }

    #[test]
    fn a_difference_counts_when_it_is_greater_than_the_spread_over_seeds() {
        for (ours, expected) in [
            (&[0.5, 0.52, 0.51][..], "— holds in all"),
            (&[0.3, 0.31, 0.32], "— does not hold"),
            (&[0.4, 0.44, 0.38], "— not decided: no difference"),
            (&[0.9, 0.9], "— not decided: fewer than 3 seeds"),
        ] {
            let rows = [(AsymvlmVmf, RECALL, ours), (Clip, RECALL, &[0.41])];
            let text = markdown(&results(&rows));
            assert!(text.contains(expected), "{ours:?}: {text}");
        }
    }

    #[test]
    fn a_finding_may_hold_in_part_and_is_silent_without_numbers() {
        let text = markdown(&results(&[
            (AsymvlmVmf, RECALL, &[0.5; 3]),
            (Clip, RECALL, &[0.4]),
            (Pfe, RECALL, &[0.6; 3]),
        ]));
        let expected = "holds in part: yes in 1 of 2 comparisons, the opposite in 1";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("dummy"), "nothing was refused: {text}");
    }

    #[test]
    fn the_papers_own_numbers_stand_beside_ours() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        let text = markdown(&results(&[
            (AsymvlmVmf, spearman.clone(), &[-0.5; 3]),
            (Pfe, spearman, &[0.1; 3]),
        ]));
        assert!(
            text.contains("| COCO: -1.000 against -0.988 | yes |"),
            "{text}"
        );
    }

    #[test]
    fn probvlm_is_compared_with_both_signs() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        let text = markdown(&results(&[
            (AsymvlmVmf, spearman.clone(), &[-0.5; 3]),
            (Probvlm, spearman, &[0.9; 3]),
        ]));
        for part in [
            "against ProbVLM | -0.500 ± 0.000 against 0.900 ± 0.000 | COCO: -1.000 against -1.000 | yes |",
            "with the other sign | -0.500 ± 0.000 against -0.900 ± 0.000 | none printed | no |",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    /// Rates of positives and negatives with the first dummy, the same for three seeds.
    fn dummy(
        method: MethodName,
        [positive, negative]: [f64; 2],
    ) -> Vec<(MethodName, Metric, [f64; 3])> {
        let rate = |result| Metric::Rejection(RejectionRule::Dummy(0), result);
        vec![
            (method, rate(RejectionResult::Positive), [positive; 3]),
            (method, rate(RejectionResult::Negative), [negative; 3]),
        ]
    }

    #[test]
    fn who_refuses_everything_does_not_win_none_of_the_above() {
        let rows = [dummy(AsymvlmVmf, [0.973, 0.993]), dummy(Clip, [0.0, 1.0])].concat();
        let rows: Vec<_> = rows
            .iter()
            .map(|(m, metric, v)| (*m, metric.clone(), &v[..]))
            .collect();
        let text = markdown(&results(&rows));
        for part in [
            "concentration** — holds in all 1",
            "0.983 ± 0.000 (0.973 / 0.993) against 0.500 (0.000 / 1.000)",
            "0.722 (0.857 / 0.587) against 0.449 (0.888 / 0.009)",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn an_uncertainty_that_orders_recall_the_wrong_way_says_something() {
        let spearman = Metric::Levels(Retrieval::TextToImage, LevelStatistic::Spearman);
        for (value, expected) in [
            (0.918, "does not hold"),
            (-0.918, "does not hold"),
            (0.3, "holds in all"),
        ] {
            let text = markdown(&results(&[(ImageVmf, spearman.clone(), &[value; 3])]));
            assert!(
                text.contains(&format!("** — {expected}")),
                "{value}: {text}"
            );
        }
    }

    #[test]
    fn a_straight_line_that_rises_is_not_a_decline() {
        let (r_squared, slope) = (
            R_SQUARED(Retrieval::TextToImage),
            Metric::Levels(Retrieval::TextToImage, LevelStatistic::Slope),
        );
        let text = markdown(&results(&[
            (AsymvlmVmf, r_squared.clone(), &[0.7; 3]),
            (AsymvlmVmf, slope.clone(), &[-0.1; 3]),
            (Bayesvlm, r_squared, &[0.9]),
            (Bayesvlm, slope, &[0.1]),
        ]));
        assert!(text.contains("| 0.700 ± 0.000 against -0.900 |"), "{text}");
    }

    #[test]
    fn a_training_that_diverged_is_said() {
        let diverged = (Gaussian, Metric::DivergedAtStep, &[10.0, 20.0][..]);
        let text = markdown(&results(&[diverged]));
        assert!(text.contains("after step 15 (mean of 2 seeds)"), "{text}");
    }

    #[test]
    fn likelihood_must_rise_at_every_level() {
        let median = |level| Metric::Quantile(Grouped::ScoreByLevel, level, 50);
        let of = |last: f64| {
            let [first, last] = [(median(0), [0.5; 3]), (median(1), [last; 3])];
            let rows = [
                (AsymvlmPs, first.0, &first.1[..]),
                (AsymvlmPs, last.0, &last.1),
            ];
            markdown(&results(&rows))
        };
        let (rising, falling) = (of(0.75), of(0.25));
        assert!(
            rising.contains("| 0.50, 0.75 | none printed | yes |"),
            "{rising}"
        );
        assert!(
            falling.contains("| 0.50, 0.25 | none printed | no |"),
            "{falling}"
        );
    }
}
