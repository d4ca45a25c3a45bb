//! BERT: an unmasked post-LN transformer whose tokens are averaged, as `MiniLM` sentence encoders use it.
//!
//! Devlin et al. 2019, [BERT](https://arxiv.org/abs/1810.04805); Wang et al. 2020,
//! [MiniLM](https://arxiv.org/abs/2002.10957). Knows nothing of tokenizers or of where weights come from.

mod checkpoint;

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::activation::Activation;
use super::clip::transformer::{Block, Transformer, TransformerConfig};
use super::initial::normal;
use super::layer_norm::LayerNorm;
use super::token_table::TokenTable;
use crate::device::product;

/// Epsilon of every layer norm, far below CLIP's.
const NORM_EPSILON: f64 = 1e-12;

/// Standard deviation of new weights (`initializer_range` of BERT's configuration).
const INITIAL_STD: f64 = 0.02;

/// Added to the score of a token that fills a row. Finite, because shader compilers may assume that no infinity
/// occurs; large enough that its exponential is exactly zero in f32.
const MASKED_SCORE: f32 = -1e9;

/// Most tokens of captions that are packed into one row. Every token is scored against all of its row: at this number
/// that is a tenth of the products with weights.
const PACKED_TOKENS: usize = 256;

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
    token_embedding: TokenTable,
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
        Bert {
            token_embedding: normal([self.vocab_size, self.width], INITIAL_STD, device).into(),
            position_embedding: normal([self.context_length, self.width], INITIAL_STD, device),
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
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: &[usize]) -> Tensor<2> {
        let [n_texts, n_tokens] = token_ids.dims();
        let positions = self.position_embedding.val().slice(0..n_tokens);
        let tokens = self.token_embedding.forward(token_ids) + positions.unsqueeze();
        let is_token = token_mask(end_positions, n_tokens, &tokens.device()); // [n_texts, n_tokens]
        let bias = (is_token.clone() * -1.0 + 1.0) * MASKED_SCORE;
        let bias = bias.reshape([n_texts, 1, 1, n_tokens]);
        masked_mean(self.states(tokens, &bias), is_token)
    }

    /// Output of [`forward`](Self::forward) for captions of any lengths, start and end token included, `[n_texts,
    /// width]`: one behind the other in a row, each attending to itself alone, so that nothing is computed for what
    /// would fill their rows.
    ///
    /// # Panics
    ///
    /// If a caption is longer than the context length.
    pub fn forward_packed<'a>(&self, captions: impl IntoIterator<Item = &'a [u32]>) -> Tensor<2> {
        let rows = packed(captions).into_iter();
        Tensor::cat(rows.map(|row| self.forward_row(&row)).collect(), 0)
    }

    /// Means of the tokens' final states of the captions of one row, `[n_texts, width]`.
    fn forward_row(&self, captions: &[&[u32]]) -> Tensor<2> {
        let device = self.token_embedding.device();
        let ids = captions.iter().copied().flatten();
        let ids: Vec<i64> = ids.map(|id| i64::from(*id)).collect();
        let positions = captions.iter().flat_map(|caption| 0..caption.len() as i64);
        let positions: Vec<i64> = positions.collect();
        let n_tokens = ids.len();
        let ids = Tensor::<2, Int>::from_data(TensorData::new(ids, [1, n_tokens]), &device);
        let positions = TensorData::new(positions, [n_tokens]);
        let positions = Tensor::<1, Int>::from_data(positions, &device);
        let positions = self.position_embedding.val().select(0, positions);
        let tokens = self.token_embedding.forward(ids) + positions.unsqueeze();
        let states = self.states(tokens, &bias_of_others(captions, &device));
        let mean = mean_of_each(captions, &device); // [n_texts, n_tokens]
        product(mean, states.squeeze_dim(0))
    }

    /// Final states of embedded tokens.
    ///
    /// # Shapes
    ///
    /// - `tokens`, output: `[n, n_tokens, width]`
    /// - `bias`: added to attention scores, broadcast to `[n, heads, n_tokens, n_tokens]`
    fn states(&self, tokens: Tensor<3>, bias: &Tensor<4>) -> Tensor<3> {
        let tokens = self.embedding_norm.forward(tokens);
        let blocks = self.transformer.blocks.iter();
        blocks.fold(tokens, |tokens, block| post_norm(block, tokens, bias))
    }
}

/// Captions, in their order, in rows of [`PACKED_TOKENS`] at most, or of one longer caption.
fn packed<'a>(captions: impl IntoIterator<Item = &'a [u32]>) -> Vec<Vec<&'a [u32]>> {
    let mut rows: Vec<Vec<&[u32]>> = Vec::new();
    let mut n_tokens = 0;
    for caption in captions {
        n_tokens += caption.len();
        match rows.last_mut() {
            Some(row) if n_tokens <= PACKED_TOKENS => row.push(caption),
            _ => {
                n_tokens = caption.len();
                rows.push(vec![caption]);
            }
        }
    }
    rows
}

