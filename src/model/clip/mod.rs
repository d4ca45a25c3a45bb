//! CLIP: two towers that send captions and pictures to one space.
//!
//! The same architecture as the released vision transformers (pre-LN blocks; first-EOT and class-token pooling, or
//! `SigLIP`'s), described by `open_clip`'s configuration words. Knows nothing of tokenizers, pictures' files or where
//! weights come from.
//!
//! Radford et al. 2021, [Learning Transferable Visual Models From Natural Language
//! Supervision](https://arxiv.org/abs/2103.00020); Zhai et al. 2023, [Sigmoid Loss for Language Image
//! Pre-Training](https://arxiv.org/abs/2303.15343)

mod attention;
mod checkpoint;
mod pooling;
mod text;
mod token_tree;
pub(crate) mod transformer;
mod vision;

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::device::product;

pub use super::activation::Activation;
pub use text::{TextConfig, TextTower};
pub use token_tree::TokenTree;
pub use vision::{VisionConfig, VisionTower};

/// Sum of squares below which a vector counts as zero; keeps the gradient of its length finite.
const MIN_SQUARED_NORM: f64 = 1e-24;

/// Logarithm of the initial logit scale, ln(1/0.07): a temperature of 0.07 (section 2.5 of the paper).
const INITIAL_LOG_LOGIT_SCALE: f32 = 2.659_26;

/// Logarithm of `SigLIP`'s initial logit scale, 10, and its initial bias (section 3.2 of its paper).
const INITIAL_SIGLIP: (f32, f32) = (std::f32::consts::LN_10, -10.0);

/// Masks and pooling around the two transformers, by the published model that has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Captions are masked causally and pooled at their first end token, pictures in a class token.
    #[default]
    Clip,
    /// Captions fill the context, see all of it and are pooled at its last position, pictures by attention.
    SigLip,
}

/// Sizes of both towers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClipConfig {
    /// Masks and pooling around the transformers; CLIP's where a manifest names none.
    #[serde(default)]
    pub architecture: Architecture,
    /// Dimension of the common space.
    pub embed_dim: usize,
    /// Sizes of the image tower.
    pub vision_cfg: VisionConfig,
    /// Sizes of the text tower.
    pub text_cfg: TextConfig,
    /// Whether blocks use x·σ(1.702x), as `OpenAI`'s weights do, instead of the exact GELU; never in `SigLIP`, whose
    /// GELU is that of the hyperbolic tangent.
    pub quick_gelu: bool,
}

/// Both towers and the factor that the contrastive loss multiplies cosines with.
#[derive(Module, Debug)]
pub struct Clip {
    /// Text tower: token ids → features, `[n_texts, embed_dim]`, not normalised.
    pub text: TextTower,
    /// Image tower: pictures → features, `[n_images, embed_dim]`, not normalised.
    pub vision: VisionTower,
    /// Logarithm of the logit scale, `[1]`.
    pub log_logit_scale: Param<Tensor<1>>,
    /// Bias added to the logits, `[1]`, in `SigLIP` alone.
    pub logit_bias: Option<Param<Tensor<1>>>,
}

impl Architecture {
    /// The epsilon of every layer norm.
    fn norm_epsilon(self) -> f64 {
        match self {
            Self::Clip => 1e-5,
            Self::SigLip => 1e-6,
        }
    }
}

impl ClipConfig {
    /// Sizes of `OpenAI`'s ViT-B/32, for pictures of 224 × 224 pixels.
    #[must_use]
    pub fn vit_b_32() -> Self {
        Self {
            architecture: Architecture::Clip,
            embed_dim: 512,
            vision_cfg: VisionConfig {
                image_size: 224,
                layers: 12,
                width: 768,
                head_width: 64,
                patch_size: 32,
                mlp_ratio: 4.0,
            },
            text_cfg: TextConfig {
                context_length: 77,
                vocab_size: 49_408,
                width: 512,
                heads: 8,
                layers: 12,
                mlp_ratio: 4.0,
                start_token_id: Some(49_406),
                end_token_id: 49_407,
            },
            quick_gelu: true,
        }
    }

    /// A model with random initial weights.
    #[must_use]
    pub fn init(&self, device: &Device) -> Clip {
        let scalar = |value: f32| Param::from_tensor(Tensor::from_floats([value], device));
        let (log_logit_scale, logit_bias) = match self.architecture {
            Architecture::Clip => (INITIAL_LOG_LOGIT_SCALE, None),
            Architecture::SigLip => (INITIAL_SIGLIP.0, Some(INITIAL_SIGLIP.1)),
        };
        Clip {
            text: self.init_text(device),
            vision: self.init_vision(device),
            log_logit_scale: scalar(log_logit_scale),
            logit_bias: logit_bias.map(scalar),
        }
    }

    /// The text tower alone.
    #[must_use]
    pub fn init_text(&self, device: &Device) -> TextTower {
        self.text_cfg
            .init(self.embed_dim, self.architecture, self.activation(), device)
    }

