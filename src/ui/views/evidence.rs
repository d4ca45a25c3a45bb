//! What was measured of the shipped model, and how to measure it again.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{
    EvidenceTable, Extent, Measured, OTHER_SEEDS, PhotographsEvaluation, World, evaluation_command,
    evaluation_tables, out_of_distribution_text, photographs_tables, scatter, summary_tables,
};
use crate::report::{Evaluation, SuiteEnvironment, SummaryRow};
use crate::ui::page::gallery::fetch_json;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::plot;

const EVALUATIONS: &str = "./models/scenes";
const PHOTOGRAPHS: &str = "./models/photos";
/// Folder of what `train reproduce` found.
const SUITE: &str = "./evidence/scenes";
/// Its figures: file, what it shows, in words for those who do not see it.
const FIGURES: [(&str, &str); 4] = [
    (
        "recall-by-level",
        "Share of queries whose answer came first, over ten levels of uncertainty: a method whose line falls knows where it fails",
    ),
    (
        "ablation",
        "The same where κ is the caption’s (AsymVLM), the picture’s (image), both sides’ (SymVLM), or the spread is a Gaussian",
    ),
    (
        "hierarchy",
        "From the vaguest level of captions to the fullest: 1/κ, and nats of the caption’s own picture; at the right 1/κ by number of tokens",
    ),
    (
        "tokens",
        "1/κ by number of tokens, and by the bits that the words say",
    ),
];

/// The view: one table a question, and the command that repeats them.
#[component]
pub(crate) fn Evidence() -> impl IntoView {
    let page = expect_context::<PageState>();
    let measured = RwSignal::new(None::<Result<Evaluation, String>>);
    let others = RwSignal::new(Vec::<Evaluation>::new());
    spawn_local(async move {
        let mut known = Vec::new();
        for file in OTHER_SEEDS {
            known.extend(fetch_json(&format!("{EVALUATIONS}/{file}")).await);
        }
        let own = fetch_json(&format!("{EVALUATIONS}/evaluation.json")).await;
        // The visitor may have left meanwhile.
        others.try_set(known);
        measured.try_set(Some(own));
    });
    let message = move || {
        measured.with(|measured| match measured {
            None => "Not yet: the measurements are being fetched.".to_owned(),
            Some(Err(reason)) => format!("The measurements could not be fetched: {reason}."),
            Some(Ok(measured)) => out_of_distribution_text(&measured.out_of_distribution),
        })
    };
    let tables = Memo::new(move |_| {
        let family = page.state.with(|state| state.family);
        let known = |measured: &Result<Evaluation, String>| {
            let measured = measured.as_ref().ok()?;
            let mut tables = evaluation_tables(measured, family);
            others.with(|others| tables.push(scatter(measured, others, family)));
            Some(tables)
        };
        measured.with(|measured| measured.as_ref().and_then(known).unwrap_or_default())
    });
    let command = move || {
        let known = |measured: &Result<Evaluation, String>| {
            Some(evaluation_command(measured.as_ref().ok()?))
        };
        measured.with(|measured| measured.as_ref().and_then(known))
    };
    let has_photographs = move || page.world.get() == World::Photographs;
    view! {
        <Show when=has_photographs><Photographs/></Show>
        <section class="view" aria-labelledby="evidence-title">
            <h2 id="evidence-title">"What was measured of the scenes’ model?"</h2>
            <FamilyChoice/>
            <div class="evidence">{move || tables.get().into_iter().map(table).collect::<Vec<AnyView>>()}</div>
            <p class="aside">{message}" To measure it again: "<code>{command}</code></p>
            <div class="prose">
                <section>
                    <h3>"One model of several"</h3>
                    <p>"These numbers are of the model that answers in Scenes. The same training with another seed gives others, and a difference that is "
                        "smaller than what they vary means nothing."</p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>"They say how well "<i>"κ"</i>" works in a world of drawn shapes, where the information of every caption is known. They are "
                        "no evidence for photographs."</p>
                </section>
            </div>
            <EveryMethod/>
        </section>
    }
}

