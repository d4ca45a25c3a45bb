//! Uncertainty of pictures, of methods in which a picture is a distribution by itself.

use super::super::judge::Judge;
use super::super::numbers::LEVELS;
use super::super::results::queries;
use super::super::tables::other_sign;
use super::super::verdict::{Estimate, Finding, FindingRow, PaperClaim, Support, Undecided};
use crate::report::{LevelStatistic, Metric, Shift};
use crate::train::methods::MethodName::{
    self, Augmentation, Bayesvlm, ImageDensity, ImagePs, ImageVmf, Pcmepp, Pfe, Probvlm, Prolip,
    SymvlmPs, SymvlmPsRaw, SymvlmVmf, SymvlmVmfRaw,
};

/// `ProLIP`'s adapter, and the other methods in which both sides are uncertain in one measure.
const BOTH_SIDES: [MethodName; 9] = [
    Prolip,
    Pfe,
    Pcmepp,
    Bayesvlm,
    Probvlm,
    SymvlmVmf,
    SymvlmPs,
    SymvlmVmfRaw,
    SymvlmPsRaw,
];
/// Methods in which pictures alone are uncertain.
const PICTURES: [MethodName; 4] = [ImageVmf, ImagePs, ImageDensity, Augmentation];
const OTHERS: (&str, &[MethodName]) = ("other methods with uncertain pictures", &PICTURES);
const GROUP: (&str, &[MethodName]) = ("methods with uncertain pictures and captions", &BOTH_SIDES);

static MORE_CERTAIN: PaperClaim = PaperClaim {
    text: "ProLIP: pictures are more certain than captions (figure 5), in its adapter and the others",
    rule: "By the share of captions whose own picture is more certain than they are; where both are equal it counts \
           half. ProbVLM stands twice, as its released code calls one over the variance uncertainty.",
    groups: &[GROUP],
    otherwise: "no uncertainty of pictures is measured here",
};
static FOLLOWS_ACCURACY: PaperClaim = PaperClaim {
    text: "ProLIP: a picture's uncertainty follows accuracy, in its adapter and the others",
    rule: "By S of pictures' Recall@1 over ten levels of their own uncertainty, which should be below zero. The paper \
           has −.98 for MNIST and +.98 for the classes of ImageNet.",
    groups: &[GROUP, OTHERS],
    otherwise: "no uncertainty of pictures is measured here",
};
static DISTURBED: PaperClaim = PaperClaim {
    text: "ProLIP: disturbed pictures are less certain, in its adapter and the others",
    rule: "By the share of pictures that are less certain when they are disturbed, in the mean of ELIP's kinds and \
           severities. The paper occludes and attacks pictures (appendix C.8), and its tower is trained by its loss; \
           here its loss adapts features.",
    groups: &[GROUP, OTHERS],
    otherwise: "no disturbed pictures are measured here",
};

/// A number of pictures' uncertainty, and the bound on whose side it should lie.
struct PictureRule {
    metric: Metric,
    what: &'static str,
    gain: f64,
    bound: f64,
    paper: &'static str,
}

const MORE_CERTAIN_SHARE: PictureRule = PictureRule {
    metric: Metric::PictureMoreCertain,
    what: "share of captions whose picture is more certain",
    gain: 1.0,
    bound: 0.5,
    paper: "",
};
const S_OF_PICTURES: PictureRule = PictureRule {
    metric: Metric::PictureLevels(LevelStatistic::Spearman),
    what: "S of pictures over their own uncertainty",
    gain: -1.0,
    bound: 0.0,
    paper: "",
};
const LESS_CERTAIN: PictureRule = PictureRule {
    metric: Metric::CorruptedLessCertain(Shift::Corrupted),
    what: "share of disturbed pictures that are less certain",
    gain: 1.0,
    bound: 0.5,
    paper: "mean variance by occlusion 0.0148 to 0.0153, by attacks 0.0147 to 0.0175",
};

pub(super) fn findings(judge: &Judge<'_>) -> Vec<Finding> {
    let of_all = |rule: &PictureRule| -> Vec<FindingRow> {
        let methods = BOTH_SIDES.into_iter().chain(PICTURES);
        methods
            .flat_map(|method| rows(judge, method, rule))
            .collect()
    };
    vec![
        judge.finding(&MORE_CERTAIN, of_all(&MORE_CERTAIN_SHARE)),
        judge.finding(&FOLLOWS_ACCURACY, follows_accuracy(judge)),
        judge.finding(&DISTURBED, of_all(&LESS_CERTAIN)),
    ]
}

