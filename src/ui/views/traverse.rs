//! Traversals from a picture's best caption towards the one that says least, with and without spread.

use leptos::prelude::*;

use crate::explorer::views::traverse::{Inclusion, Traversal, VisitedCaption, agreement, pool};
use crate::explorer::{percent, three_significant};
use crate::ui::page::pictures::written_captions;
use crate::ui::page::state::PageState;
use crate::ui::panels::chosen_picture::{PictureStrip, chosen_alt};
use crate::ui::panels::measures::{Nats, Number, caption_head, head};
use crate::ui::panels::prose::about;
use crate::ui::plot;

/// Captions whose inclusion in one another is tabled at most.
const MAX_TABLED: usize = 8;

const COLUMNS: &str = "met at|caption|*κ*|nats";
const ABOUT: &str = "
# Two ways up
Fifty equal steps lead from the picture’s likeliest caption to a root; at each the nearest caption is noted. Without
spread, captions are points, near is a great cosine, and the root is the embedding of no words, as *ProLIP* does for
models that know no spread. With spread, the way leads from distribution to distribution: near is a small
*divergence* to the distribution at that step, and the root is the vaguest caption that contains the first.

Both use the von Mises–Fisher distribution; for the power spherical one these integrals have no closed form.

# What it is not
Only captions on the page and those that were written for its pictures can be met. Containing is a relation of the
model’s spreads, not of words: a caption may contain another that it does not follow from.";

/// Both ways from one picture to a root, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq)]
struct TraversalPaths {
    points: Option<Traversal>,
    distributions: Option<Traversal>,
    /// The captions that were written for the picture.
    written: Vec<String>,
}

impl TraversalPaths {
    fn of(page: PageState, image: &str) -> Self {
        let (pool, written) = page.gallery.with(|gallery| {
            let pool = page
                .state
                .with(|state| pool(&state.askable().1, &written_captions(state, gallery)));
            let picture = gallery.iter().find(|picture| picture.entry.id == image);
            (pool, picture.map(|picture| picture.entry.captions.clone()))
        });
        page.cache.with(|cache| Self {
            points: Traversal::between_points(cache, &pool, image),
            distributions: Traversal::between_distributions(cache, &pool, image),
            written: written.unwrap_or_default(),
        })
    }

