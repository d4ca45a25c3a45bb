//! PFE*: a variance for each feature of each side, fitted to matching pairs alone; means stay frozen.
//!
//! Shi and Jain 2019, [Probabilistic Face Embeddings](https://arxiv.org/abs/1904.09658), as the code of `AsymVLM`
//! adapts it.

use burn::module::Module;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor};

use super::method::{Method, Side, halves, last_column, parameters_of};
use crate::model::adapter::{AdapterConfig, Perceptron, mutual_likelihood_loss};
use crate::model::clip::normalize;

/// A perceptron of variances for each side.
#[derive(Module, Debug)]
pub struct Pfe {
    image: Perceptron,
    text: Perceptron,
}

impl Pfe {
    /// Untrained perceptrons of these sizes.
    #[must_use]
    pub fn new(config: &AdapterConfig, device: &Device) -> Self {
        Self {
            image: Perceptron::new(config, device),
            text: Perceptron::new(config, device),
        }
    }
}

fn variance(perceptron: &Perceptron, features: Tensor<2>) -> Tensor<2> {
    softplus(perceptron.forward(features), 1.0)
}

impl Method for Pfe {
    /// Features and their variances.
    fn training_rows(&self, side: Side, features: Tensor<2>) -> Tensor<2> {
        let variance = variance(side.of(&self.image, &self.text), features.clone());
        Tensor::cat(vec![features, variance], 1)
    }

    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        let [(images, of_images), (texts, of_texts)] = [images, texts].map(|rows| halves(&rows));
        mutual_likelihood_loss(images - texts, of_images + of_texts)
    }

    /// Unit embeddings, and the mean variance in the last column.
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let variance = variance(&self.text, features.clone()).mean_dim(1);
        Tensor::cat(vec![normalize(features), variance], 1)
    }

    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(last_column(&rows))
    }

    fn gaussians(&self, side: Side, features: Tensor<2>) -> Option<[Tensor<2>; 2]> {
        let variance = variance(side.of(&self.image, &self.text), features.clone());
        Some([features, variance])
    }
}

parameters_of!(Pfe: image, text);
