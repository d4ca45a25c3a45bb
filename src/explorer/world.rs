//! The worlds that come with the page: of each its model, its pictures, and the captions that a visitor finds there.

use super::views::none_of_these::Classes;

/// The ladder that the scenes start with.
pub(super) const FIRST_OF_SCENES: [&str; 6] = [
    "a picture",
    "something warm",
    "something red",
    "a red star",
    "a small red star",
    "a small red star above a large blue circle",
];

/// The ladder that the photographs start with.
pub(super) const FIRST_OF_PHOTOGRAPHS: [&str; 5] = [
    "an animal",
    "a dog",
    "a golden retriever",
    "a golden retriever puppy",
    "a golden retriever puppy on grass",
];

/// A model that comes with the page, with the pictures that it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum World {
    /// Photographs, and whatever people say of them.
    Photographs,
    /// Drawn scenes, of which it is known what is true.
    Scenes,
}

/// A row of the table; paths are relative to the page.
#[derive(Debug)]
struct WorldRow {
    /// The name in links, in the address and of the model's folder.
    slug: &'static str,
    title: &'static str,
    manifest: &'static str,
    gallery: &'static str,
    examples: &'static str,
    lessons: &'static str,
    captions: [&'static str; 6],
    first_chosen: usize,
    ladder: &'static [&'static str],
}

const PHOTOGRAPHS: WorldRow = WorldRow {
    slug: "photos",
    title: "Photographs",
    manifest: "models/photos/manifest.json",
    gallery: "gallery-photos",
    examples: "examples/photos",
    lessons: "lessons-photos.json",
    captions: [
        "something",
        "an animal",
        "a dog",
        "a dog on a couch",
        "two people riding horses on a beach",
        "a brown dog leaping to catch a red frisbee in a garden",
    ],
    first_chosen: 1,
    ladder: &FIRST_OF_PHOTOGRAPHS,
};

const SCENES: WorldRow = WorldRow {
    slug: "scenes",
    title: "Scenes",
    manifest: "models/scenes/manifest.json",
    gallery: "gallery",
    examples: "examples/scenes",
    lessons: "lessons.json",
    captions: FIRST_OF_SCENES,
    first_chosen: 0,
    ladder: &FIRST_OF_SCENES,
};

impl World {
    /// The worlds, the one that the page opens with first.
    pub const ALL: [Self; 2] = [Self::Photographs, Self::Scenes];

    const fn row(self) -> &'static WorldRow {
        match self {
            Self::Photographs => &PHOTOGRAPHS,
            Self::Scenes => &SCENES,
        }
    }

    /// Name of the world in links, in the address and in its model's folder.
    #[must_use]
    pub fn slug(self) -> &'static str {
        self.row().slug
    }

    /// The world that is named so.
    #[must_use]
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|world| world.slug() == slug)
    }

    /// Name of the world on the page.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Path of its model's manifest.
    #[must_use]
    pub fn manifest(self) -> &'static str {
        self.row().manifest
    }

    /// Folder of its pictures.
    #[must_use]
    pub fn gallery(self) -> &'static str {
        self.row().gallery
    }

    /// Folder of the answers that were recorded with its model.
    #[must_use]
    pub fn examples(self) -> &'static str {
        self.row().examples
    }

    /// File of its tour and lessons.
    #[must_use]
    pub fn lessons(self) -> &'static str {
        self.row().lessons
    }

    /// The captions that a visitor starts from, from the vaguest to the most specific.
    #[must_use]
    pub fn captions(self) -> [&'static str; 6] {
        self.row().captions
    }

    /// Place in the gallery of the picture that is chosen at the start, so that its best caption lights the wall.
    #[must_use]
    pub fn first_chosen(self) -> usize {
        self.row().first_chosen
    }

    /// The rungs that the ladder starts with.
    #[must_use]
    pub fn ladder(self) -> &'static [&'static str] {
        self.row().ladder
    }

    /// The classes that pictures are named with at the start.
    #[must_use]
    pub fn classes(self) -> Classes {
        let (names, template, dummy) = match self {
            Self::Photographs => ("dog, horse, car", "a photo of a {}", "something"),
            Self::Scenes => ("red, yellow, green", "something {}", "a picture"),
        };
        Classes {
            names: names.to_owned(),
            template: template.to_owned(),
            dummy: dummy.to_owned(),
            ..Classes::default()
        }
    }

    /// Note about a picture that its model was not made for.
    #[must_use]
    pub fn unfamiliar_picture(self) -> &'static str {
        match self {
            Self::Photographs => {
                "Unfamiliar: unlike the photographs it learned from, so these numbers mean little"
            }
            Self::Scenes => "Not a drawing: these numbers mean little",
        }
    }

    /// Side in pixels of pictures that are corrupted before its model reads them: about what the model sees.
    #[must_use]
    pub fn picture_side(self) -> u32 {
        match self {
            Self::Photographs => 260,
            Self::Scenes => 128,
        }
    }

    /// Whether its image encoder is loaded with the first picture of the visitor's, the embeddings of the gallery being
    /// recorded.
    #[must_use]
    pub fn records_pictures(self) -> bool {
        self == Self::Photographs
    }

    /// Whether it is known what is true in it, so that what a caption says can be counted in bits.
    #[must_use]
    pub fn has_known_truth(self) -> bool {
        self == Self::Scenes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_world_is_found_by_its_name() {
        for world in World::ALL {
            assert_eq!(World::from_slug(world.slug()), Some(world), "{world:?}");
        }
        assert_eq!(World::from_slug("clip"), None, "it comes with no page");
    }

    #[test]
    fn the_page_opens_with_captions_that_grow_more_specific() {
        for world in World::ALL {
            let n_words = world.captions().map(|caption| caption.split(' ').count());
            assert!(n_words.is_sorted(), "{world:?}: {n_words:?} words");
        }
    }
}