    /// The image tower alone.
    #[must_use]
    pub fn init_vision(&self, device: &Device) -> VisionTower {
        self.vision_cfg
            .init(self.embed_dim, self.architecture, self.activation(), device)
    }

    fn activation(&self) -> Activation {
        match self.architecture {
            Architecture::Clip if self.quick_gelu => Activation::QuickGelu,
            Architecture::Clip => Activation::Gelu,
            Architecture::SigLip => Activation::GeluTanh,
        }
    }
}

impl Clip {
    /// Logits of the contrastive loss: `exp(log_logit_scale) · cos(image, text)`, of `SigLIP` plus `logit_bias`.
    ///
    /// # Shapes
    ///
    /// - `image_features`: `[n_images, embed_dim]`, of any length
    /// - `text_features`: `[n_texts, embed_dim]`, of any length
    /// - output: `[n_images, n_texts]`
    pub fn logits(&self, image_features: Tensor<2>, text_features: Tensor<2>) -> Tensor<2> {
        let cosines = product(
            normalize(image_features),
            normalize(text_features).transpose(),
        );
        let logits = cosines * self.log_logit_scale.val().exp().unsqueeze::<2>();
        match &self.logit_bias {
            Some(bias) => logits + bias.val().unsqueeze::<2>(),
            None => logits,
        }
    }
}

/// Features scaled to length one.
///
/// # Shapes
///
/// - `features`: `[n, embed_dim]`
/// - output: `[n, embed_dim]`
pub fn normalize(features: Tensor<2>) -> Tensor<2> {
    let norm = l2_norm(features.clone());
    features / norm
}

