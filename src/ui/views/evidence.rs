//! What was measured of the shipped model, and how to measure it again.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{Evidence as Measured, EvidenceTable, three_significant};
use crate::ui::exhibit::Exhibit;
use crate::ui::gallery::fetch_json;
use crate::ui::panels::LawChoice;
use crate::ui::plot;

const EVALUATION: &str = "./models/scenes/evaluation.json";

/// The view: one table a question, and the command that repeats them.
#[component]
pub(crate) fn Evidence() -> impl IntoView {
    let exhibit = expect_context::<Exhibit>();
    let measured = RwSignal::new(None::<Result<Measured, String>>);
    spawn_local(async move {
        // The visitor may have left meanwhile.
        measured.try_set(Some(fetch_json(EVALUATION).await));
    });
    let message = move || {
        measured.with(|measured| match measured {
            None => "Not yet: the measurements are being fetched.".to_owned(),
            Some(Err(reason)) => format!("The measurements could not be fetched: {reason}."),
            Some(Ok(measured)) => measured.outside_words(),
        })
    };
    let tables = Memo::new(move |_| {
        let family = exhibit.state.with(|state| state.family);
        let known =
            |measured: &Result<Measured, String>| Some(measured.as_ref().ok()?.tables(family));
        measured.with(|measured| measured.as_ref().and_then(known).unwrap_or_default())
    });
    let command = move || {
        let known = |measured: &Result<Measured, String>| Some(measured.as_ref().ok()?.command());
        measured.with(|measured| measured.as_ref().and_then(known))
    };
    view! {
        <section class="view" aria-labelledby="evidence-title">
            <h2 id="evidence-title">"What was measured of this model?"</h2>
            <LawChoice/>
            <div class="evidence">{move || tables.get().into_iter().map(table).collect::<Vec<AnyView>>()}</div>
            <p class="aside">{message}" To measure it again: "<code>{command}</code></p>
            <div class="prose">
                <section>
                    <h3>"One model, one seed"</h3>
                    <p>"These numbers are of the model on this page, which was trained once. Another seed would give others, and nobody knows "
                        "from one training how far they scatter."</p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>"They say how well "<i>"κ"</i>" works in a world of drawn shapes, where the information of every caption is known. They are "
                        "no evidence for photographs."</p>
                </section>
            </div>
        </section>
    }
}

fn table(table: EvidenceTable) -> AnyView {
    let scales = table.scales;
    let row = move |(name, values): (String, Vec<f64>)| {
        let cells = values.into_iter().zip(scales.clone()).map(|(value, scale)| {
            view! {
                <td class="measured" data-field="measured" data-value=value.to_string() title=value.to_string()>
                    {plot::bar(move || Some(value), move || scale)}<span>{three_significant(value)}</span>
                </td>
            }
        });
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
