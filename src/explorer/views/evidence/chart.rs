//! Layout of a panel of lines: a plain drawing in user units, x to the right and y down.

use std::fmt::Write as _;

use crate::explorer::extent::round_step;
use crate::report::{FigureLine, FigurePanel};

/// Width and height of a panel.
pub(super) const CHART_SIZE: [f64; 2] = [400.0, 270.0];
/// Left, top, right and lower edge of the axes' box.
pub(super) const CHART_BOX: [f64; 4] = [52.0, 10.0, 378.0, 222.0];
/// Half of a box's width.
const BOX_HALF_WIDTH: f64 = 8.0;
/// Distance between the middles of neighbouring lines' boxes of one group.
pub(super) const BOX_DISTANCE: f64 = 20.0;
/// Least distance between two letters at the ends of lines.
const LETTER_HEIGHT: f64 = 12.0;

/// A panel's axes: a linear scale each way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chart {
    x: [f64; 2],
    y: [f64; 2],
    /// Whether x counts: a number between two counts would mean nothing.
    is_counted: bool,
}

impl Chart {
    /// The axes that hold a panel's points and bands; `None` without points.
    pub(super) fn of(panel: &FigurePanel) -> Option<Self> {
        let [x, [low, high]] = panel.ranges()?;
        let room = ((high - low) * 0.04).max(1e-6);
        let mut points = panel.lines.iter().flat_map(|line| &line.points);
        let is_padded = panel.is_boxed() || x[0] == x[1];
        let margin = if is_padded { 0.5 } else { 0.0 };
        Some(Self {
            is_counted: points.all(|[x, _]| x.fract() == 0.0),
            x: [x[0] - margin, x[1] + margin],
            y: [low - room, high + room],
        })
    }

    /// Place of a point in the drawing.
    pub(super) fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [left, top, right, floor] = CHART_BOX;
        let share = |value: f64, [low, high]: [f64; 2]| (value - low) / (high - low);
        [
            left + (right - left) * share(x, self.x),
            floor - (floor - top) * share(y, self.y),
        ]
    }

    /// Round numbers on the horizontal axis.
    pub(super) fn x_ticks(&self) -> Vec<f64> {
        let mut ticks = ticks(self.x);
        ticks.retain(|tick| !self.is_counted || tick.fract() == 0.0);
        ticks
    }

    /// Round numbers on the vertical axis.
    pub(super) fn y_ticks(&self) -> Vec<f64> {
        ticks(self.y)
    }

    /// A line through all points, as the `d` of a path.
    pub(super) fn line(&self, line: &FigureLine) -> String {
        self.path(line.points.iter().copied())
    }

    /// A band around a line as a closed path; empty where no spread is known.
    pub(super) fn band(&self, line: &FigureLine, band: &[[f64; 2]]) -> String {
        let of = |side: usize| {
            let points = line.points.iter().zip(band);
            points.map(move |([x, _], band)| [*x, band[side]])
        };
        self.path(of(0).chain(of(1).rev()))
    }

    /// Boxes of the inner band with whiskers to the ends of the outer one and a bar at the point, as the `d` of a path
    /// whose parts are filled or drawn; each is moved to the right by so many units.
    pub(super) fn boxes(&self, line: &FigureLine, shift: f64) -> String {
        let mut path = String::new();
        let groups = line.points.iter().zip(&line.band).zip(&line.inner_band);
        for (([x, middle], outer), inner) in groups {
            let height = |y: f64| self.place([*x, y]);
            let [[x, middle], [_, low], [_, high], [_, floor], [_, top]] =
                [*middle, outer[0], outer[1], inner[0], inner[1]].map(height);
            let x = x + shift;
            let (left, right) = (x - BOX_HALF_WIDTH, x + BOX_HALF_WIDTH);
            // Writing to a string cannot fail.
            write!(
                path,
                "M{left:.1} {floor:.1}H{right:.1}V{top:.1}H{left:.1}ZM{left:.1} {middle:.1}H{right:.1}\
                 M{x:.1} {floor:.1}V{low:.1}M{x:.1} {top:.1}V{high:.1}"
            )
            .ok();
        }
        path
    }

    fn path(&self, points: impl Iterator<Item = [f64; 2]>) -> String {
        let mut path = String::new();
        for point in points {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let [x, y] = self.place(point);
            // Writing to a string cannot fail.
            write!(path, "{command}{x:.1} {y:.1}").ok();
        }
        path
    }

    /// Heights at which the letters of lines stand, beside the lines' ends and apart from each other.
    pub(super) fn letter_heights(&self, lines: &[FigureLine]) -> Vec<f64> {
        let end = |line: &FigureLine| line.points.last().map_or(0.0, |end| self.place(*end)[1]);
        let ends: Vec<f64> = lines.iter().map(end).collect();
        apart(&ends, LETTER_HEIGHT, [CHART_BOX[1], CHART_BOX[3]])
    }
}

