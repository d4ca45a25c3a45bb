//! The chosen picture against all captions, and the chosen pair in full.

use leptos::prelude::*;

use crate::explorer::{
    Extent, KeyedCaption, PairNumbers, compare_families, formula, formula_with_numbers, ordinal,
    percent, share_text, three_significant, two_decimals,
};
use crate::numerics::Family;
use crate::protocol::PerFamily;
use crate::report::PhotographCredit;
use crate::ui::page::pictures::PictureState;
use crate::ui::page::state::PageState;
use crate::ui::panels::each::each;
use crate::ui::panels::formula::typeset;
use crate::ui::panels::measures::{Number, caption_head, head};
use crate::ui::plot;

const WITHOUT_NONE: &str = "The shares always sum to 100 %, even when no caption fits. The cells above say whether any \
    does.";
const COMPARISON_COLUMNS: &str =
    "of this pair|von Mises–Fisher|power spherical|this model’s cosine";
const COMPARISON_NOTE: &str = "The two were trained apart: their κ are not on one scale, their ranks and shares can be \
    compared. The cosine has one direction a caption and no κ.";
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

/// Every number of the pair under both distributions beside the plain cosine, and the formula on request.
#[component]
fn Details(id: Memo<Option<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let numbers = Memo::new(move |_| {
        let (key, _) = page.touched.get()?;
        let image = id.get()?;
        page.snapshot.with(|snapshot| {
            let snapshot = snapshot.as_ref()?;
            page.state
                .with(|state| compare_families(snapshot, state, key, &image))
        })
    });
    let details = move || {
        let (compared, family) = (numbers.get()?, page.family());
        let PairNumbers { caption, pair } = compared.get(family).clone();
        Some(view! {
            <h2 class="words">{caption.caption.clone()}</h2>
            {comparison(&compared)}
            <details>
                <summary>"The formula, with these numbers"</summary>
                {typeset(move || Some(formula(family).to_owned()))}
                {typeset(move || Some(formula_with_numbers(family, caption.concentration, &pair)))}
                <p>
                    "Here "<i>"t"</i>" is the cosine between the caption’s mean direction "<i>"μ"</i>" and the "
                    "picture, and ln "<i>"C"</i>" makes the density integrate to one over the sphere."
                </p>
            </details>
        })
    };
    view! { <div class="details" role="group" aria-label="The pair you touched">{details}</div> }
}

/// Number of a pair under one family, and how it is shown.
type Shown = (f64, String);

/// The numbers of a pair under each distribution, and those that the plain cosine has.
fn comparison(compared: &PerFamily<PairNumbers>) -> impl IntoView + use<> {
    let plain = &compared.get(Family::VonMisesFisher).pair;
    let (plain_cosine, plain_rank) = (plain.cosine, plain.cosine_rank);
    let row = |name: &'static str,
               field: &'static str,
               of: fn(&PairNumbers) -> Shown,
               plain: Option<Shown>| {
        let cell = |shown: Option<Shown>| {
            let shown = shown.filter(|(value, _)| !value.is_nan());
            let (exact, text) = match shown {
                Some((value, text)) => (Some(value.to_string()), text),
                None => (None, "–".to_owned()),
            };
            view! { <td class="number" data-field=field data-value=exact.clone() title=exact>{text}</td> }
        };
        let of_families = Family::ALL.map(|family| cell(Some(of(compared.get(family)))));
        view! { <tr><th scope="row">{name}</th>{of_families}{cell(plain)}</tr> }
    };
    view! {
        <table class="measures comparison">
            <caption class="hidden">"The pair under both distributions, and by the plain cosine"</caption>
            {head(COMPARISON_COLUMNS)}
            <tbody>
                {row("κ", "pair-kappa", |of| shown(of.caption.concentration, three_significant), None)}
                {row(
                    "rank among the captions", "pair-rank",
                    |of| rank(of.pair.likelihood_rank), Some(rank(plain_rank)),
                )}
                {row("share among the captions", "pair-share", |of| shown(of.pair.posterior, percent), None)}
                {row("evidence over a blind guess (nats)", "pair-nats", |of| shown(of.pair.nats, two_decimals), None)}
                {row("log-density", "log-density", |of| shown(of.pair.log_density, two_decimals), None)}
                {row(
                    "cosine with the caption’s direction", "mean-direction-cosine",
                    |of| shown(of.pair.mean_direction_cosine, two_decimals), Some(shown(plain_cosine, two_decimals)),
                )}
            </tbody>
        </table>
        <p class="aside">{COMPARISON_NOTE}</p>
    }
}

fn shown(value: f64, show: fn(f64) -> String) -> Shown {
    (value, show(value))
}

/// A rank from 1; no number for a caption that was not compared.
fn rank(rank: usize) -> Shown {
    match rank {
        0 => (f64::NAN, String::new()),
        _ => (rank as f64, ordinal(rank)),
    }
}
