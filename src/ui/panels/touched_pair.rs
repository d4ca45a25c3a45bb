//! The chosen picture against all captions, and the chosen pair in full.

use leptos::prelude::*;

use crate::explorer::{
    Extent, KeyedCaption, formula, formula_with_numbers, percent, three_significant,
};
use crate::ui::page::pictures::PictureState;
use crate::ui::page::state::PageState;
use crate::ui::plot;

const OUTSIDE: &str = "This picture is outside what this model knows, which is drawn scenes. It still gives numbers, but they say little.";

const WITHOUT_NONE: &str =
    "The shares always sum to 100 %, even when no caption fits. The nats say whether any does.";
const WITH_NONE: &str = "“None of these” has 0 nats for every picture: it is what knowing nothing predicts. That zero is set by training only within about one nat.";

/// The chosen picture, large, with each caption's share; and the numbers of the pair that was touched.
#[component]
pub(crate) fn TouchedPair() -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = Memo::new(move |_| page.state.with(|state| state.picture.clone()));
    let file = Memo::new(move |_| {
        id.get()
            .and_then(|id| page.files.with(|files| files.get(&id).cloned()))
    });
    let sound = move || file.get().filter(|file| file.state != PictureState::Unread);
    view! {
        <section class="touched-pair" aria-label="The picture you chose">
            <figure>
                {move || sound().map(|file| {
                    let outside = file.is_outside().then(|| view! { <p class="aside">{OUTSIDE}</p> });
                    view! { <img src=file.url alt=file.alt.clone() width="240" height="240" decoding="async"/> <figcaption>{file.alt}</figcaption> {outside} }
                })}
            </figure>
            <Shares id=id/>
            <Details id=id/>
        </section>
    }
}

/// The posterior over captions for the chosen picture.
#[component]
fn Shares(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let captions = move || {
        page.state.with(|state| {
            state
                .captions
                .iter()
                .filter(|caption| !caption.text.trim().is_empty())
                .cloned()
                .collect::<Vec<_>>()
        })
    };
    let counts_none = move || page.state.with(|state| state.counts_none);
    let toggle = move |_| {
        page.state
            .update(|state| state.counts_none = !state.counts_none);
    };
    view! {
        <div class="shares">
            <h2>"If one of these captions was written for it, which?"</h2>
            <table>
                <caption class="hidden">"Posterior over the captions for the chosen picture"</caption>
                <thead class="hidden"><tr><th>"Caption"</th><th>"Share"</th></tr></thead>
                <tbody>
                    <For each=captions key=|caption| (caption.key, caption.text.clone()) let:caption><Share caption=caption id=id/></For>
                    <Show when=counts_none><NoneShare id=id/></Show>
                </tbody>
            </table>
            <label class="check"><input type="checkbox" prop:checked=counts_none on:change=toggle/><span>"Let “none of these” take part"</span></label>
            <p class="aside">{move || if counts_none() { WITH_NONE } else { WITHOUT_NONE }}</p>
        </div>
    }
}

/// The share of knowing nothing.
#[component]
fn NoneShare(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let share = move || {
        id.with(|id| {
            page.readings
                .with(|readings| readings.none_share(id.as_ref()?))
        })
    };
    let exact = move || share().map(|share| share.to_string());
    view! {
        <tr class="none">
            <th scope="row"><span class="words">"none of these"</span></th>
            <td>{plot::bar(share, || Extent { lowest: 0.0, highest: 1.0 })}</td>
            <td class="number" data-field="none-share" data-value=exact title=exact>{move || share().map_or_else(|| "–".to_owned(), percent)}</td>
        </tr>
    }
}

#[component]
fn Share(caption: KeyedCaption, id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = caption.key;
    let percentile = move || {
        page.readings
            .with(|readings| readings.caption(key).map(|view| view.percentile))
    };
    let share = move || {
        id.with(|id| {
            page.readings
                .with(|readings| readings.pair(key, id.as_ref()?).map(|pair| pair.posterior))
        })
    };
    let exact = move || share().map(|share| share.to_string());
    view! {
        <tr class:touched=move || page.state.with(|state| state.caption == Some(key)) class:pointed=move || page.points_at_caption(key)
            on:pointerenter=move |_| page.point(Some(key), None) on:pointerleave=move |_| page.point(None, None)>
            <th scope="row">{plot::halo(percentile, plot::Size::Small)}<span class="words">{caption.text}</span></th>
            <td>{plot::bar(share, || Extent { lowest: 0.0, highest: 1.0 })}</td>
            <td class="number" data-field="posterior" data-value=exact title=exact>{move || share().map_or_else(|| "–".to_owned(), percent)}</td>
        </tr>
    }
}

/// Every number of the pair, and the formula on request.
#[component]
fn Details(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = move || {
        page.touched
            .with(|touched| touched.as_ref().map(|(key, _)| *key))
    };
    let view = Memo::new(move |_| {
        key().and_then(|key| {
            page.readings
                .with(|readings| readings.caption(key).cloned())
        })
    });
    let pair = Memo::new(move |_| {
        let (key, id) = (key()?, id.get()?);
        page.readings
            .with(|readings| readings.pair(key, &id).cloned())
    });
    let family = move || page.state.with(|state| state.family);
    let numbers = move || match (view.get(), pair.get()) {
        (Some(view), Some(pair)) => Some((view, pair)),
        _ => None,
    };
    let row = |name: &'static str, field: &'static str, value: f64| {
        view! {
            <div><dt>{name}</dt><dd data-field=field data-value=value.to_string() title=value.to_string()>{three_significant(value)}</dd></div>
        }
    };
    view! {
        <div class="details" aria-label="The pair you touched">
            {move || numbers().map(|(view, pair)| view! {
                <h2 class="words">{view.caption.clone()}</h2>
                <dl>
                    {row("nats above uniform", "pair-nats", pair.nats)}
                    {row("log-density", "log-density", pair.log_density)}
                    {row("CLIP cosine", "cosine", pair.cosine)}
                    {row("cosine to the mean direction", "mean-direction-cosine", pair.mean_direction_cosine)}
                </dl>
                <details>
                    <summary>"The formula, with these numbers"</summary>
                    <p class="formula">{formula(family())}</p>
                    <p class="formula">{formula_with_numbers(family(), view.concentration, &pair)}</p>
                    <p>"Here "<i>"t"</i>" is the cosine between the caption’s mean direction "<i>"μ"</i>" and the picture, and ln "<i>"C"</i>" makes the density integrate to one over the sphere."</p>
                </details>
            })}
        </div>
    }
}
