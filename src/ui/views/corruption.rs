//! A picture and a caption corrupted, severity by severity, and what is left of their numbers.

use leptos::html::Canvas;
use leptos::prelude::*;

use crate::corruption::{CorruptionKind as _, ImageCorruption, Misspelling};
use crate::explorer::{
    CaptionView, ExplorerState, Extent, corrupted_name, ordinal, severity_text, signed,
    three_significant,
};
use crate::ui::dom::canvas;
use crate::ui::page::corrupted;
use crate::ui::page::state::PageState;
use crate::ui::panels::{Choice, FamilyChoice};
use crate::ui::plot;
use crate::ui::views::chosen_caption::{ChosenCaption, chosen_key};
use crate::ui::views::chosen_picture::{PictureStrip, alt};
use crate::ui::views::number::Number;

/// The view: a caption and a picture, and each of them corrupted.
#[component]
pub(crate) fn Corruption() -> impl IntoView {
    let page = expect_context::<PageState>();
    corrupted::keep(page);
    let key = chosen_key(page);
    let text = Memo::new(move |_| {
        page.state.with(|state| {
            let text = key.get().and_then(|key| state.captions.text(key));
            text.unwrap_or_default().to_owned()
        })
    });
    view! {
        <section class="view" aria-labelledby="corruption-title">
            <h2 id="corruption-title">"How much corruption can they take?"</h2>
            <ChosenCaption/>
            <PictureStrip/>
            <FamilyChoice/>
            <CorruptedPictures text=text/>
            <MisspeltCaptions text=text/>
            <div class="prose">
                <section>
                    <h3>"Two different losses"</h3>
                    <p>"A corrupted picture leaves "<i>"κ"</i>" as it is, for "<i>"κ"</i>" is the caption’s own; only the nats change. A misspelt "
                        "caption loses "<i>"κ"</i>" too where the model no longer knows its words."</p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>"A high "<i>"κ"</i>" for a misspelt caption is no sign that it was understood: words that the model never met still "
                        "give some number. And this model never met noise or blur: a picture that corruption carries out of its world may gain "
                        "nats by chance."</p>
                </section>
            </div>
        </section>
    }
}

#[component]
fn CorruptedPictures(text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let kind = move |&kind: &ImageCorruption| {
        let is_chosen = move || page.state.with(|state| state.image_corruption == kind);
        let choose = move |()| page.state.update(|state| state.image_corruption = kind);
        view! { <Choice group="image-corruption" name=kind.title() is_chosen=Signal::derive(is_chosen) on_choose=Callback::new(choose)/> }
    };
    let severities = 0..=usize::from(ImageCorruption::MAX_SEVERITY);
    let nats = move |text: &str, severity: usize| {
        let pair = page.made_pair(text, &corrupted_name(severity));
        pair.map(|pair| pair.nats)
    };
    let rows = severities.clone();
    let shown = Memo::new(move |_| -> Vec<Option<f64>> {
        let severities = severities.clone();
        text.with(|text| severities.map(|severity| nats(text, severity)).collect())
    });
    let place = move |severity: usize| {
        let own = shown.with(|shown| shown.get(severity).copied().flatten())?;
        let (_, captions) = page.state.with(ExplorerState::askable);
        let others = captions.iter().filter_map(|other| nats(other, severity));
        let n_better = others.filter(|other| *other > own).count();
        Some(format!("{} of {}", ordinal(n_better + 1), captions.len()))
    };
    let extent =
        Memo::new(move |_| shown.with(|shown| Extent::of(shown.iter().copied().flatten())));
    let row = move |severity: usize| {
        let value =
            Signal::derive(move || shown.with(|shown| shown.get(severity).copied().flatten()));
        view! {
            <tr data-severity=severity.to_string()>
                <th scope="row">{severity_text(severity)}</th>
                <td class="corrupted"><CorruptedPicture severity=severity/></td>
                <td class="plotted">{plot::bar(move || value.get(), move || extent.get())}</td>
                <Number field="corrupted-nats" value=value show=signed/>
                <td class="place" data-field="corrupted-place">{move || place(severity)}</td>
            </tr>
        }
    };
    let title = move || {
        let id = page.state.with(|state| state.picture.clone());
        id.map(|id| alt(page, &id))
    };
    view! {
        <div class="corruption">
            <h3>"The picture, corrupted"</h3>
            <p class="aside">{title}</p>
            <fieldset class="law"><legend>"Corruption"</legend>{ImageCorruption::ALL.iter().map(kind).collect_view()}</fieldset>
            <table class="measures corruption-table">
                <caption class="hidden">"Nats of the caption for the picture, by severity of the corruption"</caption>
                <thead><tr><th scope="col">"severity"</th><th scope="col">"picture"</th><th scope="col" class="plotted">"nats above uniform"</th><th scope="col">"nats"</th><th scope="col">"place among the captions"</th></tr></thead>
                <tbody>{rows.map(row).collect_view()}</tbody>
                <tfoot aria-hidden="true"><tr><td></td><td></td><td class="plotted">{plot::axis(move || extent.get())}</td><td></td><td></td></tr></tfoot>
            </table>
        </div>
    }
}

