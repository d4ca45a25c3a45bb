//! The text tower: of CLIP causal and pooled at the first end token, of `SigLIP` unmasked and pooled at its last position.

use burn::module::{Module, Param};
use burn::nn::{Initializer, LayerNorm, Linear};
use burn::tensor::module::embedding;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::Architecture;
use super::transformer::{
    Activation, Transformer, TransformerConfig, init_linear, init_projection,
};

/// Added to the score of a later token. Finite, because shader compilers may assume that no infinity occurs; large
/// enough that its exponential is exactly zero in f32.
const MASKED_SCORE: f32 = -1e9;

/// Sizes of the text tower, in `open_clip`'s words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextConfig {
    /// Greatest number of tokens, start and end included.
    pub context_length: usize,
    /// Number of token ids.
    pub vocab_size: usize,
    /// Width of the transformer.
    pub width: usize,
    /// Number of attention heads in each block.
    pub heads: usize,
    /// Number of blocks of the transformer.
    pub layers: usize,
    /// Width of the MLP over `width`.
    #[serde(default = "default_mlp_ratio")]
    pub mlp_ratio: f64,
    /// Id of the token that starts every caption, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_token_id: Option<u32>,
    /// Id of the token that ends every caption and fills what is left of its row.
    pub end_token_id: u32,
}

pub(super) fn default_mlp_ratio() -> f64 {
    4.0
}

/// Token ids → features.
#[derive(Module, Debug)]
pub struct TextTower {
    pub(super) token_embedding: Param<Tensor<2>>,
    pub(super) position_embedding: Param<Tensor<2>>,
    pub(super) transformer: Transformer,
    pub(super) final_norm: LayerNorm,
    pub(super) projection: Linear,
    #[module(skip)]
    pub(super) architecture: Architecture,
}

impl TextConfig {
    pub(super) fn init(
        &self,
        embed_dim: usize,
        architecture: Architecture,
        activation: Activation,
        device: &Device,
    ) -> TextTower {
        let normal = |std| Initializer::Normal { mean: 0.0, std };
        let transformer = TransformerConfig {
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            mlp_ratio: self.mlp_ratio,
            activation,
            norm_epsilon: architecture.norm_epsilon(),
        };
        let width_std = (self.width as f64).powf(-0.5);
        let projection = match architecture {
            Architecture::Clip => init_projection([self.width, embed_dim], width_std, device),
            Architecture::SigLip => init_linear([self.width, embed_dim], width_std, device),
        };
        TextTower {
            token_embedding: normal(0.02).init([self.vocab_size, self.width], device),
            position_embedding: normal(0.01).init([self.context_length, self.width], device),
            transformer: transformer.init(device),
            final_norm: transformer.init_norm(device),
            projection,
            architecture,
        }
    }
}

impl TextTower {
    /// Features of captions, not normalised.
    ///
    /// Captions of CLIP that are shorter than the longest are padded on the right with any id: the tower is causal and
    /// looks only at the token in `end_positions`, so neither padding nor anything else after the end changes the
    /// result. Captions of `SigLIP` fill the whole context, padded with the end token, and are pooled at its last
    /// position.
    ///
    /// # Shapes
    ///
    /// - `token_ids`: `[n_texts, n_tokens]`, start and end token included
    /// - `end_positions`: `[n_texts]`, index of the token where each caption is pooled
    /// - output: `[n_texts, embed_dim]`
    ///
    /// # Panics
    ///
    /// If `n_tokens` exceeds the context length.
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: Tensor<1, Int>) -> Tensor<2> {
        self.project(self.pool(token_ids, end_positions))
    }

    /// What [`forward`](Self::forward) projects, `[n_texts, width]`.
    pub fn pool(&self, token_ids: Tensor<2, Int>, end_positions: Tensor<1, Int>) -> Tensor<2> {
        let [n_texts, n_tokens] = token_ids.dims();
        let device = token_ids.device();
        let positions = self.position_embedding.val().slice(0..n_tokens);
        let tokens = embedding(self.token_embedding.val(), token_ids) + positions.unsqueeze();
        let bias = match self.architecture {
            Architecture::Clip => Some(causal_bias(n_tokens, &device)),
            Architecture::SigLip => None,
        };
        let tokens = self.transformer.forward(tokens, bias.as_ref()); // [n_texts, n_tokens, width]

        let [_, _, width] = tokens.dims();
        let first_rows = Tensor::arange(0..n_texts as i64, &device) * n_tokens as i64;
        let pooled = tokens
            .reshape([n_texts * n_tokens, width])
            .select(0, first_rows + end_positions); // [n_texts, width]
        self.final_norm.forward(pooled)
    }

    /// The last layer: what [`pool`](Self::pool) gave → features, `[n_texts, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        self.projection.forward(pooled)
    }

    /// The weights of the last layer, `[width, embed_dim]`.
    pub fn projection_weights(&self) -> Tensor<2> {
        self.projection.weight.val()
    }
}

/// Zero on and below the diagonal, [`MASKED_SCORE`] above, `[1, 1, n_tokens, n_tokens]`.
fn causal_bias(n_tokens: usize, device: &Device) -> Tensor<4> {
    Tensor::<2>::full([n_tokens, n_tokens], MASKED_SCORE, device)
        .triu(1)
        .unsqueeze()
}
