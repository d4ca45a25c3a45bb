//! Detects pictures that are out of the distribution of the scenes: too little of them has the colour of a ground.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};

use crate::preprocess::RgbPixels;
use crate::report::OutOfDistribution;
use crate::scenes::{Compositions, Scene, ground_colours};
use crate::train::data::Picture;
use crate::train::gallery::pictures::out_of_distribution_pictures;
use crate::train::gallery::png::picture;
use crate::weights::manifest::OutOfDistributionDetector;

/// Scenes from which the threshold is taken; as many others count the false alarms.
const N_CALIBRATION: usize = 1000;
/// Seed of these scenes; the test set of `evaluate` has another one.
const CALIBRATION_SEED: u64 = 3_000_001;
/// The threshold as a share of the least ground of those scenes.
const MARGIN: f64 = 0.9;
/// Difference of a channel that compressing and resizing a picture may make.
const TOLERANCE: u8 = 8;

/// Takes the threshold from drawn scenes and measures it on pictures that are out of distribution.
pub(super) fn calibrate() -> OutOfDistributionDetector {
    let mut rng = ChaCha8Rng::seed_from_u64(CALIBRATION_SEED);
    let mut own = || -> Vec<RgbPixels> {
        let scenes = (0..N_CALIBRATION).map(|_| Scene::sample(Compositions::All, &mut rng));
        scenes.map(|scene| picture(&scene)).collect()
    };
    let (first, second) = (own(), own());
    let grounds = ground_colours();
    let shares = first
        .iter()
        .map(|picture| picture.plain_share(&grounds, TOLERANCE));
    let mut detector = OutOfDistributionDetector {
        threshold: MARGIN * shares.fold(1.0, f64::min),
        grounds,
        tolerance: TOLERANCE,
        false_alarms: 0.0,
        detected: Vec::new(),
    };
    detector.false_alarms = share_detected(&detector, &second);
    for (kind, pictures) in out_of_distribution_pictures(&mut rng) {
        let share = share_detected(&detector, &pictures);
        detector.detected.push((kind.to_owned(), share));
    }
    detector
}

/// Share of pictures that are detected as out of distribution.
fn share_detected(detector: &OutOfDistributionDetector, pictures: &[RgbPixels]) -> f64 {
    let is_detected = |picture: &&RgbPixels| {
        picture.plain_share(&detector.grounds, detector.tolerance) < detector.threshold
    };
    pictures.iter().filter(is_detected).count() as f64 / pictures.len() as f64
}

/// Measures how often pictures are detected as out of distribution: scenes, and a folder of photographs if there is
/// one.
///
/// # Errors
///
/// A photograph cannot be read, or the manifest has no threshold.
pub(in crate::train) fn measure(
    detector: Option<&OutOfDistributionDetector>,
    scenes: &[Scene],
    photos: Option<&Path>,
) -> Result<OutOfDistribution> {
    let detector = detector.context("the manifest has no threshold")?;
    let scenes: Vec<RgbPixels> = scenes.iter().map(picture).collect();
    let photos = photos.map(read_photos).transpose()?;
    Ok(OutOfDistribution {
        scenes: share_detected(detector, &scenes),
        n_photos: photos.as_ref().map_or(0, Vec::len),
        photos: photos.map(|photos| share_detected(detector, &photos)),
    })
}

/// Every file of a folder that is named like a picture, in the order of their names.
fn read_photos(folder: &Path) -> Result<Vec<RgbPixels>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| image::ImageFormat::from_path(path).is_ok());
    paths.sort();
    ensure!(!paths.is_empty(), "{}: no pictures", folder.display());
    paths
        .into_iter()
        .map(|path| Picture::File(path).read())
        .collect()
}