/// Multiples of a round step inside a range, four to nine of them.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    const LEAST: f64 = 4.0;
    let step = round_step((high - low) / LEAST / 2.0);
    let first = (low / step).ceil();
    let count = (0..16).map(|i| (first + f64::from(i)) * step);
    count
        .take_while(|tick| *tick <= high + step * 1e-6)
        .collect()
}

/// Heights at least `gap` apart in the order of the wished ones, as near to them as a pass down and a pass up bring
/// them.
fn apart(wished: &[f64], gap: f64, [top, floor]: [f64; 2]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wished.len()).collect();
    order.sort_by(|a, b| wished[*a].total_cmp(&wished[*b]));
    let mut heights = wished.to_vec();
    let mut above = top - gap;
    for &i in &order {
        heights[i] = wished[i].max(above + gap);
        above = heights[i];
    }
    let mut below = floor + gap;
    for &i in order.iter().rev() {
        heights[i] = heights[i].min(below - gap);
        below = heights[i];
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> FigurePanel {
        let line = |points: Vec<[f64; 2]>, band| FigureLine {
            name: "a method".to_owned(),
            points,
            band,
            inner_band: Vec::new(),
        };
        FigurePanel {
            title: "Recall@1".to_owned(),
            x_label: "level".to_owned(),
            y_label: "recall".to_owned(),
            lines: vec![
                line(vec![[0.0, 1.0], [9.0, 0.5]], vec![[0.9, 1.0], [0.0, 0.6]]),
                line(vec![[0.0, 0.75], [9.0, 0.49]], Vec::new()),
            ],
        }
    }

    #[test]
    fn points_stand_inside_the_box_and_bands_are_closed() {
        let panel = panel();
        let chart = Chart::of(&panel).expect("points");
        let [left, top, right, floor] = CHART_BOX;
        let [x, y] = chart.place([0.0, 1.0]);
        assert!((x - left).abs() < 1e-9 && y > top, "{x}, {y}");
        let [x, y] = chart.place([9.0, 0.0]);
        assert!((x - right).abs() < 1e-9 && y < floor, "{x}, {y}");
        assert_eq!(
            chart.line(&panel.lines[0]).matches('L').count(),
            1,
            "two points"
        );
        assert_eq!(
            chart
                .band(&panel.lines[0], &panel.lines[0].band)
                .matches('L')
                .count(),
            3,
            "there and back"
        );
        let none = chart.band(&panel.lines[1], &panel.lines[1].band);
        assert_eq!(none, "", "no spread is known");
        let empty = FigurePanel {
            lines: Vec::new(),
            ..panel
        };
        assert_eq!(Chart::of(&empty), None, "nothing to draw");
    }

    #[test]
    fn a_box_has_its_median_and_whiskers() {
        let mut panel = panel();
        panel.lines.truncate(1);
        panel.lines[0].inner_band = vec![[0.95, 1.0], [0.25, 0.5]];
        assert!(panel.is_boxed(), "two groups");
        let chart = Chart::of(&panel).expect("points");
        let path = chart.boxes(&panel.lines[0], 5.0);
        assert_eq!(path.matches('Z').count(), 2, "a box for each group: {path}");
        assert_eq!(
            path.matches('M').count(),
            8,
            "median and two whiskers: {path}"
        );
        let [x, y] = chart.place(panel.lines[0].points[1]);
        let median = format!("M{:.1} {y:.1}H{:.1}", x - 3.0, x + 13.0);
        assert!(path.contains(&median), "{median} in {path}");
        let room = CHART_BOX[2] - x;
        assert!(room > 2.0 * BOX_HALF_WIDTH, "for the last box: {room}");
    }

    #[test]
    fn ticks_are_round_and_inside() {
        for (range, expected) in [
            ([0.0, 9.0], vec![0.0, 2.0, 4.0, 6.0, 8.0]),
            ([-0.04, 1.04], vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ] {
            let found = ticks(range);
            let near = found
                .iter()
                .zip(&expected)
                .all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(
                near && found.len() == expected.len(),
                "{range:?}: {found:?}"
            );
        }
    }

    #[test]
    fn letters_of_lines_that_end_together_stand_apart_and_in_order() {
        let heights = apart(&[50.0, 51.0, 200.0, 49.0], 12.0, [0.0, 210.0]);
        let order = [3, 0, 1, 2].map(|i| heights[i]);
        assert!(
            order.windows(2).all(|pair| pair[1] - pair[0] >= 12.0),
            "{heights:?}"
        );
        let low = apart(&[209.0, 210.0], 12.0, [0.0, 210.0]);
        assert_eq!(low, [198.0, 210.0], "none below the floor");
    }
}
