//! The figures of the paper, from `results.json` alone, for the page to draw.

use super::classify::CURVE_STEPS;
use super::results::Results;
use crate::report::{
    Figure, FigureLine, FigurePanel, Grouped, Metric, RejectionResult, RejectionRule, Retrieval,
};
use crate::train::methods::MethodName;

/// `AsymVLM` and its ablations; the Gaussian as the paper has it, then per dimension.
const ABLATION: [MethodName; 8] = [
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
    MethodName::AsymvlmVmfEncoderMean,
    MethodName::ImageVmf,
    MethodName::SymvlmVmf,
    MethodName::SymvlmVmfRaw,
    MethodName::GaussianPrecision,
    MethodName::Gaussian,
];
const COMPARED: [MethodName; 11] = [
    MethodName::Pfe,
    MethodName::Pcmepp,
    MethodName::Bayesvlm,
    MethodName::Entropy,
    MethodName::Probvlm,
    MethodName::Prolip,
    MethodName::ElipBottleneck,
    MethodName::AsymvlmVmf,
    MethodName::AsymvlmPs,
    MethodName::AsymvlmVmfEncoderMean,
    MethodName::AsymvlmPsEncoderMean,
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
/// Caption of a figure, composed of the panels and lines that it has.
type Caption = fn(&[FigurePanel]) -> String;

/// Every figure of one data set for which there are numbers.
pub(super) fn figures(results: &Results, dataset: &str) -> Vec<Figure> {
    let all: [(&str, Caption, Vec<FigurePanel>); 5] = [
        (
            "recall-by-level",
            of_recall,
            recall_panels(results, &COMPARED),
        ),
        ("ablation", of_ablation, recall_panels(results, &ABLATION)),
        ("hierarchy", of_hierarchy, hierarchy_panels(results)),
        (
            "tokens",
            of_lengths,
            vec![tokens_panel(results), bits_panel(results)],
        ),
        ("rejection", of_rejection, vec![rejection_panel(results)]),
    ];
    // A data set that was not trained on, or what disturbs the own one.
    let elsewhere = match (dataset.split_once(" → "), dataset.split_once(", ")) {
        (Some((_, other)), _) => format!("Measured on {other}: "),
        (None, Some((_, shift))) => format!("Disturbed by {shift}: "),
        (None, None) => String::new(),
    };
    let captioned = |caption: String| match elsewhere.is_empty() {
        true => caption,
        false => format!("{elsewhere}{}", caption.replacen("Share", "share", 1)),
    };
    let figure = |(name, caption, mut panels): (&str, Caption, Vec<FigurePanel>)| {
        panels.retain(|panel| !panel.lines.is_empty());
        (!panels.is_empty()).then(|| Figure {
            name: name.to_owned(),
            dataset: dataset.to_owned(),
            caption: captioned(caption(&panels)),
            panels,
        })
    };
    all.into_iter().filter_map(figure).collect()
}

fn of_recall(_: &[FigurePanel]) -> String {
    "Share of queries whose answer came first, over ten levels of uncertainty, the most certain queries at the left: a \
     method whose line falls knows where it fails"
        .to_owned()
}

fn of_ablation(panels: &[FigurePanel]) -> String {
    let sides = [
        ("AsymVLM ", "the caption’s (AsymVLM)"),
        ("AsymVLM(image)", "the picture’s (image)"),
        ("SymVLM", "both sides’ (SymVLM)"),
    ];
    let sides = sides.into_iter().filter(|(name, _)| has_line(panels, name));
    let sides: Vec<&str> = sides.map(|(_, side)| side).collect();
    let gaussian = has_line(panels, "AsymVLM(Gaussian)");
    let gaussian = gaussian.then(|| "where the spread is a Gaussian".to_owned());
    let sides = (!sides.is_empty()).then(|| format!("where κ is {}", listed(&sides, "or")));
    let parts: Vec<String> = sides.into_iter().chain(gaussian).collect();
    format!("Recall@1 over the same levels {}", parts.join(", and "))
}

fn of_hierarchy(panels: &[FigurePanel]) -> String {
    let shown = [
        ("1/κ", "1/κ"),
        ("evidence", "likelihood of the own picture"),
    ];
    let shown = shown.into_iter().filter(|(label, _)| {
        let mut labels = panels.iter().map(|panel| panel.y_label.as_str());
        labels.any(|y_label| y_label.starts_with(label))
    });
    let shown: Vec<&str> = shown.map(|(_, word)| word).collect();
    let shown = listed(&shown, "and");
    let bands = bands_text(panels);
    format!("{shown} of captions from the vaguest level to the fullest: the median, with {bands}")
}

fn of_lengths(panels: &[FigurePanel]) -> String {
    let by = [
        ("tokens", "by the number of tokens"),
        ("bits", "by the bits that the words say"),
    ];
    let by = by
        .into_iter()
        .filter(|(label, _)| panels.iter().any(|panel| panel.x_label == *label));
    let by: Vec<&str> = by.map(|(_, word)| word).collect();
    let by = listed(&by, "and");
    format!("1/κ {by}: the median, with {}", bands_text(panels))
}

/// Captions that the bands hold, in words; earlier results have the outer band alone.
fn bands_text(panels: &[FigurePanel]) -> &'static str {
    let mut lines = panels.iter().flat_map(|panel| &panel.lines);
    if panels.iter().any(FigurePanel::is_boxed) {
        return "a box that holds the middle half of the captions and whiskers that hold eight of ten";
    }
    match lines.any(|line| !line.inner_band.is_empty()) {
        true => "a band that holds eight captions of ten and, darker, the middle half",
        false => "a band that holds eight captions of ten",
    }
}

