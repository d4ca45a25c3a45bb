//! The text tower: of CLIP causal and pooled at the first end token, of `SigLIP` unmasked and pooled at its last
//! position.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::token_tree::TokenTree;
use super::transformer::{Transformer, TransformerConfig, indices};
use super::{Activation, Architecture};
use crate::model::dense::forward_linear;
use crate::model::initial::{normal, normal_linear, normal_projection};
use crate::model::layer_norm::LayerNorm;
use crate::model::token_table::TokenTable;

/// Added to the score of a token that is not looked at. Finite, because shader compilers may assume that no infinity
/// occurs; large enough that its exponential is exactly zero in f32.
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
    pub(super) token_embedding: TokenTable,
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
            Architecture::Clip => normal_projection([self.width, embed_dim], width_std, device),
            Architecture::SigLip => normal_linear([self.width, embed_dim], width_std, device),
        };
        TextTower {
            token_embedding: normal([self.vocab_size, self.width], 0.02, device).into(),
            position_embedding: normal([self.context_length, self.width], 0.01, device),
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
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: &[usize]) -> Tensor<2> {
        self.project(self.pool(token_ids, end_positions))
    }

    /// Normalised states of the tokens at `end_positions`, `[n_texts, width]`, which [`project`](Self::project) turns
    /// into features.
    pub fn pool(&self, token_ids: Tensor<2, Int>, end_positions: &[usize]) -> Tensor<2> {
        let [_, n_tokens] = token_ids.dims();
        let device = token_ids.device();
        let positions = self.position_embedding.val().slice(0..n_tokens);
        let tokens = self.token_embedding.forward(token_ids) + positions.unsqueeze();
        let bias = match self.architecture {
            Architecture::Clip => Some(causal_bias(n_tokens, &device)),
            Architecture::SigLip => None,
        };
        let ends = end_positions.iter().enumerate();
        let rows: Vec<usize> = ends.map(|(i_text, end)| i_text * n_tokens + end).collect();
        self.run(tokens, bias.as_ref(), &rows)
    }

    /// Output of [`pool`](Self::pool) for captions that end with their end tokens, `[n_texts, width]`, computed on the
    /// tree of their beginnings; `None` where the tower is not causal, or padded rows cost less.
    pub fn pool_shared<'a>(
        &self,
        captions: impl IntoIterator<Item = &'a [u32]>,
    ) -> Option<Tensor<2>> {
        if self.architecture == Architecture::SigLip {
            return None;
        }
        let tree = TokenTree::new(captions);
        let [_, width] = self.position_embedding.lazy_shape().dims();
        tree.saves(width).then(|| self.pool_tree(&tree))
    }

    /// Output of [`pool`](Self::pool) for the captions of a tree, `[n_texts, width]`, of CLIP alone: its tower is
    /// causal, so a token's features are those of its node, whatever follows it.
    pub fn pool_tree(&self, tree: &TokenTree) -> Tensor<2> {
        let device = self.token_embedding.device();
        let token_ids = tree.token_ids().iter().map(|id| i64::from(*id));
        let token_ids = indices(token_ids, &device).unsqueeze();
        let tokens = self.token_embedding.forward(token_ids).squeeze_dim(0);
        let positions = tree.positions().iter().map(|position| *position as i64);
        let positions = indices(positions, &device);
        let tokens = tokens + self.position_embedding.val().select(0, positions); // [n_nodes, width]
        let bias = tree_bias(tree, &device);
        self.run(tokens.unsqueeze(), Some(&bias), tree.ends())
    }

    /// Embedded tokens `[n, n_tokens, width]` through the transformer → the given rows of its `n·n_tokens` outputs,
    /// normalised, `[n_rows, width]`.
    fn run(&self, tokens: Tensor<3>, bias: Option<&Tensor<4>>, rows: &[usize]) -> Tensor<2> {
        self.final_norm
            .forward(self.transformer.forward_rows(tokens, bias, rows))
    }

    /// The last layer: output of [`pool`](Self::pool), `[n_texts, width]` → features, `[n_texts, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        forward_linear(&self.projection, pooled)
    }

    /// The weights of the last layer, `[width, embed_dim]`; where it has a bias, with that as one row more.
    pub fn projection_weights(&self) -> Tensor<2> {
        let weight = self.projection.weight.val();
        match &self.projection.bias {
            None => weight,
            Some(bias) => Tensor::cat(vec![weight, bias.val().unsqueeze()], 0),
        }
    }
}

/// Zero on and below the diagonal, [`MASKED_SCORE`] above, `[1, 1, n_tokens, n_tokens]`.
fn causal_bias(n_tokens: usize, device: &Device) -> Tensor<4> {
    let places = (0..n_tokens).flat_map(|row| (0..n_tokens).map(move |column| (row, column)));
    let scores = places.map(|(row, column)| if column > row { MASKED_SCORE } else { 0.0 });
    let shape = [1, 1, n_tokens, n_tokens];
    Tensor::from_data(TensorData::new(scores.collect(), shape), device)
}

