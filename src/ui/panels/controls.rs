//! Controls of how answers are read: under which distribution, and with what beside the bars.

use leptos::prelude::*;

use crate::explorer::{
    Access, ExplorerState, Measure, ModelChoice, PageControl, SecondNumber, View, encode,
    family_name, minimal_pairs,
};
use crate::numerics::Family;
use crate::ui::page::state::PageState;
use crate::ui::panels::{game, navigation};

pub(crate) const MEASURES: [(Measure, &str); 2] = [
    (Measure::Likelihood, "likelihood"),
    (Measure::Cosine, "this model’s cosine"),
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
    let play = move |_| {
        navigation::open(page, View::Learn);
        game::begin(page);
    };
    view! {
        <div class="controls">
            <p class="invitation">
                "Change one word."<span class="meaning" hidden=move || page.is_bare.get()>
                    " "<i>"κ"</i>" says how specific a caption is: the higher, the fewer pictures it fits."
                </span>
            </p>
            <button type="button" class="quiet to-game" on:click=play>"Or guess: which is vaguer?"</button>
            <MinimalPairs/>
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

/// A link to the drawings that differ in one word, where captions and pictures may be changed.
#[component]
fn MinimalPairs() -> impl IntoView {
    let page = expect_context::<PageState>();
    let is_offered = move || {
        let controls = [PageControl::Captions, PageControl::Pictures];
        page.state.with(|state| {
            let is_open = |control| state.locks.access(control) == Access::Open;
            state.model == ModelChoice::SCENES && controls.into_iter().all(is_open)
        })
    };
    let link = move || {
        page.state
            .with(|state| format!("#{}", encode(&minimal_pairs(state))))
    };
    // The changes of one word stand below the caption that the link has chosen.
    let keep = move |_| {
        page.keep_step(None);
        page.edited.set(None);
    };
    view! {
        <Show when=is_offered>
            <a class="quiet pairs" href=link on:click=keep>"Or see eight drawings that differ in one word"</a>
        </Show>
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
    let (values, names): (Vec<T>, Vec<&'static str>) = options.into_iter().unzip();
    let values = StoredValue::new(values);
    let chosen = Memo::new(move |_| {
        let now = *field(&mut page.state.get());
        values.with_value(|values| values.iter().position(|value| *value == now).unwrap_or(0))
    });
    let choose = Callback::new(move |i: usize| {
        if let Some(value) = values.with_value(|values| values.get(i).copied()) {
            page.change(&mut |state| *field(state) = value);
        }
    });
    radio_buttons(group, legend, names, chosen.into(), choose)
}

/// Compiled once, and not for each kind of value.
fn radio_buttons(
    group: &'static str,
    legend: &'static str,
    names: Vec<&'static str>,
    chosen: Signal<usize>,
    choose: Callback<usize>,
) -> AnyView {
    let choice = |(i, name): (usize, &'static str)| {
        view! {
            <label class="choice">
                <input
                    type="radio" name=group value=name prop:checked=move || chosen.get() == i
                    on:change=move |_| choose.run(i)
                />
                <span>{name}</span>
            </label>
        }
    };
    let choices = names.into_iter().enumerate().map(choice).collect_view();
    view! { <fieldset class=format!("choices {group}")><legend>{legend}</legend>{choices}</fieldset> }.into_any()
}
