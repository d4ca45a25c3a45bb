//! Naming pictures with classes of one's own, and three ways to answer "none of these".

use leptos::prelude::*;

use crate::explorer::{
    Classes, Extent, Judgement, is_disputed, judgement_text, percent, signed, thousandths,
    three_significant,
};
use crate::ui::page::state::PageState;
use crate::ui::panels::{AddPicture, FamilyChoice, GalleryStrip};
use crate::ui::plot;
use crate::ui::views::chosen_picture::{PictureButton, alt};
use crate::ui::views::number::Number;

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
            <div class="prose">
                <section>
                    <h3>"Three ways to say none"</h3>
                    <p>"CLIP gives each class a cosine, and the largest always wins. To refuse, one needs a number from outside: a "
                        "threshold that the best must reach, or a margin by which it must lead. With likelihoods a vague caption can "
                        "stand for everything else: where “a picture” is likelier than every class, no class fits."</p>
                </section>
                <section>
                    <h3>"What it is not"</h3>
                    <p>"A vague caption wins against classes that are wrong, and not against everything strange: a picture from outside "
                        "this model’s world can still look red to it. And the nats of the vaguest captions are set by training only "
                        "within about one."</p>
                </section>
            </div>
        </section>
    }
}

/// The names, the captions made of them, and the limits on cosines.
#[component]
fn ClassControls(classes: Memo<Classes>) -> impl IntoView {
    let example = move || {
        classes.with(|classes| {
            let first = classes.list().into_iter().next()?;
            Some(format!("asked as “{}”", classes.caption(&first)))
        })
    };
    view! {
        <div class="class-controls">
            <Text id="class-names" label="Classes, with commas between" classes=classes read=|classes| &classes.names write=|classes| &mut classes.names/>
            <Text id="class-template" label="Caption of a class, {} for its name" classes=classes read=|classes| &classes.template write=|classes| &mut classes.template/>
            <Text id="class-dummy" label="Caption for none of them" classes=classes read=|classes| &classes.dummy write=|classes| &mut classes.dummy/>
            <p class="aside">{example}</p>
            <Limit id="class-threshold" label="Threshold: a cosine below is none" classes=classes read=|classes| classes.threshold write=|classes| &mut classes.threshold/>
            <Limit id="class-margin" label="Margin: a smaller lead is none" classes=classes read=|classes| classes.margin write=|classes| &mut classes.margin/>
        </div>
    }
}

#[component]
fn Text(
    id: &'static str,
    label: &'static str,
    classes: Memo<Classes>,
    read: fn(&Classes) -> &String,
    write: fn(&mut Classes) -> &mut String,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let edit = move |text: String| {
        page.state.update(|state| *write(&mut state.classes) = text);
    };
    view! {
        <p class="text-control">
            <label for=id>{label}</label>
            <input id=id type="text" class="words" spellcheck="false" autocomplete="off"
                prop:value=move || classes.with(|classes| read(classes).clone())
                on:input:target=move |event| edit(event.target().value())/>
        </p>
    }
}

#[component]
fn Limit(
    id: &'static str,
    label: &'static str,
    classes: Memo<Classes>,
    read: fn(&Classes) -> u16,
    write: fn(&mut Classes) -> &mut u16,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let value = move || classes.with(read);
    let edit = move |text: String| {
        if let Ok(limit) = text.parse() {
            page.state
                .update(|state| *write(&mut state.classes) = limit);
        }
    };
    let shown = move || format!("{:.2}", thousandths(value()));
    view! {
        <p class="slider">
            <label for=id>{label}</label>
            <input id=id type="range" min="0" max="1000" step="10" prop:value=move || value().to_string() aria-valuetext=shown
                on:input:target=move |event| edit(event.target().value())/>
            <output for=id>{shown}</output>
        </p>
    }
}

/// The three answers for every picture on the page.
#[component]
fn Answers(classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let ids = Memo::new(move |_| page.state.with(|state| state.pictures.clone()));
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Answers for every picture">
            <table class="measures answers">
                <caption class="hidden">"What each picture is called, in three ways"</caption>
                <thead><tr>
                    <th scope="col">"Picture"</th>
                    <th scope="col">"by likelihood"</th><th scope="col">"best nats"</th><th scope="col">"nats of none"</th>
                    <th scope="col">"by cosine, threshold"</th><th scope="col">"best cosine"</th>
                    <th scope="col">"by cosine, margin"</th><th scope="col">"lead"</th>
                </tr></thead>
                <tbody><For each=move || ids.get() key=Clone::clone let:id><AnswerRow id=id classes=classes names=names/></For></tbody>
            </table>
        </div>
    }
}

/// What is said of a picture under the page's law.
fn judged(page: PageState, classes: Memo<Classes>, id: &str) -> Option<Judgement> {
    let family = page.state.with(|state| state.family);
    page.cache
        .with(|cache| classes.with(|classes| classes.judge(cache, id, family)))
}

