//! Naming pictures with classes of one's own, and three ways to answer "none of these".

use leptos::prelude::*;

use crate::explorer::views::none_of_these::{
    ClassAnswer, Classes, Judgement, answer_name, is_disputed, judgement_text, thousandths,
};
use crate::explorer::{Extent, percent, three_significant};
use crate::protocol::MAX_CAPTION_CHARACTERS;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_picture::{PictureButton, chosen_alt};
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::gallery_strip::GalleryStrip;
use crate::ui::panels::measures::{Nats, Number, foot, head, not_read};
use crate::ui::panels::picture_headers::AddPicture;
use crate::ui::panels::prose::about;
use crate::ui::plot;

const ANSWER_COLUMNS: &str = "Picture|by likelihood|best nats|nats of none|by cosine, threshold|\
    best cosine|by cosine, margin|lead";
const CLASS_COLUMNS: &str =
    "Class|~evidence over a blind guess (nats)|nats|share|~encoder’s cosine|cosine";
/// Place in the page's history of the first field; no caption's key is as great.
const FIELDS: u64 = 1 << 34;
const ABOUT: &str = "
# Three ways to say none
The encoder gives each class a cosine, and the largest always wins. To refuse, one needs a number from outside: a
threshold that the best must reach, or a margin by which it must lead. With likelihoods a vague caption can stand for
everything else: where “a picture” is likelier than every class, no class fits.

# What it is not
A vague caption wins against classes that are wrong, and not against everything strange: a picture from outside this
model’s world can still look red to it. Answers nearer to each other than training settles the zero are a tie, and a
class that the model cannot read is no answer.";

/// The view: the classes, the answers for every picture, and the chosen picture in full.
#[component]
pub(crate) fn NoneOfThese() -> impl IntoView {
    let page = expect_context::<PageState>();
    let classes = Memo::new(move |_| page.state.with(|state| state.classes.clone()));
    let names = Memo::new(move |_| classes.with(Classes::list));
    view! {
        <section class="view" aria-labelledby="none-title">
            <h2 id="none-title">"What is in the picture, if it is any of these?"</h2>
            <ClassControls classes=classes/>
            <FamilyChoice/>
            <Answers classes=classes names=names/>
            <div class="more-pictures"><GalleryStrip/><AddPicture/></div>
            <ChosenAnswer classes=classes names=names/>
            {about(ABOUT)}
        </section>
    }
}

/// The names, the captions made of them, and the limits on cosines.
#[component]
fn ClassControls(classes: Memo<Classes>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let example = move || {
        classes.with(|classes| {
            let first = classes.list().into_iter().next()?;
            Some(format!("asked as “{}”", classes.caption(&first)))
        })
    };
    let note = move || {
        let family = page.family();
        page.cache
            .with(|cache| classes.with(|classes| classes.note(cache, family)))
    };
    view! {
        <div class="class-controls">
            <Text i=0 id="class-names" label="Classes, with commas between" field=|classes| &mut classes.names/>
            <Text
                i=1 id="class-template" label="Caption of a class, {} for its name"
                field=|classes| &mut classes.template
            />
            <Text i=2 id="class-dummy" label="Caption for none of them" field=|classes| &mut classes.dummy/>
            <p class="aside">{example}</p>
            <p class="aside" data-spoken>{note}</p>
            <Limit
                i=3 id="class-threshold" label="Threshold: a cosine below is none"
                field=|classes| &mut classes.threshold
            />
            <Limit i=4 id="class-margin" label="Margin: a smaller lead is none" field=|classes| &mut classes.margin/>
        </div>
    }
}

#[component]
fn Text(
    i: u64,
    id: &'static str,
    label: &'static str,
    field: fn(&mut Classes) -> &mut String,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let text =
        Memo::new(move |_| field(&mut page.state.with(|state| state.classes.clone())).clone());
    let edit = move |text: String| {
        page.keep_step(Some(FIELDS + i));
        page.state.update(|state| *field(&mut state.classes) = text);
    };
    view! {
        <p class="text-control">
            <label for=id>{label}</label>
            <input
                id=id type="text" class="words" maxlength=MAX_CAPTION_CHARACTERS.to_string() spellcheck="false"
                autocomplete="off" prop:value=text on:input:target=move |event| edit(event.target().value())
            />
        </p>
    }
}

#[component]
fn Limit(
    i: u64,
    id: &'static str,
    label: &'static str,
    field: fn(&mut Classes) -> &mut u16,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let value = Memo::new(move |_| *field(&mut page.state.with(|state| state.classes.clone())));
    let edit = move |text: String| {
        if let Ok(limit) = text.parse() {
            page.keep_step(Some(FIELDS + i));
            page.change(&mut |state| *field(&mut state.classes) = limit);
        }
    };
    let shown = move || format!("{:.2}", thousandths(value.get()));
    view! {
        <p class="slider">
            <label for=id>{label}</label>
            <input
                id=id type="range" min="0" max="1000" step="10" prop:value=move || value.get().to_string()
                aria-valuetext=shown on:input:target=move |event| edit(event.target().value())
            />
            <output for=id aria-live="off">{shown}</output>
        </p>
    }
}

/// The three answers for every picture on the page.
#[component]
fn Answers(classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let ids = expect_context::<PageState>().pictures();
    let row = move |id| view! { <AnswerRow id=id classes=classes names=names/> }.into_any();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Answers for every picture">
            <table class="measures answers">
                <caption class="hidden">"What each picture is called, in three ways"</caption>
                {head(ANSWER_COLUMNS)}
                <tbody>
                    {each(move || ids.get(), row)}
                </tbody>
            </table>
        </div>
    }
}

