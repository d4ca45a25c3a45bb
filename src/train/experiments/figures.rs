//! The figures of the paper, from `results.json` alone, for the page to draw.

use super::classify::CURVE_STEPS;
use super::results::Results;
use crate::report::{
    Figure, FigureLine, FigurePanel, Grouped, Metric, RejectionResult, RejectionRule, Retrieval,
};
use crate::train::methods::MethodName;

const ABLATION: [MethodName; 7] = [
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
    MethodName::AsymvlmVmfEncoderMean,
    MethodName::ImageVmf,
    MethodName::SymvlmVmf,
    MethodName::SymvlmVmfRaw,
    MethodName::Gaussian,
];
const COMPARED: [MethodName; 9] = [
    MethodName::Pfe,
    MethodName::Pcmepp,
    MethodName::Bayesvlm,
    MethodName::Entropy,
    MethodName::Probvlm,
    MethodName::Prolip,
    MethodName::Elip,
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
];
/// The methods whose uncertainty is compared with the captions' hierarchy.
const HIERARCHY: [MethodName; 2] = [MethodName::AsymvlmVmf, MethodName::AsymvlmPs];
/// The methods whose dummies are compared with CLIP's thresholds.
const REJECTING: [MethodName; 4] = [
    MethodName::Clip,
    MethodName::Deterministic,
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
];
/// A figure's name, and what it shows.
const RECALL: (&str, &str) = (
    "recall-by-level",
    "Share of queries whose answer came first, over ten levels of uncertainty, the most certain queries at the left: a \
     method whose line falls knows where it fails",
);
const ABLATIONS: (&str, &str) = (
    "ablation",
    "The same where κ is the caption’s (AsymVLM), the picture’s (image) or both sides’ (SymVLM), and where the spread is a \
     Gaussian",
);
const LEVELS: (&str, &str) = (
    "hierarchy",
    "Captions from the vaguest level to the fullest: the median, with a band that holds eight captions of ten",
);
const LENGTHS: (&str, &str) = (
    "tokens",
    "1/κ by the number of tokens, and by the bits that the words say: the median, with a band that holds eight captions \
     of ten",
);
const REJECTIONS: (&str, &str) = (
    "rejection",
    "Pictures of a class and pictures of none, as a threshold moves (CLIP) or as dummy captions are added",
);

/// Every figure of one data set for which there are numbers.
pub(super) fn figures(results: &Results, dataset: &str) -> Vec<Figure> {
    let all = [
        (RECALL, recall_panels(results, &COMPARED)),
        (ABLATIONS, recall_panels(results, &ABLATION)),
        (LEVELS, hierarchy_panels(results)),
        (LENGTHS, vec![tokens_panel(results), bits_panel(results)]),
        (REJECTIONS, vec![rejection_panel(results)]),
    ];
    // Of a data set that was not trained on, its name.
    let elsewhere = dataset
        .split_once(" → ")
        .map(|(_, other)| format!("Measured on {other}: "));
    let elsewhere = elsewhere.unwrap_or_default();
    let figure = |((name, caption), panels): ((&str, &str), Vec<FigurePanel>)| {
        let panels: Vec<_> = panels
            .into_iter()
            .filter(|panel| !panel.lines.is_empty())
            .collect();
        (!panels.is_empty()).then(|| Figure {
            name: name.to_owned(),
            dataset: dataset.to_owned(),
            caption: format!("{elsewhere}{caption}"),
            panels,
        })
    };
    all.into_iter().filter_map(figure).collect()
}

fn recall_panels(results: &Results, methods: &[MethodName]) -> Vec<FigurePanel> {
    let panel = |&direction: &Retrieval| {
        let line = |&method: &MethodName| recall_line(results, method, direction);
        let title = format!("Recall@1, {}", direction.title());
        let lines = methods.iter().filter_map(line).collect();
        panel(&title, ["uncertainty level", "Recall@1"], lines)
    };
    Retrieval::ALL.iter().map(panel).collect()
}

fn panel(title: &str, [x_label, y_label]: [&str; 2], lines: Vec<FigureLine>) -> FigurePanel {
    FigurePanel {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        lines,
    }
}

