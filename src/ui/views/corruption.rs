//! A picture and a caption corrupted, severity by severity, and what is left of their numbers.

use leptos::html::Canvas;
use leptos::prelude::*;

use crate::corruption::{CorruptionKind as _, ImageCorruption, Misspelling};
use crate::explorer::views::corruption::{corrupted_name, place_text, severity_text};
use crate::explorer::{CaptionView, ExplorerState, Extent, HaloMark, three_significant};
use crate::ui::dom::canvas;
use crate::ui::page::corrupted;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_caption::{ChosenCaption, chosen_text};
use crate::ui::panels::chosen_picture::{PictureStrip, chosen_alt};
use crate::ui::panels::controls::{FamilyChoice, choices};
use crate::ui::panels::measures::{Nats, Number, caption_head, foot, head};
use crate::ui::panels::prose::about;
use crate::ui::plot;

const PICTURE_COLUMNS: &str =
    "severity|picture|~evidence over a blind guess (nats)|nats|place among the captions";
const CAPTION_COLUMNS: &str =
    "each word misspelt with a chance of 0 to 35 %|~how specific to the model|*κ*|nats|words";
const ABOUT: &str = "
# Two different losses
A corrupted picture leaves *κ* as it is, for *κ* is the caption’s own; only the nats change. A misspelt caption
has a *κ* of its own. A misspelt word is passed over in Scenes, and read in pieces in Photographs.

# What it is not
A high *κ* for a misspelt caption is no sign that it was understood. And a picture that corruption carries out of the
model’s world may gain nats by chance.";

/// The view: a caption and a picture, and each of them corrupted.
#[component]
pub(crate) fn Corruption() -> impl IntoView {
    let page = expect_context::<PageState>();
    corrupted::keep(page);
    let text = chosen_text(page);
    view! {
        <section class="view" aria-labelledby="corruption-title">
            <h2 id="corruption-title">"What do noise and typos do?"</h2>
            <ChosenCaption/>
            <PictureStrip/>
            <FamilyChoice/>
            <CorruptedPictures text=text/>
            <MisspeltCaptions text=text/>
            {about(ABOUT)}
        </section>
    }
}

#[component]
fn CorruptedPictures(text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let kinds = ImageCorruption::ALL
        .iter()
        .map(|kind| (*kind, kind.title()));
    let severities = 0..=usize::from(ImageCorruption::MAX_SEVERITY);
    let nats = move |text: &str, severity: usize| {
        let pair = match severity {
            // The clean picture has the same numbers as elsewhere on the page.
            0 => page.pair(text, &page.picture()?),
            severity => page.generated_pair(text, &corrupted_name(severity)),
        };
        Some(pair?.nats)
    };
    let rows = severities.clone();
    let shown = Memo::new(move |_| -> Vec<Option<f64>> {
        let severities = severities.clone();
        text.with(|text| severities.map(|severity| nats(text, severity)).collect())
    });
    let own = move |severity: usize| shown.with(|shown| shown.get(severity).copied().flatten());
    let place = move |severity: usize| {
        let own = own(severity)?;
        let Some(others) = text.with(|text| read_beside(page, text)) else {
            return Some("not read".to_owned());
        };
        let others = others.iter().filter_map(|other| nats(other, severity));
        Some(place_text(
            own,
            &others.collect::<Vec<f64>>(),
            page.free_offset(),
        ))
    };
    let extent =
        Memo::new(move |_| shown.with(|shown| Extent::of(shown.iter().copied().flatten())));
    let row = move |severity: usize| {
        view! {
            <tr data-severity=severity.to_string()>
                <th scope="row">{severity_text(severity)}</th>
                <td class="corrupted"><CorruptedPicture severity=severity/></td>
                <td class="plotted">{plot::bar(move || own(severity), move || extent.get())}</td>
                <Nats field="corrupted-nats" value=Signal::derive(move || own(severity))/>
                <td class="place" data-field="corrupted-place">{move || place(severity)}</td>
            </tr>
        }
    };
    view! {
        <div class="corruption">
            <h3>"The picture, corrupted"</h3>
            <p class="aside">{move || chosen_alt(page)}</p>
            {choices("image-corruption", "Corruption", kinds, |state| &mut state.image_corruption)}
            <table class="measures corruption-table">
                <caption class="hidden">"Nats of the caption for the picture, by severity of the corruption"</caption>
                {head(PICTURE_COLUMNS)}
                <tbody>{rows.map(row).collect_view()}</tbody>
                {foot(PICTURE_COLUMNS, [extent])}
            </table>
        </div>
    }
}