/// The answers for a picture under the chosen distribution.
fn judged(page: PageState, classes: Memo<Classes>, id: &str) -> Option<Judgement> {
    let family = page.family();
    page.cache
        .with(|cache| classes.with(|classes| classes.judge(cache, id, family)))
}

#[component]
fn AnswerRow(id: String, classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let stored = StoredValue::new(id.clone());
    let judgement = Memo::new(move |_| stored.with_value(|id| judged(page, classes, id)));
    let answer = move |field: &'static str, part: fn(&Judgement) -> ClassAnswer| {
        let name = move |answer| names.with(|names| answer_name(answer, names));
        let words = move || {
            let answer = judgement.with(|judgement| judgement.as_ref().map(part));
            answer.map_or_else(|| "–".to_owned(), name)
        };
        view! { <td class="answer" data-field=field>{words}</td> }
    };
    let number = move |part: fn(&Judgement) -> Option<f64>| {
        Signal::derive(move || judgement.with(|judgement| judgement.as_ref().and_then(part)))
    };
    let disputed = move || judgement.with(|judgement| judgement.as_ref().is_some_and(is_disputed));
    let best_nats = number(|judgement| Some(judgement.nats[judgement.likeliest]));
    let best_cosine = number(|judgement| Some(judgement.cosines[judgement.nearest]));
    view! {
        <tr class:disputed=disputed data-image=id.clone()>
            <th scope="row"><PictureButton id=id.clone()/></th>
            {answer("by-likelihood", |judgement| judgement.by_likelihood)}
            <Nats field="best-nats" value=best_nats/>
            <Nats field="dummy-nats" value=number(|judgement| judgement.dummy_nats)/>
            {answer("by-threshold", |judgement| ClassAnswer::of(judgement.by_threshold))}
            <Number field="best-cosine" value=best_cosine show=three_significant/>
            {answer("by-margin", |judgement| ClassAnswer::of(judgement.by_margin))}
            <Number field="cosine-margin" value=number(|judgement| judgement.cosine_margin) show=three_significant/>
        </tr>
    }
}

/// Every class for the chosen picture.
#[component]
fn ChosenAnswer(classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let judgement = Memo::new(move |_| judged(page, classes, &page.picture()?));
    let sentence = move || {
        let of = |judgement: &Judgement| names.with(|names| judgement_text(judgement, names));
        judgement.with(|judgement| judgement.as_ref().map(of))
    };
    let rows = move || {
        let dummy = classes
            .with(Classes::dummy)
            .map(|dummy| format!("none: “{dummy}”"));
        names.get().into_iter().chain(dummy).enumerate().collect()
    };
    let scale = move |values: fn(&Judgement) -> Vec<f64>| {
        let extent = move |judgement: &Judgement| Extent::of(values(judgement));
        Memo::new(move |_| {
            judgement.with(|judgement| judgement.as_ref().map(extent).unwrap_or_default())
        })
    };
    let nats = scale(|judgement| {
        judgement
            .nats
            .iter()
            .copied()
            .chain(judgement.dummy_nats)
            .collect()
    });
    let cosines = scale(|judgement| judgement.cosines.clone());
    let row = move |(i, name)| {
        view! { <ClassRow i=i name=name judgement=judgement nats=nats cosines=cosines/> }.into_any()
    };
    view! {
        <h3 class="chosen-title">{move || chosen_alt(page)}</h3>
        <p class="finding" data-spoken>{sentence}</p>
        <table class="measures cards classes-table">
            <caption class="hidden">"Every class for the chosen picture"</caption>
            {head(CLASS_COLUMNS)}
            <tbody>
                {each(rows, row)}
            </tbody>
            {foot(CLASS_COLUMNS, [nats, cosines])}
        </table>
    }
}

/// One class, or the caption for none of them, which cosines know nothing of.
#[component]
fn ClassRow(
    i: usize,
    name: String,
    judgement: Memo<Option<Judgement>>,
    nats: Memo<Extent>,
    cosines: Memo<Extent>,
) -> impl IntoView {
    let read = move |part: fn(&Judgement, usize) -> Option<f64>| {
        judgement.with(|judgement| judgement.as_ref().and_then(|known| part(known, i)))
    };
    let own_nats = move || read(nats_at);
    let cosine = move || read(|known, i| known.cosines.get(i).copied());
    let share =
        move || read(|known, i| known.shares.get(i).copied().filter(|share| !share.is_nan()));
    let words = name.clone();
    let is_unread = move || {
        let is_read = judgement.with(|known| known.as_ref()?.is_read.get(i).copied());
        is_read == Some(false)
    };
    view! {
        <tr data-class=name class:illegible=is_unread>
            <th scope="row"><span class="words">{words}</span>{move || not_read(is_unread())}</th>
            <td class="plotted">{plot::bar(own_nats, move || nats.get())}</td>
            <Nats field="class-nats" value=Signal::derive(own_nats)/>
            <Number field="class-share" value=Signal::derive(share) show=percent/>
            <td class="plotted">{plot::bar(cosine, move || cosines.get())}</td>
            <Number field="class-cosine" value=Signal::derive(cosine) show=three_significant/>
        </tr>
    }
}

/// The nats of a class, or of the caption for none of them, which stands behind the last.
fn nats_at(judgement: &Judgement, i: usize) -> Option<f64> {
    let class = judgement.nats.get(i).copied();
    class.or_else(|| judgement.dummy_nats.filter(|_| i == judgement.nats.len()))
}
