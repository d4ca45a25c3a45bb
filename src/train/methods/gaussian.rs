//! The ablation `AsymVLM(𝒢)`: a caption is a Gaussian in the space around the sphere, a picture a point.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, halves, parameters_of, scalar};
use crate::model::adapter::{
    AdapterConfig, Perceptron, concentration, diagonal_log_density, isotropic_log_density,
    precision_log_density,
};
use crate::model::clip::normalize;

/// Parametrisation of the Gaussian by κ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parametrisation {
    /// The paper's: κ is the precision, and logits are log-densities.
    Precision,
    /// Our own: d·κ is the precision, and logits are log-densities over d. It is the same family, which starts where
    /// its normaliser does not outweigh the term of the distance.
    PerDimension,
}

/// One concentration κ = ‖η‖ for all directions.
#[derive(Module, Debug)]
pub struct IsotropicGaussian {
    text: Perceptron,
    logit_scale: Param<Tensor<1>>,
    #[module(skip)]
    parametrisation: Parametrisation,
}

impl IsotropicGaussian {
    /// An untrained adapter with τ = 1.
    #[must_use]
    pub fn new(config: &AdapterConfig, parametrisation: Parametrisation, device: &Device) -> Self {
        Self {
            text: Perceptron::new(config, device),
            logit_scale: scalar(1.0, device),
            parametrisation,
        }
    }
}

impl Method for IsotropicGaussian {
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        self.text.forward(features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        match self.parametrisation {
            Parametrisation::Precision => precision_log_density(texts, images),
            Parametrisation::PerDimension => isotropic_log_density(texts, images),
        }
    }

    fn concentration(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(rows))
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(IsotropicGaussian: text, logit_scale);

/// A variance for each direction: the perceptron's last layer gives a mean, which is normalised, and ln σ².
#[derive(Module, Debug)]
pub struct DiagonalGaussian {
    text: Perceptron,
    logit_scale: Param<Tensor<1>>,
}

impl DiagonalGaussian {
    /// An untrained adapter with τ = 1.
    #[must_use]
    pub fn new(config: &AdapterConfig, device: &Device) -> Self {
        let mut widths = vec![config.hidden_width; config.hidden_layers + 2];
        widths[0] = config.embed_dim;
        widths[config.hidden_layers + 1] = 2 * config.embed_dim;
        Self {
            text: Perceptron::with_widths(&widths, device),
            logit_scale: scalar(1.0, device),
        }
    }
}

impl Method for DiagonalGaussian {
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let (mean, log_variance) = halves(&self.text.forward(features));
        Tensor::cat(vec![normalize(mean), log_variance], 1)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let (mean, log_variance) = halves(&texts);
        diagonal_log_density(mean, log_variance, images)
    }

    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(halves(&rows).1.exp().mean_dim(1))
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(DiagonalGaussian: text, logit_scale);
