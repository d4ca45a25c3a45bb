//! The scale of κ, chosen by retrieval on unseen pairs.

use anyhow::Result;
use burn::tensor::Device;

use super::heads::{CaptionedPictures, Heads, Retrieval};
use crate::model::adapter::{Adapter, Family, log_likelihood_ratio};

/// Factors of κ to choose from, and the recall at 1 that may be lost to a greater one.
const SCALES: [f32; 5] = [1.0, 1.2, 1.4, 1.6, 1.8];
const RECALL_TOLERANCE: f64 = 0.002;

/// The greatest factor of κ with which pictures find their captions as well by likelihood as by cosine, on unseen
/// pairs. In training a caption stands among vaguer ones, which asks for a smaller κ than captions alone do.
pub(super) fn concentration_scale(
    family: Family,
    adapter: &Adapter,
    (heads, unseen): (&Heads, &CaptionedPictures),
    device: &Device,
) -> Result<f32> {
    let captions = unseen.captions.to_device(device);
    let texts = heads.texts(captions.clone());
    let images = heads.images(unseen.images.to_device(device));
    let natural_parameter = adapter.forward(heads.text.head.forward(captions));
    let cosines = Retrieval::of(texts.matmul(images.clone().transpose()), unseen)?;
    let mut best = (f64::NEG_INFINITY, 1.0);
    for scale in SCALES {
        let scaled = natural_parameter.clone() * scale;
        let nats = log_likelihood_ratio(family, scaled, images.clone());
        let recall = Retrieval::of(nats, unseen)?.image_to_text[0];
        let enough = recall.min(cosines.image_to_text[0] - RECALL_TOLERANCE);
        if enough >= best.0 {
            best = (enough, scale);
        }
    }
    Ok(best.1)
}
