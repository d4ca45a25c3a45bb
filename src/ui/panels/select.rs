//! A choice among names.

use leptos::prelude::*;

/// One of several names, chosen from a list.
#[component]
pub(crate) fn Select(
    id: &'static str,
    label: &'static str,
    names: Vec<String>,
    value: Signal<usize>,
    on_choose: Callback<usize>,
) -> impl IntoView {
    let option = move |(i, name): (usize, String)| {
        view! { <option value=i.to_string() prop:selected=move || value.get() == i>{name}</option> }
    };
    let choose = move |text: String| {
        if let Ok(i) = text.parse() {
            on_choose.run(i);
        }
    };
    view! {
        <p class="select">
            <label for=id>{label}</label>
            <select id=id on:change=move |event| choose(event_target_value(&event))>
                {names.into_iter().enumerate().map(option).collect_view()}
            </select>
        </p>
    }
    .into_any()
}
