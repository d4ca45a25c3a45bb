//! A figure of a suite as HTML: panels of lines that end in a letter, a legend, and the numbers as tables. What belongs
//! to a line bears its place in the legend as `data-line`.

use std::fmt::Write as _;

use crate::explorer::markup::escaped;
use crate::explorer::number::{round_number, three_significant};
use crate::explorer::views::evidence::chart::{BOX_DISTANCE, CHART_BOX, CHART_SIZE, Chart};
use crate::report::{Figure, FigureLine, FigurePanel};

/// The content of the figure's element.
#[must_use]
pub fn figure_markup(figure: &Figure) -> String {
    let names = figure.names();
    let panels: String = figure
        .panels
        .iter()
        .map(|panel| drawing(panel, &names))
        .collect();
    let legend: String = names
        .iter()
        .enumerate()
        .map(|(i, name)| entry(i, name))
        .collect();
    let tables: String = figure.panels.iter().map(table).collect();
    let caption = escaped(&figure.caption);
    format!(
        r#"<div class="chart-panels">{panels}</div><ul class="chart-legend">{legend}</ul>
        <figcaption class="aside">{caption}.</figcaption>
        <details><summary>The figure’s numbers</summary>{tables}</details>"#
    )
}

/// A name of the legend, with a piece of its line.
fn entry(i: usize, name: &str) -> String {
    let (class, letter, name) = (line_class(i, name), letter(i), escaped(name));
    format!(
        r#"<li><button type="button" data-line="{i}" aria-pressed="false"><svg width="30" height="12" aria-hidden="true">
        <path class="{class}" d="M0 6H30"/></svg><b>{letter}</b> {name}</button></li>"#
    )
}

fn drawing(panel: &FigurePanel, names: &[&str]) -> String {
    let Some(chart) = Chart::of(panel) else {
        return String::new();
    };
    let [left, _, right, floor] = CHART_BOX;
    let [width, height] = CHART_SIZE;
    let [title, x_label, y_label] =
        [&panel.title, &panel.x_label, &panel.y_label].map(|text| escaped(text));
    let middle_line = panel.lines.len().saturating_sub(1) as f64 / 2.0;
    let lines = panel.lines.iter().zip(chart.letter_heights(&panel.lines));
    let lines: String = lines
        .enumerate()
        .map(|(at, (line, height))| {
            let i = names
                .iter()
                .position(|name| *name == line.name)
                .unwrap_or_default();
            let shift = BOX_DISTANCE * (at as f64 - middle_line);
            series(&chart, line, i, (panel.is_boxed().then_some(shift), height))
        })
        .collect();
    let (ticks, middle, below) = (ticks(&chart), f64::midpoint(left, right), floor + 40.0);
    format!(
        r#"<div class="chart-panel"><h4>{title}</h4><p class="chart-unit" aria-hidden="true">{y_label}</p>
        <svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}: {y_label} by {x_label}">{ticks}{lines}
        <text class="axis-label" x="{middle}" y="{below}" text-anchor="middle">{x_label}</text></svg></div>"#
    )
}

fn ticks(chart: &Chart) -> String {
    let [left, _, right, floor] = CHART_BOX;
    let mut text = String::new();
    // Writing to a string cannot fail.
    for tick in chart.y_ticks() {
        let ([_, y], number) = (chart.place([0.0, tick]), round_number(tick));
        let (x, baseline) = (left - 6.0, y + 4.0);
        write!(
            text,
            r#"<line class="chart-grid" x1="{left}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>
            <text class="axis-label" x="{x}" y="{baseline:.1}" text-anchor="end">{number}</text>"#
        )
        .ok();
    }
    write!(
        text,
        r#"<line class="axis-line" x1="{left}" x2="{right}" y1="{floor}" y2="{floor}"/>"#
    )
    .ok();
    for tick in chart.x_ticks() {
        let ([x, _], number) = (chart.place([tick, 0.0]), round_number(tick));
        let (end, baseline) = (floor + 4.0, floor + 18.0);
        write!(
            text,
            r#"<line class="axis-tick" x1="{x:.1}" x2="{x:.1}" y1="{floor}" y2="{end}"/>
            <text class="axis-label" x="{x:.1}" y="{baseline}" text-anchor="middle">{number}</text>"#
        )
        .ok();
    }
    text
}