fn of_rejection(panels: &[FigurePanel]) -> String {
    let moves = [
        (["threshold", "margin"], "as a threshold moves (CLIP)"),
        (["dummies", "dummies"], "as dummy captions are added"),
    ];
    let moves = moves.into_iter().filter(|(words, _)| {
        let mut lines = panels.iter().flat_map(|panel| &panel.lines);
        lines.any(|line| words.iter().any(|word| line.name.ends_with(word)))
    });
    let moves: Vec<&str> = moves.map(|(_, word)| word).collect();
    format!(
        "Pictures of a class and pictures of none, {}",
        listed(&moves, "or")
    )
}

/// Whether a line's name begins so.
fn has_line(panels: &[FigurePanel], name: &str) -> bool {
    let mut lines = panels.iter().flat_map(|panel| &panel.lines);
    lines.any(|line| line.name.starts_with(name))
}

/// List of words as in “a, b or c”, with `last` before the last word.
fn listed(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
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
        inner_band: Vec::new(),
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
    (!points.is_empty()).then(|| FigureLine {
        name,
        points,
        band: Vec::new(),
        inner_band: Vec::new(),
    })
}

/// Medians with the band from the first to the last tenth and, where it was measured, that of the middle half, each the
/// mean over seeds.
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
        let quantiles = groups.filter_map(|group| {
            let outer = [at(group, 10)?, at(group, 50)?, at(group, 90)?];
            let inner = at(group, 25).zip(at(group, 75));
            Some(((group as f64, outer), inner.map(|(low, high)| [low, high])))
        });
        let (points, inner): (Vec<_>, Vec<_>) = quantiles.unzip();
        let line = banded_line(method, points)?;
        Some(FigureLine {
            inner_band: inner.into_iter().collect::<Option<_>>().unwrap_or_default(),
            ..line
        })
    };
    HIERARCHY.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn panel_of(x_label: &str, names: &[&str]) -> FigurePanel {
        let lines = names
            .iter()
            .filter_map(|name| line((*name).to_owned(), vec![[0.0, 1.0]]));
        panel("", [x_label, "1/κ"], lines.collect())
    }

    #[test]
    fn a_caption_names_the_lines_and_panels_that_are_there() {
        let image = ["AsymVLM vMF", "AsymVLM(image) vMF"];
        let all = [&image[..], &["SymVLM vMF", "AsymVLM(Gaussian)"]].concat();
        let same = "Recall@1 over the same levels where";
        for (names, expected) in [
            (
                &image[..],
                format!("{same} κ is the caption’s (AsymVLM) or the picture’s (image)"),
            ),
            (
                &all,
                format!(
                    "{same} κ is the caption’s (AsymVLM), the picture’s (image) or both sides’ (SymVLM), and where the \
                     spread is a Gaussian"
                ),
            ),
            (
                &["AsymVLM(Gaussian)"],
                format!("{same} the spread is a Gaussian"),
            ),
        ] {
            assert_eq!(of_ablation(&[panel_of("", names)]), expected, "{names:?}");
        }
        let [tokens, bits] = ["tokens", "bits"].map(|label| panel_of(label, &image));
        let of_tokens = of_lengths(std::slice::from_ref(&tokens));
        assert!(
            of_tokens.starts_with("1/κ by the number of tokens: the median"),
            "{of_tokens}"
        );
        let of_both = of_lengths(&[tokens, bits]);
        assert!(
            of_both.starts_with("1/κ by the number of tokens and by the bits that"),
            "{of_both}"
        );
    }

    #[test]
    fn a_distribution_of_few_groups_has_boxes_where_its_quarters_were_measured() {
        for (percents, inner, word) in [
            (
                &[10, 25, 50, 75, 90][..],
                vec![[25.0, 75.0]],
                "whiskers that hold eight of ten",
            ),
            (
                &[10, 50, 90],
                vec![],
                "a band that holds eight captions of ten",
            ),
        ] {
            let mut results = Results::default();
            let quantile = |&percent: &usize| {
                let metric = Metric::Quantile(Grouped::UncertaintyByTokens, 4, percent);
                (metric, percent as f64)
            };
            let numbers = percents.iter().map(quantile).collect();
            results.add(MethodName::AsymvlmVmf, "scenes", 0, numbers);
            let figures = figures(&results, "scenes");
            let figure = figures.iter().find(|figure| figure.name == "tokens");
            let figure = figure.expect("lengths");
            let line = &figure.panels[0].lines[0];
            assert_eq!(line.band, [[10.0, 90.0]], "eight of ten");
            assert_eq!(line.inner_band, inner, "{percents:?}");
            assert!(figure.caption.ends_with(word), "{}", figure.caption);
        }
    }

    #[test]
    fn the_committed_figures_hold_what_their_captions_say() {
        for world in ["scenes", "photos"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/evidence");
            let text = std::fs::read_to_string(path.join(world).join("figures.json"));
            let figures: Vec<Figure> =
                serde_json::from_str(&text.expect("committed")).expect("figures");
            for figure in &figures {
                let has_x = |label: &str| figure.panels.iter().any(|panel| panel.x_label == label);
                let has_name = |part: &str| figure.names().iter().any(|name| name.contains(part));
                for (word, is_there) in [
                    ("Gaussian", has_name("Gaussian")),
                    ("SymVLM)", has_name("SymVLM")),
                    ("(image)", has_name("(image)")),
                    ("bits", has_x("bits")),
                    ("number of tokens", has_x("tokens")),
                    ("threshold", has_name("threshold") || has_name("margin")),
                    ("dummy", has_name("dummies")),
                ] {
                    let is_said = figure.caption.contains(word);
                    assert_eq!(is_said, is_there, "{world}, {}: {word}", figure.name);
                }
            }
            let compared = figures
                .iter()
                .find(|figure| figure.name == "recall-by-level");
            let names = compared.expect("recall").names();
            assert!(
                names.contains(&MethodName::AsymvlmVmfEncoderMean.title()),
                "{world}: {names:?}"
            );
        }
    }
}
