//! Recall of the methods, and the ablations that the paper judges by it.

use super::super::judge::{
    ASYMVLM, BASELINES, ClaimedOrder, ENCODER_MEAN, Judge, MethodComparison, RECALL_AT_1, SPEARMAN,
    pairs, versus,
};
use super::super::verdict::{Estimate, Finding, FindingRow, PaperClaim};
use crate::report::{LevelStatistic, Metric, Retrieval};
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmVmf, Clip, Deterministic, Gaussian, GaussianDiagonal,
    GaussianPrecision, ImagePs, ImageVmf, SymvlmPs, SymvlmPsRaw, SymvlmVmf, SymvlmVmfRaw,
};

/// Greatest |S| that says nothing: of ten levels in random order one in twenty has more, to either side.
const NO_TREND: f64 = 0.648;
/// R² from which a decline is called a straight line.
const STRAIGHT: f64 = 0.9;
/// Share of a recall by which another may differ and still be about as much.
const ABOUT_AS_MUCH: f64 = 0.1;
const IMAGE: [MethodName; 2] = [ImageVmf, ImagePs];
const GAUSSIANS: [MethodName; 3] = [GaussianPrecision, Gaussian, GaussianDiagonal];
const SYMMETRIC: [MethodName; 4] = [SymvlmVmf, SymvlmPs, SymvlmVmfRaw, SymvlmPsRaw];
/// A distribution of pictures alone, and the same one of captions alone.
const IMAGE_AND_TEXT: [[MethodName; 2]; 2] = [[ImageVmf, AsymvlmVmf], [ImagePs, AsymvlmPs]];
/// A distribution on both sides, and the same one for captions alone.
const SYMMETRIC_AND_NOT: [[MethodName; 2]; 4] = [
    [SymvlmVmf, AsymvlmVmf],
    [SymvlmPs, AsymvlmPs],
    [SymvlmVmfRaw, AsymvlmVmf],
    [SymvlmPsRaw, AsymvlmPs],
];
const NO_RECALL: &str = "recall is not measured here";
const NO_LEVELS: &str = "recall over levels of uncertainty is not measured here";
/// Reason why a verdict does not count pictures that may find any true caption.
const ANY_TRUE_CAPTION: &str = "Where truth is known, a picture must find a caption that was said of itself: any \
                                caption that is true of it would let those win that say nothing.";

