//! `Linear → ReLU`, repeated, then `Linear`: the one network that every method on frozen features is built of.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::config::AdapterConfig;
use crate::error::Result;
use crate::model::dense::forward_linear;
use crate::model::initial::{linear, normal_linear};
use crate::model::parameters::ParameterVisitor;

/// A perceptron from features to as many numbers.
#[derive(Module, Debug)]
pub struct Perceptron {
    layers: Vec<Linear>,
}

impl Perceptron {
    /// The sizes of the adapter, with `PyTorch`'s default initial weights (which are Burn's).
    #[must_use]
    pub fn new(config: &AdapterConfig, device: &Device) -> Self {
        let mut widths = vec![config.hidden_width; config.hidden_layers + 2];
        widths[0] = config.embed_dim;
        widths[config.hidden_layers + 1] = config.embed_dim;
        Self::with_widths(&widths, device)
    }

    /// Layers between these widths, the first of which is the input's.
    #[must_use]
    pub fn with_widths(widths: &[usize], device: &Device) -> Self {
        Self {
            layers: widths
                .windows(2)
                .map(|pair| linear([pair[0], pair[1]], device))
                .collect(),
        }
    }

    /// A perceptron with normal weights of this standard deviation, and biases of zero.
    #[must_use]
    pub fn near_zero(widths: &[usize], deviation: f64, device: &Device) -> Self {
        let layer = |pair: &[usize]| normal_linear([pair[0], pair[1]], deviation, device);
        Self {
            layers: widths.windows(2).map(layer).collect(),
        }
    }

    /// Output of the last layer for each row.
    ///
    /// # Shapes
    ///
    /// - `rows`: `[n, first width]`
    /// - output: `[n, last width]`
    pub fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        forward(&self.layers, rows)
    }

    /// Shows each layer as `name.{0,2,4,…}`; the odd numbers are the activations of a `PyTorch` `Sequential`.
    ///
    /// # Errors
    ///
    /// Whatever the visitor cannot accept.
    pub fn visit_as<V: ParameterVisitor>(&mut self, name: &str, visitor: &mut V) -> Result<()> {
        for (i_layer, layer) in self.layers.iter_mut().enumerate() {
            visitor.visit_linear(&format!("{name}.{}", 2 * i_layer), layer)?;
        }
        Ok(())
    }
}

/// Rows through layers with a `ReLU` after each but the last.
pub(super) fn forward(layers: &[Linear], rows: Tensor<2>) -> Tensor<2> {
    forward_with(layers, rows, |hidden| hidden)
}

/// [`forward`] with a function on each hidden layer.
pub(super) fn forward_with(
    layers: &[Linear],
    rows: Tensor<2>,
    on_hidden: impl Fn(Tensor<2>) -> Tensor<2>,
) -> Tensor<2> {
    let Some((last, hidden)) = layers.split_last() else {
        return rows;
    };
    let hidden = hidden.iter().fold(rows, |rows, layer| {
        on_hidden(relu(forward_linear(layer, rows)))
    });
    forward_linear(last, hidden)
}
