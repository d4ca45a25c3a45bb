//! The sets of drawings that a caption could mean by a model of drawn scenes, and drawn scenes through its encoders.

use anyhow::{Context as _, Result, ensure};
use rand::{Rng, SeedableRng as _, rngs::ChaCha8Rng};
use rayon::prelude::*;

use crate::explorer::grouped;
use crate::family::{Family, PerFamily};
use crate::inference::{ImageEncoding, Session, TextEncoding};
use crate::protocol::PictureSets;
use crate::scenes::grammar::{hierarchy, random_part};
use crate::scenes::{Compositions, Scene, Wording, say};
use crate::train::features::rows::Rows;
use crate::train::gallery::png::picture;
use crate::train::pairs::captions::RetrievalCaptions;
use crate::train::pairs::encoded::{Distributions, EncodedPairs};
use crate::train::pairs::picture_sets::picture_sets;

/// Scenes on which the thresholds are chosen; they are measured on as many others.
pub const N_SCENES: usize = 2000;
/// Seed of these scenes; trainings, reference captions, detector and test set have other ones.
pub const SEED: u64 = 3_000_002;
/// Scenes rendered and encoded together, which bounds the memory.
const SCENES_PER_PASS: usize = 128;

/// Chooses thresholds on freshly drawn scenes with captions of all levels, and measures them on as many others.
///
/// Only the scene that a caption was made from counts as right, though a vague caption is true of many: counted with
/// each of them, vague captions would outnumber all others.
///
/// # Errors
///
/// No scenes, a model without adapters, or a device that fails.
pub fn scene_sets(session: &Session, n_scenes: usize, seed: u64) -> Result<PictureSets> {
    ensure!(n_scenes > 0, "no scenes to choose thresholds on");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let calibration = encoded_pairs(session, n_scenes, &mut rng)?;
    let others = encoded_pairs(session, n_scenes, &mut rng)?;
    let on = format!("{} other drawings", grouped(&n_scenes.to_string()));
    Ok(picture_sets(&calibration, &[(&on, &others)]))
}

/// Drawn scenes with their captions, encoded.
fn encoded_pairs(session: &Session, n_scenes: usize, rng: &mut ChaCha8Rng) -> Result<EncodedPairs> {
    let mut scenes = Vec::with_capacity(n_scenes);
    let mut list = RetrievalCaptions::default();
    for i_scene in 0..n_scenes {
        let scene = Scene::sample(Compositions::All, rng);
        for text in captions_of(&scene, rng) {
            list.texts.push(text);
            list.pictures_of.push(vec![i_scene]);
        }
        scenes.push(scene);
    }
    let texts = pollster::block_on(session.encode_text(&list.texts))?;
    let images = encode_scenes(session, &scenes)?;
    let distributions = PerFamily {
        vmf: distributions(&texts, Family::VonMisesFisher)?,
        power_spherical: distributions(&texts, Family::PowerSpherical)?,
    };
    let images = rows(images.iter().map(|image| &image.embedding[..]));
    let embeddings = rows(texts.iter().map(|text| &text.embedding[..]));
    EncodedPairs::new(images, list, embeddings, distributions)
}

/// A caption of a scene on each level and one of a random part of it, in varied wording.
pub(super) fn captions_of<R: Rng>(scene: &Scene, rng: &mut R) -> Vec<String> {
    let mut descriptions = hierarchy(scene, rng).to_vec();
    descriptions.push(random_part(scene, rng));
    let said = descriptions
        .iter()
        .map(|said| say(said, Wording::Varied, rng));
    said.collect()
}

/// Drawn scenes through the image encoder, in order.
///
/// # Errors
///
/// The device fails.
pub(in crate::train) fn encode_scenes(
    session: &Session,
    scenes: &[Scene],
) -> Result<Vec<ImageEncoding>> {
    let mut encodings = Vec::with_capacity(scenes.len());
    for chunk in scenes.chunks(SCENES_PER_PASS) {
        let pictures: Vec<_> = chunk.par_iter().map(picture).collect();
        encodings.extend(pollster::block_on(session.encode_images(&pictures))?);
    }
    Ok(encodings)
}

fn distributions(texts: &[TextEncoding], family: Family) -> Result<Distributions> {
    let of_family = |text: &TextEncoding| {
        let both = text.distributions.as_ref();
        Some(both?.get(family).clone())
    };
    let all: Option<Vec<_>> = texts.iter().map(of_family).collect();
    let all = all.context("the model has no adapters, so no caption has a κ")?;
    let mean_directions = all.iter().map(|one| &one.mean_direction[..]);
    Ok(Distributions {
        mean_directions: Some(rows(mean_directions)),
        concentrations: all.iter().map(|one| one.concentration).collect(),
    })
}

fn rows<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Rows {
    let mut rows = Rows::empty(0);
    for vector in vectors {
        rows.width = vector.len();
        rows.values.extend_from_slice(vector);
    }
    rows
}
