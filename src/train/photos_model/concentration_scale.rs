//! The scale of κ, chosen by retrieval on unseen pairs.

use anyhow::Result;
use burn::tensor::{Device, Tensor};

use super::heads::{CaptionedPictures, Heads, Retrieval};
use crate::model::adapter::{Adapter, Family, log_likelihood_ratio};

/// Factors of κ to choose from.
const SCALES: [f32; 11] = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0];

/// The factor of κ with which unseen pictures find their captions best by likelihood, by the sum of their recall at 1,
/// 5 and 10. In training a caption stands among vaguer ones, which asks for a smaller κ than captions alone do.
pub(super) fn concentration_scale(
    family: Family,
    adapter: &Adapter,
    (heads, unseen): (&Heads, &CaptionedPictures),
    device: &Device,
) -> Result<f32> {
    let captions = unseen.captions.to_device(device);
    let images = heads.images(unseen.images.to_device(device));
    let natural_parameter = adapter.forward(heads.text.head.forward(captions));
    best_scale(family, &natural_parameter, &images, unseen)
}

/// The factor of η, `[n_captions, embed_dim]`, for unit vectors of pictures, `[n_pictures, embed_dim]`.
fn best_scale(
    family: Family,
    natural_parameter: &Tensor<2>,
    images: &Tensor<2>,
    pairs: &CaptionedPictures,
) -> Result<f32> {
    let mut best = (0.0, 1.0);
    for scale in SCALES {
        let scaled = natural_parameter.clone() * scale;
        let nats = log_likelihood_ratio(family, scaled, images.clone());
        let found = Retrieval::of(nats.transpose(), pairs)?;
        let recall: f64 = found.image_to_text.iter().sum();
        if recall > best.0 {
            best = (recall, scale);
        }
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Distribution;

    use super::*;
    use crate::device::{cpu, host_values};
    use crate::model::clip::normalize;
    use crate::numerics::VonMisesFisher;
    use crate::train::features::rows::Rows;

    /// Captions of a picture, pictures, and numbers of each feature.
    const SIZES: [usize; 3] = [5, 60, 16];

    /// Sum of the pictures' recall at 1, 5 and 10, counted one by one.
    fn recall(eta: &[Vec<f64>], images: &[Vec<f64>], scale: f64) -> f64 {
        let [n_own, n_images, width] = SIZES;
        let found = images.iter().enumerate().map(|(i, image)| {
            let mut nats: Vec<(f64, bool)> = eta
                .iter()
                .enumerate()
                .map(|(caption, eta)| {
                    let length = eta.iter().map(|value| value * value).sum::<f64>().sqrt();
                    let cosine: f64 = eta.iter().zip(image).map(|(a, b)| a * b).sum();
                    let density = VonMisesFisher::new(width, scale * length);
                    let nats = density.log_likelihood_ratio(cosine / length);
                    (nats, caption / n_own == i)
                })
                .collect();
            nats.sort_by(|a, b| b.0.total_cmp(&a.0));
            let rank = nats.iter().position(|(_, is_own)| *is_own);
            let rank = rank.expect("it has captions");
            [1, 5, 10].iter().filter(|k| rank < **k).count() as f64
        });
        found.sum::<f64>() / n_images as f64
    }

    #[test]
    fn the_scale_is_the_one_by_which_pictures_find_their_captions_best() {
        let (device, [n_own, n_images, width]) = (cpu(), SIZES);
        device.seed(3);
        let noise = |n| Tensor::<2>::random([n, width], Distribution::Normal(0.0, 1.0), &device);
        let images = normalize(noise(n_images));
        let of_captions = images.clone().repeat_dim(1, n_own);
        let of_captions = of_captions.reshape([n_images * n_own, width]);
        // Some captions are vague, and those are far from their picture.
        let kappa = noise(n_images * n_own).narrow(1, 0, 1).exp() * 3.0;
        let directions = of_captions + noise(n_images * n_own) / kappa.clone() * 0.9;
        let eta = normalize(directions) * kappa;
        let pairs = CaptionedPictures {
            images: Rows::from_device(images.clone()).expect("a device"),
            augmented: Vec::new(),
            captions: Rows::from_device(eta.clone()).expect("a device"),
            picture_of: (0..n_images * n_own).map(|i| i / n_own).collect(),
        };
        let rows = |tensor: &Tensor<2>| -> Vec<Vec<f64>> {
            let values = host_values(tensor.clone());
            let rows = values.chunks(width);
            rows.map(|row| row.iter().map(|v| f64::from(*v)).collect())
                .collect()
        };
        let (eta_rows, image_rows) = (rows(&eta), rows(&images));
        let of = |scale: f32| recall(&eta_rows, &image_rows, f64::from(scale));
        let greatest = SCALES.into_iter().map(of).fold(0.0, f64::max);
        let least = SCALES.into_iter().map(of).fold(f64::INFINITY, f64::min);
        assert!(greatest > least + 0.05, "{least} to {greatest}: it matters");
        let found = best_scale(Family::VonMisesFisher, &eta, &images, &pairs).expect("a device");
        assert!(
            of(found) >= greatest - 0.02,
            "{found}: {} of {greatest}",
            of(found)
        );
    }
}