/// A line with its bands, of which the inner one comes out darker, or its boxes, moved by so much; a name and number on
/// each point, and its letter at the end.
fn series(
    chart: &Chart,
    line: &FigureLine,
    i: usize,
    (boxes, height): (Option<f64>, f64),
) -> String {
    let (bands, path) = match boxes {
        Some(shift) => {
            let boxes = chart.boxes(line, shift);
            (vec![boxes.clone()], boxes)
        }
        None => {
            let bands = [&line.band, &line.inner_band].map(|band| chart.band(line, band));
            (bands.to_vec(), chart.line(line))
        }
    };
    let bands: String = bands
        .iter()
        .filter(|band| !band.is_empty())
        .map(|band| format!(r#"<path class="chart-band" d="{band}"/>"#))
        .collect();
    let class = line_class(i, &line.name);
    let name = escaped(&line.name);
    let mut text = format!(
        r#"<g class="chart-series" data-line="{i}">{bands}<path class="{class}" d="{path}"/>"#
    );
    for point in &line.points {
        let ([x, y], [at, value]) = (chart.place(*point), point.map(three_significant));
        let x = x + boxes.unwrap_or_default();
        // Writing to a string cannot fail.
        write!(
            text,
            r#"<circle class="chart-dot" cx="{x:.1}" cy="{y:.1}" r="2"/><circle class="chart-target" cx="{x:.1}" cy="{y:.1}"
            r="8"><title>{name}, {at}: {value}</title></circle>"#
        )
        .ok();
    }
    let (x, y, letter) = (CHART_BOX[2] + 8.0, height + 4.0, letter(i));
    text + &format!(r#"<text class="chart-letter" x="{x}" y="{y:.1}">{letter}</text></g>"#)
}

/// Numbers of a panel as a table: a row for each x, a column for each line.
fn table(panel: &FigurePanel) -> String {
    let points = panel.lines.iter().flat_map(|line| &line.points);
    let mut xs: Vec<f64> = points.map(|point| point[0]).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let [title, x_label, y_label] =
        [&panel.title, &panel.x_label, &panel.y_label].map(|text| escaped(text));
    let heads = panel.lines.iter();
    let heads: String = heads
        .map(|line| format!(r#"<th scope="col">{}</th>"#, escaped(&line.name)))
        .collect();
    let cell = |line: &FigureLine, x: f64| {
        let found = line.points.iter().find(|point| point[0] == x);
        let shown = found.map_or("–".to_owned(), |point| three_significant(point[1]));
        format!("<td>{shown}</td>")
    };
    let row = |x: &f64| {
        let cells: String = panel.lines.iter().map(|line| cell(line, *x)).collect();
        format!(
            r#"<tr><th scope="row">{}</th>{cells}</tr>"#,
            three_significant(*x)
        )
    };
    let rows: String = xs.iter().map(row).collect();
    format!(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table class="measures chart-table">
        <caption>{title}: {y_label} by {x_label}</caption><thead><tr><th scope="col">{x_label}</th>{heads}</tr></thead>
        <tbody>{rows}</tbody></table></div>"#
    )
}

/// Ours are drawn deep, others soft; dashes tell them apart.
fn line_class(i: usize, name: &str) -> String {
    let whose = if name.starts_with("AsymVLM") {
        "ours"
    } else {
        "others"
    };
    format!("chart-line {whose} dashes-{}", i % 5)
}

/// a, b, c, ….
fn letter(i: usize) -> char {
    char::from_u32('a' as u32 + u32::try_from(i).unwrap_or_default()).unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_its_lines_its_names_and_its_numbers() {
        let line = |name: &str, points: Vec<[f64; 2]>| FigureLine {
            name: name.to_owned(),
            points,
            band: Vec::new(),
            inner_band: Vec::new(),
        };
        let figure = Figure {
            name: "recall-by-level".to_owned(),
            dataset: "scenes".to_owned(),
            caption: "It falls".to_owned(),
            panels: vec![FigurePanel {
                title: "Recall@1".to_owned(),
                x_label: "level".to_owned(),
                y_label: "recall".to_owned(),
                lines: vec![
                    line("a <method>", vec![[0.0, 0.5], [1.0, 0.25]]),
                    line("AsymVLM vMF", vec![[0.0, 0.75]]),
                ],
            }],
        };
        let html = figure_markup(&figure);
        assert!(!html.contains("chart-band"), "no spread is known: {html}");
        let mut spread = figure.clone();
        let line = &mut spread.panels[0].lines[0];
        line.band = vec![[0.25, 0.75], [0.0, 0.5]];
        assert_eq!(figure_markup(&spread).matches("chart-band").count(), 1);
        spread.panels[0].lines[0].inner_band = vec![[0.375, 0.625], [0.125, 0.375]];
        let both = figure_markup(&spread);
        assert_eq!(
            both.matches("chart-band").count(),
            2,
            "one in the other: {both}"
        );
        for part in [
            "a &lt;method&gt;, 1.00: 0.250</title>",
            "<b>b</b> AsymVLM vMF",
            r#"<th scope="row">1.00</th><td>0.250</td><td>–</td>"#,
            "chart-line ours dashes-1",
            ">It falls.<",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(html.matches("chart-dot").count(), 3, "every point: {html}");
        assert!(
            !html.contains("style="),
            "the release allows no styles in attributes"
        );
    }
}
