//! Panels of lines as an SVG file.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, Color as _, DrawingArea, IntoDrawingArea as _, IntoFont as _, LineSeries,
    PathElement, Polygon, RGBColor, SVGBackend, Text, WHITE,
};

/// Size of a panel in pixels.
const PANEL: (u32, u32) = (460, 360);
/// Size of a name in the legend below the panels, in pixels.
const ENTRY: (u32, u32) = (200, 20);
/// Okabe and Ito's colours, which those who see few colours can tell apart, and four more.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(127, 127, 127),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line, with a band around it where the spread is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) name: String,
    /// x and y, by x.
    pub(super) points: Vec<(f64, f64)>,
    /// x, low and high, by x.
    pub(super) band: Vec<(f64, f64, f64)>,
}

/// Axes with a title, two labels and lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) lines: Vec<Line>,
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

/// Writes panels side by side, with one legend below them.
pub(super) fn draw(panels: &[Panel], path: &Path) -> Result<()> {
    let drawn: Vec<&Panel> = panels.iter().filter(|p| p.ranges().is_some()).collect();
    ensure!(!drawn.is_empty(), "{}: nothing to draw", path.display());
    let names = names(&drawn);
    let n_panels = u32::try_from(drawn.len()).context("a handful of panels")?;
    let n_names = u32::try_from(names.len()).context("a handful of lines")?;
    let width = PANEL.0 * n_panels;
    let entries_per_row = width / ENTRY.0;
    let height = PANEL.1 + ENTRY.1 * n_names.div_ceil(entries_per_row) + ENTRY.1 / 2;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (above, below) = area.split_vertically(PANEL.1);
        for (panel, column) in drawn.iter().zip(above.split_evenly((1, drawn.len()))) {
            draw_panel(panel, &names, &column)?;
        }
        draw_legend(&names, entries_per_row, &below)?;
        area.present()?;
    }
    std::fs::write(path, svg).with_context(|| path.display().to_string())
}

/// Every line's name once, in order; a name has the same colour in all panels.
fn names<'a>(panels: &[&'a Panel]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

fn colour(names: &[&str], name: &str) -> RGBColor {
    let at = names.iter().position(|known| *known == name);
    COLOURS[at.unwrap_or_default() % COLOURS.len()]
}

fn draw_panel(panel: &Panel, names: &[&str], area: &Area<'_>) -> Result<()> {
    let Some([x, y]) = panel.ranges() else {
        return Ok(());
    };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 16).into_font())
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(x.0..x.1, y.0..y.1)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_label_formatter(&|x| short(*x))
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .draw()?;
    for line in &panel.lines {
        let colour = colour(names, &line.name);
        let band = Polygon::new(outline(&line.band), colour.mix(0.12));
        chart.draw_series(std::iter::once(band))?;
        let stroke = colour.stroke_width(2);
        chart.draw_series(LineSeries::new(line.points.clone(), stroke))?;
        let dots = line.points.iter();
        chart.draw_series(dots.map(|point| Circle::new(*point, 2, colour.filled())))?;
    }
    Ok(())
}

/// A number without zeros that say nothing.
fn short(x: f64) -> String {
    let text = format!("{x:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn draw_legend(names: &[&str], entries_per_row: u32, area: &Area<'_>) -> Result<()> {
    for (i, name) in (0..).zip(names) {
        let x = i32::try_from(i % entries_per_row * ENTRY.0 + 24)?;
        let y = i32::try_from(i / entries_per_row * ENTRY.1 + 8)?;
        let stroke = colour(names, name).stroke_width(3);
        area.draw(&PathElement::new([(x, y), (x + 18, y)], stroke))?;
        let font = ("sans-serif", 13).into_font();
        area.draw(&Text::new(*name, (x + 24, y - 6), font))?;
    }
    Ok(())
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
        assert_eq!(svg.matches("a method").count(), 1, "one legend: {svg}");
    }

    #[test]
    fn nothing_is_not_drawn() {
        let path = std::env::temp_dir().join("kappascope-nothing.svg");
        let error = draw(&[panel(Vec::new())], &path).expect_err("no points");
        assert!(error.to_string().contains("nothing to draw"), "{error}");
    }
}
