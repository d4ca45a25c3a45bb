//! Measurements of the shipped model, and how to measure it again.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::suite::Suite;
use super::table::table;
use crate::explorer::World;
use crate::explorer::views::evidence::evaluation::{
    OTHER_SEEDS, evaluation_command, evaluation_tables, out_of_distribution_text, scatter,
};
use crate::explorer::views::evidence::photographs::{PhotographsEvaluation, photographs_tables};
use crate::report::Evaluation;
use crate::ui::page::gallery::fetch_json;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::FamilyChoice;

const EVALUATIONS: &str = "./models/scenes";
const PHOTOGRAPHS: &str = "./models/photos";

/// The view: one table a question, and the command that repeats them.
#[component]
pub(in crate::ui) fn Evidence() -> impl IntoView {
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
    let message = move || measured.with(|measured| message(measured.as_ref()));
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
                    <p>
                        "These numbers are of the model that answers in Scenes. The same training with another seed \
                        gives others, and a difference that is smaller than what they vary means nothing."
                    </p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>
                        "They say how well "<i>"κ"</i>" works in a world of drawn shapes, where the information of \
                        every caption is known. They are no evidence for photographs."
                    </p>
                </section>
            </div>
            <Suite world=World::Scenes/>
        </section>
    }
}

/// Share of pictures that are marked as out of distribution, or why that is not known.
fn message(measured: Option<&Result<Evaluation, String>>) -> String {
    match measured {
        None => "Not yet: the measurements are being fetched.".to_owned(),
        Some(Err(reason)) => format!("The measurements could not be fetched: {reason}."),
        Some(Ok(measured)) => out_of_distribution_text(&measured.out_of_distribution),
    }
}

/// Measurements of the photographs' model.
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
            <Suite world=World::Photographs/>
        </section>
    }
}
