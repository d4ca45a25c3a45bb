//! Every method of the papers on the features of a world's model: tables, figures, and what was run.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::figure::figure;
use super::findings::findings;
use super::table::table;
use crate::explorer::World;
use crate::explorer::views::evidence::summary::summary_tables;
use crate::report::{Figure, SuiteEnvironment, SuiteFindings, SummaryRow};
use crate::ui::page::gallery::fetch_json;

/// Names of methods and numbers with their meanings: one a line, with a colon between.
const NAMES: &str = "./evidence/names.json";

/// Results of `train reproduce` on a world: their folder, and the words that differ.
struct SuiteTexts {
    folder: &'static str,
    title: &'static str,
    features: &'static str,
}

const fn suite_texts(world: World) -> SuiteTexts {
    match world {
        World::Photographs => SuiteTexts {
            folder: "./evidence/photos",
            title: "How do other methods do on photographs?",
            features: "What is trained was fitted to the captioned photographs of Flickr8k, as the photographs’ \
                       towers and heads see them. ",
        },
        World::Scenes => SuiteTexts {
            folder: "./evidence/scenes",
            title: "How do other methods do on drawings?",
            features: "What is trained was fitted to the features of the scenes’ model. ",
        },
    }
}

/// The files of a suite.
#[derive(Debug, Clone)]
struct Files {
    summary: Vec<SummaryRow>,
    figures: Vec<Figure>,
    /// The findings, or why they are not there: the numbers stand without them.
    findings: Result<SuiteFindings, String>,
    /// Lines of [`NAMES`], or why they are not there.
    names: Result<Vec<String>, String>,
    environment: SuiteEnvironment,
}

async fn fetch(folder: &str) -> Result<Files, String> {
    Ok(Files {
        summary: fetch_json(&format!("{folder}/summary.json")).await?,
        figures: fetch_json(&format!("{folder}/figures.json")).await?,
        findings: fetch_json(&format!("{folder}/findings.json")).await,
        names: fetch_json(NAMES).await,
        environment: fetch_json(&format!("{folder}/environment.json")).await?,
    })
}

/// A line in place of what could not be fetched.
fn missing(what: &str, reason: &str) -> AnyView {
    let words = format!("The {what} could not be fetched: {reason}.");
    view! { <p class="aside">{words}</p> }.into_any()
}

/// The names with their meanings, folded.
fn glossary(lines: Vec<String>) -> AnyView {
    let line = |line: String| {
        let (name, meaning) = line.split_once(": ")?;
        let (name, meaning) = (name.to_owned(), meaning.to_owned());
        Some(view! { <dt><b>{name}</b></dt><dd>{meaning}</dd> }.into_any())
    };
    let lines: Vec<AnyView> = lines.into_iter().filter_map(line).collect();
    view! {
        <details class="twin"><summary>"What the names mean"</summary><dl class="aside">{lines}</dl></details>
    }
    .into_any()
}

/// Tables and figures of every method, and the commands that repeat them.
#[component]
pub(super) fn Suite(world: World) -> impl IntoView {
    let SuiteTexts {
        folder,
        title,
        features,
    } = suite_texts(world);
    let files = RwSignal::new(None::<Result<Files, String>>);
    spawn_local(async move {
        let found = fetch(folder).await;
        // The visitor may have left meanwhile.
        files.try_set(Some(found));
    });
    let commands =
        move || files.with(|files| Some(files.as_ref()?.as_ref().ok()?.environment.commands()));
    let found = move || match files.get() {
        None => view! { <p class="aside">"Not yet: the results are being fetched."</p> }.into_any(),
        Some(Err(reason)) => missing("results", &reason),
        Some(Ok(Files {
            summary,
            figures,
            findings: found,
            names,
            ..
        })) => {
            let tables: Vec<AnyView> = summary_tables(&summary).into_iter().map(table).collect();
            let figures: Vec<AnyView> = figures.iter().map(figure).collect();
            let found = found.map_or_else(|reason| missing("findings", &reason), findings);
            let names = names.map_or_else(|reason| missing("names", &reason), glossary);
            view! { {names}{found}<div class="evidence">{tables}</div>{figures} }.into_any()
        }
    };
    view! {
        <section class="suite" aria-label=title>
            <h2>{title}</h2>
            {found}
            <p class="aside">
                {features}
                <a href=format!("{folder}/report.md")>"The whole report"</a>" lists every comparison; "
                <a href=format!("{folder}/results.json")>"all numbers"</a>". What was run: "
                <code>{commands}</code>
            </p>
        </section>
    }
}