static FINDS_MORE: PaperClaim = PaperClaim {
    text: "AsymVLM finds more than CLIP and the baselines (Recall@1)",
    rule: ANY_TRUE_CAPTION,
    groups: &[
        ("AsymVLM", &ASYMVLM),
        ("CLIP", &[Clip]),
        ("the baselines", &BASELINES),
    ],
    otherwise: NO_RECALL,
};
static FINDS_MORE_BY_KAPPA: PaperClaim = PaperClaim {
    text: "With the encoder's means AsymVLM finds more than the frozen cosine (Recall@1)",
    rule: "No finding of the paper, whose perceptron learns μ and κ. A caption's pictures stand in the order of the \
           cosine, whatever its κ; only what a picture finds can differ.",
    groups: &[
        ("AsymVLM with the encoder's mean", &ENCODER_MEAN),
        ("CLIP", &[Clip]),
    ],
    otherwise: NO_RECALL,
};
static IMAGE_FINDS_AS_MUCH: PaperClaim = PaperClaim {
    text: "AsymVLM(image) finds about as much as AsymVLM (Recall@1)",
    rule: "About as much is less than a tenth more or less. “Opposite” is a difference that is surely greater, “no \
           difference” one too near the bound.",
    groups: &[("AsymVLM(image)", &IMAGE), ("AsymVLM", &ASYMVLM)],
    otherwise: NO_RECALL,
};
static IMAGE_SAYS_NOTHING: PaperClaim = PaperClaim {
    text: "An uncertainty of pictures says nothing of recall (S is near zero)",
    rule: "Two-sided: a strong S of either sign speaks against it. Below −.648 recall falls with the uncertainty of \
           pictures, above .648 it rises. The strength of S without its sign is taken of each seed, then the mean.",
    groups: &[("AsymVLM(image)", &IMAGE)],
    otherwise: NO_LEVELS,
};
static SYMMETRIC_FINDS_LESS: PaperClaim = PaperClaim {
    text: "A distribution for pictures too finds less (Recall@1)",
    rule: ANY_TRUE_CAPTION,
    groups: &[("SymVLM", &SYMMETRIC), ("AsymVLM", &ASYMVLM)],
    otherwise: NO_RECALL,
};
static SYMMETRIC_FALLS_SLIGHTLY: PaperClaim = PaperClaim {
    text: "With a distribution for pictures too recall falls only slightly with uncertainty",
    rule: "It falls where S is below zero, and slightly where its slope, as a share of the recall, is less steep than \
           AsymVLM's.",
    groups: &[("SymVLM", &SYMMETRIC), ("AsymVLM", &ASYMVLM)],
    otherwise: NO_LEVELS,
};
static GAUSSIAN: PaperClaim = PaperClaim {
    text: "With a Gaussian recall falls nearly linearly, but is lower than AsymVLM's",
    rule: "The paper gives one line to its Gaussian. AsymVLM(Gaussian) reads it literally, κ being the precision; “per \
           dimension” is our parametrisation of the same family (precision d·κ, density over d), “diagonal” has a \
           variance for each axis.",
    groups: &[("a Gaussian", &GAUSSIANS), ("AsymVLM", &[AsymvlmVmf])],
    otherwise: NO_RECALL,
};
static FINE_TUNING: PaperClaim = PaperClaim {
    text: "Deterministic fine-tuning hurts zero-shot accuracy, more than AsymVLM does",
    rule: "",
    groups: &[
        ("deterministic fine-tuning", &[Deterministic]),
        ("CLIP and AsymVLM", &[Clip, AsymvlmVmf, AsymvlmPs]),
    ],
    otherwise: "no zero-shot task is measured here",
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let recall =
        |pairs: &[[MethodName; 2]], claimed| judge.by_direction(RECALL_AT_1, pairs, claimed);
    let with_all = pairs(&ASYMVLM, &[&[Clip][..], &BASELINES].concat());
    let with_cosine = pairs(&ENCODER_MEAN, &[Clip]);
    let less = recall(&SYMMETRIC_AND_NOT, ClaimedOrder::Worse);
    vec![
        judge.finding(&FINDS_MORE, recall(&with_all, ClaimedOrder::Better)),
        judge.finding(
            &FINDS_MORE_BY_KAPPA,
            recall(&with_cosine, ClaimedOrder::Better),
        ),
        judge.finding(&IMAGE_FINDS_AS_MUCH, image_finds_as_much(judge)),
        judge.finding(&IMAGE_SAYS_NOTHING, image_says_nothing(judge)),
        judge.finding(&SYMMETRIC_FINDS_LESS, less),
        judge.finding(&SYMMETRIC_FALLS_SLIGHTLY, symmetric_falls_slightly(judge)),
        judge.finding(&GAUSSIAN, gaussians(judge)),
        judge.finding(&FINE_TUNING, zero_shot_of_fine_tuning(judge)),
    ]
}

fn image_finds_as_much(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for direction in judge.directions() {
        let recall = RECALL_AT_1.1(direction);
        let what = format!("Recall@1 within a tenth, {}", direction.title());
        rows.extend(IMAGE_AND_TEXT.iter().filter_map(|pair| {
            let comparison = MethodComparison {
                what: versus(&what, *pair),
                pair: *pair,
                estimates: pair.map(|method| judge.estimate(method, &recall)),
                levels_of: None,
                paper: String::new(),
            };
            judge.row(comparison, |ours, theirs| ours.near(theirs, ABOUT_AS_MUCH))
        }));
    }
    rows
}

