//! The two encoders: a tower and the head that maps its features into the common space.

use burn::module::Module;
use burn::tensor::{Int, Tensor};

use super::exemplars::{Exemplars, ImageOutput};
use super::head::Head;
use super::towers::{ImageTower, LockedTextTower};
use crate::error::Result;
use crate::host::gemm::Kernel;
use crate::model::clip::{TextTower, VisionTower};
use crate::model::parameters::{ParameterVisitor, Parameters};

/// Prefixes of the names of the heads' tensors.
pub(super) const TEXT_HEAD: &str = "text_head";
pub(super) const IMAGE_HEAD: &str = "visual_head";

/// Name of the tensor of the captions' exemplars, `[n_exemplars, width]`.
pub const TEXT_EXEMPLARS: &str = "text_exemplars";
/// Name of the tensor of the pictures' exemplars, `[n_exemplars, width]`.
pub const IMAGE_EXEMPLARS: &str = "visual_exemplars";

/// Token ids → features in the common space, `[n_texts, embed_dim]`, not normalised.
#[derive(Module, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a model has one, whose size is that of its tensors"
)]
pub enum TextEncoder {
    /// CLIP's or `SigLIP`'s text tower, whose features lie in the common space.
    Clip(TextTower),
    /// Another tower and its head.
    Tower(HeadedText),
}

/// Pictures → features in the common space, `[n_images, embed_dim]`, not normalised.
#[derive(Module, Debug)]
pub enum ImageEncoder {
    /// CLIP's or `SigLIP`'s image tower, whose features lie in the common space.
    Clip(VisionTower),
    /// Another tower and its head.
    Tower(HeadedImage),
}

/// A text tower and its head.
#[derive(Module, Debug)]
pub struct HeadedText {
    /// Locked tower; training leaves its weights as they are.
    pub tower: LockedTextTower,
    /// Trained head, from the tower's features to the common space.
    pub head: Head,
    /// Captions of the training that new ones are compared with, if the model has any.
    pub exemplars: Option<Exemplars>,
}

/// An image tower and its head.
#[derive(Module, Debug)]
pub struct HeadedImage {
    /// Locked tower; training leaves its weights as they are.
    pub tower: ImageTower,
    /// Trained head, from the tower's features to the common space.
    pub head: Head,
    /// Pictures of the training that new ones are compared with, if the model has any.
    pub exemplars: Option<Exemplars>,
    /// What pictures are compared by.
    #[module(skip)]
    pub compared: ImageOutput,
}

/// What an image encoder gives of pictures before the last step.
#[derive(Debug, Clone)]
pub struct PooledImages {
    /// Pooled features, `[n_images, width]`: for a locked tower, the tower's own.
    pub features: Tensor<2>,
    /// Means of the map that a locked tower's last block reads, `[n_images, channels]`.
    before_last_block: Option<Tensor<2>>,
}

