//! The adapter of `ProLIP`: a variance for each feature, trained with its pairwise loss and a light bottleneck; means
//! stay frozen.
//!
//! Chun et al. 2025, [Probabilistic Language-Image Pre-Training](https://arxiv.org/abs/2410.18857), as the code of
//! `AsymVLM` adapts it: factor 1 and bias 0 are fixed, the inclusion losses are off.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::method::{Method, Side, halves, last_column, parameters_of, unit_gaussians};
use crate::model::adapter::{
    AdapterConfig, Perceptron, halved_information_bottleneck, sigmoid_loss,
};
use crate::model::clip::normalize;

/// Weight of the bottleneck.
const BOTTLENECK_WEIGHT: f64 = 1e-5;

/// A perceptron of ln σ² for each side.
#[derive(Module, Debug)]
pub struct ProLip {
    image: Perceptron,
    text: Perceptron,
}

impl ProLip {
    /// Untrained perceptrons of these sizes.
    #[must_use]
    pub fn new(config: &AdapterConfig, device: &Device) -> Self {
        Self {
            image: Perceptron::new(config, device),
            text: Perceptron::new(config, device),
        }
    }
}

impl Method for ProLip {
    /// Unit embeddings, and ln σ².
    fn training_rows(&self, side: Side, features: Tensor<2>) -> Tensor<2> {
        let unit = normalize(features);
        let log_variance = side.of(&self.image, &self.text).forward(unit.clone());
        Tensor::cat(vec![unit, log_variance], 1)
    }

    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        let (images, image_log_variance) = halves(&images);
        let (texts, text_log_variance) = halves(&texts);
        let of_images = image_log_variance.clone().exp().sum_dim(1); // [n, 1]
        let of_texts = text_log_variance.clone().exp().sum_dim(1);
        let variance = of_images + of_texts.transpose(); // [n, n]
        let logits = images.clone().matmul(texts.clone().transpose()) - variance * 0.5;
        let no_bias = Tensor::zeros([1], &logits.device());
        let bottleneck = halved_information_bottleneck(images, image_log_variance)
            + halved_information_bottleneck(texts, text_log_variance);
        sigmoid_loss(logits, no_bias) + bottleneck * BOTTLENECK_WEIGHT
    }

    /// Unit embeddings, and the mean variance in the last column.
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let unit = normalize(features);
        let variance = self.text.forward(unit.clone()).exp().mean_dim(1);
        Tensor::cat(vec![unit, variance], 1)
    }

    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(last_column(&rows))
    }

    fn gaussians(&self, side: Side, features: Tensor<2>) -> Option<[Tensor<2>; 2]> {
        Some(unit_gaussians(side.of(&self.image, &self.text), features))
    }
}

parameters_of!(ProLip: image, text);
