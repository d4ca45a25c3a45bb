//! What the page does by a program that it does not open with.

use crate::explorer::{LitPictures, World};

/// Something to be done once that program can be had.
#[derive(Debug, Clone)]
pub(crate) enum LaterTask {
    /// Saves the card of a caption, which has a key and a text, and of the pictures of a world's wall that it lights.
    SaveCard {
        caption: (u64, String),
        world: World,
        lit: LitPictures,
    },
    /// Fetches the texts of a world's lessons.
    FetchLessons(World),
    /// Fetches what a visitor may want next of a world, among it these pictures of the gallery.
    FetchAhead { world: World, images: Vec<String> },
}
