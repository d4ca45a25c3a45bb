//! The dual encoder of a model, whatever its towers are: captions and pictures → features in one space.
//!
//! CLIP's towers share their space by training; locked towers (Zhai et al. 2022,
//! [LiT](https://arxiv.org/abs/2111.07991)) were trained apart and share one by a head each. Knows nothing of
//! tokenizers, files or where weights come from.

mod head;
mod towers;

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::clip::{Architecture, ClipConfig, TextTower, VisionTower};
use super::parameters::{ParameterVisitor, Parameters};
use crate::error::Result;

pub use head::{Head, HeadConfig};
pub use towers::{ImageTower, ImageTowerConfig, TextTower as LockedTextTower, TextTowerConfig};

/// What a manifest says of its encoder; the name of the variant is the manifest's key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncoderConfig {
    /// Two towers that were trained together.
    Clip(ClipConfig),
    /// Two towers of any kind, each with a head.
    Towers(TowersConfig),
}

/// Sizes of two towers and their heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TowersConfig {
    /// Dimension of the common space.
    pub embed_dim: usize,
    /// The text tower.
    pub text: TextTowerConfig,
    /// Its head.
    pub text_head: HeadConfig,
    /// The image tower.
    pub image: ImageTowerConfig,
    /// Its head.
    pub image_head: HeadConfig,
}

/// Token ids → features.
#[derive(Module, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a model has one, whose size is that of its tensors"
)]
pub enum TextEncoder {
    /// CLIP's or `SigLIP`'s.
    Clip(TextTower),
    /// Another tower and its head.
    Tower(HeadedText),
}

/// Pictures → features.
#[derive(Module, Debug)]
pub enum ImageEncoder {
    /// CLIP's or `SigLIP`'s.
    Clip(VisionTower),
    /// Another tower and its head.
    Tower(HeadedImage),
}

/// A text tower and its head.
#[derive(Module, Debug)]
pub struct HeadedText {
    /// The tower, which is not trained.
    pub tower: LockedTextTower,
    /// The head, which is.
    pub head: Head,
}

/// An image tower and its head.
#[derive(Module, Debug)]
pub struct HeadedImage {
    /// The tower, which is not trained.
    pub tower: ImageTower,
    /// The head, which is.
    pub head: Head,
}

impl EncoderConfig {
    /// Dimension of the space that both encoders give.
    #[must_use]
    pub fn embed_dim(&self) -> usize {
        match self {
            Self::Clip(clip) => clip.embed_dim,
            Self::Towers(towers) => towers.embed_dim,
        }
    }

    /// Side of the square picture in pixels.
    #[must_use]
    pub fn image_size(&self) -> usize {
        match self {
            Self::Clip(clip) => clip.vision_cfg.image_size,
            Self::Towers(towers) => towers.image.image_size(),
        }
    }

    /// Greatest number of a caption's tokens, start and end included.
    #[must_use]
    pub fn context_length(&self) -> usize {
        match self {
            Self::Clip(clip) => clip.text_cfg.context_length,
            Self::Towers(towers) => towers.text.context_length(),
        }
    }

