//! Pictures of the wall that a caption lights.

use leptos::prelude::*;

use crate::explorer::{
    LitPictures, ModelChoice, World, fitting_scenes, likely_photographs, nearest_coverage,
};
use crate::protocol::PictureSets;
use crate::ui::page::state::PageState;

/// Side of a picture on the wall in pixels.
pub(crate) const SIDE: u32 = 56;
/// Photographs in a row of the file that holds them all, and rows of it.
pub(crate) const COLUMNS: usize = 20;
pub(crate) const ROWS: usize = 12;

/// The pictures of a world of which a share is told.
pub(crate) fn pictures_name(world: Option<World>) -> &'static str {
    match world {
        Some(World::Scenes) => "of all drawings",
        _ => "of these photographs",
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

    /// Place of the chosen coverage among those that the model has.
    pub(crate) fn i_coverage(self) -> usize {
        let chosen = self.state.with(|state| state.coverage);
        self.picture_sets(|sets| nearest_coverage(sets, chosen))
            .unwrap_or_default()
    }

    /// The pictures of the wall that a caption of the page could mean, where that is known.
    pub(crate) fn lit_pictures(self, key: u64, text: &str) -> Option<LitPictures> {
        let world = self.wall_world()?;
        if world.has_known_truth() {
            return self.wall.with(|wall| fitting_scenes(text, &wall.scenes));
        }
        let caption = self.caption_view(key)?;
        let family = self.family();
        let i_coverage = self.i_coverage();
        let lit = self.picture_sets(|sets| {
            self.wall.with(|wall| {
                likely_photographs(&caption, (sets, family, i_coverage), &wall.photographs)
            })
        });
        lit.flatten()
    }
}
