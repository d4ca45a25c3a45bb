//! Ranks of captions for each picture, by likelihood and by the cosine alone.

use leptos::prelude::*;

use crate::explorer::{
    Measure, Readings, dispute_text, firsts_text, formula, formula_of_equal_concentrations,
};
use crate::ui::page::pictures::PictureFile;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::{MEASURES, choices};
use crate::ui::panels::each::each;
use crate::ui::panels::formula::typeset;

/// Meaning of the marks in the cells while bars show cosines.
const MOVED: &str = "Bars now show cosines, which know no κ; “3rd → 1st” is a caption that is third for a picture by \
    cosine and first by likelihood.";

/// CLIP as the special case of equal concentrations.
const EQUAL_CONCENTRATIONS: &str = "The second line is the first with one κ for every caption: what is left is the \
    order of t, the cosine between picture and mean direction. With the encoder’s own direction as the mean, the \
    von Mises–Fisher line is CLIP: a softmax of cosines at the temperature 1/(τκ), in which a vague caption and a full \
    one compete as equals.";

/// Pictures for which κ changes the best caption, and on request the order of the captions for each.
#[component]
pub(crate) fn Ranks() -> impl IntoView {
    let page = expect_context::<PageState>();
    let dispute = move || {
        let (n_disputed, n_pictures) = page.readings.with(Readings::n_disputed);
        let legend = match page.state.with(|state| state.measure) {
            Measure::Likelihood => "",
            Measure::Cosine => MOVED,
        };
        format!("{} {legend}", dispute_text(n_disputed, n_pictures))
    };
    let ids = page.pictures();
    view! {
        <section class="ranks" aria-label="Ranks of the captions">
            <p class="aside dispute">{dispute}</p>
            <details class="twin">
                <summary>"Which caption would plain cosine choose?"</summary>
                {choices("ranked-by", "In order of", MEASURES, |state| &mut state.measure)}
                {typeset(move || Some(formula(page.family()).to_owned()))}
                {typeset(move || Some(formula_of_equal_concentrations(page.family()).to_owned()))}
                <p class="aside">{EQUAL_CONCENTRATIONS}</p>
                <div class="rank-cards">{each(move || ids.get(), move |id| card(page, id))}</div>
            </details>
        </section>
    }
}

/// A picture and its captions, of which the first few are seen; they change places when the order changes.
fn card(page: PageState, id: String) -> AnyView {
    let id = StoredValue::new(id);
    let words = move |key: u64| {
        let text = |known: &str| known.to_owned();
        page.state.with(|state| state.captions.text(key).map(text))
    };
    let firsts = move || {
        let first = |measure| {
            let of = |readings: &Readings| id.with_value(|id| readings.first_caption(id, measure));
            words(page.readings.with(of)?)
        };
        Some(firsts_text(
            &first(Measure::Cosine)?,
            &first(Measure::Likelihood)?,
        ))
    };
    let url = move || {
        page.files
            .with(|files| id.with_value(|id| files.get(id).and_then(PictureFile::sound_url)))
    };
    let keys = move || {
        let captions = page.captions_with_words().into_iter();
        captions.map(|caption| caption.key).collect()
    };
    let line = move |key: u64| {
        let place = move || {
            let measure = page.measure();
            let of = |readings: &Readings| id.with_value(|id| readings.place(key, id, measure));
            page.readings.with(of).map(|place| place.to_string())
        };
        view! { <li data-place=place>{move || words(key)}</li> }.into_any()
    };
    view! {
        <figure class="rank-card">
            <img src=url alt="" width="72" height="72" decoding="async"/>
            <ol class="words" aria-hidden="true">{each(keys, line)}</ol>
            <figcaption>{firsts}</figcaption>
        </figure>
    }
    .into_any()
}
