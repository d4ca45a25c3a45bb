//! How the answers are read: under which distribution, and with what beside the bars.

use leptos::prelude::*;

use crate::explorer::{ExplorerState, Measure, SecondNumber, family_name};
use crate::numerics::Family;
use crate::ui::page::state::PageState;

const MEASURES: [(Measure, &str); 2] = [
    (Measure::Likelihood, "likelihood"),
    (Measure::Cosine, "encoder’s cosine"),
];
const BESIDE: [(SecondNumber, &str); 5] = [
    (SecondNumber::None, "nothing"),
    (SecondNumber::Posterior, "share"),
    (SecondNumber::Nats, "nats"),
    (SecondNumber::Cosine, "cosine"),
    (SecondNumber::LogDensity, "log-density"),
];

/// The invitation, and the choices.
#[component]
pub(crate) fn Controls() -> impl IntoView {
    let page = expect_context::<PageState>();
    view! {
        <div class="controls">
            <p class="invitation">"Change one word."</p>
            <details class="readings" open=page.state.with_untracked(is_unusual) hidden=move || page.is_bare.get()>
                <summary>"More numbers"</summary>
                <div>
                    {choices("measure", "Bars show", MEASURES, |state| &mut state.measure)}
                    {choices("beside", "Also show", BESIDE, |state| &mut state.beside)}
                    <FamilyChoice/>
                </div>
            </details>
        </div>
    }
}

/// Whether the answers are read otherwise than at first, which should be seen.
fn is_unusual(state: &ExplorerState) -> bool {
    let read = |state: &ExplorerState| (state.family, state.measure, state.beside);
    read(state)
        != (
            Family::VonMisesFisher,
            Measure::default(),
            SecondNumber::default(),
        )
}

/// The distribution whose numbers are shown, in every view.
#[component]
pub(crate) fn FamilyChoice() -> impl IntoView {
    let families = Family::ALL.map(|family| (family, family_name(family)));
    choices("distribution", "Distribution", families, |state| {
        &mut state.family
    })
}

/// Radio buttons for one field of the page's state.
pub(crate) fn choices<T: Copy + PartialEq + Send + Sync + 'static>(
    group: &'static str,
    legend: &'static str,
    options: impl IntoIterator<Item = (T, &'static str)>,
    field: fn(&mut ExplorerState) -> &mut T,
) -> AnyView {
    let page = expect_context::<PageState>();
    let chosen = Memo::new(move |_| *field(&mut page.state.get()));
    let choice = |(value, name)| {
        let choose = move |_| page.state.update(|state| *field(state) = value);
        view! {
            <label class="choice">
                <input type="radio" name=group value=name prop:checked=move || chosen.get() == value on:change=choose/>
                <span>{name}</span>
            </label>
        }
    };
    let choices = options.into_iter().map(choice).collect_view();
    view! { <fieldset class=format!("choices {group}")><legend>{legend}</legend>{choices}</fieldset> }.into_any()
}