/// Length of each row, at least 1e-12.
///
/// # Shapes
///
/// - `rows`: `[n, width]`
/// - output: `[n, 1]`
pub(crate) fn l2_norm(rows: Tensor<2>) -> Tensor<2> {
    (rows.clone() * rows)
        .sum_dim(1)
        .clamp_min(MIN_SQUARED_NORM)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Int, TensorData};

    use super::*;
    use crate::device::cpu;
    use crate::model::adapter::info_nce;
    use crate::model::parameters::count::n_parameters;
    use crate::model::parameters::{Parameters as _, TensorRecord};

    fn tiny() -> ClipConfig {
        ClipConfig {
            architecture: Architecture::Clip,
            embed_dim: 6,
            vision_cfg: VisionConfig {
                image_size: 4,
                layers: 1,
                width: 8,
                head_width: 4,
                patch_size: 2,
                mlp_ratio: 2.0,
            },
            text_cfg: TextConfig {
                context_length: 5,
                vocab_size: 7,
                width: 8,
                heads: 2,
                layers: 2,
                mlp_ratio: 2.0,
                start_token_id: Some(5),
                end_token_id: 6,
            },
            quick_gelu: true,
        }
    }

    /// The contrastive loss of a fixed batch of two.
    fn loss(clip: &Clip, device: &Device) -> Tensor<1> {
        let pixels: Vec<f32> = (0..96)
            .map(|i| ((i * 37 % 19) as f32 - 9.0) / 9.0)
            .collect();
        let images = Tensor::from_data(TensorData::new(pixels, [2, 3, 4, 4]), device);
        let ids = Tensor::<2, Int>::from_data([[5, 1, 2, 6], [5, 3, 6, 6]], device);
        info_nce(clip.logits(clip.vision.forward(images), clip.text.forward(ids, &[3, 2])))
    }

    fn records(clip: &Clip) -> Vec<TensorRecord> {
        let tensors = clip.named_tensors().into_iter();
        tensors
            .map(|tensor| TensorRecord {
                name: tensor.name,
                shape: tensor.shape,
                values: tensor.values.into_data().as_slice().expect("f32").to_vec(),
            })
            .collect()
    }

    #[test]
    fn vit_b_32_has_the_published_number_of_parameters() {
        let clip = ClipConfig::vit_b_32().init(&cpu());
        assert_eq!(n_parameters(&clip.text), 63_428_096, "text tower");
        assert_eq!(n_parameters(&clip.vision), 87_849_216, "image tower");
        assert_eq!(n_parameters(&clip), 151_277_313, "with the logit scale");
    }

    #[test]
    fn siglip_base_has_the_published_number_of_parameters() {
        let siglip_base = ClipConfig {
            architecture: Architecture::SigLip,
            embed_dim: 768,
            vision_cfg: VisionConfig {
                patch_size: 16,
                ..ClipConfig::vit_b_32().vision_cfg
            },
            text_cfg: TextConfig {
                context_length: 64,
                vocab_size: 32_000,
                width: 768,
                heads: 12,
                layers: 12,
                mlp_ratio: 4.0,
                start_token_id: None,
                end_token_id: 1,
            },
            quick_gelu: false,
        };
        let clip = siglip_base.init(&cpu());
        // The sum over the tensors of transformers' `SiglipModel` with its default sizes.
        assert_eq!(n_parameters(&clip), 203_155_970, "with scale and bias");
    }

    #[test]
    fn the_config_is_read_with_open_clips_defaults() {
        let json = r#"{"embed_dim": 512, "quick_gelu": true,
            "vision_cfg": {"image_size": 224, "layers": 12, "width": 768, "patch_size": 32},
            "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 512, "heads": 8, "layers": 12,
                         "start_token_id": 49406, "end_token_id": 49407}}"#;
        let config: ClipConfig = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(config, ClipConfig::vit_b_32(), "head_width 64, mlp_ratio 4");
    }

    #[test]
    fn a_missing_tensor_is_named() {
        let device = cpu();
        let mut clip = tiny().init(&device);
        let mut records = records(&clip);
        records.retain(|record| record.name != "text_model.final_layer_norm.bias");
        let error = clip.load(records).expect_err("one tensor is missing");
        assert_eq!(
            error.to_string(),
            "text_model.final_layer_norm.bias: missing",
            "the message names it"
        );
    }

    #[test]
    fn a_tensor_of_another_shape_is_named() {
        let mut clip = tiny().init(&cpu());
        let mut records = records(&clip);
        let projection = records
            .iter_mut()
            .find(|r| r.name == "visual_projection.weight");
        projection.expect("the projection").shape = vec![8, 6];
        let error = clip.load(records).expect_err("transposed");
        assert_eq!(
            error.to_string(),
            "visual_projection.weight: shape is [8, 6], expected [6, 8]",
            "the message names it"
        );
    }

    #[test]
    fn an_unknown_tensor_is_named_and_position_ids_are_passed_over() {
        let mut clip = tiny().init(&cpu());
        let mut records = records(&clip);
        let extra = |name: &str| TensorRecord {
            name: name.to_owned(),
            shape: vec![1],
            values: vec![0.0],
        };
        records.push(extra("text_model.embeddings.position_ids"));
        assert_eq!(
            clip.load(records.clone()),
            Ok(()),
            "position_ids are no parameter"
        );
        records.push(extra("text_model.head"));
        let error = clip.load(records).expect_err("one too many");
        assert_eq!(
            error.to_string(),
            "text_model.head: not a parameter of this model",
            "the message names it"
        );
    }

    #[cfg(feature = "train")]
    #[test]
    fn gradients_are_those_of_central_differences() {
        let device = cpu().autodiff();
        let mut clip = tiny().init(&device);
        // Of size one, unlike the initial weights, on which a layer norm is too curved for a difference in f32.
        let mut before = records(&clip);
        for record in &mut before {
            let seed = record.name.len() as f32;
            let values = record.values.iter_mut().zip(0_u8..=255);
            values.for_each(|(value, i)| *value = (seed + 1.7 * f32::from(i)).sin());
        }
        clip.load(before.clone())
            .expect("the same names and shapes");
        let gradients = loss(&clip, &device).backward();
        let word = clip
            .text
            .token_embedding
            .weight
            .val()
            .grad(&gradients)
            .expect("a gradient");
        let patch = clip
            .vision
            .patch_embedding
            .weight
            .val()
            .grad(&gradients)
            .expect("a gradient");
        let scale = clip
            .log_logit_scale
            .val()
            .grad(&gradients)
            .expect("a gradient");
        // Row 1, column 2 of the token table; row 2, column 0 of our patch matrix is its transpose's [0, 2].
        let word: f32 = word.slice([1..2, 2..3]).into_scalar();
        let patch: f32 = patch.slice([2..3, 0..1]).into_scalar();
        let cases = [
            ("text_model.embeddings.token_embedding.weight", 10, word),
            ("vision_model.embeddings.patch_embedding.weight", 2, patch),
            ("logit_scale", 0, scale.into_scalar()),
        ];
        for (name, index, gradient) in cases {
            let difference = central_difference(&before, name, index);
            assert!(
                (gradient - difference).abs() <= 2e-2 * difference.abs() + 1e-3,
                "{name}: gradient {gradient}, central difference {difference}"
            );
        }
    }

    #[cfg(feature = "train")]
    fn central_difference(records: &[TensorRecord], name: &str, index: usize) -> f32 {
        // Balances f32's rounding of a loss of size one against the third derivative.
        const STEP: f32 = 5e-3;
        let device = cpu();
        let loss_at = |step: f32| -> f32 {
            let mut moved = records.to_vec();
            let record = moved.iter_mut().find(|record| record.name == name);
            record.expect("a parameter").values[index] += step;
            let mut clip = tiny().init(&device);
            clip.load(moved).expect("the same names and shapes");
            loss(&clip, &device).into_scalar()
        };
        (loss_at(STEP) - loss_at(-STEP)) / (2.0 * STEP)
    }
}
