//! The ablation `SymVLM`: picture and caption are both distributions.
//!
//! ```text
//! ½·[ln p_T(x_I) + ln p_I(x_T)]
//! ```
//!
//! where x is the other side's mean direction or, in the raw variant, its CLIP embedding.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, halves, parameters_of, scalar};
use crate::model::adapter::{
    AdapterConfig, Family, Perceptron, concentration, log_likelihood_ratio,
};
use crate::model::clip::normalize;

/// The point at which each density is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluatedAt {
    /// The other side's mean direction μ.
    MeanDirection,
    /// The other side's embedding z.
    Embedding,
}

/// An adapter of captions and one of pictures.
#[derive(Module, Debug)]
pub struct Symmetric {
    text: Perceptron,
    image: Perceptron,
    logit_scale: Param<Tensor<1>>,
    #[module(skip)]
    family: Family,
    #[module(skip)]
    point: EvaluatedAt,
}

impl Symmetric {
    /// Untrained adapters of both sides with τ = 1.
    #[must_use]
    pub fn new(
        config: &AdapterConfig,
        family: Family,
        point: EvaluatedAt,
        device: &Device,
    ) -> Self {
        Self {
            text: Perceptron::new(config, device),
            image: Perceptron::new(config, device),
            logit_scale: scalar(1.0, device),
            family,
            point,
        }
    }

    /// η and the point, side by side, `[n, 2·embed_dim]`.
    fn parameter_and_point(&self, adapter: &Perceptron, features: Tensor<2>) -> Tensor<2> {
        let natural_parameter = adapter.forward(features.clone());
        let point = match self.point {
            EvaluatedAt::MeanDirection => normalize(natural_parameter.clone()),
            EvaluatedAt::Embedding => normalize(features),
        };
        Tensor::cat(vec![natural_parameter, point], 1)
    }
}

impl Method for Symmetric {
    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        self.parameter_and_point(&self.image, features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        self.parameter_and_point(&self.text, features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let (image_parameter, image_point) = halves(&images);
        let (text_parameter, text_point) = halves(&texts);
        let under_text = log_likelihood_ratio(self.family, text_parameter, image_point);
        let under_image = log_likelihood_ratio(self.family, image_parameter, text_point);
        (under_text + under_image.transpose()) * 0.5
    }

    fn concentration(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(halves(&rows).0))
    }

    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(self.image.forward(features)).recip())
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(Symmetric: text, image, logit_scale);
