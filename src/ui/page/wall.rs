//! The pictures of the wall, and which of them a caption lights.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::explorer::{
    LitPictures, ModelChoice, World, fitting_scenes, likely_photographs, wall_scenes,
};
use crate::protocol::{CompactDirection, PictureSets};
use crate::scenes::Scene;
use crate::ui::page::gallery::{fetch_bytes, fetch_json};
use crate::ui::page::state::PageState;

/// Place of the coverage that a visitor starts with, 80 %, among those of the model.
pub(crate) const FIRST_COVERAGE: usize = 3;

/// The pictures of both worlds' walls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WallPictures {
    pub(crate) scenes: Vec<Scene>,
    /// What the model of photographs makes of its wall; none before it has been fetched.
    pub(crate) photographs: Vec<CompactDirection>,
    /// What somebody wrote of each photograph.
    pub(crate) captions: Vec<String>,
}

impl WallPictures {
    pub(crate) fn new() -> Self {
        Self {
            scenes: wall_scenes(),
            photographs: Vec::new(),
            captions: Vec::new(),
        }
    }
}

impl PageState {
    /// The world whose wall stands on the page; none where the model at work was not made for one.
    pub(crate) fn wall_world(self) -> Option<World> {
        let model = self.state.with(|state| state.model);
        let ModelChoice::BuiltIn(world) = model else {
            return None;
        };
        // Its place is kept before the photographs have come, so that nothing moves when they do.
        let has_sets = || self.picture_sets(|_| ()).is_some();
        (world.has_known_truth() || has_sets()).then_some(world)
    }

    /// Reads the sets that the model has, if it has any.
    pub(crate) fn picture_sets<R>(self, read: impl FnOnce(&PictureSets) -> R) -> Option<R> {
        self.snapshot.with(|snapshot| {
            let sets = snapshot.as_ref()?.card.picture_sets.as_ref()?;
            Some(read(sets))
        })
    }

    /// The pictures of the wall that a caption of the page could mean, where that is known.
    pub(crate) fn lit_pictures(self, key: u64, text: &str) -> Option<LitPictures> {
        let world = self.wall_world()?;
        if world.has_known_truth() {
            return self.wall.with(|wall| fitting_scenes(text, &wall.scenes));
        }
        let caption = self.caption_view(key)?;
        let family = self.family();
        let i_coverage = self.i_coverage.get();
        let lit = self.picture_sets(|sets| {
            self.wall.with(|wall| {
                likely_photographs(&caption, (sets, family, i_coverage), &wall.photographs)
            })
        });
        lit.flatten()
    }
}

/// Fetches what is known of the wall's photographs; without it there is none.
pub(crate) fn fetch(page: PageState) {
    let world = World::Photographs;
    spawn_local(async move {
        let directions = fetch_bytes(&format!("{}/wall.bin", world.examples())).await;
        let captions = fetch_json::<Vec<String>>(&format!("{}/wall.json", world.gallery())).await;
        let (Ok(directions), Ok(captions)) = (directions, captions) else {
            return;
        };
        let n_bytes = directions.len() / captions.len().max(1);
        page.wall.update(|wall| {
            wall.photographs = CompactDirection::read_all(&directions, n_bytes);
            wall.captions = captions;
        });
    });
}
