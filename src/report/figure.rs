//! `figures.json`: data of the figures of a suite, for the page to draw.

use serde::{Deserialize, Serialize};

/// Panels side by side, with the words below them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the figure in addresses and in the report, such as `recall-by-level`.
    pub name: String,
    /// Data set that was measured on.
    pub dataset: String,
    /// Caption below the panels: one sentence without its full stop.
    pub caption: String,
    /// The panels, from left to right.
    pub panels: Vec<FigurePanel>,
}

/// Axes with a title, two labels and lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigurePanel {
    /// Title above the panel.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x_label: String,
    /// Name and unit of the vertical axis.
    pub y_label: String,
    /// The lines, each with a name of its own.
    pub lines: Vec<FigureLine>,
}

/// A line, with a band around it where the spread is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureLine {
    /// Name in the legend: a method, or another quantity.
    pub name: String,
    /// x and y, by x.
    pub points: Vec<[f64; 2]>,
    /// Low and high of each point; empty where no spread is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<[f64; 2]>,
    /// Low and high of a narrower band within it, so that a distribution is seen; empty in earlier files, and where
    /// none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inner_band: Vec<[f64; 2]>,
}

/// Most groups that are drawn as boxes, side by side; more run together into bands.
const MOST_BOXED: usize = 6;

impl FigurePanel {
    /// Whether the distribution in each of a few groups is known, so that boxes show it.
    #[must_use]
    pub fn is_boxed(&self) -> bool {
        let is_boxed = |line: &FigureLine| {
            let n_known = line.inner_band.len().min(line.band.len());
            n_known == line.points.len() && n_known <= MOST_BOXED
        };
        !self.lines.is_empty() && self.lines.iter().all(is_boxed)
    }

    /// Least and greatest x, then y, of all points and bands; `None` without points.
    #[must_use]
    pub fn ranges(&self) -> Option<[[f64; 2]; 2]> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let bands = self
            .lines
            .iter()
            .flat_map(|line| line.band.iter().flatten());
        let x = range(points().map(|point| point[0]))?;
        let y = range(points().map(|point| point[1]).chain(bands.copied()))?;
        Some([x, y])
    }
}

/// Least and greatest of some values.
fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |range, value| {
        let [low, high] = range.unwrap_or([value; 2]);
        Some([low.min(value), high.max(value)])
    })
}

impl Figure {
    /// Every line's name once, in order of the panels.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            if !names.contains(&&*line.name) {
                names.push(&line.name);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_points_and_bands_and_names_stand_once() {
        let line = |name: &str| FigureLine {
            name: name.to_owned(),
            points: vec![[0.0, 0.5], [9.0, 0.25]],
            band: vec![[0.4, 0.6], [0.125, 0.3]],
            inner_band: Vec::new(),
        };
        let panel = |lines: Vec<FigureLine>| FigurePanel {
            title: "Recall@1".to_owned(),
            x_label: "level".to_owned(),
            y_label: "recall".to_owned(),
            lines,
        };
        let figure = Figure {
            name: "recall-by-level".to_owned(),
            dataset: "scenes".to_owned(),
            caption: "It falls".to_owned(),
            panels: vec![
                panel(vec![line("one"), line("two")]),
                panel(vec![line("two")]),
            ],
        };
        let mut boxed = panel(vec![line("one")]);
        assert!(!boxed.is_boxed(), "no inner band");
        boxed.lines[0].inner_band = boxed.lines[0].band.clone();
        assert!(boxed.is_boxed(), "two groups");
        assert!(!panel(Vec::new()).is_boxed(), "nothing to draw");
        assert_eq!(figure.panels[0].ranges(), Some([[0.0, 9.0], [0.125, 0.6]]));
        assert_eq!(panel(Vec::new()).ranges(), None, "nothing to draw");
        assert_eq!(figure.names(), ["one", "two"], "each once");
    }
}
