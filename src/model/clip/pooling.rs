//! Pooling of an image tower's tokens: in CLIP by a class token, in `SigLIP` by attention.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::attention::attend;
use super::transformer::{Mlp, TransformerConfig};
use crate::device::affine;
use crate::model::dense::forward_linear;
use crate::model::initial::{normal, normal_linear, normal_projection, zeros};
use crate::model::layer_norm::LayerNorm;

/// Pooling of an image tower, with the layers that only one kind of it has.
#[derive(Module, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a model has one, whose size is that of its tensors"
)]
pub(super) enum Pooling {
    /// CLIP's: the features of a class token, projected.
    ClassToken(ClassToken),
    /// `SigLIP`'s: one trained query that attends to all patches.
    Attention(AttentionPool),
}

/// A token before the patches, whose features are projected.
#[derive(Module, Debug)]
pub(super) struct ClassToken {
    pub(super) class_embedding: Param<Tensor<1>>,
    pub(super) pre_norm: LayerNorm,
    pub(super) projection: Linear,
}

/// One trained query that attends to all patches, and an MLP: the MAP head of Zhai et al. 2022,
/// [Scaling Vision Transformers](https://arxiv.org/abs/2106.04560), section 3.2.
#[derive(Module, Debug)]
pub(super) struct AttentionPool {
    /// The query before its projection, `[1, 1, width]`.
    pub(super) probe: Param<Tensor<3>>,
    /// Projections to query, key and value side by side, `[width, 3·width]`.
    pub(super) in_weight: Param<Tensor<2>>,
    /// Biases of query, key and value side by side, `[3·width]`.
    pub(super) in_bias: Param<Tensor<1>>,
    pub(super) output: Linear,
    pub(super) norm: LayerNorm,
    pub(super) mlp: Mlp,
    heads: usize,
}

impl ClassToken {
    pub(super) fn init(tower: TransformerConfig, embed_dim: usize, device: &Device) -> Self {
        let std = (tower.width as f64).powf(-0.5);
        Self {
            class_embedding: normal([tower.width], std, device),
            pre_norm: tower.init_norm(device),
            projection: normal_projection([tower.width, embed_dim], std, device),
        }
    }

    /// Patches of each picture with the class token before them.
    ///
    /// # Shapes
    ///
    /// - `patches`: `[n_images, n_patches, width]`
    /// - output: `[n_images, 1 + n_patches, width]`
    pub(super) fn prepend_to(&self, patches: Tensor<3>) -> Tensor<3> {
        let [n_images, _, width] = patches.dims();
        let class = self.class_embedding.val().reshape([1, 1, width]);
        Tensor::cat(vec![class.expand([n_images, 1, width]), patches], 1)
    }
}

impl AttentionPool {
    pub(super) fn init(tower: TransformerConfig, device: &Device) -> Self {
        let width = tower.width;
        let std = (width as f64).powf(-0.5);
        Self {
            probe: normal([1, 1, width], std, device),
            in_weight: normal([width, 3 * width], std, device),
            in_bias: zeros([3 * width], device),
            output: normal_linear([width, width], std, device),
            norm: tower.init_norm(device),
            mlp: tower.init_mlp(std, std, device),
            heads: tower.heads,
        }
    }

    /// `y + mlp(norm(y))` of `y = attention(probe, tokens, tokens)`.
    ///
    /// # Shapes
    ///
    /// - `tokens`: `[n_images, n_patches, width]`
    /// - output: `[n_images, width]`
    pub(super) fn forward(&self, tokens: Tensor<3>) -> Tensor<2> {
        let [n_images, _, width] = tokens.dims();
        let probe = self.probe.val().expand([n_images, 1, width]);
        let query = self.project(probe, 0);
        let (key, value) = (self.project(tokens.clone(), 1), self.project(tokens, 2));
        let pooled = attend([query, key, value], self.heads, None); // [n_images, 1, width]
        let pooled = forward_linear(&self.output, pooled);
        let normal = self.norm.forward(pooled.clone());
        let pooled = self.mlp.forward_onto(pooled, normal);
        pooled.reshape([n_images, width])
    }

    /// The projection with this index, of query, key and value.
    fn project(&self, rows: Tensor<3>, index: usize) -> Tensor<3> {
        let width = rows.dims()[2];
        let columns = index * width..(index + 1) * width;
        let weight = self.in_weight.val().slice([0..width, columns.clone()]);
        let bias = self.in_bias.val().slice([columns]);
        affine(rows, weight, Some(bias))
    }
}
