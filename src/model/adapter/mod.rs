//! The trainable head: a caption's feature → the natural parameter η = κμ of its distribution on the sphere.
//!
//! Knows nothing of the encoder that made the features.

mod config;
mod evidential;
mod gamma;
mod gaussian;
mod generalized_gaussian;
mod host_loss;
mod likelihood;
mod loss;
mod perceptron;

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use crate::error::Result;
use crate::model::initial::linear;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

pub use crate::family::{Family, PerFamily};
pub use config::{AdapterConfig, MeanDirection};
pub use evidential::{concentration_parameters, evidential_loss};
pub use gaussian::{
    diagonal_log_density, expected_squared_distance, halved_information_bottleneck,
    isotropic_log_density, mutual_likelihood_loss, precision_log_density,
};
pub use generalized_gaussian::GeneralizedGaussian;
pub use likelihood::{concentration, log_likelihood_ratio, scaled_log_likelihood_ratio};
pub use loss::{info_nce, scaled, shifted, sigmoid_loss, soft_info_nce};
pub use perceptron::Perceptron;

/// `Linear → ReLU` for each hidden layer, then `Linear` without activation, and the factor on the log-likelihoods.
#[derive(Module, Debug)]
pub struct Adapter {
    layers: Vec<Linear>,
    #[module(skip)]
    mean_direction: MeanDirection,
    /// The factor τ on the log-likelihoods, used as it is (no exponential), `[1]`.
    pub logit_scale: Param<Tensor<1>>,
}

impl AdapterConfig {
    /// An adapter with `PyTorch`'s default initial weights and τ = 1.
    #[must_use]
    pub fn init(&self, device: &Device) -> Adapter {
        let mut widths = vec![self.hidden_width; self.hidden_layers + 2];
        widths[0] = self.embed_dim;
        widths[self.hidden_layers + 1] = match self.mean_direction {
            MeanDirection::Learned => self.embed_dim,
            MeanDirection::Encoder => 1,
        };
        Adapter {
            mean_direction: self.mean_direction,
            layers: widths
                .windows(2)
                .map(|pair| linear([pair[0], pair[1]], device))
                .collect(),
            logit_scale: Param::from_tensor(Tensor::from_floats([1.0], device)),
        }
    }
}

impl Adapter {
    /// Natural parameters η = κμ of captions.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_texts, embed_dim]`, as the text tower gives them, not normalised
    /// - output: `[n_texts, embed_dim]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        match self.mean_direction {
            MeanDirection::Learned => perceptron::forward(&self.layers, features),
            MeanDirection::Encoder => {
                let log_concentration = self.log_concentration(features.clone());
                unit(features) * log_concentration.exp()
            }
        }
    }

    /// ln κ of captions by an adapter whose mean direction is the encoder's, `[n_texts, 1]`.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n_texts, embed_dim]`
    pub fn log_concentration(&self, features: Tensor<2>) -> Tensor<2> {
        self.log_concentration_with(features, |hidden| hidden)
    }

    /// [`log_concentration`](Self::log_concentration) with a function (dropout) on each hidden layer, `[n_texts,
    /// hidden_width]`.
    pub fn log_concentration_with(
        &self,
        features: Tensor<2>,
        on_hidden: impl Fn(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        perceptron::forward_with(&self.layers, features, on_hidden)
    }
}

/// Rows of length one, `[n, d]`.
fn unit(rows: Tensor<2>) -> Tensor<2> {
    rows.clone() / concentration(rows).clamp_min(f32::MIN_POSITIVE)
}

/// The names of the paper's released state dictionaries; the odd numbers are its activations.
impl Parameters for Adapter {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        for (i_layer, layer) in self.layers.iter_mut().enumerate() {
            visitor.visit_linear(&format!("text_adaptor.etta.{}", 2 * i_layer), layer)?;
        }
        visitor.visit(
            "text_adaptor.temperature",
            Layout::Scalar,
            &mut self.logit_scale,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use crate::model::parameters::count::n_parameters;

    #[test]
    fn the_adapter_of_clip_vit_b_32_has_the_papers_number_of_parameters() {
        let config = AdapterConfig {
            embed_dim: 512,
            hidden_width: 1024,
            hidden_layers: 3,
            mean_direction: MeanDirection::Learned,
        };
        assert_eq!(
            n_parameters(&config.init(&cpu())),
            3_149_312 + 1,
            "four linear layers and a logit scale"
        );
    }

    #[test]
    fn an_adapter_of_the_encoders_direction_changes_the_length_alone() {
        let config = AdapterConfig {
            embed_dim: 4,
            hidden_width: 8,
            hidden_layers: 1,
            mean_direction: MeanDirection::Encoder,
        };
        let device = cpu();
        let features = Tensor::<2>::from_floats([[1.0, 2.0, -0.5, 0.3]], &device);
        let adapter = config.init(&device);
        let once = adapter.forward(features.clone());
        let direction = unit(once.clone()) - unit(features.clone());
        let error: f32 = direction.abs().max().into_scalar();
        assert!(error < 1e-6, "the same direction: {error}");
        let length: f32 = concentration(once).into_scalar();
        let expected: f32 = adapter.log_concentration(features).exp().into_scalar();
        assert!((length - expected).abs() < 1e-5, "{length}, not {expected}");
    }

    #[test]
    fn the_adapter_of_siglip_base_has_the_papers_number_of_parameters() {
        let config = AdapterConfig {
            embed_dim: 768,
            hidden_width: 1024,
            hidden_layers: 3,
            mean_direction: MeanDirection::Learned,
        };
        assert_eq!(
            n_parameters(&config.init(&cpu())),
            3_673_856 + 1,
            "four linear layers and a logit scale"
        );
    }
}
