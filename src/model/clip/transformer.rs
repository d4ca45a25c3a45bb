//! The pre-LN transformer that both towers run.

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::attention::attend;
use crate::model::activation::Activation;
use crate::model::dense::Dense;
use crate::model::initial::normal_linear;
use crate::model::layer_norm::LayerNorm;

/// Sizes of a [`Transformer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TransformerConfig {
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) mlp_ratio: f64,
    pub(crate) activation: Activation,
    pub(crate) norm_epsilon: f64,
}

/// Blocks in sequence, each from `[n, n_tokens, width]` to the same shape.
#[derive(Module, Debug)]
pub(crate) struct Transformer {
    pub(crate) blocks: Vec<Block>,
}

/// `x ← x + attention(norm(x))`, then `x ← x + mlp(norm(x))`.
#[derive(Module, Debug)]
pub(crate) struct Block {
    pub(crate) attention_norm: LayerNorm,
    pub(crate) attention: SelfAttention,
    pub(crate) mlp_norm: LayerNorm,
    pub(crate) mlp: Mlp,
}

/// Multi-head self-attention, each head of width `width / heads`.
#[derive(Module, Debug)]
pub(crate) struct SelfAttention {
    pub(crate) query: Dense,
    pub(crate) key: Dense,
    pub(crate) value: Dense,
    pub(crate) output: Dense,
    heads: usize,
}

/// Two linear layers around a nonlinearity.
#[derive(Module, Debug)]
pub(crate) struct Mlp {
    pub(crate) expand: Dense,
    pub(crate) contract: Dense,
    #[module(skip)]
    activation: Activation,
}

impl TransformerConfig {
    pub(crate) fn init(&self, device: &Device) -> Transformer {
        let blocks = (0..self.layers).map(|_| self.init_block(device)).collect();
        Transformer { blocks }
    }

    /// Initial deviations of openai/CLIP `model.py`, `initialize_parameters`.
    fn init_block(&self, device: &Device) -> Block {
        let width = self.width;
        let input_std = (width as f64).powf(-0.5);
        let output_std = input_std * (2.0 * self.layers as f64).powf(-0.5);
        let expand_std = (2.0 * width as f64).powf(-0.5);
        Block {
            attention_norm: self.init_norm(device),
            attention: SelfAttention {
                query: normal_linear([width, width], input_std, device).into(),
                key: normal_linear([width, width], input_std, device).into(),
                value: normal_linear([width, width], input_std, device).into(),
                output: normal_linear([width, width], output_std, device).into(),
                heads: self.heads,
            },
            mlp_norm: self.init_norm(device),
            mlp: self.init_mlp(expand_std, output_std, device),
        }
    }

    pub(crate) fn init_mlp(&self, expand_std: f64, contract_std: f64, device: &Device) -> Mlp {
        let (width, mlp_width) = (self.width, self.mlp_width());
        Mlp {
            expand: normal_linear([width, mlp_width], expand_std, device).into(),
            contract: normal_linear([mlp_width, width], contract_std, device).into(),
            activation: self.activation,
        }
    }

    pub(crate) fn init_norm(&self, device: &Device) -> LayerNorm {
        LayerNorm::new(self.width, self.norm_epsilon, device)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "widths are small positive whole numbers"
    )]
    fn mlp_width(&self) -> usize {
        (self.width as f64 * self.mlp_ratio).round() as usize
    }
}

impl Transformer {
    /// Features of every token after all blocks.
    ///
    /// # Shapes
    ///
    /// - `tokens`: `[n, n_tokens, width]`
    /// - `bias`: added to attention scores, `[1, 1, n_tokens, n_tokens]`
    /// - output: `[n, n_tokens, width]`
    pub(crate) fn forward(&self, tokens: Tensor<3>, bias: Option<&Tensor<4>>) -> Tensor<3> {
        self.blocks
            .iter()
            .fold(tokens, |tokens, block| block.forward(tokens, bias))
    }

    /// Some rows of the output of [`forward`](Self::forward); the last block computes no others.
    ///
    /// # Shapes
    ///
    /// - `tokens`, `bias`: as of [`forward`](Self::forward)
    /// - `rows`: indices of `n_rows` of the `n·n_tokens` tokens
    /// - output: `[n_rows, width]`
    pub(crate) fn forward_rows(
        &self,
        tokens: Tensor<3>,
        bias: Option<&Tensor<4>>,
        rows: &[usize],
    ) -> Tensor<2> {
        let rows = rows.iter().map(|row| *row as i64);
        let rows = indices(rows, &tokens.device());
        let Some((last, before)) = self.blocks.split_last() else {
            return select_rows(tokens, rows);
        };
        let tokens = before
            .iter()
            .fold(tokens, |tokens, block| block.forward(tokens, bias));
        last.forward_rows(tokens, bias, rows)
    }
}

/// Indices as a tensor, `[n]`.
pub(super) fn indices(values: impl Iterator<Item = i64>, device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = values.collect();
    let shape = [values.len()];
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Rows of tokens of all sequences, `[n_rows, width]`.
fn select_rows(tokens: Tensor<3>, rows: Tensor<1, Int>) -> Tensor<2> {
    tokens.flatten::<2>(0, 1).select(0, rows)
}

impl Block {
    fn forward(&self, tokens: Tensor<3>, bias: Option<&Tensor<4>>) -> Tensor<3> {
        let normal = self.attention_norm.forward(tokens.clone());
        self.add_mlp(self.attention.forward_onto(tokens, normal, bias))
    }

    /// [`Transformer::forward_rows`] of this block. All tokens attend, also those that are not read: a product with one
    /// query alone would be summed in another order, and a caption's numbers would depend on those beside it.
    fn forward_rows(
        &self,
        tokens: Tensor<3>,
        bias: Option<&Tensor<4>>,
        rows: Tensor<1, Int>,
    ) -> Tensor<2> {
        let normal = self.attention_norm.forward(tokens.clone());
        let mixed = select_rows(self.attention.mix(normal, bias), rows.clone());
        let tokens = select_rows(tokens, rows);
        self.add_mlp(self.attention.output.forward_onto(tokens, mixed))
    }

    fn add_mlp<const D: usize>(&self, tokens: Tensor<D>) -> Tensor<D> {
        let normal = self.mlp_norm.forward(tokens.clone());
        self.mlp.forward_onto(tokens, normal)
    }
}

impl SelfAttention {
    /// `onto` and what the tokens attend to, `[n, n_tokens, width]` like both inputs.
    pub(crate) fn forward_onto(
        &self,
        onto: Tensor<3>,
        tokens: Tensor<3>,
        bias: Option<&Tensor<4>>,
    ) -> Tensor<3> {
        self.output.forward_onto(onto, self.mix(tokens, bias))
    }

    /// The values of all tokens, mixed as each attends to them; not yet projected.
    fn mix(&self, tokens: Tensor<3>, bias: Option<&Tensor<4>>) -> Tensor<3> {
        let query = self.query.forward(tokens.clone());
        let key = self.key.forward(tokens.clone());
        let value = self.value.forward(tokens);
        attend([query, key, value], self.heads, bias)
    }
}

impl Mlp {
    /// `onto` and the output for the tokens, `[..., width]` like both inputs.
    pub(crate) fn forward_onto<const D: usize>(
        &self,
        onto: Tensor<D>,
        tokens: Tensor<D>,
    ) -> Tensor<D> {
        let activated = self.expand.forward_activated(tokens, self.activation);
        self.contract.forward_onto(onto, activated)
    }
}
