//! What the page knows of a picture: where it lies, what it is called, and how far it has come.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::web_sys;
use serde::Deserialize;
use web_sys::Url;

use crate::explorer::ExplorerState;
use crate::protocol::ImageReading;
use crate::ui::dom::browser;

/// Where the gallery's pictures lie.
pub(crate) const GALLERY: &str = "./gallery/";

/// A picture of the gallery, as `gallery.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct GalleryPicture {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) alt: String,
    /// Captions that are true of it, each of which says more than the one before.
    #[serde(default)]
    pub(crate) captions: Vec<String>,
    /// The file itself, fetched ahead so that the gallery works when the network is gone.
    #[serde(skip)]
    pub(crate) bytes: Option<Arc<Vec<u8>>>,
}

/// A picture on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureFile {
    pub(crate) url: String,
    pub(crate) alt: String,
    pub(crate) state: PictureState,
}

/// How far a picture has come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PictureState {
    /// From the gallery and known to be sound; no engine has read it yet.
    Shown,
    /// The visitor's own; nobody knows yet what it holds.
    Unread,
    /// An engine has read it.
    Read(ImageReading),
}

impl PictureFile {
    /// Whether an engine found it outside the model's world.
    pub(crate) fn is_outside(&self) -> bool {
        match &self.state {
            PictureState::Read(reading) => reading
                .familiarity
                .is_some_and(|familiarity| familiarity.outside),
            _ => false,
        }
    }

    /// Gives back what the browser keeps for a visitor's own picture.
    pub(crate) fn release(&self) {
        if self.url.starts_with("blob:") {
            // Revoking fails only for what is no address.
            Url::revoke_object_url(&self.url).ok();
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
        .filter(|picture| state.pictures.contains(&picture.id));
    shown
        .flat_map(|picture| picture.captions.iter().cloned())
        .collect()
}

impl GalleryPicture {
    pub(crate) fn url(&self) -> String {
        browser::beside_page(&format!("{GALLERY}{}", self.file))
    }
}
