//! Golden values of a model folder: its own answers to a few captions and a picture, by which an engine is tested
//! before it answers anything else.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::explorer::World;
use crate::inference::Session;
use crate::scenes::render;
use crate::train::files::put;
use crate::train::gallery::pictures::golden_scene;
use crate::train::gallery::png::{PICTURE_SIDE, png};
use crate::weights::manifest::{FileEntry, Golden, Manifest};
use crate::weights::shard::file_entry;

/// Name of the golden picture in a model folder.
const PICTURE: &str = "golden.png";
/// A caption with a word that the model of drawn scenes does not know; the other one reads such words in pieces.
const UNKNOWN: &str = "a blorple thing";

/// The captions that a world's page opens with, so that its engine has answered them once it is tested, and one with an
/// unknown word where there are such.
#[must_use]
pub fn golden_captions(world: World) -> Vec<String> {
    let unknown = (world == World::Scenes).then_some(UNKNOWN);
    let captions = world.captions().into_iter().chain(unknown);
    captions.map(str::to_owned).collect()
}

/// Draws the golden picture into a model folder.
pub(in crate::train) fn put_golden_picture(folder: &Path) -> Result<FileEntry> {
    let picture = png(&render(&golden_scene(), PICTURE_SIDE), PICTURE_SIDE)?;
    put(&folder.join(PICTURE), &picture)?;
    Ok(file_entry(PICTURE, &picture))
}

/// Golden values of a model that was opened from its folder, where the picture lies.
pub(in crate::train) fn golden_values(
    session: &Session,
    folder: &Path,
    captions: Vec<String>,
    image: FileEntry,
) -> Result<Golden> {
    let path = folder.join(&image.file);
    let picture = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let found = pollster::block_on(session.golden_readings(&captions, &picture))?;
    Ok(found.into_golden(captions, image))
}

/// Golden values for the captions that the page opens with now, of a model that comes with the page.
///
/// # Errors
///
/// A model of another name, or one without golden values so far.
pub fn renewed(session: &Session, folder: &Path) -> Result<Manifest> {
    let mut manifest = session.manifest().clone();
    let world = World::from_slug(&manifest.name);
    let world = world.with_context(|| {
        format!(
            "{}: a model that comes with the page was expected, {} or {}",
            manifest.name,
            World::Photographs.slug(),
            World::Scenes.slug()
        )
    })?;
    let golden_before = manifest.golden.take();
    let image = golden_before
        .context("the manifest holds no golden values")?
        .image;
    manifest.golden = Some(golden_values(
        session,
        folder,
        golden_captions(world),
        image,
    )?);
    Ok(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_passed_its_test_has_answered_what_the_page_opens_with() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public");
        for world in World::ALL {
            let path = folder.join(world.manifest());
            let json = std::fs::read(path).expect("a model comes with the page");
            let manifest = Manifest::from_json(&json).expect("a manifest");
            let golden = manifest.golden.expect("golden values");
            let renewal = "`train golden` renews them";
            assert_eq!(golden.captions, golden_captions(world), "{renewal}");
        }
    }
}
