//! Drawn scenes and their captions through the towers, with a progress bar.

use anyhow::Result;
use rayon::prelude::*;

use super::batch::rendered;
use crate::preprocess::Tokens;
use crate::scenes::Scene;
use crate::train::data::corruption::Corruptions;
use crate::train::features::encoder::{Encoder, pictures_per_pass};
use crate::train::features::probes::NO_WORDS;
use crate::train::features::rows::Embedded;
use crate::train::progress::Meter;

/// Probe sentences of this world from vague to full, whose κ fits report while they are under way.
pub(super) const PROBE_SENTENCES: [&str; 6] = [
    NO_WORDS,
    "a picture",
    "a shape",
    "something red",
    "a red star",
    "a small striped red star above a large blue circle",
];

/// Scenes through the vision tower, with the noise that is asked for and as many augmented views of each.
pub(super) fn embed_images(
    encoder: &Encoder,
    name: &'static str,
    scenes: &[Scene],
    noise: Corruptions,
    n_views: usize,
) -> Result<Embedded> {
    let per_pass = pictures_per_pass(n_views);
    let mut meter = Meter::new(name, 0, scenes.len());
    let mut embedded = encoder.no_images();
    for (i, chunk) in scenes.chunks(per_pass).enumerate() {
        let seen = |(j, scene): (usize, &Scene)| {
            let id = (i * per_pass + j).to_string();
            encoder.seen(&rendered(scene), &id, noise, n_views)
        };
        let seen = chunk.par_iter().enumerate().map(seen).collect();
        embedded.append(encoder.seen_images(seen, n_views)?);
        meter.update(embedded.features.n_rows(), &[]);
    }
    meter.finish();
    Ok(embedded)
}

/// Captions of any length and number through the text tower.
pub(super) fn embed_texts(
    encoder: &Encoder,
    name: &'static str,
    tokens: &[Tokens],
) -> Result<Embedded> {
    let mut meter = Meter::new(name, 0, tokens.len());
    let embedded = encoder.all_texts(tokens, |n_done| meter.update(n_done, &[]))?;
    meter.finish();
    Ok(embedded)
}
