//! The open view to take away as a picture.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{data_address, encode, family_name};
use crate::ui::dom::{browser, canvas, svg};
use crate::ui::page::state::{EngineState, PageState};

/// `id` of the open view's place in the document.
pub(crate) const VIEW: &str = "view";
/// Pixels along a PNG's side for each pixel on the page, so that print stays sharp.
const SHARPNESS: f64 = 2.0;

/// Two files, drawn when they are asked for.
#[component]
pub(crate) fn Save() -> impl IntoView {
    let page = expect_context::<PageState>();
    let drawn = move || {
        let place = browser::element(VIEW)?;
        // Of the view that the page opens with only the matrix.
        let matrix = place.query_selector(".work").ok().flatten();
        let link = browser::address_with(&page.state.with_untracked(encode));
        let notes = format!("{}\n{link}", model_text(page));
        svg::draw(matrix.as_ref().unwrap_or(&place), &browser::title(), &notes)
    };
    let name = move |ending: &str| {
        format!(
            "kappascope-{}.{ending}",
            page.state.with_untracked(|state| state.view).slug()
        )
    };
    let save_svg = move |_| {
        if let Some((svg, _)) = drawn() {
            browser::save(&name("svg"), &data_address("image/svg+xml", &svg));
        }
    };
    let save_png = move |_| {
        let Some((svg, size)) = drawn() else { return };
        let (name, address) = (name("png"), data_address("image/svg+xml", &svg));
        spawn_local(async move {
            match canvas::png(&address, size.map(pixels)).await {
                Some(png) => browser::save(&name, &png),
                None => page.notify(
                    "This browser could not draw the view as a PNG. The SVG holds the same.",
                ),
            }
        });
    };
    view! {
        <footer class="save view-controls" aria-label="Take this view away">
            <span>"This view as a picture:"</span>
            <button type="button" class="quiet" data-save="svg" on:click=save_svg>"SVG"</button>
            <button type="button" class="quiet" data-save="png" on:click=save_png>"PNG"</button>
        </footer>
    }
}

/// Name of the model, and of the distribution where the model has one.
fn model_text(page: PageState) -> String {
    let at_work = page.engine.with_untracked(|engine| match engine {
        EngineState::Ready(model) => Some(model.title().to_owned()),
        _ => None,
    });
    if page.is_bare.get_untracked() {
        return at_work.unwrap_or_default();
    }
    let family = family_name(page.state.with_untracked(|state| state.family));
    // Before an engine is ready the numbers are those of a recorded answer.
    match page.model_title().or(at_work) {
        Some(title) => format!("{title} · {family}"),
        None => family.to_owned(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "sides of a page are small and positive"
)]
fn pixels(length: f64) -> u32 {
    (SHARPNESS * length).round() as u32
}