/// Zero where two tokens of a row are of one caption, else [`MASKED_SCORE`], `[1, 1, n_tokens, n_tokens]`.
fn bias_of_others(captions: &[&[u32]], device: &Device) -> Tensor<4> {
    let n_tokens: usize = captions.iter().map(|caption| caption.len()).sum();
    let (mut bias, mut at) = (vec![MASKED_SCORE; n_tokens * n_tokens], 0);
    for caption in captions {
        let own = at..at + caption.len();
        for row in own.clone() {
            bias[row * n_tokens..][own.clone()].fill(0.0);
        }
        at = own.end;
    }
    Tensor::from_data(TensorData::new(bias, [1, 1, n_tokens, n_tokens]), device)
}

/// The weights of each caption's mean over its own tokens of a row, `[n_texts, n_tokens]`.
fn mean_of_each(captions: &[&[u32]], device: &Device) -> Tensor<2> {
    let n_tokens: usize = captions.iter().map(|caption| caption.len()).sum();
    let (mut weights, mut at) = (vec![0.0; captions.len() * n_tokens], 0);
    for (row, caption) in weights.chunks_exact_mut(n_tokens).zip(captions) {
        row[at..][..caption.len()].fill(1.0 / caption.len() as f32);
        at += caption.len();
    }
    let weights = TensorData::new(weights, [captions.len(), n_tokens]);
    Tensor::from_data(weights, device)
}

/// `x ← norm(x + attention(x))`, then `x ← norm(x + mlp(x))`.
///
/// # Shapes
///
/// - `tokens`, output: `[n_texts, n_tokens, width]`
/// - `bias`: added to attention scores, broadcast to `[n_texts, heads, n_tokens, n_tokens]`
fn post_norm(block: &Block, tokens: Tensor<3>, bias: &Tensor<4>) -> Tensor<3> {
    let attended = block
        .attention
        .forward_onto(tokens.clone(), tokens, Some(bias));
    let tokens = block.attention_norm.forward(attended);
    block
        .mlp_norm
        .forward(block.mlp.forward_onto(tokens.clone(), tokens))
}

/// One up to each caption's end, zero after it, `[n_texts, n_tokens]`.
fn token_mask(end_positions: &[usize], n_tokens: usize, device: &Device) -> Tensor<2> {
    let of_text = |end: &usize| {
        let end = *end;
        (0..n_tokens).map(move |position| if position <= end { 1.0 } else { 0.0 })
    };
    let mask: Vec<f32> = end_positions.iter().flat_map(of_text).collect();
    Tensor::from_data(
        TensorData::new(mask, [end_positions.len(), n_tokens]),
        device,
    )
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

    fn small() -> Bert {
        let config = BertConfig {
            context_length: 8,
            vocab_size: 12,
            width: 8,
            heads: 2,
            layers: 2,
            ..BertConfig::all_minilm_l6_v2()
        };
        config.init(&cpu())
    }

    #[test]
    fn captions_in_one_row_know_nothing_of_each_other() {
        let (bert, device) = (small(), cpu());
        let lengths = [2, 7, 3, 3, 8].repeat(20);
        let numbered = (0_u32..).zip(&lengths);
        let captions =
            numbered.map(|(i, length)| (0..*length).map(move |at| (7 * i + 5 * at) % 12));
        let captions: Vec<Vec<u32>> = captions.map(Iterator::collect).collect();
        let slices = || captions.iter().map(Vec::as_slice);
        let rows = packed(slices());
        let sizes = rows.iter().map(|row| row.concat().len());
        assert!(
            sizes.max() <= Some(PACKED_TOKENS) && rows.len() == 2,
            "460 tokens"
        );
        assert_eq!(
            rows.concat(),
            slices().collect::<Vec<_>>(),
            "in their order"
        );
        let found = bert.forward_packed(slices());
        let alone = captions.iter().map(|caption| {
            let ids: Vec<i64> = caption.iter().map(|id| i64::from(*id)).collect();
            let end = [ids.len() - 1];
            let ids = TensorData::new(ids, [1, caption.len()]);
            bert.forward(Tensor::from_data(ids, &device), &end)
        });
        let expected = Tensor::cat(alone.collect(), 0);
        let greatest = (found - expected).abs().max().into_scalar::<f32>();
        assert!(greatest < 1e-6, "{greatest}: rounding alone");
        let long = [[1_u32; PACKED_TOKENS + 1].as_slice(), &[1, 2]];
        assert_eq!(packed(long).len(), 2, "too long for any row");
    }

    #[test]
    fn what_fills_a_row_changes_nothing() {
        let (bert, device) = (small(), cpu());
        let short = Tensor::<2, Int>::from_data([[1, 5, 6, 2]], &device);
        let filled = Tensor::<2, Int>::from_data([[1, 5, 6, 2, 9, 7]], &device);
        let difference = bert.forward(short, &[3]) - bert.forward(filled, &[3]);
        let greatest = difference.abs().max().into_scalar::<f32>();
        assert!(greatest < 1e-6, "{greatest}: rounding alone");
    }
}