/// Captions that the model reads, for comparison with this one; `None` where it does not read this one.
fn read_beside(page: PageState, text: &str) -> Option<Vec<String>> {
    let (_, mut captions) = page.state.with(ExplorerState::askable);
    let is_read = |caption: &str| {
        let view = page
            .cache
            .with(|cache| cache.caption(caption, page.family()));
        view.is_some_and(|view| !view.is_unread())
    };
    captions.retain(|caption| is_read(caption));
    is_read(text).then_some(captions)
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
            let painted = known
                .as_ref()
                .and_then(|known| Some((known.pictures.get(severity)?, known.side)));
            if let Some((pixels, side)) = painted {
                canvas::paint(&surface, pixels, side);
            }
        });
    });
    let label = format!("severity {severity}");
    view! { <canvas node_ref=surface role="img" aria-label=label width="128" height="128"></canvas> }
}

#[component]
fn MisspeltCaptions(text: Memo<String>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let kinds = Misspelling::ALL.iter().map(|kind| (*kind, kind.name()));
    let texts = Memo::new(move |_| {
        let kind = page.state.with(|state| state.misspelling);
        text.with(|text| kind.ladder(text))
    });
    let views = Memo::new(move |_| -> Vec<Option<CaptionView>> {
        let family = page.family();
        let view = |text: &String| page.cache.with(|cache| cache.caption(text, family));
        texts.with(|texts| texts.iter().map(view).collect())
    });
    let view = move |i: usize| views.with(|views| views.get(i).cloned().flatten());
    let nats = move |i: usize| {
        let text = texts.with(|texts| texts.get(i).cloned())?;
        Some(page.pair(&text, &page.picture()?)?.nats)
    };
    let extent = Memo::new(move |_| {
        views.with(|views| Extent::of(views.iter().flatten().map(|view| view.concentration)))
    });
    let row = move |i: usize| {
        let mark = move || view(i).map(|view| view.mark());
        let kappa = move || view(i).map(|view| view.concentration);
        let words = move || texts.with(|texts| texts.get(i).cloned().unwrap_or_default());
        let n_unknown = move || Some(view(i)?.unknown_words.len()).filter(|n| *n > 0);
        let place = move || match (mark(), n_unknown()) {
            (Some(HaloMark::Unread), _) => Some("not read".to_owned()),
            (_, n) => n.map(|n| format!("{n} unknown")),
        };
        view! {
            <tr style:--certainty=move || plot::certainty(mark()) data-misspelling=i.to_string()>
                {caption_head(move || view(i), words)}
                <td class="plotted">{plot::bar(kappa, move || extent.get())}</td>
                <Number field="misspelt-kappa" value=Signal::derive(kappa) show=three_significant/>
                <Nats field="misspelt-nats" value=Signal::derive(move || nats(i))/>
                <td class="place">{place}</td>
            </tr>
        }
    };
    let severities = 0..=usize::from(Misspelling::MAX_SEVERITY);
    view! {
        <div class="corruption">
            <h3>"The caption, misspelt"</h3>
            {choices("misspelling", "Errors", kinds, |state| &mut state.misspelling)}
            <table class="measures cards misspelling-table">
                <caption class="hidden">
                    "κ of the caption by share of misspelt words, and its nats for the chosen picture"
                </caption>
                {head(CAPTION_COLUMNS)}
                <tbody>{severities.map(row).collect_view()}</tbody>
                {foot(CAPTION_COLUMNS, [extent])}
            </table>
        </div>
    }
}
