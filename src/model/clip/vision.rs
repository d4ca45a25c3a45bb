//! The image tower: a vision transformer, of CLIP pooled at its class token, of `SigLIP` by attention.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::pooling::{AttentionPool, ClassToken, Pooling};
use super::text::default_mlp_ratio;
use super::transformer::{Transformer, TransformerConfig};
use super::{Activation, Architecture};
use crate::model::dense::forward_linear;
use crate::model::initial::{linear, normal};
use crate::model::layer_norm::LayerNorm;

/// Channels of a picture: red, green, blue.
const N_CHANNELS: usize = 3;

/// Sizes of the image tower, in `open_clip`'s words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisionConfig {
    /// Side of the square picture in pixels.
    pub image_size: usize,
    /// Number of blocks of the transformer.
    pub layers: usize,
    /// Width of the transformer.
    pub width: usize,
    /// Width of one attention head.
    #[serde(default = "default_head_width")]
    pub head_width: usize,
    /// Side of the square patches in pixels.
    pub patch_size: usize,
    /// Width of the MLP over `width`.
    #[serde(default = "default_mlp_ratio")]
    pub mlp_ratio: f64,
}

fn default_head_width() -> usize {
    64
}

/// Standard deviation of new position embeddings, of the size of an embedded patch. With CLIP's own `1/√width` they
/// vanish beside the patches, and a tower that is trained from scratch on little data does not learn where things are.
const POSITION_STD: f64 = 0.5;

/// Vision transformer: pictures → features, `[n_images, embed_dim]`, not normalised.
#[derive(Module, Debug)]
pub struct VisionTower {
    pub(super) patch_embedding: Linear,
    pub(super) position_embedding: Param<Tensor<2>>,
    pub(super) transformer: Transformer,
    pub(super) post_norm: LayerNorm,
    pub(super) pooling: Pooling,
    pub(super) patch_size: usize,
}

impl VisionConfig {
    /// Patches along one side of the picture.
    #[must_use]
    pub fn grid_size(&self) -> usize {
        self.image_size / self.patch_size
    }

    pub(super) fn init(
        &self,
        embed_dim: usize,
        architecture: Architecture,
        activation: Activation,
        device: &Device,
    ) -> VisionTower {
        let transformer = TransformerConfig {
            width: self.width,
            layers: self.layers,
            heads: self.width / self.head_width,
            mlp_ratio: self.mlp_ratio,
            activation,
            norm_epsilon: architecture.norm_epsilon(),
        };
        let n_patches = self.grid_size() * self.grid_size();
        let (pooling, n_tokens) = match architecture {
            Architecture::Clip => (
                Pooling::ClassToken(ClassToken::init(transformer, embed_dim, device)),
                n_patches + 1,
            ),
            Architecture::SigLip => (
                Pooling::Attention(AttentionPool::init(transformer, device)),
                n_patches,
            ),
        };
        let patch_values = N_CHANNELS * self.patch_size * self.patch_size;
        let patches = linear([patch_values, self.width], device);
        VisionTower {
            // PyTorch's default for a convolution is that for a linear layer of the same fan-in.
            patch_embedding: Linear {
                weight: patches.weight,
                bias: patches
                    .bias
                    .filter(|_| architecture == Architecture::SigLip),
            },
            position_embedding: normal([n_tokens, self.width], POSITION_STD, device),
            transformer: transformer.init(device),
            post_norm: transformer.init_norm(device),
            pooling,
            patch_size: self.patch_size,
        }
    }
}

impl VisionTower {
    /// Features of pictures, not normalised.
    ///
    /// # Shapes
    ///
    /// - `images`: `[n_images, 3, image_size, image_size]`, normalised as the weights expect
    /// - output: `[n_images, embed_dim]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.project(self.pool(images))
    }

    /// Pooled states of pictures, `[n_images, width]`, which [`project`](Self::project) turns into features.
    pub fn pool(&self, images: Tensor<4>) -> Tensor<2> {
        let patches = forward_linear(&self.patch_embedding, self.patches(images)); // [n_images, n_patches, width]
        let positions = self.position_embedding.val().unsqueeze();
        match &self.pooling {
            Pooling::ClassToken(class) => {
                let tokens = class
                    .pre_norm
                    .forward(class.prepend_to(patches) + positions); // [n_images, 1 + n_patches, width]
                let [n_images, n_tokens, _] = tokens.dims();
                let first: Vec<usize> = (0..n_images).map(|i_image| i_image * n_tokens).collect();
                let pooled = self.transformer.forward_rows(tokens, None, &first); // [n_images, width]
                self.post_norm.forward(pooled)
            }
            Pooling::Attention(pool) => {
                let tokens = self.transformer.forward(patches + positions, None);
                pool.forward(self.post_norm.forward(tokens))
            }
        }
    }

    /// The last layer: output of [`pool`](Self::pool), `[n_images, width]` → features, `[n_images, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        match &self.pooling {
            Pooling::ClassToken(class) => forward_linear(&class.projection, pooled),
            Pooling::Attention(_) => pooled,
        }
    }

    /// The weights of the last layer, `[width, embed_dim]`; `None` where attention pools straight into features.
    pub fn projection_weights(&self) -> Option<Tensor<2>> {
        match &self.pooling {
            Pooling::ClassToken(class) => Some(class.projection.weight.val()),
            Pooling::Attention(_) => None,
        }
    }

    /// Cuts pictures into patches, row by row: a convolution whose stride is its size is a matrix product with these,
    /// which on Flex takes half the time of the convolution, with its backward pass too.
    ///
    /// # Shapes
    ///
    /// - `images`: `[n_images, channels, height, width]`
    /// - output: `[n_images, n_patches, channels·patch_size²]`
    fn patches(&self, images: Tensor<4>) -> Tensor<3> {
        let [n_images, channels, height, width] = images.dims();
        let size = self.patch_size;
        let (rows, columns) = (height / size, width / size);
        images
            .reshape([n_images, channels, rows, size, columns, size])
            .permute([0, 2, 4, 1, 3, 5])
            .reshape([n_images, rows * columns, channels * size * size])
    }
}
