//! Heads: trained maps from a tower's features to the space that both towers share.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::activation::Activation;
use crate::model::dense::Dense;
use crate::model::initial::{linear, ones, zeros};
use crate::model::layer_norm::LayerNorm;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

/// Epsilon of the layer norm.
const NORM_EPSILON: f64 = 1e-5;

/// Sizes of a [`Head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadConfig {
    /// Width of the hidden layer.
    pub hidden_width: usize,
    /// Transformation of the tower's features before they are standardised.
    #[serde(default)]
    pub input: HeadInput,
}

/// Transformation of each of a tower's features before they are standardised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadInput {
    /// The tower's features as they are.
    #[default]
    Plain,
    /// The square root of what is above zero, which brings few large values nearer to the many small ones.
    SquareRoot,
}

/// `W z + MLP(norm(z))` of standardised features `z = (x − mean) / deviation`.
#[derive(Module, Debug)]
pub struct Head {
    /// What is done to the tower's features first.
    #[module(skip)]
    pub input: HeadInput,
    /// Mean of each feature over the training set, `[width]`.
    pub mean: Param<Tensor<1>>,
    /// Standard deviation of each feature over the training set, `[width]`.
    pub deviation: Param<Tensor<1>>,
    linear: Dense,
    norm: LayerNorm,
    expand: Dense,
    contract: Dense,
}

/// A head under the name that its tensors have in a model's files.
#[derive(Debug, Clone)]
pub struct NamedHead {
    /// Head of one of the two towers.
    pub head: Head,
    /// Prefix of its tensors' names: `text_head` or `visual_head`.
    pub name: &'static str,
}

impl Parameters for NamedHead {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.head.visit_as(self.name, visitor)
    }
}

impl HeadConfig {
    /// A head with `PyTorch`'s default initial weights , mean 0 and deviation 1.
    #[must_use]
    pub fn init(&self, width: usize, embed_dim: usize, device: &Device) -> Head {
        let dense = |d_in, d_out| Dense::from(linear([d_in, d_out], device));
        Head {
            input: self.input,
            mean: zeros([width], device),
            deviation: ones([width], device),
            linear: dense(width, embed_dim),
            norm: LayerNorm::new(width, NORM_EPSILON, device),
            expand: dense(width, self.hidden_width),
            contract: dense(self.hidden_width, embed_dim),
        }
    }
}

impl HeadInput {
    /// Tower features as the layer norm reads them: unchanged, or their square roots.
    ///
    /// # Shapes
    ///
    /// - `features`, output: `[n, width]`
    #[must_use]
    pub fn apply(self, features: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Plain => features,
            Self::SquareRoot => features.clamp_min(0.0).sqrt(),
        }
    }
}

impl Head {
    /// Features in the common space, not normalised.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, width]`, as the tower gives them
    /// - output: `[n, embed_dim]`
    pub fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        self.forward_with(features, |standard| standard, |hidden| hidden)
    }

    /// [`forward`](Self::forward) with a function (dropout) on the standardised features, `[n, width]`, and one on the
    /// hidden layer, `[n, hidden_width]`.
    pub fn forward_with(
        &self,
        features: Tensor<2>,
        on_input: impl FnOnce(Tensor<2>) -> Tensor<2>,
        on_hidden: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        let centred = self.input.apply(features) - self.mean.val().unsqueeze::<2>();
        let standard = on_input(centred / self.deviation.val().unsqueeze::<2>());
        let normal = self.norm.forward(standard.clone());
        let hidden = on_hidden(self.expand.forward_activated(normal, Activation::Gelu));
        self.contract
            .forward_onto(self.linear.forward(standard), hidden)
    }

    /// Takes the mean and the deviation of each feature, which training leaves as they are.
    pub fn standardise(&mut self, mean: Vec<f32>, deviation: Vec<f32>) {
        let device = self.mean.lazy_device();
        let fixed = |values: Vec<f32>| {
            let width = values.len();
            Param::from_data(TensorData::new(values, [width]), &device).set_require_grad(false)
        };
        (self.mean, self.deviation) = (fixed(mean), fixed(deviation));
    }

    /// Shows each parameter under `name`.
    ///
    /// # Errors
    ///
    /// Whatever the visitor cannot accept.
    pub(super) fn visit_as<V: ParameterVisitor>(
        &mut self,
        name: &str,
        visitor: &mut V,
    ) -> Result<()> {
        let name = |rest: &str| format!("{name}.{rest}");
        visitor.visit(&name("mean"), Layout::Same, &mut self.mean)?;
        visitor.visit(&name("deviation"), Layout::Same, &mut self.deviation)?;
        visitor.visit_dense(&name("linear"), &mut self.linear)?;
        visitor.visit_layer_norm(&name("norm"), &mut self.norm)?;
        visitor.visit_dense(&name("expand"), &mut self.expand)?;
        visitor.visit_dense(&name("contract"), &mut self.contract)
    }
}