impl TextEncoder {
    /// Features of captions, not normalised.
    ///
    /// # Shapes
    ///
    /// - `token_ids`: `[n_texts, n_tokens]`, rows of `EncoderConfig::row_length` filled with the end token
    /// - `end_positions`: `[n_texts]`, `EncoderConfig::end_position` of each
    /// - output: `[n_texts, embed_dim]`
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: &[usize]) -> Tensor<2> {
        self.project(self.pool(token_ids, end_positions))
    }

    /// Pooled features of captions before the last step, `[n_texts, width]`: for a locked tower, the tower's own
    /// features.
    pub fn pool(&self, token_ids: Tensor<2, Int>, end_positions: &[usize]) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.pool(token_ids, end_positions),
            Self::Tower(text) => text.tower.forward(token_ids, end_positions),
        }
    }

    /// Output of [`pool`](Self::pool) for captions cut after the token where each is pooled, `[n_texts, width]`, with
    /// nothing computed for what fills rows, and by a causal tower common beginnings once; `None` where the tower does
    /// not allow it or it would cost more.
    pub fn pool_compact<'a>(
        &self,
        captions: impl IntoIterator<Item = &'a [u32]>,
    ) -> Option<Tensor<2>> {
        match self {
            Self::Clip(clip) => clip.pool_shared(captions),
            Self::Tower(text) => Some(text.tower.forward_packed(captions)),
        }
    }

    /// The last step: output of [`pool`](Self::pool), `[n_texts, width]` → features, `[n_texts, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.project(pooled),
            Self::Tower(text) => text.head.forward(pooled),
        }
    }

    /// Mean cosine of captions with their nearest exemplars, `[n_texts, 1]`, from the output of [`pool`](Self::pool);
    /// `None` where the model has no exemplars.
    pub fn familiarity(&self, pooled: Tensor<2>) -> Option<Tensor<2>> {
        match self {
            Self::Clip(_) => None,
            Self::Tower(text) => Some(
                text.exemplars
                    .as_ref()?
                    .nearest(text.head.input.apply(pooled)),
            ),
        }
    }

    /// The weights of the last layer, `[width, embed_dim]`, where the last step is linear; a bias is one row
    /// more.
    pub fn projection_weights(&self) -> Option<Tensor<2>> {
        match self {
            Self::Clip(clip) => Some(clip.projection_weights()),
            Self::Tower(_) => None,
        }
    }
}

impl ImageEncoder {
    /// Features of pictures, not normalised.
    ///
    /// # Shapes
    ///
    /// - `images`: `[n_images, 3, image_size, image_size]`, normalised as the weights expect
    /// - output: `[n_images, embed_dim]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.project(self.pool(images).features)
    }

    /// Pooled features of pictures before the last step, and what they are compared with exemplars by.
    pub fn pool(&self, images: Tensor<4>) -> PooledImages {
        match self {
            Self::Clip(clip) => PooledImages {
                features: clip.pool(images),
                before_last_block: None,
            },
            Self::Tower(image) => {
                let means = image.tower.forward(images);
                PooledImages {
                    features: means.features,
                    before_last_block: Some(means.before_last_block),
                }
            }
        }
    }

    /// The last step: pooled features, `[n_images, width]` → features, `[n_images, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.project(pooled),
            Self::Tower(image) => image.head.forward(pooled),
        }
    }

    /// Mean cosine of pictures with their nearest exemplars, `[n_images, 1]`, from the output of [`pool`](Self::pool);
    /// `None` where the model has no exemplars.
    pub fn familiarity(&self, pooled: PooledImages) -> Option<Tensor<2>> {
        let Self::Tower(image) = self else {
            return None;
        };
        let compared = match image.compared {
            ImageOutput::Features => image.head.input.apply(pooled.features),
            ImageOutput::BeforeLastBlock => pooled.before_last_block?,
        };
        Some(image.exemplars.as_ref()?.nearest(compared))
    }

    /// The weights of the last layer, `[width, embed_dim]`, where the last step is linear.
    pub fn projection_weights(&self) -> Option<Tensor<2>> {
        match self {
            Self::Clip(clip) => clip.projection_weights(),
            Self::Tower(_) => None,
        }
    }
}

impl Parameters for TextEncoder {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        match self {
            Self::Clip(clip) => clip.visit_parameters(visitor),
            Self::Tower(text) => {
                text.tower.visit_parameters(visitor)?;
                text.head.visit_as(TEXT_HEAD, visitor)?;
                match &mut text.exemplars {
                    Some(exemplars) => exemplars.visit_as(TEXT_EXEMPLARS, visitor),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Parameters for ImageEncoder {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        match self {
            Self::Clip(clip) => clip.visit_parameters(visitor),
            Self::Tower(image) => {
                image.tower.visit_parameters(visitor)?;
                image.head.visit_as(IMAGE_HEAD, visitor)?;
                match &mut image.exemplars {
                    Some(exemplars) => exemplars.visit_as(IMAGE_EXEMPLARS, visitor),
                    None => Ok(()),
                }
            }
        }
    }

    fn pack(&mut self, kernel: Kernel) {
        if let Self::Tower(image) = self {
            image.tower.pack(kernel);
        }
    }
}
