//! A scene to draw, and how likely each caption of the page finds it.

use leptos::prelude::*;

use crate::explorer::views::studio::drawing::Drawing;
use crate::explorer::{CaptionView, DRAWING, Extent, PairView};
use crate::scenes::parse;
use crate::ui::page::state::PageState;
use crate::ui::panels::controls::FamilyChoice;
use crate::ui::panels::each::each;
use crate::ui::panels::measures::{Nats, caption_head, foot, head};
use crate::ui::panels::prose::about;
use crate::ui::panels::worlds::WayBack;
use crate::ui::plot;
use crate::ui::views::studio::ghosts::GhostScenes;
use crate::ui::views::studio::others::Others;
use crate::ui::views::studio::stage::Stage;
use crate::ui::views::studio::tools::Tools;

const COLUMNS: &str = "Caption|~evidence over a blind guess (nats)|nats|truly";
/// Note about a drawing that the model sees badly.
const BETWEEN: &str = "Over a line, or two in one place: these numbers say little.";
const ABOUT: &str = "
# Two judges
“Fits” is the truth: this world’s rules are known, so whether a caption is true of a drawing can be looked up. The
nats are what the model makes of the same pair. A model that sees gives a caption more nats while it is true.

# What it is not
The model learned from shapes that stand apart, in nine places. Shapes that overlap or lie between two places are
outside what it met, and its nats then say little.";

/// The view: the drawing with its tools, the captions beside it, and other scenes that fit one of them.
#[component]
pub(crate) fn Studio() -> impl IntoView {
    let page = expect_context::<PageState>();
    let chosen = RwSignal::new(0_usize);
    let drawing = page.drawing();
    Effect::new(move |_| {
        let last = drawing.with(|drawing| drawing.objects.len() - 1);
        if chosen.get_untracked() > last {
            chosen.set(last);
        }
    });
    view! {
        <section class="view" aria-labelledby="studio-title">
            <h2 id="studio-title">"Move a shape: which captions follow?"</h2>
            <WayBack/>
            <div class="studio">
                <div><Stage chosen=chosen/><GhostScenes/><Tools chosen=chosen/></div>
                <div><FamilyChoice/><Captions/></div>
            </div>
            <Others/>
            {about(ABOUT)}
        </section>
    }
}

/// Nats of every caption for the drawing, and whether it is true.
#[component]
fn Captions() -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = page.drawing();
    let note = move || drawing.with(|drawing| drawing.is_between_places().then_some(BETWEEN));
    let texts = Memo::new(move |_| {
        let (_, mut texts) = page.state.with(crate::explorer::ExplorerState::askable);
        let mut seen = Vec::new();
        texts.retain(|text| {
            let is_new = !seen.contains(text);
            seen.push(text.clone());
            is_new
        });
        texts
    });
    let nats = move |text: &String| Some(page.generated_pair(text, DRAWING)?.nats);
    let is_read = move |text: &String| {
        let view = page.cache.with(|cache| cache.caption(text, page.family()));
        view.is_some_and(|view| !view.is_unread())
    };
    let extent = Memo::new(move |_| texts.with(|texts| Extent::of(texts.iter().filter_map(nats))));
    let best = Memo::new(move |_| {
        texts.with(|texts| {
            let known = texts.iter().filter(|text| is_read(text));
            let known = known.filter_map(|text| Some((text, nats(text)?)));
            if drawing.with(Drawing::is_between_places) {
                return None;
            }
            let (text, best) = known.clone().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let least = best - page.free_offset();
            let is_near = |(_, nats): &(&String, f64)| *nats >= least;
            (known.filter(is_near).count() == 1).then(|| text.clone())
        })
    });
    let row =
        move |text| view! { <CaptionOfDrawing text=text extent=extent best=best/> }.into_any();
    view! {
        <table class="measures cards studio-captions">
            <caption class="hidden">"Each caption of the page for the drawing"</caption>
            {head(COLUMNS)}
            <tbody>
                {each(move || texts.get(), row)}
            </tbody>
            {foot(COLUMNS, [extent])}
        </table>
        <p class="between" data-spoken>{note}</p>
        <p class="aside">"These are the captions of the page; change them in Explore."</p>
    }
}

#[component]
fn CaptionOfDrawing(
    text: String,
    extent: Memo<Extent>,
    best: Memo<Option<String>>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawing = page.drawing();
    let words = StoredValue::new(text.clone());
    let description = StoredValue::new(parse(&text));
    let view = Memo::new(move |_| -> Option<(CaptionView, PairView)> {
        let family = page.family();
        words.with_value(|text| {
            let caption = page.cache.with(|cache| cache.caption(text, family));
            Some((caption?, page.generated_pair(text, DRAWING)?))
        })
    });
    let mark = move || view.with(|view| view.as_ref().map(|(caption, _)| caption.mark()));
    let nats = move || view.with(|view| view.as_ref().map(|(_, pair)| pair.nats));
    let truth = move || {
        let scene = drawing.with(Drawing::scene);
        description.with_value(|description| match description {
            Some(description) if description.fits(&scene) => "fits",
            Some(_) => "does not fit",
            None => "not known",
        })
    };
    let own = text.clone();
    let of_caption = move || view.with(|view| view.as_ref().map(|(caption, _)| caption.clone()));
    let head = caption_head(of_caption, move || own.clone());
    let is_best = move || best.with(|best| words.with_value(|text| best.as_ref() == Some(text)));
    view! {
        <tr
            class:best=is_best data-drawn=text
            style:--certainty=move || plot::certainty(mark())
        >
            {head}
            <td class="plotted">{plot::bar(nats, move || extent.get())}</td>
            <Nats field="drawn-nats" value=Signal::derive(nats)/>
            <td class="truth" data-field="truth">{truth}</td>
        </tr>
    }
}
