//! What a visitor may want next: the answers recorded for the views, and the files of the gallery.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::World;
use crate::protocol::Answer;
use crate::ui::page::gallery::{fetch_json, gallery_bytes};
use crate::ui::page::state::{EngineState, PageState};

/// Fetches it of a world, with these pictures of the gallery.
pub(crate) fn fetch(page: PageState, world: World, images: Vec<String>) {
    spawn_local(async move {
        let is_ready = |engine: &EngineState| matches!(engine, EngineState::Ready(_));
        if !page.engine.with_untracked(is_ready) {
            // Optional: without the recorded answers, the views wait for the engine.
            let views = format!("{}/views.json", world.examples());
            if let Ok(answers) = fetch_json::<Vec<Answer>>(&views).await {
                page.learn_recorded(world, &answers);
            }
        }
        for image in images {
            // One that cannot be fetched ahead is fetched when the visitor asks for it, and an error is shown then.
            gallery_bytes(page, &image).await.ok();
        }
    });
}
