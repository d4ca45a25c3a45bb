//! `ProbVLM`: a generalised Gaussian around each frozen feature, of both sides, tied by a light cross term.
//!
//! Upadhyay et al. 2023, [ProbVLM](https://arxiv.org/abs/2307.00398), as the code of `AsymVLM` adapts it.

use burn::module::Module;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::method::{Method, NamedPart, Side, columns, last_column, parameters_of};
use crate::error::Result;
use crate::model::adapter::{AdapterConfig, GeneralizedGaussian, Perceptron};
use crate::model::clip::normalize;
use crate::model::parameters::ParameterVisitor;

/// Weight of the likelihood of the other side's feature.
const CROSS_WEIGHT: f64 = 1e-4;

/// Scalar that is taken for the uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum UncertaintyOf {
    /// One over the mean variance, as the released code has it: a precision.
    #[default]
    Inverse,
    /// The mean variance over the dimensions.
    Variance,
}

impl UncertaintyOf {
    fn of(self, variance: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Inverse => variance.recip(),
            Self::Variance => variance,
        }
    }
}

/// `BayesCap`: a residual perceptron with a head for each parameter of the distribution.
#[derive(Module, Debug)]
struct BayesCap {
    trunk: Perceptron,
    mean: Perceptron,
    inverse_scale: Perceptron,
    shape: Perceptron,
}

impl BayesCap {
    fn new(config: &AdapterConfig, device: &Device) -> Self {
        let (d, hidden) = (config.embed_dim, config.hidden_width);
        let head = || Perceptron::with_widths(&[d, d, d], device);
        Self {
            trunk: Perceptron::with_widths(&[d, hidden, hidden, d], device),
            mean: head(),
            inverse_scale: head(),
            shape: head(),
        }
    }

    fn forward(&self, features: Tensor<2>) -> GeneralizedGaussian {
        let hidden = self.trunk.forward(features.clone()) + features;
        GeneralizedGaussian {
            mean: self.mean.forward(hidden.clone()),
            inverse_scale: softplus(self.inverse_scale.forward(hidden.clone()), 1.0),
            shape: softplus(self.shape.forward(hidden), 1.0),
        }
    }
}

impl NamedPart for BayesCap {
    fn visit_as<V: ParameterVisitor>(&mut self, side: &str, visitor: &mut V) -> Result<()> {
        self.trunk.visit_as(&format!("{side}.trunk"), visitor)?;
        self.mean.visit_as(&format!("{side}.mean"), visitor)?;
        let name = format!("{side}.inverse_scale");
        self.inverse_scale.visit_as(&name, visitor)?;
        self.shape.visit_as(&format!("{side}.shape"), visitor)
    }
}

/// A `BayesCap` for each side.
#[derive(Module, Debug)]
pub struct ProbVlm {
    image: BayesCap,
    text: BayesCap,
    #[module(skip)]
    uncertainty: UncertaintyOf,
}

impl ProbVlm {
    /// An untrained `BayesCap` for each side, for features of the width in `config`.
    #[must_use]
    pub fn new(config: &AdapterConfig, uncertainty: UncertaintyOf, device: &Device) -> Self {
        Self {
            image: BayesCap::new(config, device),
            text: BayesCap::new(config, device),
            uncertainty,
        }
    }
}

/// What a row of training holds: a feature and the distribution around it, `[n, embed_dim]` each.
fn feature_and_distribution(rows: &Tensor<2>) -> (Tensor<2>, GeneralizedGaussian) {
    let [_, width] = rows.dims();
    let embed_dim = width / 4;
    let part = |i: usize| columns(rows, i * embed_dim, (i + 1) * embed_dim);
    let distribution = GeneralizedGaussian {
        mean: part(1),
        inverse_scale: part(2),
        shape: part(3),
    };
    (part(0), distribution)
}

impl Method for ProbVlm {
    /// Features, and the three parameters of their distributions.
    fn training_rows(&self, side: Side, features: Tensor<2>) -> Tensor<2> {
        let of = side.of(&self.image, &self.text).forward(features.clone());
        Tensor::cat(vec![features, of.mean, of.inverse_scale, of.shape], 1)
    }

    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        let (images, image) = feature_and_distribution(&images);
        let (texts, text) = feature_and_distribution(&texts);
        let own = image.loss(images.clone()) + text.loss(texts.clone());
        own + (image.loss(texts) + text.loss(images)) * CROSS_WEIGHT
    }

    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(self.image.forward(features).mean)
    }

    /// Unit means, and the mean variance in the last column.
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let distribution = self.text.forward(features);
        let variance = distribution.variance().mean_dim(1);
        Tensor::cat(vec![normalize(distribution.mean), variance], 1)
    }

    fn uncertainty(&self, rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.uncertainty.of(last_column(&rows)))
    }

    fn uncertainty_of_images(&self, features: Tensor<2>) -> Option<Tensor<2>> {
        let variance = self.image.forward(features).variance().mean_dim(1);
        Some(self.uncertainty.of(variance))
    }
}

parameters_of!(ProbVlm: image, text);