    /// The captions met on either way, the way through spreads first.
    fn met(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for way in [&self.distributions, &self.points].into_iter().flatten() {
            for word in way.texts() {
                if words.len() < MAX_TABLED && !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
        }
        words
    }
}

/// The view: a picture, the two ways, and which caption holds which.
#[component]
pub(crate) fn Traverse() -> impl IntoView {
    let page = expect_context::<PageState>();
    let ways = Memo::new(move |_| {
        let image = page.picture();
        image.map_or_else(TraversalPaths::default, |image| {
            TraversalPaths::of(page, &image)
        })
    });
    let way = move |read: fn(&TraversalPaths) -> &Option<Traversal>| {
        Signal::derive(move || {
            ways.with(|ways| read(ways).clone().map(|way| (way, ways.written.clone())))
        })
    };
    view! {
        <section class="view" aria-labelledby="traverse-title">
            <h2 id="traverse-title">"Which captions lie between a picture and nothing at all?"</h2>
            <PictureStrip/>
            <p class="finding">{move || chosen_alt(page)}</p>
            <div class="ways">
                <Way name="points" title="Without spread" way=way(|ways| &ways.points)/>
                <Way name="distributions" title="With spread" way=way(|ways| &ways.distributions)/>
            </div>
            {move || ways.with(|ways| inclusions(page, &ways.met()))}
            {about(ABOUT)}
        </section>
    }
}

/// One way: the captions in the order in which they are met.
#[component]
fn Way(
    name: &'static str,
    title: &'static str,
    way: Signal<Option<(Traversal, Vec<String>)>>,
) -> impl IntoView {
    let page = expect_context::<PageState>();
    let root = move || {
        let of = |(way, _): &(Traversal, _)| match way.root.as_str() {
            "" => "Root: no words at all.".to_owned(),
            root => format!("Root: “{root}”."),
        };
        way.with(|way| way.as_ref().map(of))
    };
    let rows = move || {
        let met = way.with(|way| way.as_ref().map(|(way, _)| way.met.clone()));
        let rows = met.unwrap_or_default().into_iter().map(met_row);
        rows.collect::<Vec<AnyView>>()
    };
    let words = move || match way.get() {
        None if page.picture().is_none() => {
            "There is no picture on the page; add one in Explore.".to_owned()
        }
        None => "Not yet: the captions have not been compared.".to_owned(),
        Some((way, written)) => agreement_text(&way, &written),
    };
    view! {
        <section data-way=name>
            <h3>{title}</h3>
            <p class="aside">{root}</p>
            <table class="measures way">
                {head(COLUMNS)}
                <tbody>{rows}</tbody>
            </table>
            <p class="aside">{words}</p>
        </section>
    }
}

fn met_row(met: VisitedCaption) -> AnyView {
    let (caption, nats) = (met.caption, met.pair.nats);
    let (mark, kappa) = (Some(caption.mark()), caption.concentration);
    let (text, words) = (caption.caption.clone(), caption.caption.clone());
    let known = |value: f64| Signal::stored(Some(value));
    view! {
        <tr data-met=text style:--certainty=plot::certainty(mark)>
            <Number field="met-share" value=known(met.share) show=percent/>
            {caption_head(move || Some(caption.clone()), move || words.clone())}
            <Number field="met-kappa" value=known(kappa) show=three_significant/>
            <Nats field="met-nats" value=known(nats)/>
        </tr>
    }
    .into_any()
}

/// Agreement of the captions met with those written for the picture, in a sentence.
fn agreement_text(way: &Traversal, written: &[String]) -> String {
    match (agreement(way, written), written.len()) {
        (_, 0) => {
            "No captions were written for this picture, so nobody knows which belong on the way."
                .into()
        }
        ([both, met, all], _) => format!(
            "{both} of the {met} captions met were written for this picture; {both} of the {all} written are met."
        ),
    }
}

/// Inclusions among the captions met, as a table.
fn inclusions(page: PageState, words: &[String]) -> Option<AnyView> {
    if words.is_empty() {
        return None;
    }
    let cell = |inner: &String, outer: &String| {
        let inclusion = page.cache.with(|cache| Inclusion::of(cache, inner, outer));
        let holds = inclusion.is_some_and(|inclusion| inner != outer && inclusion.holds());
        let nats = inclusion.map(|inclusion| inclusion.nats);
        let test = inclusion.map(|inclusion| inclusion.test);
        let mark = if holds { "⊂ " } else { "" };
        let text = |value: Option<f64>| value.map(|value| value.to_string());
        view! {
            <td class="number" class:held=holds data-field="inclusion" data-value=text(nats) data-test=text(test)>
                {mark}{nats.map(three_significant)}
            </td>
        }
    };
    let head =
        |(i, word): (usize, &String)| view! { <th scope="col" title=word.clone()>{i + 1}</th> };
    let row = |(i, inner): (usize, &String)| {
        let cells = words.iter().map(|outer| cell(inner, outer));
        view! {
            <tr data-inner=inner.clone()>
                <th scope="row">{i + 1}" "<span class="words">{inner.clone()}</span></th>
                {cells.collect_view()}
            </tr>
        }
    };
    let view = view! {
        <h3>"Which captions contain which"</h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Inclusion of captions in one another">
            <table class="measures inclusions">
                <caption class="hidden">
                    "How far the caption of each row is contained in that of each column, in nats"
                </caption>
                <thead>
                    <tr><th scope="col">"contained in"</th>{words.iter().enumerate().map(head).collect_view()}</tr>
                </thead>
                <tbody>{words.iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
        <p class="aside">
            "Evidence over a blind guess (nats) that the column’s caption gives, on average, where the row’s caption "
            "has its most likely pictures. ⊂: the row’s caption is the narrower, and lies where the column’s is "
            "likelier than a blind guess."
        </p>
    };
    Some(view.into_any())
}
