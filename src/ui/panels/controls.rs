//! How the answers are read: under which law, and with what beside the bars.

use leptos::prelude::*;

use crate::explorer::{Measure, SecondNumber, family_name};
use crate::numerics::Family;
use crate::ui::page::state::PageState;

/// The invitation, and the two choices.
#[component]
pub(crate) fn Controls() -> impl IntoView {
    let page = expect_context::<PageState>();
    let beside = move |(reading, name)| {
        let is_chosen = move || page.state.with(|state| state.beside == reading);
        let choose = move |_| page.state.update(|state| state.beside = reading);
        view! { <Choice group="beside" name=name is_chosen=Signal::derive(is_chosen) on_choose=Callback::new(choose)/> }
    };
    let measure = move |(measure, name)| {
        let is_chosen = move || page.state.with(|state| state.measure == measure);
        let choose = move |_| page.state.update(|state| state.measure = measure);
        view! { <Choice group="measure" name=name is_chosen=Signal::derive(is_chosen) on_choose=Callback::new(choose)/> }
    };
    let measures = [
        (Measure::Likelihood, "likelihood"),
        (Measure::Cosine, "CLIP’s cosine"),
    ];
    let readings = [
        (SecondNumber::Posterior, "share"),
        (SecondNumber::Cosine, "CLIP cosine"),
        (SecondNumber::LogDensity, "log-density"),
    ];
    view! {
        <div class="controls">
            <p class="invitation">"Change one word."</p>
            <div class="readings" hidden=move || page.is_bare.get()>
                <FamilyChoice/>
                <fieldset><legend>"Bars show"</legend>{measures.map(measure).collect_view()}</fieldset>
                <fieldset><legend>"Also show"</legend>{readings.map(beside).collect_view()}</fieldset>
            </div>
        </div>
    }
}

/// The law whose numbers are shown, in every view.
#[component]
pub(crate) fn FamilyChoice() -> impl IntoView {
    let page = expect_context::<PageState>();
    let law = move |family| {
        let is_chosen = move || page.state.with(|state| state.family == family);
        let choose = move |_| page.state.update(|state| state.family = family);
        view! { <Choice group="law" name=family_name(family) is_chosen=Signal::derive(is_chosen) on_choose=Callback::new(choose)/> }
    };
    view! { <fieldset class="law"><legend>"Law"</legend>{Family::ALL.map(law).collect_view()}</fieldset> }
}

/// One of several choices, of which one holds.
#[component]
pub(crate) fn Choice(
    group: &'static str,
    name: &'static str,
    is_chosen: Signal<bool>,
    on_choose: Callback<()>,
) -> impl IntoView {
    view! {
        <label class="choice">
            <input type="radio" name=group value=name prop:checked=is_chosen on:change=move |_| on_choose.run(())/>
            <span>{name}</span>
        </label>
    }
}
