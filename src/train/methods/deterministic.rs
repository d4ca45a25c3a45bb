//! Deterministic fine-tuning: the same perceptron with CLIP's own loss, and no distribution.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, parameters_of, scalar};
use crate::model::adapter::{AdapterConfig, Perceptron};
use crate::model::clip::normalize;

/// An adapter that moves captions and has no uncertainty.
#[derive(Module, Debug)]
pub struct Deterministic {
    text: Perceptron,
    logit_scale: Param<Tensor<1>>,
}

impl Deterministic {
    /// Untrained, with this τ: 1 is the literal reading of the paper, 1/0.07 is CLIP's.
    #[must_use]
    pub fn new(config: &AdapterConfig, logit_scale: f32, device: &Device) -> Self {
        Self {
            text: Perceptron::new(config, device),
            logit_scale: scalar(logit_scale, device),
        }
    }
}

impl Method for Deterministic {
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(self.text.forward(features))
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(Deterministic: text, logit_scale);