/// What was measured of the photographs' model.
#[component]
fn Photographs() -> impl IntoView {
    let page = expect_context::<PageState>();
    let measured = RwSignal::new(None::<Result<PhotographsEvaluation, String>>);
    spawn_local(async move {
        let found = fetch_json(&format!("{PHOTOGRAPHS}/evaluation.json")).await;
        // The visitor may have left meanwhile.
        measured.try_set(Some(found));
    });
    let found = move || match measured.get() {
        None => {
            view! { <p class="aside">"Not yet: the measurements are being fetched."</p> }.into_any()
        }
        Some(Err(reason)) => {
            let words = format!("The measurements could not be fetched: {reason}.");
            view! { <p class="aside">{words}</p> }.into_any()
        }
        Some(Ok(found)) => {
            let tables = photographs_tables(&found, page.family());
            let tables: Vec<AnyView> = tables.into_iter().map(table).collect();
            view! { <div class="evidence">{tables}</div> }.into_any()
        }
    };
    view! {
        <section class="view" aria-labelledby="photographs-title">
            <h2 id="photographs-title">"What was measured of the photographs’ model?"</h2>
            {found}
        </section>
    }
}

/// Every method of the papers on the features of the scenes' model, and the figures drawn of them.
#[component]
fn EveryMethod() -> impl IntoView {
    let summary = RwSignal::new(None::<Result<Vec<SummaryRow>, String>>);
    let environment = RwSignal::new(None::<SuiteEnvironment>);
    spawn_local(async move {
        summary.try_set(Some(fetch_json(&format!("{SUITE}/summary.json")).await));
        let found = fetch_json(&format!("{SUITE}/environment.json")).await;
        environment.try_set(found.ok());
    });
    let commands = move || environment.with(|found| found.as_ref().map(SuiteEnvironment::commands));
    let found = move || match summary.get() {
        None => view! { <p class="aside">"Not yet: the results are being fetched."</p> }.into_any(),
        Some(Err(reason)) => {
            view! { <p class="aside">{format!("The results could not be fetched: {reason}.")}</p> }
                .into_any()
        }
        Some(Ok(summary)) => {
            let tables: Vec<AnyView> = summary_tables(&summary).into_iter().map(table).collect();
            view! { <div class="evidence">{tables}</div>{figures()} }.into_any()
        }
    };
    view! {
        <section class="suite" aria-labelledby="suite-title">
            <h2 id="suite-title">"How do other methods do?"</h2>
            {found}
            <p class="aside">
                "Every method was fitted to the features of the scenes’ model; those with an asterisk as the paper of AsymVLM "
                "adapts them, with means that stay as they are. AsymVLM gives captions a spread, AsymVLM(image) pictures, "
                "SymVLM both, and Determ. FT neither; vMF and PS are the two distributions. "
                <a href=format!("{SUITE}/report.md")>"The whole report"</a>" says which of the paper’s findings hold here; "
                <a href=format!("{SUITE}/results.json")>"all numbers"</a>". What was run: "
                <code>{commands}</code>
            </p>
        </section>
    }
}

fn figures() -> impl IntoView {
    FIGURES.map(|(file, words)| {
        view! {
            <figure>
                <div class="scroll" tabindex="0" role="region" aria-label=words>
                    <img src=format!("{SUITE}/{file}.svg") alt=words/>
                </div>
                <figcaption class="aside">{words}"."</figcaption>
            </figure>
        }
    })
}

fn table(table: EvidenceTable) -> AnyView {
    let scales = table.scales;
    let row = move |(name, cells): (String, Vec<Option<Measured>>)| {
        let cells = cells.into_iter().zip(scales.clone());
        let cells = cells.map(|(measured, scale)| cell(measured, scale));
        view! { <tr><th scope="row">{name}</th>{cells.collect_view()}</tr> }
    };
    let heads = table
        .columns
        .iter()
        .map(|name| view! { <th scope="col">{*name}</th> });
    view! {
        <section>
            <h3>{table.title}</h3>
            <p class="aside">{table.about}</p>
            <div class="scroll" tabindex="0" role="region" aria-label=table.title>
                <table class="measures evidence-table">
                    <thead><tr><th scope="col"><span class="hidden">"Measured of"</span></th>{heads.collect_view()}</tr></thead>
                    <tbody>{table.rows.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn cell(measured: Option<Measured>, scale: Extent) -> AnyView {
    let Some(Measured { value, words }) = measured else {
        return view! { <td class="measured">"–"</td> }.into_any();
    };
    view! {
        <td class="measured" data-field="measured" data-value=value.to_string() title=value.to_string()>
            {plot::bar(move || Some(value), move || scale)}<span>{words}</span>
        </td>
    }
    .into_any()
}
