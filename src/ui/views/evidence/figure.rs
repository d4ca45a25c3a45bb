//! A figure of a suite: panels of lines, a legend whose names point at their lines, and the numbers as tables.

use leptos::prelude::*;

use crate::explorer::{CHART_BOX, CHART_SIZE, Chart, round_number, three_significant};
use crate::report::{Figure, FigureLine, FigurePanel};

/// The line that is pointed at, by its name's place in the legend.
type Touched = RwSignal<Option<usize>>;

pub(super) fn figure(figure: &Figure) -> AnyView {
    let touched = RwSignal::new(None);
    let names: Vec<String> = figure.names().into_iter().map(str::to_owned).collect();
    let panels = figure.panels.iter();
    let tables: Vec<AnyView> = panels.clone().map(numbers).collect();
    let panels: Vec<AnyView> = panels.map(|panel| chart(panel, &names, touched)).collect();
    let legend = names.into_iter().enumerate();
    let legend = legend.map(|(i, name)| entry(i, name, touched));
    view! {
        <figure class="chart" data-figure=figure.name.clone()>
            <div class="chart-panels">{panels}</div>
            <ul class="chart-legend">{legend.collect_view()}</ul>
            <figcaption class="aside">{format!("{}.", figure.caption)}</figcaption>
            <details><summary>"The figure’s numbers"</summary>{tables}</details>
        </figure>
    }
    .into_any()
}

/// A name of the legend; pointing at it, or choosing it, brings its lines out.
fn entry(i: usize, name: String, touched: Touched) -> impl IntoView {
    let is_touched = move || touched.get() == Some(i);
    let toggle = move |_| touched.update(|now| *now = (*now != Some(i)).then_some(i));
    view! {
        <li>
            <button type="button" class:touched=is_touched aria-pressed=move || is_touched().to_string() on:click=toggle>
                <svg width="30" height="12" aria-hidden="true"><path class=line_class(i, &name) d="M0 6H30"/></svg>
                <b>{letter(i)}</b>" "{name}
            </button>
        </li>
    }
}

fn chart(panel: &FigurePanel, names: &[String], touched: Touched) -> AnyView {
    let Some(chart) = Chart::of(panel) else {
        return ().into_any();
    };
    let [left, _, right, floor] = CHART_BOX;
    let [width, height] = CHART_SIZE;
    let letters = chart.letter_heights(&panel.lines);
    let lines = panel.lines.iter().zip(letters);
    let lines = lines.map(|(line, height)| {
        let i = names
            .iter()
            .position(|name| *name == line.name)
            .unwrap_or_default();
        drawn_line(&chart, line, (i, height), touched)
    });
    let lines: Vec<AnyView> = lines.collect();
    let label = format!("{}: {} by {}", panel.title, panel.y_label, panel.x_label);
    view! {
        <div class="chart-panel">
            <h4>{panel.title.clone()}</h4>
            <p class="chart-unit" aria-hidden="true">{panel.y_label.clone()}</p>
            <svg viewBox=format!("0 0 {width} {height}") role="img" aria-label=label>
                {ticks(&chart)}
                {lines}
                <text class="axis-label" x=f64::midpoint(left, right) y=floor + 40.0 text-anchor="middle">
                    {panel.x_label.clone()}
                </text>
            </svg>
        </div>
    }
    .into_any()
}

fn ticks(chart: &Chart) -> AnyView {
    let [left, _, right, floor] = CHART_BOX;
    let across = chart.y_ticks().into_iter().map(|tick| {
        let [_, y] = chart.place([0.0, tick]);
        view! {
            <line class="chart-grid" x1=left x2=right y1=y y2=y/>
            <text class="axis-label" x=left - 6.0 y=y + 4.0 text-anchor="end">{round_number(tick)}</text>
        }
    });
    let along = chart.x_ticks().into_iter().map(|tick| {
        let [x, _] = chart.place([tick, 0.0]);
        view! {
            <line class="axis-tick" x1=x x2=x y1=floor y2=floor + 4.0/>
            <text class="axis-label" x=x y=floor + 18.0 text-anchor="middle">{round_number(tick)}</text>
        }
    });
    view! {
        {across.collect_view()}
        <line class="axis-line" x1=left x2=right y1=floor y2=floor/>
        {along.collect_view()}
    }
    .into_any()
}

/// A line with its band, its letter at the end, and a name and number on each point.
fn drawn_line(
    chart: &Chart,
    line: &FigureLine,
    (i, height): (usize, f64),
    touched: Touched,
) -> AnyView {
    let is_touched = move || touched.get() == Some(i);
    let is_faded = move || touched.get().is_some_and(|touched| touched != i);
    let points = line.points.iter().map(|point| {
        let [x, y] = chart.place(*point);
        let [at, value] = point.map(three_significant);
        let title = format!("{}, {at}: {value}", line.name);
        view! {
            <circle class="chart-dot" cx=x cy=y r="2"/>
            <circle class="chart-target" cx=x cy=y r="8"><title>{title}</title></circle>
        }
    });
    let point_at = move |_| touched.set(Some(i));
    let leave = move |_| touched.set(None);
    view! {
        <g class="chart-series" class:touched=is_touched class:faded=is_faded on:pointerenter=point_at on:pointerleave=leave>
            <path class="chart-band" d=chart.band(line)/>
            <path class=line_class(i, &line.name) d=chart.line(line)/>
            {points.collect_view()}
            <text class="chart-letter" x=CHART_BOX[2] + 8.0 y=height + 4.0>{letter(i)}</text>
        </g>
    }
    .into_any()
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

/// What a panel shows as a table: a row for each x, a column for each line.
fn numbers(panel: &FigurePanel) -> AnyView {
    let mut xs: Vec<f64> = panel
        .lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|point| point[0])
        .collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let heads = panel
        .lines
        .iter()
        .map(|line| view! { <th scope="col">{line.name.clone()}</th> });
    let rows = xs.into_iter().map(|x| {
        let cells = panel.lines.iter().map(|line| {
            let found = line.points.iter().find(|point| point[0] == x);
            view! { <td>{found.map_or("–".to_owned(), |point| three_significant(point[1]))}</td> }
        });
        view! { <tr><th scope="row">{three_significant(x)}</th>{cells.collect_view()}</tr> }
    });
    let title = panel.title.clone();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title.clone()>
            <table class="measures chart-table">
                <caption>{format!("{title}: {} by {}", panel.y_label, panel.x_label)}</caption>
                <thead><tr><th scope="col">{panel.x_label.clone()}</th>{heads.collect_view()}</tr></thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