/// S of each method, and of those that have none, as recall of their pictures is the same at every level or they find
/// next to nothing, why.
fn follows_accuracy(judge: &Judge<'_>) -> Vec<FindingRow> {
    let of_method = |method| {
        let rows = rows(judge, method, &S_OF_PICTURES);
        match rows.is_empty() {
            true => no_s(judge, method).into_iter().collect(),
            false => rows,
        }
    };
    let methods = BOTH_SIDES.into_iter().chain(PICTURES);
    methods.flat_map(of_method).collect()
}

/// The row of a method whose pictures are uncertain, and have no S.
fn no_s(judge: &Judge<'_>, method: MethodName) -> Option<FindingRow> {
    let [_, of_pictures] = judge.directions();
    let mean = |metric| {
        judge
            .results
            .summary(method, &metric)
            .map(|found| found.mean)
    };
    mean(Metric::PictureMoreCertain).or_else(|| mean(LESS_CERTAIN.metric))?;
    let n_found = mean(queries(of_pictures))? * mean(Metric::Recall(of_pictures, 1))?;
    let why = match n_found < LEVELS as f64 {
        true => Undecided::TooFewHits(method),
        false => Undecided::SaysTheSame(method),
    };
    Some(FindingRow {
        what: format!("{}: {} < 0", S_OF_PICTURES.what, method.title()),
        found: "none".to_owned(),
        paper: String::new(),
        support: Support::Undecided(why),
    })
}

/// The row of a method, and of `ProbVLM` that with the other sign, too.
fn rows(judge: &Judge<'_>, method: MethodName, rule: &PictureRule) -> Vec<FindingRow> {
    let Some(found) = judge.estimate(method, &rule.metric) else {
        return Vec::new();
    };
    let turned = other_sign(&rule.metric, found.over_seeds).filter(|_| method == Probvlm);
    let turned = turned.map(|over_seeds| Estimate {
        over_seeds,
        ..found
    });
    let turned = turned.map(|turned| row(method, " with the other sign", rule, turned));
    [row(method, "", rule, found)]
        .into_iter()
        .chain(turned)
        .collect()
}

fn row(method: MethodName, suffix: &str, rule: &PictureRule, found: Estimate) -> FindingRow {
    let sign = if rule.gain > 0.0 { '>' } else { '<' };
    let (what, title, bound) = (rule.what, method.title(), rule.bound);
    FindingRow {
        what: format!("{what}: {title}{suffix} {sign} {bound}"),
        found: found.shown(),
        paper: match method {
            Prolip => rule.paper.to_owned(),
            _ => String::new(),
        },
        support: found.beyond(rule.gain, rule.bound),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{sentence, written};
    use super::*;
    use crate::report::Retrieval;

    #[test]
    fn pictures_are_more_certain_less_certain_or_neither() {
        for (found, expected) in [
            (&[0.9, 0.92, 0.91][..], "holds in all 1"),
            (&[0.1, 0.12, 0.11], "does not hold"),
            (&[0.5; 3], "not decided: no difference"),
            (&[0.9, 0.9], "not decided: fewer than 3 seeds"),
        ] {
            let rows = [(Prolip, Metric::PictureMoreCertain, found)];
            let found = sentence("ProLIP: pictures are more certain", &rows);
            assert!(found.starts_with(expected), "{found}, expected {expected}");
        }
    }

    #[test]
    fn who_finds_next_to_nothing_has_no_s_and_the_row_says_so() {
        let rows = [
            (Prolip, Metric::PictureMoreCertain, &[0.9; 3][..]),
            (
                Prolip,
                Metric::Recall(Retrieval::ImageToText, 1),
                &[0.001; 3],
            ),
            (Prolip, Metric::PictureCount, &[1000.0; 3]),
        ];
        let found = sentence("ProLIP: a picture's uncertainty", &rows);
        let expected = "not decided: ProLIP adapter: finds fewer than one a level";
        assert_eq!(found, expected);
    }

    #[test]
    fn the_other_sign_turns_every_number() {
        let share = Metric::CorruptedLessCertain(Shift::Corrupted);
        let s = Metric::PictureLevels(LevelStatistic::Spearman);
        let rows = [
            (Probvlm, share, &[0.2; 3][..]),
            (Probvlm, s, &[0.75; 3]),
            (Probvlm, Metric::PictureMoreCertain, &[0.3; 3]),
        ];
        for (claim, part) in [
            (
                "ProLIP: disturbed",
                "ProbVLM with the other sign > 0.5 | 0.800 ± 0.000 | none printed | yes |",
            ),
            (
                "ProLIP: a picture's",
                "ProbVLM with the other sign < 0 | -0.750 ± 0.000 | none printed | yes |",
            ),
            (
                "ProLIP: pictures are",
                "ProbVLM with the other sign > 0.5 | 0.700 ± 0.000 | none printed | yes |",
            ),
        ] {
            let text = written(claim, &rows);
            assert!(text.contains(part), "{part} in {text}");
            assert!(text.contains("| opposite |"), "its own sign in {text}");
        }
    }
}
