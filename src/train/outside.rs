//! Does a picture belong to the model's world? The share of it that has the colour of one of the world's grounds decides.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use super::export::picture;
use super::gallery;
use crate::preprocess::{RgbPixels, decode};
use crate::report::OutOfDistribution;
use crate::scenes::{Compositions, Scene, ground_colours};
use crate::weights::manifest::Outside;

/// Scenes from which the threshold is taken; as many others count the false alarms.
const N_CALIBRATION: usize = 1000;
/// Their seed; the test set of `evaluate` has another one.
const CALIBRATION_SEED: u64 = 3_000_001;
/// The threshold as a share of the least ground of those scenes.
const MARGIN: f64 = 0.9;
/// Difference of a channel that compressing and resizing a picture may make.
const TOLERANCE: u8 = 8;

/// Takes the threshold from the world's own scenes and measures it on foreign pictures.
pub(super) fn calibrate() -> Outside {
    let mut rng = ChaCha8Rng::seed_from_u64(CALIBRATION_SEED);
    let mut own = || -> Vec<RgbPixels> {
        (0..N_CALIBRATION)
            .map(|_| picture(&Scene::sample(Compositions::All, &mut rng)))
            .collect()
    };
    let (first, second) = (own(), own());
    let grounds = ground_colours();
    let shares = first
        .iter()
        .map(|picture| picture.plain_share(&grounds, TOLERANCE));
    let mut outside = Outside {
        threshold: MARGIN * shares.fold(1.0, f64::min),
        grounds,
        tolerance: TOLERANCE,
        false_alarms: 0.0,
        detected: Vec::new(),
    };
    outside.false_alarms = share_outside(&outside, &second);
    for (kind, pictures) in gallery::foreign_pictures(&mut rng) {
        let share = share_outside(&outside, &pictures);
        outside.detected.push((kind.to_owned(), share));
    }
    outside
}

/// Share of pictures that are called foreign.
fn share_outside(outside: &Outside, pictures: &[RgbPixels]) -> f64 {
    let is_outside = |picture: &&RgbPixels| {
        picture.plain_share(&outside.grounds, outside.tolerance) < outside.threshold
    };
    pictures.iter().filter(is_outside).count() as f64 / pictures.len() as f64
}

/// Measures how often a picture is called foreign: scenes, and a folder of photographs if there is one.
///
/// # Errors
///
/// A photograph cannot be read, or the model does not know its world.
pub(super) fn measure(
    outside: Option<&Outside>,
    scenes: &[Scene],
    photos: Option<&Path>,
) -> Result<OutOfDistribution> {
    let outside = outside.context("the model does not know its world")?;
    let scenes: Vec<RgbPixels> = scenes.iter().map(picture).collect();
    let photos = photos.map(read_photos).transpose()?;
    Ok(OutOfDistribution {
        scenes: share_outside(outside, &scenes),
        n_photos: photos.as_ref().map_or(0, Vec::len),
        photos: photos.map(|photos| share_outside(outside, &photos)),
    })
}

/// Every file of a folder that is named like a picture, in the order of their names.
fn read_photos(folder: &Path) -> Result<Vec<RgbPixels>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<_> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.retain(|path| image::ImageFormat::from_path(path).is_ok());
    paths.sort();
    ensure!(!paths.is_empty(), "{}: no pictures", folder.display());
    let read = |path: &std::path::PathBuf| {
        let of_path = || path.display().to_string();
        let bytes = std::fs::read(path).with_context(of_path)?;
        Ok(decode(&bytes).with_context(of_path)?.rgb)
    };
    paths.iter().map(read).collect()
}