#[component]
fn AnswerRow(id: String, classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let picture = id.clone();
    let stored = StoredValue::new(id.clone());
    let judgement = Memo::new(move |_| stored.with_value(|id| judged(page, classes, id)));
    let answer = move |part: fn(&Judgement) -> Option<usize>| {
        judgement.with(|judgement| {
            let Some(judgement) = judgement else {
                return "–".to_owned();
            };
            let name = |i: usize| names.with(|names| names.get(i).cloned());
            part(judgement)
                .and_then(name)
                .unwrap_or_else(|| "none".into())
        })
    };
    let number = move |part: fn(&Judgement) -> Option<f64>| {
        Signal::derive(move || judgement.with(|judgement| judgement.as_ref().and_then(part)))
    };
    let disputed = move || judgement.with(|judgement| judgement.as_ref().is_some_and(is_disputed));
    view! {
        <tr class:disputed=disputed data-image=picture>
            <th scope="row"><PictureButton id=id/></th>
            <td class="answer" data-field="by-likelihood">{move || answer(|judgement| judgement.by_likelihood)}</td>
            <Number field="best-nats" value=number(|judgement| Some(judgement.nats[judgement.likeliest])) show=signed/>
            <Number field="dummy-nats" value=number(|judgement| judgement.dummy_nats) show=signed/>
            <td class="answer" data-field="by-threshold">{move || answer(|judgement| judgement.by_threshold)}</td>
            <Number field="best-cosine" value=number(|judgement| Some(judgement.cosines[judgement.nearest])) show=three_significant/>
            <td class="answer" data-field="by-margin">{move || answer(|judgement| judgement.by_margin)}</td>
            <Number field="cosine-margin" value=number(|judgement| judgement.cosine_margin) show=three_significant/>
        </tr>
    }
}

/// Every class for the chosen picture.
#[component]
fn ChosenAnswer(classes: Memo<Classes>, names: Memo<Vec<String>>) -> impl IntoView {
    let page = expect_context::<PageState>();
    let id = Memo::new(move |_| page.state.with(|state| state.picture.clone()));
    let judgement = Memo::new(move |_| id.with(|id| judged(page, classes, id.as_deref()?)));
    let sentence = move || {
        judgement.with(|judgement| {
            let judgement = judgement.as_ref()?;
            Some(names.with(|names| judgement_text(judgement, names)))
        })
    };
    let title = move || id.with(|id| id.as_deref().map(|id| alt(page, id)));
    let rows = Memo::new(move |_| {
        let mut rows = names.get();
        rows.extend(
            classes
                .with(Classes::dummy)
                .map(|dummy| format!("none: “{dummy}”")),
        );
        rows
    });
    let scales = Scales::of(judgement);
    let keyed = move || rows.get().into_iter().enumerate();
    view! {
        <h3 class="chosen-title">{title}</h3>
        <p class="finding" aria-live="polite">{sentence}</p>
        <table class="measures classes-table">
            <caption class="hidden">"Every class for the chosen picture"</caption>
            <thead><tr><th scope="col">"Class"</th><th scope="col" class="plotted">"nats above uniform"</th><th scope="col">"nats"</th><th scope="col">"share"</th><th scope="col" class="plotted">"CLIP’s cosine"</th><th scope="col">"cosine"</th></tr></thead>
            <tbody><For each=keyed key=Clone::clone let:row><ClassRow i=row.0 name=row.1 judgement=judgement scales=scales/></For></tbody>
            <tfoot aria-hidden="true"><tr><td></td><td class="plotted">{plot::axis(move || scales.nats.get())}</td><td></td><td></td><td class="plotted">{plot::axis(move || scales.cosines.get())}</td><td></td></tr></tfoot>
        </table>
    }
}

/// The scales that the bars of all classes share.
#[derive(Debug, Clone, Copy)]
struct Scales {
    nats: Memo<Extent>,
    cosines: Memo<Extent>,
}

impl Scales {
    fn of(judgement: Memo<Option<Judgement>>) -> Self {
        let nats = move |known: &Judgement| {
            let all = known.nats.iter().copied().chain(known.dummy_nats);
            Extent::of(all)
        };
        let cosines = |known: &Judgement| Extent::of(known.cosines.iter().copied());
        let read = move |scale: fn(&Judgement) -> Extent| {
            judgement.with(|judgement| judgement.as_ref().map(scale).unwrap_or_default())
        };
        Self {
            nats: Memo::new(move |_| read(nats)),
            cosines: Memo::new(move |_| read(cosines)),
        }
    }
}

/// One class, or the caption for none of them, which has no cosine of its own in CLIP's answer.
#[component]
fn ClassRow(
    i: usize,
    name: String,
    judgement: Memo<Option<Judgement>>,
    scales: Scales,
) -> impl IntoView {
    let read = move |part: fn(&Judgement, usize) -> Option<f64>| {
        judgement.with(|judgement| judgement.as_ref().and_then(|known| part(known, i)))
    };
    let nats = move || read(nats_at);
    let cosine = move || read(|known, i| known.cosines.get(i).copied());
    view! {
        <tr data-class=name.clone()>
            <th scope="row"><span class="words">{name.clone()}</span></th>
            <td class="plotted">{plot::bar(nats, move || scales.nats.get())}</td>
            <Number field="class-nats" value=Signal::derive(nats) show=signed/>
            <Number field="class-share" value=Signal::derive(move || read(|known, i| known.shares.get(i).copied())) show=percent/>
            <td class="plotted">{plot::bar(cosine, move || scales.cosines.get())}</td>
            <Number field="class-cosine" value=Signal::derive(cosine) show=three_significant/>
        </tr>
    }
}

/// The nats of a class, or of the dummy behind the last.
fn nats_at(judgement: &Judgement, i: usize) -> Option<f64> {
    let class = judgement.nats.get(i).copied();
    class.or_else(|| judgement.dummy_nats.filter(|_| i == judgement.nats.len()))
}