#[component]
fn CorruptedPicture(severity: usize) -> impl IntoView {
    let page = expect_context::<PageState>();
    let surface = NodeRef::<Canvas>::new();
    Effect::new(move |_| {
        let Some(surface) = surface.get() else {
            return;
        };
        page.corrupted.with(|known| {
            let pixels = known
                .as_ref()
                .and_then(|known| known.pictures.get(severity));
            if let Some(pixels) = pixels {
                canvas::paint(&surface, pixels, corrupted::SIDE);
            }
        });
    });
    view! { <canvas node_ref=surface role="img" aria-label=format!("severity {severity}") width="128" height="128"></canvas> }
}

#[component]
fn MisspeltCaptions(text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let kind = move |&kind: &Misspelling| {
        let is_chosen = move || page.state.with(|state| state.misspelling == kind);
        let choose = move |()| page.state.update(|state| state.misspelling = kind);
        view! { <Choice group="misspelling" name=kind.name() is_chosen=Signal::derive(is_chosen) on_choose=Callback::new(choose)/> }
    };
    let texts = Memo::new(move |_| {
        let kind = page.state.with(|state| state.misspelling);
        text.with(|text| kind.ladder(text))
    });
    let views = Memo::new(move |_| -> Vec<Option<CaptionView>> {
        let family = page.state.with(|state| state.family);
        let view = |text: &String| page.cache.with(|cache| cache.caption(text, family));
        texts.with(|texts| texts.iter().map(view).collect())
    });
    let view = move |i: usize| views.with(|views| views.get(i).cloned().flatten());
    let nats = move |i: usize| {
        let (family, image) = page
            .state
            .with(|state| (state.family, state.picture.clone()));
        let text = texts.with(|texts| texts.get(i).cloned())?;
        let pair = page.cache.with(|cache| cache.pair(&text, &image?, family));
        pair.map(|pair| pair.nats)
    };
    let extent = Memo::new(move |_| {
        views.with(|views| Extent::of(views.iter().flatten().map(|view| view.concentration)))
    });
    let row = move |i: usize| {
        let percentile = move || view(i).map(|view| view.percentile);
        let certainty =
            move || percentile().map(|percentile| format!("{:.1}%", 100.0 - percentile));
        let kappa = Signal::derive(move || view(i).map(|view| view.concentration));
        let words = move || texts.with(|texts| texts.get(i).cloned());
        let unknown = move || {
            view(i)
                .map(|view| view.unknown_words.len())
                .filter(|n| *n > 0)
        };
        let note = move || unknown().map(|n| format!("{n} unknown"));
        view! {
            <tr style:--certainty=certainty data-misspelling=i.to_string()>
                <th scope="row">{plot::halo(percentile, plot::Size::Small)}<span class="words">{words}</span></th>
                <td class="plotted">{plot::bar(move || kappa.get(), move || extent.get())}</td>
                <Number field="misspelt-kappa" value=kappa show=three_significant/>
                <Number field="misspelt-nats" value=Signal::derive(move || nats(i)) show=signed/>
                <td class="place">{note}</td>
            </tr>
        }
    };
    view! {
        <div class="corruption">
            <h3>"The caption, misspelt"</h3>
            <fieldset class="law"><legend>"Errors"</legend>{Misspelling::ALL.iter().map(kind).collect_view()}</fieldset>
            <table class="measures misspelling-table">
                <caption class="hidden">"κ of the caption by share of misspelt words, and its nats for the chosen picture"</caption>
                <thead><tr><th scope="col">"each word hit with 0 to 35 %"</th><th scope="col" class="plotted">"how specific to the model"</th><th scope="col"><i>"κ"</i></th><th scope="col">"nats"</th><th scope="col">"words"</th></tr></thead>
                <tbody>{(0..=usize::from(Misspelling::MAX_SEVERITY)).map(row).collect_view()}</tbody>
                <tfoot aria-hidden="true"><tr><td></td><td class="plotted">{plot::axis(move || extent.get())}</td><td></td><td></td><td></td></tr></tfoot>
            </table>
        </div>
    }
}
