//! Layer normalisation whose ε a kernel of our own can read.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::initial::{ones, zeros};
use crate::device::layer_norm;

/// `(x − mean) / √(variance + ε) · γ + β` over the last dimension (Ba et al. 2016,
/// [Layer Normalization](https://arxiv.org/abs/1607.06450)). Burn's module keeps ε to itself.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// Factor of each normalised column, γ, `[width]`; ones at first.
    pub gamma: Param<Tensor<1>>,
    /// What is added to each column, β, `[width]`; zeros at first.
    pub beta: Param<Tensor<1>>,
    epsilon: f64,
}

impl LayerNorm {
    /// γ of ones and β of zeros.
    #[must_use]
    pub fn new(width: usize, epsilon: f64, device: &Device) -> Self {
        Self {
            gamma: ones([width], device),
            beta: zeros([width], device),
            epsilon,
        }
    }

    /// Normalised rows.
    ///
    /// # Shapes
    ///
    /// - `input`, output: `[..., width]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        layer_norm(input, self.gamma.val(), self.beta.val(), self.epsilon)
    }
}
