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

/// Results of `train reproduce` on a world: their folder, and the words that differ.
struct SuiteTexts {
    folder: &'static str,
    title: &'static str,
    features: &'static str,
    /// Description of the methods that were measured in this world alone.
    own_methods: &'static str,
}

const fn suite_texts(world: World) -> SuiteTexts {
    match world {
        World::Photographs => SuiteTexts {
            folder: "./evidence/photos",
            title: "How do other methods do on photographs?",
            features: "Every method was fitted to the captioned photographs of Flickr8k, as the photographs’ towers \
                       and heads see them; ",
            own_methods: "",
        },
        World::Scenes => SuiteTexts {
            folder: "./evidence/scenes",
            title: "How do other methods do on drawings?",
            features: "Every method was fitted to the features of the scenes’ model; ",
            own_methods: "BayesVLM trains nothing and asks how unsure the training left each encoder’s last layer. \
                          Spread over views is how far a picture’s feature moves when the picture is cropped and \
                          mirrored. ",
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
    environment: SuiteEnvironment,
}

async fn fetch(folder: &str) -> Result<Files, String> {
    Ok(Files {
        summary: fetch_json(&format!("{folder}/summary.json")).await?,
        figures: fetch_json(&format!("{folder}/figures.json")).await?,
        findings: fetch_json(&format!("{folder}/findings.json")).await,
        environment: fetch_json(&format!("{folder}/environment.json")).await?,
    })
}

/// A line in place of what could not be fetched.
fn missing(what: &str, reason: &str) -> AnyView {
    let words = format!("The {what} could not be fetched: {reason}.");
    view! { <p class="aside">{words}</p> }.into_any()
}

/// Tables and figures of every method, and the commands that repeat them.
#[component]
pub(super) fn Suite(world: World) -> impl IntoView {
    let SuiteTexts {
        folder,
        title,
        features,
        own_methods,
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
            ..
        })) => {
            let tables: Vec<AnyView> = summary_tables(&summary).into_iter().map(table).collect();
            let figures: Vec<AnyView> = figures.iter().map(figure).collect();
            let found = found.map_or_else(|reason| missing("findings", &reason), findings);
            view! { {found}<div class="evidence">{tables}</div>{figures} }.into_any()
        }
    };
    view! {
        <section class="suite" aria-label=title>
            <h2>{title}</h2>
            {found}
            <p class="aside">
                {features}
                "those with an asterisk as the paper of AsymVLM adapts them, with means that stay as they are. AsymVLM \
                gives captions a spread, AsymVLM(image) pictures, SymVLM both, and Determ. FT neither; vMF and PS are \
                the two distributions. ELIP trains a small layer, a bottleneck, behind each encoder, and takes \
                similarity for evidence. Entropy says how many candidates compete for a caption or a picture, density \
                how near to it those of the training lie; both train nothing. "
                {own_methods}
                <a href=format!("{folder}/report.md")>"The whole report"</a>" lists every comparison; "
                <a href=format!("{folder}/results.json")>"all numbers"</a>". What was run: "
                <code>{commands}</code>
            </p>
        </section>
    }
}
