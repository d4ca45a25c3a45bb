//! The ablation `AsymVLM(image)`: the picture is a distribution, the caption a point.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, Side, parameters_of, scalar};
use crate::model::adapter::{
    AdapterConfig, Family, Perceptron, concentration, log_likelihood_ratio,
};
use crate::model::clip::normalize;

/// An adapter of pictures.
#[derive(Module, Debug)]
pub struct ImageSide {
    image: Perceptron,
    logit_scale: Param<Tensor<1>>,
    #[module(skip)]
    family: Family,
}

impl ImageSide {
    /// An untrained adapter with τ = 1.
    #[must_use]
    pub fn new(config: &AdapterConfig, family: Family, device: &Device) -> Self {
        Self {
            image: Perceptron::new(config, device),
            logit_scale: scalar(1.0, device),
            family,
        }
    }
}

impl Method for ImageSide {
    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        self.image.forward(features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        log_likelihood_ratio(self.family, images, texts).transpose()
    }

    fn uncertain_side(&self) -> Side {
        Side::Image
    }

    fn concentration(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(rows))
    }

    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(self.image.forward(features)).recip())
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(ImageSide: image, logit_scale);