/// Zero where a node is on the path of another, else [`MASKED_SCORE`], `[1, 1, n_nodes, n_nodes]`.
fn tree_bias(tree: &TokenTree, device: &Device) -> Tensor<4> {
    let n_nodes = tree.n_nodes();
    let mut bias = vec![MASKED_SCORE; n_nodes * n_nodes];
    for node in 0..n_nodes {
        for seen in tree.path(node) {
            bias[node * n_nodes + seen] = 0.0;
        }
    }
    Tensor::from_data(TensorData::new(bias, [1, 1, n_nodes, n_nodes]), device)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::device::cpu;
    use crate::host::gemm::portable;
    use crate::model::clip::ClipConfig;
    use crate::model::parameters::{Filling, Parameters as _, TensorRecord, WeightFormat};

    /// Error of values of about one: f32 sums of a hundred terms through three blocks, in another order.
    const TOLERANCE: f32 = 1e-5;

    const N_WORDS: u32 = 9;
    const START: u32 = N_WORDS;
    const END: u32 = N_WORDS + 1;

    static TOWERS: LazyLock<[TextTower; 2]> = LazyLock::new(|| {
        let random = random_tower(Architecture::Clip);
        let records: Vec<TensorRecord> = random
            .named_tensors()
            .into_iter()
            .map(|tensor| TensorRecord {
                name: tensor.name,
                shape: tensor.shape,
                values: values(tensor.values),
            })
            .collect();
        let int8 = random_tower(Architecture::Clip);
        let mut filling = Filling::new(int8, WeightFormat::PackedInt8(portable));
        for record in records {
            filling.put(record).expect("its own parameters");
        }
        [random, filling.finish().expect("all of them")]
    });

    fn random_tower(architecture: Architecture) -> TextTower {
        let mut config = ClipConfig::vit_b_32();
        config.text_cfg = TextConfig {
            context_length: 16,
            vocab_size: 11,
            width: 32,
            heads: 4,
            layers: 3,
            mlp_ratio: 2.0,
            start_token_id: Some(START),
            end_token_id: END,
        };
        config.architecture = architecture;
        config.init_text(&cpu())
    }

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        let data = tensor.into_data();
        data.as_slice().expect("f32 on the CPU").to_vec()
    }

    fn caption(words: &[u32]) -> Vec<u32> {
        [&[START], words, &[END]].concat()
    }

    fn tree_of(captions: &[Vec<u32>]) -> TokenTree {
        TokenTree::new(captions.iter().map(Vec::as_slice))
    }

    /// Features of captions in rows as long as the longest.
    fn padded(tower: &TextTower, captions: &[Vec<u32>]) -> Vec<f32> {
        let longest = captions.iter().map(Vec::len).max().expect("a caption");
        let mut ids: Vec<i64> = Vec::new();
        for caption in captions {
            ids.extend(caption.iter().map(|id| i64::from(*id)));
            ids.resize(ids.len() + longest - caption.len(), i64::from(END));
        }
        let ends: Vec<usize> = captions.iter().map(|caption| caption.len() - 1).collect();
        let ids = TensorData::new(ids, [captions.len(), longest]);
        let ids = Tensor::from_data(ids, &cpu());
        values(tower.forward(ids, &ends))
    }

    fn assert_parity(tower: &TextTower, captions: &[Vec<u32>]) {
        let found = values(tower.project(tower.pool_tree(&tree_of(captions))));
        let expected = padded(tower, captions);
        assert_eq!(found.len(), expected.len(), "features of {captions:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= TOLERANCE,
                "{captions:?}: {found} in the tree, {expected} in padded rows"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn captions_in_a_tree_have_the_features_of_padded_rows(
            words in vec(vec(0..N_WORDS, 0..14), 1..8),
        ) {
            let captions: Vec<_> = words.iter().map(|words| caption(words)).collect();
            TOWERS.iter().for_each(|tower| assert_parity(tower, &captions));
        }

        #[test]
        fn variants_of_a_caption_in_a_tree_have_the_features_of_padded_rows(
            words in vec(0..N_WORDS, 2..14),
        ) {
            let beginnings = (1..=words.len()).map(|n| caption(&words[..n]));
            let rests = (0..words.len()).map(|i| caption(&[&words[..i], &words[i + 1..]].concat()));
            let captions: Vec<_> = beginnings.chain(rests).collect();
            TOWERS.iter().for_each(|tower| assert_parity(tower, &captions));
        }
    }

    #[test]
    fn a_caption_given_twice_has_the_same_features_twice() {
        let captions = [caption(&[1, 2]), caption(&[1, 2])];
        let features = values(TOWERS[0].pool_tree(&tree_of(&captions)));
        let (first, second) = features.split_at(features.len() / 2);
        assert_eq!(first, second, "one node");
    }

    #[test]
    fn only_a_causal_tower_shares_beginnings() {
        let captions = [caption(&[1, 2]), caption(&[1, 2, 3])];
        let shared = |architecture| {
            let tower = random_tower(architecture);
            tower
                .pool_shared(captions.iter().map(Vec::as_slice))
                .is_some()
        };
        assert!(shared(Architecture::Clip), "six nodes for ten rows");
        assert!(!shared(Architecture::SigLip), "every token sees all");
    }
}
