//! ELIP's evidential loss on the adapter of `AsymVLM`: the similarity to each picture is evidence for it.
//!
//! The published model trains bottlenecks inside the towers; on frozen features the same loss trains the perceptron.

use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};

use super::{Method, Pairs};
use crate::error::Result;
use crate::model::adapter::{AdapterConfig, Perceptron, evidential_loss};
use crate::model::clip::normalize;
use crate::model::parameters::{ParameterVisitor, Parameters};

/// The factor on the cosine, which is not trained.
const LOGIT_SCALE: f64 = 100.0;

/// An adapter of captions.
#[derive(Module, Debug)]
pub struct Elip {
    text: Perceptron,
    annealing_epochs: usize,
}

impl Elip {
    /// Untrained; the divergence has its full weight after this many epochs: 20 in the released code, 15 in the paper.
    #[must_use]
    pub fn new(config: &AdapterConfig, annealing_epochs: usize, device: &Device) -> Self {
        Self {
            text: Perceptron::new(config, device),
            annealing_epochs,
        }
    }
}

impl Method for Elip {
    fn loss(&self, pairs: Pairs, epoch: usize) -> Tensor<1> {
        let cosines = self.scores(self.of_images(pairs.images), self.of_texts(pairs.texts));
        let log_evidence = cosines * LOGIT_SCALE;
        let weight = (epoch as f64 / self.annealing_epochs as f64).min(1.0);
        let image_to_text = evidential_loss(log_evidence.clone(), weight);
        let text_to_image = evidential_loss(log_evidence.transpose(), weight);
        (image_to_text + text_to_image) * 0.5
    }

    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(self.text.forward(features))
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        images.matmul(texts.transpose())
    }

    /// The mass u = M/Σα that is on no picture, with α = e^(100·cos) + 1 not clamped, as released: one over one plus
    /// the mean evidence.
    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        let log_evidence = self.scores(rows, gallery) * LOGIT_SCALE; // [n, n_gallery]
        let greatest = log_evidence.clone().max_dim(1);
        let mean = (log_evidence - greatest.clone()).exp().mean_dim(1);
        Some(sigmoid((mean.log() + greatest).neg()))
    }
}

impl Parameters for Elip {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.text.visit_as("text", visitor)
    }
}