/// Mean over seeds, with one standard deviation to each side.
fn recall_line(results: &Results, method: MethodName, direction: Retrieval) -> Option<FigureLine> {
    let levels = (0..).map_while(|level| {
        let metric = Metric::LevelRecall(direction, level);
        Some((level as f64, results.summary(method, &metric)?))
    });
    let levels = levels.map(|(x, found)| {
        (
            x,
            [found.mean - found.sd, found.mean, found.mean + found.sd],
        )
    });
    banded_line(method, levels.collect())
}

/// A line through the middle of low, middle and high values by x; `None` without values.
fn banded_line(method: MethodName, values: Vec<(f64, [f64; 3])>) -> Option<FigureLine> {
    (!values.is_empty()).then(|| FigureLine {
        name: method.title().to_owned(),
        points: values
            .iter()
            .map(|(x, [_, middle, _])| [*x, *middle])
            .collect(),
        band: values
            .iter()
            .map(|(_, [low, _, high])| [*low, *high])
            .collect(),
    })
}

fn hierarchy_panels(results: &Results) -> Vec<FigurePanel> {
    const LEVEL: &str = "level, the vaguest first";
    let by_level = quantile_lines(results, Grouped::UncertaintyByLevel);
    let scores = quantile_lines(results, Grouped::ScoreByLevel);
    vec![
        panel("Uncertainty by level", [LEVEL, "1/κ"], by_level),
        panel(
            "Likelihood of the own picture",
            [LEVEL, "evidence over a blind guess (nats)"],
            scores,
        ),
    ]
}

fn tokens_panel(results: &Results) -> FigurePanel {
    let lines = quantile_lines(results, Grouped::UncertaintyByTokens);
    panel("Uncertainty by length", ["tokens", "1/κ"], lines)
}

fn bits_panel(results: &Results) -> FigurePanel {
    let lines = quantile_lines(results, Grouped::UncertaintyByBits);
    panel("Uncertainty by information", ["bits", "1/κ"], lines)
}

/// CLIP's curves over all thresholds, and what each method does with each dummy.
fn rejection_panel(results: &Results) -> FigurePanel {
    let point = |method, metric: &dyn Fn(RejectionResult) -> Metric| {
        let at = |side| Some(results.summary(method, &metric(side))?.mean);
        Some([
            at(RejectionResult::Negative)?,
            at(RejectionResult::Positive)?,
        ])
    };
    let curve = |rule: RejectionRule| {
        let points = (0..=CURVE_STEPS).filter_map(|step| {
            point(MethodName::Clip, &|side| {
                Metric::RejectionCurve(rule, step, side)
            })
        });
        line(format!("CLIP, {rule}"), points.collect())
    };
    let dummies = |method: MethodName| {
        let points = (0..).map(RejectionRule::Dummy);
        let points = points.map_while(|rule| point(method, &|side| Metric::Rejection(rule, side)));
        line(format!("{}, dummies", method.title()), points.collect())
    };
    let curves = [RejectionRule::Threshold, RejectionRule::Margin].map(curve);
    let lines = curves.into_iter().chain(REJECTING.map(dummies));
    let axes = [
        "accuracy on pictures of no class",
        "accuracy on pictures of a class",
    ];
    panel("None of the above", axes, lines.flatten().collect())
}

fn line(name: String, points: Vec<[f64; 2]>) -> Option<FigureLine> {
    let band = Vec::new();
    (!points.is_empty()).then_some(FigureLine { name, points, band })
}

/// Medians with the band from the first to the last tenth, each the mean over seeds.
fn quantile_lines(results: &Results, grouped: Grouped) -> Vec<FigureLine> {
    let line = |&method: &MethodName| {
        let at = |group, percent| {
            let found = results.summary(method, &Metric::Quantile(grouped, group, percent))?;
            Some(found.mean)
        };
        let groups = results.metrics(method).into_iter();
        let groups = groups.filter_map(|metric| match metric {
            Metric::Quantile(of, group, 50) if *of == grouped => Some(*group),
            _ => None,
        });
        let points = groups.filter_map(|group| {
            Some((
                group as f64,
                [at(group, 10)?, at(group, 50)?, at(group, 90)?],
            ))
        });
        banded_line(method, points.collect())
    };
    HIERARCHY.iter().filter_map(line).collect()
}