fn image_says_nothing(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for direction in judge.directions() {
        for method in IMAGE {
            let values = judge.results.values(method, &SPEARMAN.1(direction));
            let strengths: Vec<f64> = values.iter().map(|value| value.abs()).collect();
            let strength = judge.estimate_of(method, &strengths);
            let (title, mean) = (direction.title(), crate::metrics::mean(&values));
            let what = format!(
                "strength of S < {NO_TREND}, {title}: {}, S in the mean {mean:.3}",
                method.title()
            );
            rows.extend(
                judge.of_levels(what, (method, direction), strength, |strength| {
                    strength.beyond(-1.0, NO_TREND)
                }),
            );
        }
    }
    rows
}

fn symmetric_falls_slightly(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for direction in judge.directions() {
        let title = direction.title();
        for pair in SYMMETRIC_AND_NOT {
            let [method, _] = pair;
            let order = judge.estimate(method, &SPEARMAN.1(direction));
            let what = format!("S, {title}: {} < 0", method.title());
            rows.extend(judge.of_levels(what, (method, direction), order, |order| {
                order.beyond(-1.0, 0.0)
            }));
            let comparison = MethodComparison {
                what: versus(&format!("slope as a share of recall, {title}"), pair),
                pair,
                estimates: pair.map(|method| relative_slope(judge, method, direction)),
                levels_of: Some(direction),
                paper: String::new(),
            };
            rows.extend(judge.row(comparison, |ours, theirs| ours.against(theirs, 1.0)));
        }
    }
    rows
}

/// Slope of recall over levels as a share of the recall.
fn relative_slope(judge: &Judge<'_>, method: MethodName, direction: Retrieval) -> Option<Estimate> {
    let slope = Metric::Levels(direction, LevelStatistic::Slope);
    let both = judge
        .results
        .paired(method, [&slope, &RECALL_AT_1.1(direction)]);
    let found = both.iter().filter(|[_, recall]| *recall > 0.0);
    let shares: Vec<f64> = found.map(|[slope, recall]| slope / recall).collect();
    judge.estimate_of(method, &shares)
}

fn gaussians(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for direction in judge.directions() {
        let title = direction.title();
        for method in GAUSSIANS {
            let what = format!("falling R², {title}: {} > {STRAIGHT}", method.title());
            let line = judge.falling_r_squared(method, direction);
            rows.extend(judge.of_levels(what, (method, direction), line, |line| {
                line.beyond(1.0, STRAIGHT)
            }));
            let (recall, pair) = (RECALL_AT_1.1(direction), [method, AsymvlmVmf]);
            let what = format!("Recall@1, {title}");
            rows.extend(judge.compare(&recall, &what, pair, ClaimedOrder::Worse));
        }
    }
    rows
}

