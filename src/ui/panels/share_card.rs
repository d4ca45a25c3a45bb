//! The card of the wall's caption, drawn and saved as a picture.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{
    CARD_SIZE, CaptionView, ExplorerState, LitPictures, OWN, ShareCard, World, data_address,
    encode, lit_share_text,
};
use crate::scenes::render;
use crate::ui::dom::{browser, canvas};
use crate::ui::page::state::PageState;
use crate::ui::page::wall::{COLUMNS, ROWS, SIDE, pictures_name};
use crate::ui::plot;

/// Colours of the card, in the order in which it names them.
const COLOURS: [&str; 5] = ["--paper", "--ink", "--ink-soft", "--mist", "--core"];
/// Pictures in a row of the card's wall.
const COLUMNS_OF_SCENES: usize = 8;

/// Saves the card of a caption that lights these pictures of a world's wall.
pub(crate) fn save(
    page: PageState,
    (key, caption): (u64, String),
    world: World,
    lit: &LitPictures,
) {
    let link = page.state.with_untracked(|state| {
        let pictures = state.pictures.iter().filter(|id| !id.starts_with(OWN));
        let mut linked = ExplorerState::new(
            state.model,
            [caption.as_str()],
            pictures.map(String::as_str),
        );
        (linked.family, linked.coverage) = (state.family, state.coverage);
        encode(&linked)
    });
    let card = ShareCard {
        mark: untrack(|| page.caption_view(key))
            .as_ref()
            .map(CaptionView::mark),
        fits: [
            lit_share_text(world, lit),
            pictures_name(Some(world)).to_owned(),
        ],
        caption,
        pictures: Vec::new(),
        columns: if world.has_known_truth() {
            COLUMNS_OF_SCENES
        } else {
            COLUMNS
        },
        model: page.model_title().unwrap_or_default(),
        code: plot::code(&browser::address_with(&link)),
        colours: COLOURS.map(browser::token),
        fonts: browser::token("--serif"),
    };
    let lit = lit.lit.clone();
    spawn_local(async move {
        let pictures = pictures(page, world).await.into_iter().zip(lit).collect();
        let card = ShareCard { pictures, ..card };
        match canvas::png(&data_address("image/svg+xml", &card.svg()), CARD_SIZE).await {
            Some(png) => browser::save("kappascope-card.png", &png),
            None => {
                page.notify(
                    "This browser could not draw the card. The view’s own picture is below.",
                );
            }
        }
    });
}

/// The pictures of a world's wall, each as an address that holds it.
async fn pictures(page: PageState, world: World) -> Vec<String> {
    if world.has_known_truth() {
        let scenes = page.wall.with_untracked(|wall| wall.scenes.clone());
        let picture = |scene| canvas::as_jpeg(&render(scene, SIDE as usize), SIDE);
        return scenes.iter().filter_map(picture).collect();
    }
    let sheet = browser::beside_page(&format!("{}/wall.jpg", world.gallery()));
    canvas::tiles(&sheet, [COLUMNS, ROWS], SIDE)
        .await
        .unwrap_or_default()
}
