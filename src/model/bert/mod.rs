//! BERT: an unmasked post-LN transformer whose tokens are averaged, as `MiniLM` sentence encoders use it.
//!
//! Devlin et al. 2019, [BERT](https://arxiv.org/abs/1810.04805); Wang et al. 2020,
//! [MiniLM](https://arxiv.org/abs/2002.10957). Knows nothing of tokenizers or of where weights come from.

mod checkpoint;

use burn::module::{Module, Param};
use burn::nn::{Initializer, LayerNorm};
use burn::tensor::module::embedding;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::activation::Activation;
use super::clip::transformer::{Block, Transformer, TransformerConfig};

/// Epsilon of every layer norm, far below CLIP's.
const NORM_EPSILON: f64 = 1e-12;

/// Standard deviation of new weights (`initializer_range` of BERT's configuration).
const INITIAL_STD: f64 = 0.02;

/// Added to the score of a token that fills a row. Finite, because shader compilers may assume that no infinity
/// occurs; large enough that its exponential is exactly zero in f32.
const MASKED_SCORE: f32 = -1e9;

/// Sizes of the tower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BertConfig {
    /// Greatest number of tokens, start and end included.
    pub context_length: usize,
    /// Number of token ids.
    pub vocab_size: usize,
    /// Width of the transformer, and of the features.
    pub width: usize,
    /// Number of attention heads in each block.
    pub heads: usize,
    /// Number of blocks of the transformer.
    pub layers: usize,
    /// Width of the MLP over `width`.
    pub mlp_ratio: f64,
    /// Id of the token that starts every caption.
    pub start_token_id: u32,
    /// Id of the token that ends every caption and fills what is left of its row.
    pub end_token_id: u32,
}

/// Token ids → features.
#[derive(Module, Debug)]
pub struct Bert {
    token_embedding: Param<Tensor<2>>,
    /// Sum of the position's embedding and that of the first token type, the only one a single sentence has.
    position_embedding: Param<Tensor<2>>,
    embedding_norm: LayerNorm,
    transformer: Transformer,
}

impl BertConfig {
    /// `sentence-transformers/all-MiniLM-L6-v2`, with the context that its tokenizer is cut to.
    #[must_use]
    pub fn all_minilm_l6_v2() -> Self {
        Self {
            context_length: 128,
            vocab_size: 30_522,
            width: 384,
            heads: 12,
            layers: 6,
            mlp_ratio: 4.0,
            start_token_id: 101,
            end_token_id: 102,
        }
    }

    /// A tower with random initial weights.
    #[must_use]
    pub fn init(&self, device: &Device) -> Bert {
        let transformer = TransformerConfig {
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            mlp_ratio: self.mlp_ratio,
            activation: Activation::Gelu,
            norm_epsilon: NORM_EPSILON,
        };
        let normal = Initializer::Normal {
            mean: 0.0,
            std: INITIAL_STD,
        };
        Bert {
            token_embedding: normal.init([self.vocab_size, self.width], device),
            position_embedding: normal.init([self.context_length, self.width], device),
            embedding_norm: transformer.init_norm(device),
            transformer: transformer.init(device),
        }
    }
}

impl Bert {
    /// Means of the tokens' final states, not normalised.
    ///
    /// Tokens after a caption's end fill its row: nothing attends to them and no mean holds them.
    ///
    /// # Shapes
    ///
    /// - `token_ids`: `[n_texts, n_tokens]`, start and end token included
    /// - `end_positions`: `[n_texts]`, index of each caption's end token
    /// - output: `[n_texts, width]`
    ///
    /// # Panics
    ///
    /// If `n_tokens` exceeds the context length.
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: Tensor<1, Int>) -> Tensor<2> {
        let [n_texts, n_tokens] = token_ids.dims();
        let positions = self.position_embedding.val().slice(0..n_tokens);
        let tokens = embedding(self.token_embedding.val(), token_ids) + positions.unsqueeze();
        let is_token = token_mask(end_positions, n_tokens); // [n_texts, n_tokens]
        let bias = (is_token.clone() * -1.0 + 1.0) * MASKED_SCORE;
        let bias = bias.reshape([n_texts, 1, 1, n_tokens]);
        let tokens = self.embedding_norm.forward(tokens);
        let tokens = self
            .transformer
            .blocks
            .iter()
            .fold(tokens, |tokens, block| post_norm(block, tokens, &bias));
        masked_mean(tokens, is_token)
    }
}

/// `x ← norm(x + attention(x))`, then `x ← norm(x + mlp(x))`.
///
/// # Shapes
///
/// - `tokens`, output: `[n_texts, n_tokens, width]`
/// - `bias`: added to attention scores, `[n_texts, 1, 1, n_tokens]`
fn post_norm(block: &Block, tokens: Tensor<3>, bias: &Tensor<4>) -> Tensor<3> {
    let attended = block.attention.forward(tokens.clone(), Some(bias));
    let tokens = block.attention_norm.forward(tokens + attended);
    let expanded = block.mlp.forward(tokens.clone());
    block.mlp_norm.forward(tokens + expanded)
}

/// One up to each caption's end, zero after it, `[n_texts, n_tokens]`.
fn token_mask(end_positions: Tensor<1, Int>, n_tokens: usize) -> Tensor<2> {
    let [n_texts] = end_positions.dims();
    let positions = Tensor::<1, Int>::arange(0..n_tokens as i64, &end_positions.device());
    let positions = positions.unsqueeze::<2>().expand([n_texts, n_tokens]);
    let ends = end_positions.reshape([n_texts, 1]);
    positions
        .lower_equal(ends.expand([n_texts, n_tokens]))
        .float()
}

/// Mean of the features of each text over its tokens, padding left out.
///
/// # Shapes
///
/// - `tokens`: `[n_texts, n_tokens, width]`
/// - `is_token`: `[n_texts, n_tokens]`
/// - output: `[n_texts, width]`
fn masked_mean(tokens: Tensor<3>, is_token: Tensor<2>) -> Tensor<2> {
    let [n_texts, n_tokens, width] = tokens.dims();
    let sum = (tokens * is_token.clone().reshape([n_texts, n_tokens, 1])).sum_dim(1); // [n_texts, 1, width]
    sum.reshape([n_texts, width]) / is_token.sum_dim(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;
    use crate::model::parameters::count::n_parameters;

    #[test]
    fn all_minilm_l6_v2_has_the_published_number_of_parameters() {
        let bert = BertConfig::all_minilm_l6_v2().init(&cpu());
        // 22,713,216 of `transformers`, less the pooler (147,840), 384 positions and two token types of 384 each.
        let unused = 147_840 + (512 - 128) * 384 + 2 * 384;
        assert_eq!(n_parameters(&bert), 22_713_216 - unused, "parameters");
    }

    #[test]
    fn what_fills_a_row_changes_nothing() {
        let device = cpu();
        let config = BertConfig {
            context_length: 8,
            vocab_size: 12,
            width: 8,
            heads: 2,
            layers: 2,
            ..BertConfig::all_minilm_l6_v2()
        };
        let bert = config.init(&device);
        let end = Tensor::<1, Int>::from_data([3], &device);
        let short = Tensor::<2, Int>::from_data([[1, 5, 6, 2]], &device);
        let filled = Tensor::<2, Int>::from_data([[1, 5, 6, 2, 9, 7]], &device);
        let difference = bert.forward(short, end.clone()) - bert.forward(filled, end);
        let greatest = difference.abs().max().into_scalar::<f32>();
        assert!(greatest < 1e-6, "{greatest}: rounding alone");
    }
}
