//! A table of measured numbers, each with a bar.

use leptos::prelude::*;

use crate::explorer::Extent;
use crate::explorer::views::evidence::evaluation::{EvidenceTable, Measured};
use crate::ui::plot;

pub(super) fn table(table: EvidenceTable) -> AnyView {
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
                    <thead>
                        <tr><th scope="col"><span class="hidden">"Measured of"</span></th>{heads.collect_view()}</tr>
                    </thead>
                    <tbody>{table.rows.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn cell(measured: Option<Measured>, scale: Extent) -> AnyView {
    let Some(measured) = measured else {
        return view! { <td class="measured">"–"</td> }.into_any();
    };
    let Measured {
        value,
        words,
        is_best,
    } = measured;
    let best = is_best.then(|| view! { <span class="hidden">" (best)"</span> });
    let (mean, spread) = match words.split_once('±') {
        Some((mean, spread)) => (mean.to_owned(), format!("±{spread}")),
        None => (words, String::new()),
    };
    view! {
        <td
            class="measured" class:best=is_best data-field="measured" data-value=value.to_string()
            title=value.to_string()
        >
            {plot::bar(move || Some(value), move || scale)}<span>{mean}<small>{spread}</small></span>{best}
        </td>
    }
    .into_any()
}
