//! Configuration of an encoder as its manifest has it, and new encoders of these sizes.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::encoders::{HeadedImage, HeadedText, IMAGE_HEAD, ImageEncoder, TEXT_HEAD, TextEncoder};
use super::exemplars::{Exemplars, ExemplarsConfig, ImageOutput};
use super::head::{HeadConfig, HeadInput, NamedHead};
use super::towers::{ImageTowerConfig, TextTowerConfig};
use crate::model::bert::BertConfig;
use crate::model::clip::{Architecture, ClipConfig};
use crate::model::efficientnet::EfficientNetConfig;

/// Dimension of the space that the heads are trained into.
const EMBED_DIM: usize = 256;
/// Width of the hidden layer of the text tower's head.
const TEXT_HEAD_WIDTH: usize = 1024;
/// Width of the hidden layer of the image tower's head. One of 1024 retrieves no better, and an image tower is to have
/// at most 6 MB.
const IMAGE_HEAD_WIDTH: usize = 384;

/// Configuration of an encoder; the name of the variant is the manifest's key.
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
    /// Architecture and sizes of the text tower.
    pub text: TextTowerConfig,
    /// Sizes of the head that brings the text tower's features into the common space.
    pub text_head: HeadConfig,
    /// Architecture and sizes of the image tower.
    pub image: ImageTowerConfig,
    /// Sizes of the head that brings the image tower's features into the common space.
    pub image_head: HeadConfig,
    /// Numbers of exemplars by which unfamiliar captions and pictures are detected, if the model has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exemplars: Option<ExemplarsConfig>,
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

    /// Widths of the outputs of [`TextEncoder::pool`] and [`ImageEncoder::pool`].
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

    /// Index of the token at which a caption with these ids is pooled, in a row of `n_tokens`.
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
                head: towers.init_text_head(device).head,
                exemplars: towers
                    .exemplars
                    .map(|exemplars| Exemplars::new(exemplars.text, towers.text.width(), device)),
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
                head: towers.init_image_head(device).head,
                exemplars: towers.exemplars.map(|exemplars| {
                    let width = match exemplars.image_output {
                        ImageOutput::Features => towers.image.width(),
                        ImageOutput::BeforeLastBlock => towers.image.map_width(),
                    };
                    Exemplars::new(exemplars.image, width, device)
                }),
                compared: towers
                    .exemplars
                    .map(|exemplars| exemplars.image_output)
                    .unwrap_or_default(),
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

impl TowersConfig {
    /// A new head of the text tower.
    #[must_use]
    pub fn init_text_head(&self, device: &Device) -> NamedHead {
        let head = self.text_head;
        NamedHead {
            head: head.init(self.text.width(), self.embed_dim, device),
            name: TEXT_HEAD,
        }
    }

    /// A new head of the image tower.
    #[must_use]
    pub fn init_image_head(&self, device: &Device) -> NamedHead {
        let head = self.image_head;
        NamedHead {
            head: head.init(self.image.width(), self.embed_dim, device),
            name: IMAGE_HEAD,
        }
    }

    /// `MiniLM` and EfficientNet-Lite0 with heads into 256 dimensions.
    #[must_use]
    pub fn photographs() -> Self {
        Self::of(
            TextTowerConfig::Bert(BertConfig::all_minilm_l6_v2()),
            ImageTowerConfig::EfficientNet(EfficientNetConfig::lite0()),
        )
    }

    /// Sizes of these towers with heads into 256 dimensions.
    #[must_use]
    pub fn of(text: TextTowerConfig, image: ImageTowerConfig) -> Self {
        let head = |hidden_width, input| HeadConfig {
            hidden_width,
            input,
        };
        Self {
            embed_dim: EMBED_DIM,
            text,
            text_head: head(TEXT_HEAD_WIDTH, HeadInput::Plain),
            image,
            image_head: head(IMAGE_HEAD_WIDTH, HeadInput::SquareRoot),
            exemplars: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Distribution, Tensor};
    use serde_json::json;

    use super::super::encoders::IMAGE_EXEMPLARS;
    use super::*;
    use crate::device::cpu;
    use crate::model::clip::normalize;
    use crate::model::parameters::Parameters as _;

    #[test]
    fn the_key_of_a_manifest_names_the_kind() {
        let json = serde_json::to_value(EncoderConfig::Clip(ClipConfig::vit_b_32()));
        let json = json.expect("plain numbers");
        assert_eq!(json["clip"]["embed_dim"], 512, "as it always was: {json}");
    }

    #[test]
    fn pictures_are_compared_by_the_output_that_the_manifest_names() {
        let device = cpu();
        let image = Tensor::random([1, 3, 32, 32], Distribution::Default, &device);
        for (name, width) in [("features", 40), ("before_last_block", 16)] {
            let stage = |width| json!({ "kernel_size": 3, "stride": 2, "expansion": 2, "width": width, "layers": 1 });
            let mut towers = json!(TowersConfig::photographs());
            towers["image"]["image_size"] = json!(32);
            towers["image"]["stages"] = json!([stage(16), stage(24)]);
            towers["image"]["width"] = json!(40);
            towers["exemplars"] = json!({ "text": 1, "image": 1, "image_output": name });
            let towers: TowersConfig = serde_json::from_value(towers).expect("its own JSON");
            let encoder = EncoderConfig::Towers(towers).init_vision(&device);
            let shape = (IMAGE_EXEMPLARS.to_owned(), vec![1, width]);
            assert!(encoder.named_shapes().contains(&shape), "{shape:?}");
            let ImageEncoder::Tower(mut headed) = encoder else {
                panic!("{name}: two towers");
            };
            let means = headed.tower.forward(image.clone());
            let compared = match headed.compared {
                ImageOutput::Features => headed.head.input.apply(means.features),
                ImageOutput::BeforeLastBlock => means.before_last_block,
            };
            headed.exemplars = Some(Exemplars::of(normalize(compared)));
            let encoder = ImageEncoder::Tower(headed);
            let found = encoder.familiarity(encoder.pool(image.clone()));
            // The picture itself, and no second or third.
            let found = found.expect("it has an exemplar").into_scalar::<f32>();
            assert!((found + 1.0 / 3.0).abs() < 1e-6, "{name}: {found}");
        }
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
