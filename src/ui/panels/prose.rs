//! What the numbers are, and what they are not.

use leptos::prelude::*;

use crate::explorer::ModelChoice;
use crate::ui::page::state::PageState;

const SCENES: &str = "It learned from drawings of one to four shapes that this project generates. It knows no photographs: add one, and the page says that it is outside what the model knows.";
const PHOTOGRAPHS: &str = "OpenAI’s CLIP learned from four hundred million pictures of the web with the words beside them. Nobody has counted how many pictures fit a caption there, so its numbers can be compared with one another, but with no truth.";

/// Three short texts below what they explain.
#[component]
pub(crate) fn Prose() -> impl IntoView {
    let page = expect_context::<PageState>();
    let world = move || match page.models.at_work.get() {
        Some(ModelChoice::Clip) => PHOTOGRAPHS,
        _ => SCENES,
    };
    view! {
        <footer class="prose">
            <section>
                <h2>"What you see"</h2>
                <p>"Words that fit many pictures leave much open. The model gives each caption not one point but a spread of "
                    "directions on a sphere. "<i>"κ"</i>", the "<i>"concentration"</i>", says how tight it is: a specific caption "
                    "stands as a sharp point of light, a vague one lies out of focus."</p>
                <p>"A bar says how much better the caption predicts the picture than knowing nothing would, in "<i>"nats"</i>
                    ". Zero is no better. One nat more makes the picture 2.7 times as likely."</p>
            </section>
            <section>
                <h2>"What it is not"</h2>
                <p><i>"κ"</i>" is not the model’s confidence, and not whether the caption is true. It measures what the words leave open, "
                    "as far as this model’s eyes can tell pictures apart."</p>
                <p>"Differences between captions mean something; the zero of the nats is set by training only within about one nat."</p>
            </section>
            <section>
                <h2>"This model’s world"</h2>
                <p>{world}</p>
                <p>"Your captions and pictures stay on this machine. Captions are kept in the address after the “#”, which is never sent, "
                    "so a link or a reload brings this page back. Alt with ↑ or ↓ moves a caption; arrow keys walk through the cells."</p>
            </section>
        </footer>
    }
}
