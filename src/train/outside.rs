//! Does a picture belong to the model's world? The greatest likelihood of any full caption decides, against a threshold.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::export::{picture, write_shard};
use super::gallery;
use crate::inference::{ImageEncoding, REFERENCE_TENSOR, Session};
use crate::metrics::quantile;
use crate::model::parameters::TensorRecord;
use crate::preprocess::{RgbPixels, decode};
use crate::scenes::grammar::full_description;
use crate::scenes::{Compositions, Scene, Wording, say};
use crate::weights::manifest::{Outside, Part, Shard};

/// Full captions that a picture is held against.
const N_REFERENCES: usize = 1024;
/// Scenes from which the threshold is taken, and the share of them that may be called foreign.
const N_CALIBRATION: usize = 1000;
const FALSE_ALARMS: f64 = 0.02;
/// Seeds; the test set of `evaluate` has another one.
const REFERENCE_SEED: u64 = 3_000_002;
const CALIBRATION_SEED: u64 = 3_000_001;

/// Writes the natural parameters of full captions under the von Mises–Fisher adapter, which pictures are held against.
pub(super) fn reference_shard(session: &Session, out: &Path) -> Result<Shard> {
    let mut rng = ChaCha8Rng::seed_from_u64(REFERENCE_SEED);
    let captions: Vec<String> = (0..N_REFERENCES)
        .map(|_| {
            let scene = Scene::sample(Compositions::All, &mut rng);
            say(
                &full_description(&scene, &mut rng),
                Wording::Plain,
                &mut rng,
            )
        })
        .collect();
    let encodings = pollster::block_on(session.encode_text(&captions))?;
    let mut values = Vec::new();
    for encoding in &encodings {
        let law = &encoding.laws.as_ref().context("a model with adapters")?.vmf;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a half-precision file follows"
        )]
        values.extend(
            law.mean_direction
                .iter()
                .map(|x| (f64::from(*x) * law.concentration) as f32),
        );
    }
    let shape = vec![encodings.len(), session.manifest().clip.embed_dim];
    let record = TensorRecord {
        name: REFERENCE_TENSOR.to_owned(),
        shape,
        values,
    };
    write_shard(Part::Outside, "outside.safetensors", &[record], out)
}

/// Takes the threshold from the world's own scenes and measures it on foreign pictures.
pub(super) fn calibrate(session: &Session) -> Result<Outside> {
    let mut rng = ChaCha8Rng::seed_from_u64(CALIBRATION_SEED);
    let mut own = || -> Vec<RgbPixels> {
        (0..N_CALIBRATION)
            .map(|_| picture(&Scene::sample(Compositions::All, &mut rng)))
            .collect()
    };
    let (first, second) = (own(), own());
    let mut sorted = familiarity(session, &first)?;
    sorted.sort_by(f64::total_cmp);
    let threshold = quantile(&sorted, FALSE_ALARMS).context("scenes to calibrate on")?;
    let below = |values: &[f64]| {
        values.iter().filter(|v| **v < threshold).count() as f64 / values.len() as f64
    };
    let mut detected = Vec::new();
    for (kind, pictures) in gallery::foreign_pictures(&mut rng) {
        detected.push((kind.to_owned(), below(&familiarity(session, &pictures)?)));
    }
    Ok(Outside {
        threshold,
        false_alarms: below(&familiarity(session, &second)?),
        detected,
    })
}

fn familiarity(session: &Session, pictures: &[RgbPixels]) -> Result<Vec<f64>> {
    let encodings = pollster::block_on(session.encode_images(pictures))?;
    let values: Vec<f64> = encodings
        .iter()
        .filter_map(|encoding| session.familiarity(encoding))
        .collect();
    ensure!(
        values.len() == pictures.len(),
        "the model has no reference captions"
    );
    Ok(values)
}

/// How often a picture is called foreign to the model's world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutsideReport {
    /// Share of the test scenes: false alarms.
    pub scenes: f64,
    /// Share of the photographs that were given: hits.
    pub photos: Option<f64>,
    /// Photographs.
    pub n_photos: usize,
}

impl OutsideReport {
    /// Measures on scenes that are encoded already, and on a folder of photographs if there is one.
    ///
    /// # Errors
    ///
    /// A photograph cannot be read, or the model does not know its world.
    pub(super) fn measure(
        session: &Session,
        scenes: &[ImageEncoding],
        photos: Option<&Path>,
    ) -> Result<Self> {
        let photos = photos.map_or(Ok(Vec::new()), |folder| encode_photos(session, folder))?;
        Ok(Self {
            scenes: share_outside(session, scenes)?.context("test scenes")?,
            photos: share_outside(session, &photos)?,
            n_photos: photos.len(),
        })
    }
}

/// Every file of a folder that is named like a picture, in the order of their names.
fn encode_photos(session: &Session, folder: &Path) -> Result<Vec<ImageEncoding>> {
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
        let picture = decode(&bytes).with_context(of_path)?;
        Ok(pollster::block_on(session.encode_image(&picture.rgb))?)
    };
    paths.iter().map(read).collect()
}

/// Share of pictures that the session calls foreign; `None` of no pictures.
fn share_outside(session: &Session, images: &[ImageEncoding]) -> Result<Option<f64>> {
    let outside = session.manifest().outside.as_ref();
    let threshold = outside.context("a model that knows its world")?.threshold;
    let is_outside = |image| {
        session
            .familiarity(image)
            .is_some_and(|nats| nats < threshold)
    };
    let n_outside = images.iter().filter(|image| is_outside(image)).count();
    Ok((!images.is_empty()).then(|| n_outside as f64 / images.len() as f64))
}