    /// Height of the token table.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        match self {
            Self::Clip(clip) => clip.text_cfg.vocab_size,
            Self::Towers(towers) => towers.text.vocab_size(),
        }
    }

    /// Id of the token that ends every caption and fills what is left of its row.
    #[must_use]
    pub fn end_token_id(&self) -> u32 {
        match self {
            Self::Clip(clip) => clip.text_cfg.end_token_id,
            Self::Towers(towers) => towers.text.end_token_id(),
        }
    }

    /// Widths of what [`TextEncoder::pool`] and [`ImageEncoder::pool`] give.
    #[must_use]
    pub fn pooled_widths(&self) -> (usize, usize) {
        match self {
            Self::Clip(clip) => (clip.text_cfg.width, clip.vision_cfg.width),
            Self::Towers(towers) => (towers.text.width(), towers.image.width()),
        }
    }

    /// Tokens in each row of a batch whose longest caption has `longest`.
    #[must_use]
    pub fn row_length(&self, longest: usize) -> usize {
        match self {
            Self::Clip(clip) if clip.architecture == Architecture::SigLip => self.context_length(),
            _ => longest,
        }
    }

    /// Where the encoder looks for the end of a caption with these ids, in a row of `n_tokens`.
    #[must_use]
    pub fn end_position(&self, ids: &[u32], n_tokens: usize) -> usize {
        match self {
            Self::Clip(clip) if clip.architecture == Architecture::SigLip => n_tokens - 1,
            Self::Clip(clip) => {
                let end = clip.text_cfg.end_token_id;
                let first_end = ids.iter().position(|id| *id == end);
                first_end.unwrap_or(ids.len() - 1)
            }
            Self::Towers(_) => ids.len() - 1,
        }
    }

    /// The text encoder with random initial weights.
    #[must_use]
    pub fn init_text(&self, device: &Device) -> TextEncoder {
        match self {
            Self::Clip(clip) => TextEncoder::Clip(clip.init_text(device)),
            Self::Towers(towers) => TextEncoder::Tower(HeadedText {
                tower: towers.text.init(device),
                head: towers
                    .text_head
                    .init(towers.text.width(), towers.embed_dim, device),
            }),
        }
    }

    /// The image encoder with random initial weights.
    #[must_use]
    pub fn init_vision(&self, device: &Device) -> ImageEncoder {
        match self {
            Self::Clip(clip) => ImageEncoder::Clip(clip.init_vision(device)),
            Self::Towers(towers) => ImageEncoder::Tower(HeadedImage {
                tower: towers.image.init(device),
                head: towers
                    .image_head
                    .init(towers.image.width(), towers.embed_dim, device),
            }),
        }
    }

    /// CLIP's sizes, if it is one.
    #[must_use]
    pub fn clip(&self) -> Option<&ClipConfig> {
        match self {
            Self::Clip(clip) => Some(clip),
            Self::Towers(_) => None,
        }
    }
}

impl TextEncoder {
    /// Features of captions, not normalised.
    ///
    /// # Shapes
    ///
    /// - `token_ids`: `[n_texts, n_tokens]`, rows of [`EncoderConfig::row_length`] filled with the end token
    /// - `end_positions`: `[n_texts]`, [`EncoderConfig::end_position`] of each
    /// - output: `[n_texts, embed_dim]`
    pub fn forward(&self, token_ids: Tensor<2, Int>, end_positions: Tensor<1, Int>) -> Tensor<2> {
        self.project(self.pool(token_ids, end_positions))
    }

    /// What [`forward`](Self::forward) projects, `[n_texts, width]`.
    pub fn pool(&self, token_ids: Tensor<2, Int>, end_positions: Tensor<1, Int>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.pool(token_ids, end_positions),
            Self::Tower(text) => text.tower.forward(token_ids, end_positions),
        }
    }

    /// The last step: what [`pool`](Self::pool) gave → features, `[n_texts, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.project(pooled),
            Self::Tower(text) => text.head.forward(pooled),
        }
    }

    /// The weights of the last layer, `[width, embed_dim]`, where the last step is linear.
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
        self.project(self.pool(images))
    }

    /// What [`forward`](Self::forward) projects, `[n_images, width]`.
    pub fn pool(&self, images: Tensor<4>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.pool(images),
            Self::Tower(image) => image.tower.forward(images),
        }
    }

    /// The last step: what [`pool`](Self::pool) gave → features, `[n_images, embed_dim]`.
    pub fn project(&self, pooled: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Clip(clip) => clip.project(pooled),
            Self::Tower(image) => image.head.forward(pooled),
        }
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
                text.head.visit_as("text_head", visitor)
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
                image.head.visit_as("visual_head", visitor)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_key_of_a_manifest_names_the_kind() {
        let json = serde_json::to_value(EncoderConfig::Clip(ClipConfig::vit_b_32()));
        let json = json.expect("plain numbers");
        assert_eq!(json["clip"]["embed_dim"], 512, "as it always was: {json}");
    }

    #[test]
    fn towers_survive_json_and_name_their_tensors_apart() {
        let towers = TowersConfig::photographs();
        let config = EncoderConfig::Towers(towers);
        let json = serde_json::to_string(&config).expect("plain numbers");
        let back: EncoderConfig = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, config, "{json}");
        let device = cpu();
        let text = config.init_text(&device).named_shapes();
        let image = config.init_vision(&device).named_shapes();
        assert!(
            text.iter().all(|(name, _)| name.starts_with("text_")),
            "{text:?}"
        );
        assert!(
            image.iter().all(|(name, _)| name.starts_with("vis")),
            "{image:?}"
        );
    }
}
