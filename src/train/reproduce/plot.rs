//! Panels of lines as an SVG file.

use std::path::Path;

use anyhow::{Context as _, Result};
use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color as _, IntoDrawingArea as _, IntoFont as _, LineSeries,
    Palette as _, Palette99, PathElement, Polygon, RGBColor, SVGBackend, SeriesLabelPosition,
    WHITE,
};

/// Size of a panel in pixels.
const PANEL: (u32, u32) = (460, 380);

/// A line, with a band around it where the spread is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// In the legend.
    pub name: String,
    /// x and y, by x.
    pub points: Vec<(f64, f64)>,
    /// x, low and high, by x.
    pub band: Vec<(f64, f64, f64)>,
}

/// Axes with lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Above.
    pub title: String,
    /// Below.
    pub x_label: String,
    /// Left.
    pub y_label: String,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Panel {
    /// Least and greatest x and y, with some room; `None` without points.
    fn ranges(&self) -> Option<[(f64, f64); 2]> {
        let points = self.lines.iter().flat_map(|line| {
            let band = line.band.iter();
            let band = band.flat_map(|&(x, low, high)| [(x, low), (x, high)]);
            line.points.iter().copied().chain(band)
        });
        let points: Vec<(f64, f64)> = points.collect();
        let range = |values: &dyn Fn(&(f64, f64)) -> f64| -> Option<(f64, f64)> {
            let low = points.iter().map(values).reduce(f64::min)?;
            let high = points.iter().map(values).reduce(f64::max)?;
            let room = ((high - low) * 0.05).max(1e-6);
            Some((low - room, high + room))
        };
        Some([range(&|point| point.0)?, range(&|point| point.1)?])
    }
}

/// Writes panels side by side.
///
/// # Errors
///
/// There is nothing to draw, or the file cannot be written.
pub fn draw(panels: &[Panel], path: &Path) -> Result<()> {
    let panels: Vec<(&Panel, [(f64, f64); 2])> = panels
        .iter()
        .filter_map(|panel| Some((panel, panel.ranges()?)))
        .collect();
    let n = u32::try_from(panels.len()).context("a handful of panels")?;
    anyhow::ensure!(n > 0, "{}: nothing to draw", path.display());
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (PANEL.0 * n, PANEL.1)).into_drawing_area();
        area.fill(&WHITE)?;
        let columns = area.split_evenly((1, panels.len()));
        for ((panel, [x, y]), column) in panels.into_iter().zip(columns) {
            let mut chart = ChartBuilder::on(&column)
                .caption(&panel.title, ("sans-serif", 16).into_font())
                .margin(12)
                .x_label_area_size(40)
                .y_label_area_size(56)
                .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .x_desc(&panel.x_label)
                .y_desc(&panel.y_label)
                .draw()?;
            for (i, line) in panel.lines.iter().enumerate() {
                let colour = colour(i);
                chart.draw_series(std::iter::once(Polygon::new(
                    outline(&line.band),
                    colour.mix(0.15),
                )))?;
                chart
                    .draw_series(LineSeries::new(line.points.clone(), colour.stroke_width(2)))?
                    .label(line.name.clone())
                    .legend(move |(x, y)| {
                        PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2))
                    });
                let dots = line.points.iter();
                chart.draw_series(dots.map(|point| Circle::new(*point, 2, colour.filled())))?;
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .label_font(("sans-serif", 10))
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK.mix(0.2))
                .draw()?;
        }
        area.present()?;
    }
    std::fs::write(path, svg).with_context(|| path.display().to_string())
}

fn colour(i: usize) -> RGBColor {
    let (r, g, b) = Palette99::COLORS[i % Palette99::COLORS.len()];
    RGBColor(r, g, b)
}

/// A band as a closed line: along its low side and back along its high side.
fn outline(band: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
    let low = band.iter().map(|&(x, low, _)| (x, low));
    let high = band.iter().rev().map(|&(x, _, high)| (x, high));
    low.chain(high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(lines: Vec<Line>) -> Panel {
        Panel {
            title: "Recall".to_owned(),
            x_label: "level".to_owned(),
            y_label: "recall".to_owned(),
            lines,
        }
    }

    #[test]
    fn a_figure_names_its_axes_and_lines() {
        let line = Line {
            name: "a method".to_owned(),
            points: vec![(0.0, 0.5), (1.0, 0.25)],
            band: vec![(0.0, 0.4, 0.6), (1.0, 0.2, 0.3)],
        };
        let path = std::env::temp_dir().join(format!("kappascope-plot-{}.svg", std::process::id()));
        draw(&[panel(vec![line]), panel(Vec::new())], &path).expect("a folder for the test");
        let svg = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("the file is the test's own");
        for word in [
            "a method", "level", "recall", "Recall", "polyline", "polygon",
        ] {
            assert!(svg.contains(word), "{word} is in the figure");
        }
        assert!(svg.contains("width=\"460\""), "one panel has points");
    }

    #[test]
    fn nothing_is_not_drawn() {
        let path = std::env::temp_dir().join("kappascope-nothing.svg");
        let error = draw(&[panel(Vec::new())], &path).expect_err("no points");
        assert!(error.to_string().contains("nothing to draw"), "{error}");
    }
}
