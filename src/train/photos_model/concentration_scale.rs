//! The scale of κ, chosen by retrieval on unseen pairs.

use anyhow::Result;
use burn::tensor::Device;

use super::heads::{CaptionedPictures, Heads, Retrieval};
use crate::model::adapter::{Adapter, Family, log_likelihood_ratio};

/// Factors of κ to choose from.
const SCALES: [f32; 11] = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0];

/// The factor of κ with which unseen pictures find their captions best by likelihood, by the sum of their recall at 1, 5
/// and 10. In training a caption stands among vaguer ones, which asks for a smaller κ than captions alone do.
pub(super) fn concentration_scale(
    family: Family,
    adapter: &Adapter,
    (heads, unseen): (&Heads, &CaptionedPictures),
    device: &Device,
) -> Result<f32> {
    let captions = unseen.captions.to_device(device);
    let images = heads.images(unseen.images.to_device(device));
    let natural_parameter = adapter.forward(heads.text.head.forward(captions));
    let mut best = (0.0, 1.0);
    for scale in SCALES {
        let scaled = natural_parameter.clone() * scale;
        let nats = log_likelihood_ratio(family, scaled, images.clone());
        let recall: f64 = Retrieval::of(nats, unseen)?.image_to_text.iter().sum();
        if recall > best.0 {
            best = (recall, scale);
        }
    }
    Ok(best.1)
}
