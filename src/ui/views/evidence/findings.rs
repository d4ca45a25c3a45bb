//! The papers' findings and what this suite says of each.

use leptos::prelude::*;

use crate::explorer::views::evidence::findings::counts_text;
use crate::report::{FindingVerdict, SuiteFinding, SuiteFindings};

const TITLE: &str = "Does what the papers found hold here?";
const ABOUT: &str = "Each finding is asked of every pair of methods and every measure that it speaks of. A difference \
    counts beyond twice its standard error over at least three seeds.";

/// A table with a row for each finding and a column for each data set.
pub(super) fn findings(SuiteFindings { datasets, findings }: SuiteFindings) -> AnyView {
    let n_datasets = datasets.len();
    let heads = datasets
        .into_iter()
        .map(|name| view! { <th scope="col">{name}</th> });
    let rows = findings.iter().map(|finding| row(finding, n_datasets));
    let rows = rows.collect_view();
    view! {
        <section class="findings">
            <h3>{TITLE}</h3>
            <p class="aside">{ABOUT}</p>
            <div class="scroll" tabindex="0" role="region" aria-label=TITLE>
                <table class="measures">
                    <thead><tr><th scope="col">"Finding"</th>{heads.collect_view()}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn row(finding: &SuiteFinding, n_datasets: usize) -> AnyView {
    let verdicts = (0..n_datasets).filter_map(|i_dataset| finding.on(i_dataset));
    let cells = verdicts.map(cell).collect_view();
    view! { <tr><th scope="row">{finding.claim.clone()}</th>{cells}</tr> }.into_any()
}

fn cell(found: &FindingVerdict) -> AnyView {
    let words = found.verdict.text();
    let counts = counts_text(found.counts, &found.reason);
    view! { <td data-verdict=words><strong>{words}</strong><span>{counts}</span></td> }.into_any()
}
