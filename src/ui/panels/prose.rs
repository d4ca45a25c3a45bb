//! Short texts about what the numbers are, and what they are not.
//!
//! A line that begins with `#` is a title, an empty line parts paragraphs, and words between asterisks are emphasized.

use leptos::prelude::*;

use crate::explorer::{ModelChoice, World, zero_text};
use crate::ui::page::state::PageState;

const ABOUT: &str = "
# What you see
Words that fit many pictures leave much open. The model gives each caption not one point but a spread of directions
on a sphere. *κ*, the *concentration*, says how tight it is: a specific caption stands as a sharp point of light, a
vague one lies out of focus.

A cell says how many times likelier the caption makes the picture than a blind guess does, and its bar says the same in
*nats*, which add where times multiply. How much a nat multiplies is set by the model’s own *τ*: see beside the shares.

# What it is not
*κ* is not the model’s confidence, and not whether the caption is true. It measures what the words leave open, as
far as this model’s eyes can tell pictures apart.

A caption that the model cannot read has a dashed outline and is compared with nothing.";
const SCENES: &str = "
It learned from drawings of one to four shapes that this project generates. It knows no photographs: add one, and
the page says that its numbers mean little.";
const PHOTOGRAPHS: &str = "
It was made for photographs and everyday English.";
const OPENAI: &str = "
OpenAI’s CLIP learned from four hundred million pictures of the web with the words beside them.";
const OTHER_CLIP: &str = "
It learned from photographs with the words beside them; its makers say which.";
/// Note for worlds in which the truth is not known.
const UNCOUNTED: &str = "
Nobody has counted how many photographs a caption fits, so its numbers can be compared with one another, but with no
truth: for that there are the Scenes.";
const PRIVATE: &str = "
Your captions and pictures stay on this machine. Captions are kept in the address after the “#”, which is never
sent, so a link or a reload brings this page back. Alt with ↑ or ↓ moves a caption; arrow keys walk through the
cells; Ctrl+Z takes back a step, up to twenty.";

/// Three short texts below the matrix.
#[component]
pub(crate) fn Prose() -> impl IntoView {
    let page = expect_context::<PageState>();
    let title = |title| view! { <h2>{title}</h2> }.into_any();
    let model = move || {
        let at_work = page.models.at_work.get();
        at_work.unwrap_or_else(|| ModelChoice::BuiltIn(page.world.get()))
    };
    let world = move || match model() {
        ModelChoice::Clip if page.is_openai() => [OPENAI, UNCOUNTED].concat(),
        ModelChoice::Clip => [OTHER_CLIP, UNCOUNTED].concat(),
        ModelChoice::BuiltIn(World::Scenes) => SCENES.to_owned(),
        ModelChoice::BuiltIn(World::Photographs) => [PHOTOGRAPHS, UNCOUNTED].concat(),
    };
    let zero = move || (!page.is_bare.get()).then(|| zero_text(page.free_offset()));
    view! {
        <footer class="prose">
            {sections(ABOUT, title)}
            <section>
                <h2>"This model’s world"</h2><p>{world}</p><p>{PRIVATE}</p><p>{zero}</p>
            </section>
        </footer>
    }
}

/// Texts about a view, below it.
pub(crate) fn about(text: &'static str) -> AnyView {
    let title = |title| view! { <h3>{title}</h3> }.into_any();
    view! { <div class="prose">{sections(text, title)}</div> }.into_any()
}

fn sections(text: &'static str, title: fn(&'static str) -> AnyView) -> AnyView {
    let section = |section: &'static str| {
        let (name, texts) = section.split_once('\n').unwrap_or((section, ""));
        let paragraphs = texts
            .split("\n\n")
            .map(|text| view! { <p>{emphasized(text)}</p> });
        view! { <section>{title(name)}{paragraphs.collect_view()}</section> }
    };
    text.trim_start_matches("\n# ")
        .split("\n\n# ")
        .map(section)
        .collect_view()
        .into_any()
}

/// A text in which words between asterisks are emphasized.
pub(crate) fn emphasized(text: &'static str) -> AnyView {
    let part = |(i, part): (usize, &'static str)| match i % 2 {
        0 => part.into_any(),
        _ => view! { <i>{part}</i> }.into_any(),
    };
    text.split('*')
        .enumerate()
        .map(part)
        .collect_view()
        .into_any()
}
