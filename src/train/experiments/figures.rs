//! The figures of the paper, from `results.json` alone.

use std::path::Path;

use anyhow::Result;

use super::classify::CURVE_STEPS;
use super::plot::{Line, Panel, draw};
use super::results::Results;
use crate::report::{Grouped, Metric, RejectionResult, RejectionRule, Retrieval};
use crate::train::methods::MethodName;

/// The methods of the ablation.
const ABLATION: [MethodName; 6] = [
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
    MethodName::ImageVmf,
    MethodName::SymvlmVmf,
    MethodName::SymvlmVmfRaw,
    MethodName::Gaussian,
];
/// The methods compared with each other.
const COMPARED: [MethodName; 8] = [
    MethodName::Pfe,
    MethodName::Pcmepp,
    MethodName::Bayesvlm,
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
/// Writes every figure of one data set for which there are numbers; returns the names of the files. Those of a data set
/// that was not trained on begin with its name.
pub(super) fn write(results: &Results, dataset: &str, folder: &Path) -> Result<Vec<String>> {
    let other = dataset
        .split_once(" → ")
        .map(|(_, other)| format!("{other}-"));
    let prefix = other.unwrap_or_default();
    let figures = [
        ("recall-by-level.svg", recall_panels(results, &COMPARED)),
        ("ablation.svg", recall_panels(results, &ABLATION)),
        ("hierarchy.svg", hierarchy_panels(results)),
        (
            "tokens.svg",
            vec![tokens_panel(results), bits_panel(results)],
        ),
        ("rejection.svg", vec![rejection_panel(results)]),
    ];
    let mut written = Vec::new();
    for (name, panels) in figures {
        if panels.iter().any(|panel| !panel.lines.is_empty()) {
            let name = format!("{prefix}{name}");
            draw(&panels, &folder.join(&name))?;
            written.push(name);
        }
    }
    Ok(written)
}

fn recall_panels(results: &Results, methods: &[MethodName]) -> Vec<Panel> {
    let panel = |&direction: &Retrieval| Panel {
        title: format!("Recall@1, {}", direction.title()),
        x_label: "uncertainty level".to_owned(),
        y_label: "Recall@1".to_owned(),
        lines: methods
            .iter()
            .filter_map(|&method| recall_line(results, method, direction))
            .collect(),
    };
    Retrieval::ALL.iter().map(panel).collect()
}

/// Mean over seeds, with one standard deviation to each side.
fn recall_line(results: &Results, method: MethodName, direction: Retrieval) -> Option<Line> {
    let levels = (0..).map_while(|level| {
        let metric = Metric::LevelRecall(direction, level);
        Some((level as f64, results.summary(method, &metric)?))
    });
    let levels: Vec<_> = levels.collect();
    (!levels.is_empty()).then(|| Line {
        name: method.title().to_owned(),
        points: levels.iter().map(|(x, found)| (*x, found.mean)).collect(),
        band: levels
            .iter()
            .map(|(x, found)| (*x, found.mean - found.sd, found.mean + found.sd))
            .collect(),
    })
}

fn hierarchy_panels(results: &Results) -> Vec<Panel> {
    let of = |title: &str, y_label: &str, grouped: Grouped| Panel {
        title: title.to_owned(),
        x_label: "level, the vaguest first".to_owned(),
        y_label: y_label.to_owned(),
        lines: quantile_lines(results, grouped),
    };
    vec![
        of("Uncertainty by level", "1/κ", Grouped::UncertaintyByLevel),
        of(
            "Likelihood of the own picture",
            "nats above uniform",
            Grouped::ScoreByLevel,
        ),
        tokens_panel(results),
    ]
}

fn tokens_panel(results: &Results) -> Panel {
    Panel {
        title: "Uncertainty by length".to_owned(),
        x_label: "tokens".to_owned(),
        y_label: "1/κ".to_owned(),
        lines: quantile_lines(results, Grouped::UncertaintyByTokens),
    }
}

fn bits_panel(results: &Results) -> Panel {
    Panel {
        title: "Uncertainty by information".to_owned(),
        x_label: "bits".to_owned(),
        y_label: "1/κ".to_owned(),
        lines: quantile_lines(results, Grouped::UncertaintyByBits),
    }
}

/// CLIP's curves over all thresholds, and what each method does with each dummy.
fn rejection_panel(results: &Results) -> Panel {
    let at = |method, metric| Some(results.summary(method, &metric)?.mean);
    let curves = [RejectionRule::Threshold, RejectionRule::Margin];
    let curves = curves.into_iter().filter_map(|rule| {
        let points = (0..=CURVE_STEPS).filter_map(|step| {
            let at = |side| at(MethodName::Clip, Metric::RejectionCurve(rule, step, side));
            Some((
                at(RejectionResult::Negative)?,
                at(RejectionResult::Positive)?,
            ))
        });
        line(format!("CLIP, {rule}"), points.collect())
    });
    let dummies = REJECTING.into_iter().filter_map(|method| {
        let points = (0..).map(RejectionRule::Dummy).map_while(|rule| {
            let at = |side| at(method, Metric::Rejection(rule, side));
            Some((
                at(RejectionResult::Negative)?,
                at(RejectionResult::Positive)?,
            ))
        });
        line(format!("{}, dummies", method.title()), points.collect())
    });
    Panel {
        title: "None of the above".to_owned(),
        x_label: "accuracy on pictures of no class".to_owned(),
        y_label: "accuracy on pictures of a class".to_owned(),
        lines: curves.chain(dummies).collect(),
    }
}

fn line(name: String, points: Vec<(f64, f64)>) -> Option<Line> {
    (!points.is_empty()).then(|| Line {
        name,
        points,
        band: Vec::new(),
    })
}

/// Medians with the band from the first to the last tenth, each the mean over seeds.
fn quantile_lines(results: &Results, grouped: Grouped) -> Vec<Line> {
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
        let points: Vec<(f64, [f64; 3])> = points.collect();
        (!points.is_empty()).then(|| Line {
            name: method.title().to_owned(),
            points: points.iter().map(|(x, q)| (*x, q[1])).collect(),
            band: points.iter().map(|(x, q)| (*x, q[0], q[2])).collect(),
        })
    };
    HIERARCHY.iter().filter_map(line).collect()
}
