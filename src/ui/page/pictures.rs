//! A picture of the page: its file, its description, and whether an engine has read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::web_sys;
use web_sys::Url;

use crate::corruption::ImageCorruption;
use crate::explorer::{ExplorerState, MAX_PICTURES, wall_scenes};
use crate::protocol::{CompactDirection, ImageReading, RecordedPicture};
use crate::report::{GalleryEntry, PhotographCredit};
use crate::scenes::Scene;
use crate::ui::dom::browser;

/// A picture of a gallery.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GalleryPicture {
    /// Entry of the gallery's list.
    pub(crate) entry: GalleryEntry,
    /// The folder that it lies in.
    pub(crate) folder: &'static str,
    /// Embedding of it by its world's image encoder.
    pub(crate) recorded: Option<Arc<RecordedPicture>>,
    /// The file itself, fetched ahead so that the gallery works when the network is gone.
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
}

/// A picture on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureFile {
    pub(crate) url: String,
    pub(crate) alt: String,
    pub(crate) credit: Option<PhotographCredit>,
    /// The file itself, of a visitor's own picture.
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
    pub(crate) state: PictureState,
}

/// Whether a picture has been read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PictureState {
    /// A picture of the gallery, so known to be sound, that no engine has read yet.
    Shown,
    /// The visitor's own picture, not known to be sound, that no engine has read yet.
    Unread,
    /// A picture that an engine has read.
    Read(ImageReading),
}

impl PictureFile {
    /// Whether an engine found it unlike all that the model learned from.
    pub(crate) fn is_out_of_distribution(&self) -> bool {
        match &self.state {
            PictureState::Read(reading) => reading
                .familiarity
                .is_some_and(|familiarity| familiarity.is_out_of_distribution),
            _ => false,
        }
    }

    /// Notes for the visitor on how it was read.
    pub(crate) fn notes(&self) -> String {
        match &self.state {
            PictureState::Read(reading) => reading.notes.join("; "),
            _ => String::new(),
        }
    }

    /// Address of the picture, once it may be drawn: a visitor's own file only after an engine has found it sound.
    pub(crate) fn sound_url(&self) -> Option<String> {
        (self.state != PictureState::Unread).then(|| self.url.clone())
    }

    /// Gives back what the browser keeps for a visitor's own picture.
    pub(crate) fn release(&self) {
        if self.url.starts_with("blob:") {
            // Revoking fails only for something that is not an address.
            Url::revoke_object_url(&self.url).ok();
        }
    }
}

/// A picture of the page to corrupt, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorruptionChoice {
    pub(crate) image: String,
    pub(crate) corruption: ImageCorruption,
    /// Whether the whole picture is squashed to a square, and not its middle square taken.
    pub(crate) is_squashed: bool,
}

/// A picture of the page at each severity of a corruption, three bytes a pixel, the picture itself first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorruptedPictures {
    pub(crate) of: CorruptionChoice,
    /// Pixels along the side of each.
    pub(crate) side: u32,
    pub(crate) pictures: Vec<Arc<Vec<u8>>>,
}

/// The pictures of both worlds' walls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WallPictures {
    pub(crate) scenes: Vec<Scene>,
    /// Embeddings of these scenes, drawn, by the model of scenes; none before they have been fetched.
    pub(crate) drawings: Vec<CompactDirection>,
    /// Embeddings of its wall by the model of photographs; none before they have been fetched.
    pub(crate) photographs: Vec<CompactDirection>,
    /// Caption that somebody wrote of each photograph.
    pub(crate) captions: Vec<String>,
}

impl WallPictures {
    pub(crate) fn new() -> Self {
        Self {
            scenes: wall_scenes(),
            drawings: Vec::new(),
            photographs: Vec::new(),
            captions: Vec::new(),
        }
    }
}

/// The page's pictures that an engine has read, in order.
pub(crate) fn read_pictures(
    state: &ExplorerState,
    files: &BTreeMap<String, PictureFile>,
) -> Vec<String> {
    let is_read = |id: &&String| {
        files
            .get(*id)
            .is_some_and(|file| matches!(file.state, PictureState::Read(_)))
    };
    state.pictures.iter().filter(is_read).cloned().collect()
}

/// The captions that were written for the page's pictures.
pub(crate) fn written_captions(state: &ExplorerState, gallery: &[GalleryPicture]) -> Vec<String> {
    let shown = gallery
        .iter()
        .filter(|picture| state.pictures.contains(&picture.entry.id));
    shown
        .flat_map(|picture| picture.entry.captions.iter().cloned())
        .collect()
}

impl GalleryPicture {
    pub(crate) fn url(&self) -> String {
        browser::beside_page(&format!("{}/{}", self.folder, self.entry.file))
    }
}

/// Says that the page is full.
pub(crate) fn too_many(n_left_out: usize) -> String {
    let were = if n_left_out == 1 {
        "picture was"
    } else {
        "pictures were"
    };
    format!(
        "{MAX_PICTURES} pictures are as many as fit, so {n_left_out} {were} left out. Remove some to add others."
    )
}
