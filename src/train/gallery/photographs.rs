//! The photographs of the page's gallery: files that are there, described by a `gallery.json` beside them.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::pictures::DecodedPicture;
use crate::preprocess::decode;
use crate::report::GalleryEntry;
use crate::train::files::{read_json, read_limited};

/// The photographs in a folder, in the order of its `gallery.json`.
///
/// # Errors
///
/// The list or a photograph cannot be read.
pub fn read(folder: &Path) -> Result<Vec<DecodedPicture>> {
    let entries: Vec<GalleryEntry> = read_json(&folder.join("gallery.json"))?;
    let picture = |entry: GalleryEntry| {
        let path = folder.join(&entry.file);
        let bytes = read_limited(&path)?;
        let pixels = decode(&bytes).with_context(|| path.display().to_string())?;
        Ok(DecodedPicture {
            id: entry.id,
            pixels: pixels.rgb,
            captions: entry.captions,
        })
    };
    entries.into_iter().map(picture).collect()
}
