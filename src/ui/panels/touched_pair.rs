//! The chosen picture against all captions, and the chosen pair in full.

use leptos::prelude::*;

use crate::explorer::{
    Extent, KeyedCaption, formula, formula_with_numbers, percent, share_text, two_decimals,
};
use crate::report::PhotographCredit;
use crate::ui::page::pictures::PictureState;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;
use crate::ui::panels::formula::typeset;
use crate::ui::panels::measures::{Number, caption_head};
use crate::ui::plot;

const WITHOUT_NONE: &str = "The shares always sum to 100 %, even when no caption fits. The cells above say whether any \
    does.";
const WITH_NONE: &str =
    "“None of these” has 0 nats for every picture: it is the blind guess itself.";
/// The scale of shares.
const WHOLE: Extent = Extent {
    lowest: 0.0,
    highest: 1.0,
    is_cut: false,
};

/// The chosen picture, large, with each caption's share; and the numbers of the pair that was touched.
#[component]
pub(crate) fn TouchedPair() -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = Memo::new(move |_| page.picture());
    let file = Memo::new(move |_| page.files.with(|files| files.get(&id.get()?).cloned()));
    let picture = move || {
        let file = file
            .get()
            .filter(|file| file.state != PictureState::Unread)?;
        let warning = file
            .is_out_of_distribution()
            .then(|| view! { <p class="aside">{page.world.get().unfamiliar_picture()}"."</p> });
        Some(view! {
            <img src=file.url alt=file.alt.clone() width="240" height="240" decoding="async"/>
            <figcaption>{file.alt}{file.credit.map(credit)}</figcaption>
            {warning}
        })
    };
    view! {
        <section class="touched-pair" aria-label="The picture you chose">
            <figure>{picture}</figure>
            <Shares id=id/>
            <Details id=id/>
        </section>
    }
}

/// Credit of a photograph: its photographer's page and its licence.
fn credit(credit: PhotographCredit) -> impl IntoView {
    view! {
        <small class="credit">
            <a href=credit.page>"Photograph on Flickr"</a>", "<a href=credit.license_url>{credit.license}</a>
        </small>
    }
}

/// The posterior over captions for the chosen picture.
#[component]
fn Shares(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let counts_none = move || page.state.with(|state| state.counts_none);
    let toggle = move |_| {
        page.change(&mut |state| state.counts_none = !state.counts_none);
    };
    let captions = move || page.captions_with_words();
    let account = move || {
        let scale = page.snapshot.with(|snapshot| {
            let scales = &snapshot.as_ref()?.card.logit_scale;
            Some(*scales.get(page.family()))
        });
        scale.map(share_text)
    };
    view! {
        <div class="shares">
            <h2>"If one of these captions was written for it, which?"</h2>
            <table>
                <caption class="hidden">"Posterior over the captions for the chosen picture"</caption>
                <thead class="hidden"><tr><th>"Caption"</th><th>"Share"</th></tr></thead>
                <tbody>
                    {each(captions, move |caption| view! { <Share caption=caption id=id/> }.into_any())}
                    <Show when=counts_none><NoneShare id=id/></Show>
                </tbody>
            </table>
            <label class="check">
                <input type="checkbox" prop:checked=counts_none on:change=toggle/>
                <span>"Let “none of these” take part"</span>
            </label>
            <p class="aside">{move || if counts_none() { WITH_NONE } else { WITHOUT_NONE }}" "{account}</p>
        </div>
    }
}

/// The share of a blind guess.
#[component]
fn NoneShare(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let share = move || {
        id.with(|id| {
            page.readings
                .with(|readings| readings.none_share(id.as_ref()?))
        })
    };
    view! {
        <tr class="none">
            <th scope="row"><span class="words">"none of these"</span></th>
            <td>{plot::bar(share, || WHOLE)}</td>
            <Number field="none-share" value=Signal::derive(share) show=percent/>
        </tr>
    }
}

#[component]
fn Share(caption: KeyedCaption, id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let key = caption.key;
    let view = move || page.caption_view(key);
    let text = caption.text;
    let share = move || {
        let of = |id: &String| {
            page.readings
                .with(|readings| Some(readings.pair(key, id)?.posterior))
                .filter(|share| !share.is_nan())
        };
        id.with(|id| id.as_ref().and_then(of))
    };
    view! {
        <tr
            class:touched=move || page.state.with(|state| state.caption == Some(key))
            class:pointed=move || page.points_at_caption(key)
            on:pointerenter=move |_| page.point(Some(key), None) on:pointerleave=move |_| page.point(None, None)
        >
            {caption_head(view, move || text.clone())}
            <td>{plot::bar(share, || WHOLE)}</td>
            <Number field="posterior" value=Signal::derive(share) show=percent/>
        </tr>
    }
}

/// Every number of the pair, and the formula on request.
#[component]
fn Details(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let numbers = move || {
        let (key, _) = page.touched.get()?;
        let pair = page
            .readings
            .with(|readings| readings.pair(key, &id.get()?).cloned())?;
        Some((page.caption_view(key)?, pair))
    };
    let row = |name: &'static str, field: &'static str, value: f64| {
        let exact = value.to_string();
        view! {
            <div>
                <dt>{name}</dt>
                <dd data-field=field data-value=exact.clone() title=exact>{two_decimals(value)}</dd>
            </div>
        }
    };
    let details = move || {
        let ((view, pair), family) = (numbers()?, page.family());
        Some(view! {
            <h2 class="words">{view.caption}</h2>
            <dl>
                {row("evidence over a blind guess (nats)", "pair-nats", pair.nats)}
                {row("log-density", "log-density", pair.log_density)}
                {row("this model’s cosine", "cosine", pair.cosine)}
                {row("cosine to the mean direction", "mean-direction-cosine", pair.mean_direction_cosine)}
            </dl>
            <details>
                <summary>"The formula, with these numbers"</summary>
                {typeset(move || Some(formula(family).to_owned()))}
                {typeset(move || Some(formula_with_numbers(family, view.concentration, &pair)))}
                <p>
                    "Here "<i>"t"</i>" is the cosine between the caption’s mean direction "<i>"μ"</i>" and the "
                    "picture, and ln "<i>"C"</i>" makes the density integrate to one over the sphere."
                </p>
            </details>
        })
    };
    view! { <div class="details" role="group" aria-label="The pair you touched">{details}</div> }
}
