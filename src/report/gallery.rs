//! `gallery.json`: the pictures of a gallery in order, each with its file, its captions and its photographer's credit.

use serde::{Deserialize, Serialize};

/// A picture of a gallery, as its `gallery.json` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GalleryEntry {
    /// Name of the picture in the gallery, such as `lone-red-star`.
    pub id: String,
    /// File of the picture, beside the list.
    pub file: String,
    /// Description of the picture for those who do not see it.
    pub alt: String,
    /// Captions that are true of it, each of which says more than the one before.
    #[serde(default)]
    pub captions: Vec<String>,
    /// Credit of its photographer, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit: Option<PhotographCredit>,
}

/// Credit of a photograph: its page and its licence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhotographCredit {
    /// Address of the photographer's page of it.
    pub page: String,
    /// Name of the licence, such as `CC BY 2.0`.
    pub license: String,
    /// Address of the licence's text.
    pub license_url: String,
}
