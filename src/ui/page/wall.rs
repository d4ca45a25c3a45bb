//! Pictures of the wall that a caption lights, and those that the model rings.

use leptos::prelude::*;

use crate::explorer::{LitPictures, World, fitting_scenes, likely_pictures, nearest_coverage};
use crate::protocol::{CompactDirection, PictureSets};
use crate::ui::page::pictures::WallPictures;
use crate::ui::page::state::PageState;

/// Side of a picture on the wall in pixels.
pub(crate) const SIDE: u32 = 56;
/// Photographs in a row of the file that holds them all, and rows of it.
pub(crate) const COLUMNS: usize = 20;
pub(crate) const ROWS: usize = 12;

/// Name of the pictures of a world of which a share is shown.
pub(crate) fn pictures_name(world: Option<World>) -> &'static str {
    match world {
        Some(World::Scenes) => "of all drawings",
        _ => "of these photographs",
    }
}

impl PageState {
    /// The world whose wall stands on the page; none where the model at work was not made for one.
    pub(crate) fn wall_world(self) -> Option<World> {
        let world = self.shown_model().built_in()?;
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

    /// The chosen coverage as the model's sets state it; none where it has no sets.
    pub(crate) fn stated_coverage(self) -> Option<f64> {
        let i = self.i_coverage();
        self.picture_sets(|sets| sets.coverages.get(i).copied())
            .flatten()
    }

    /// The pictures of the wall that a caption of the page could mean, where that is known.
    pub(crate) fn lit_pictures(self, key: u64, text: &str) -> Option<LitPictures> {
        match self.wall_world()? {
            World::Scenes => self.wall.with(|wall| fitting_scenes(text, &wall.scenes)),
            World::Photographs => self.likely_pictures(key, |wall| &wall.photographs),
        }
    }

    /// The drawings of the wall that the model takes a caption of the page to mean.
    pub(crate) fn ringed_pictures(self, key: u64) -> Option<LitPictures> {
        match self.wall_world()? {
            World::Scenes => self.likely_pictures(key, |wall| &wall.drawings),
            World::Photographs => None,
        }
    }

    /// The pictures in a caption's set at the chosen coverage, by their embeddings.
    fn likely_pictures(
        self,
        key: u64,
        embeddings: fn(&WallPictures) -> &[CompactDirection],
    ) -> Option<LitPictures> {
        let caption = self.caption_view(key)?;
        let (family, i_coverage) = (self.family(), self.i_coverage());
        let likely = self.picture_sets(|sets| {
            self.wall.with(|wall| {
                likely_pictures(&caption, (sets, family, i_coverage), embeddings(wall))
            })
        });
        likely.flatten()
    }
}