fn zero_shot_of_fine_tuning(judge: &Judge<'_>) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    for metric in judge.results.metrics(Deterministic) {
        let Metric::Accuracy(task) = metric else {
            continue;
        };
        for other in [Clip, AsymvlmVmf, AsymvlmPs] {
            rows.extend(judge.compare(metric, task, [Deterministic, other], ClaimedOrder::Worse));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{sentence, written};
    use super::*;
    use crate::report::Retrieval::TextToImage;

    const RECALL: Metric = Metric::Recall(TextToImage, 1);
    const S: Metric = Metric::Levels(TextToImage, LevelStatistic::Spearman);
    const SLOPE: Metric = Metric::Levels(TextToImage, LevelStatistic::Slope);

    #[test]
    fn more_is_found_less_as_much_or_it_is_not_decided() {
        for (ours, expected) in [
            (&[0.5, 0.52, 0.51][..], "holds in all"),
            (&[0.3, 0.31, 0.32], "does not hold"),
            (&[0.4, 0.44, 0.38], "not decided: no difference"),
            (&[0.9, 0.9], "not decided: fewer than 3 seeds"),
        ] {
            for (claim, method) in [
                ("AsymVLM finds more than CLIP", AsymvlmVmf),
                (
                    "With the encoder's means AsymVLM finds more",
                    ENCODER_MEAN[0],
                ),
            ] {
                let found = sentence(claim, &[(method, RECALL, ours), (Clip, RECALL, &[0.41])]);
                assert!(
                    found.starts_with(expected),
                    "{ours:?}: {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn pictures_find_about_as_much_or_clearly_not() {
        for (image, expected) in [
            (&[0.5, 0.51, 0.49][..], "holds in all"),
            (&[0.7, 0.71, 0.69], "does not hold"),
            (&[0.3, 0.31, 0.29], "does not hold"),
            (&[0.55, 0.53, 0.57], "not decided: no difference"),
            (&[0.5], "not decided: fewer than 3 seeds"),
        ] {
            let rows = [(ImageVmf, RECALL, image), (AsymvlmVmf, RECALL, &[0.5; 3])];
            let found = sentence("AsymVLM(image) finds about as much", &rows);
            assert!(
                found.starts_with(expected),
                "{image:?}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn an_uncertainty_of_pictures_says_nothing_where_every_seed_is_weak() {
        for (values, expected) in [
            (&[0.918; 3][..], "does not hold"),
            (&[-0.918; 3], "does not hold"),
            (&[0.9, -0.9, 0.9], "does not hold"),
            (&[0.3; 3], "holds in all"),
            (&[0.9, 0.4, 0.65], "not decided: no difference"),
            (&[0.1], "not decided: fewer than 3 seeds"),
        ] {
            let claim = "An uncertainty of pictures says nothing";
            let found = sentence(claim, &[(ImageVmf, S, values)]);
            assert!(
                found.starts_with(expected),
                "{values:?}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_slight_decline_falls_and_is_less_steep_than_asymvlms() {
        let of = |s: f64, slope: f64| {
            let (s, slope) = ([s; 3], [slope; 3]);
            let rows = [
                (SymvlmVmf, S, &s[..]),
                (SymvlmVmf, SLOPE, &slope),
                (SymvlmVmf, RECALL, &[0.25; 3]),
                (AsymvlmVmf, S, &[-0.9; 3]),
                (AsymvlmVmf, SLOPE, &[-0.05; 3]),
                (AsymvlmVmf, RECALL, &[0.5; 3]),
            ];
            sentence("With a distribution for pictures too recall falls", &rows)
        };
        // As a share of half the recall, −.025 is as steep as −.05.
        for (s, slope, expected) in [
            (-0.5, -0.01, "holds in all 2"),
            (-0.5, -0.04, "holds in part: yes in 1"),
            (
                -0.5,
                -0.025,
                "holds in part: yes in 1 of 2 comparisons, the opposite in 0, no difference in 1",
            ),
            (0.5, -0.04, "does not hold"),
        ] {
            let found = of(s, slope);
            assert!(
                found.starts_with(expected),
                "{s}, {slope}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_gaussian_may_fall_in_a_straight_line_or_not() {
        let r_squared = Metric::Levels(TextToImage, LevelStatistic::RSquared);
        for (found, expected) in [(0.95, "yes"), (0.7, "opposite"), (0.9, "no difference")] {
            let found = [found; 3];
            let rows = [
                (GaussianPrecision, r_squared.clone(), &found[..]),
                (GaussianPrecision, SLOPE, &[-0.05; 3]),
            ];
            let text = written("With a Gaussian recall falls", &rows);
            let row = format!(
                "AsymVLM(Gaussian) > 0.9 | {:.3} ± 0.000 | none printed | {expected} |",
                found[0]
            );
            assert!(text.contains(&row), "{row} in {text}");
        }
    }
}
