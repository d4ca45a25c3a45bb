//! Recipe of `train scenes`: sizes, amounts, rates and seed.

use serde::{Deserialize, Serialize};

use super::clip::ClipRecipe;
use crate::model::adapter::{AdapterConfig, MeanDirection};
use crate::model::clip::{Architecture, ClipConfig, TextConfig, VisionConfig};
use crate::preprocess::text::word_level_tokenizer_json;
use crate::scenes::vocabulary;
use crate::train::methods::Training;
use crate::train::optimize::Optimizer;

/// Side of the model's input in pixels.
const IMAGE_SIZE: usize = 72;
/// Side of a patch in pixels: each of the nine cells of a scene is one patch.
const PATCH_SIZE: usize = IMAGE_SIZE / 3;
/// Tokens of the longest caption: four objects in full, ground and light.
const CONTEXT_LENGTH: usize = 64;

/// Amount of work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// A quarter of an hour on two CPU cores with AVX-512.
    Small,
    /// The shipped model: an hour and a half on two CPU cores with AVX-512, by the rate of its steps.
    Full,
}

/// Recipe of `train scenes`: all that determines its result; saved as `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenesRecipe {
    /// Sizes of the encoder's towers.
    pub model: ClipConfig,
    /// Batches, steps and rates of the encoder's training.
    pub clip: ClipRecipe,
    /// Sizes of the adapters.
    pub adapter: AdapterConfig,
    /// Scenes whose captions of all levels the adapters are fitted to.
    pub adapter_scenes: usize,
    /// Batches, epochs and optimiser of the adapters' training.
    pub fit: Training,
}

impl ScenesRecipe {
    /// The recipe of a preset.
    #[must_use]
    pub fn new(preset: Preset, seed: u64) -> Self {
        let full = preset == Preset::Full;
        let pick = |small: usize, large: usize| if full { large } else { small };
        let clip = ClipRecipe {
            pool: pick(20_000, 60_000),
            batch: pick(192, 256),
            probes: 128,
            steps: pick(2_000, 8_000),
            learning_rate: 1e-3,
            warmup: 200,
            weight_decay: 0.05,
            probe_weight: 4.0,
            mask_fitting: true,
            full_captions: 0.5,
            pixel_noise: 0.05,
            unknown_words: 0.3,
            seed,
        };
        let fit = Training {
            optimizer: Optimizer::Sgd {
                learning_rate: 5e-2,
                momentum: 0.9,
                weight_decay: 5e-4,
            },
            batch: pick(1024, 2048),
            epochs: pick(8, 40),
            seed,
        };
        let model = model_config(pick(128, 192), pick(4, 5));
        let adapter = AdapterConfig {
            embed_dim: model.embed_dim,
            hidden_width: 256,
            hidden_layers: 3,
            mean_direction: MeanDirection::Learned,
        };
        Self {
            model,
            clip,
            adapter,
            adapter_scenes: pick(12_000, 30_000),
            fit,
        }
    }
}

fn model_config(vision_width: usize, vision_layers: usize) -> ClipConfig {
    let vocab_size = vocabulary::words().len() + 3; // unknown, start, end
    let end = u32::try_from(vocab_size - 1).unwrap_or(u32::MAX);
    ClipConfig {
        architecture: Architecture::Clip,
        embed_dim: 128,
        vision_cfg: VisionConfig {
            image_size: IMAGE_SIZE,
            layers: vision_layers,
            width: vision_width,
            head_width: 32,
            patch_size: PATCH_SIZE,
            mlp_ratio: 4.0,
        },
        text_cfg: TextConfig {
            context_length: CONTEXT_LENGTH,
            vocab_size,
            width: 128,
            heads: 4,
            layers: 3,
            mlp_ratio: 4.0,
            start_token_id: Some(end - 1),
            end_token_id: end,
        },
        quick_gelu: true,
    }
}

/// The tokenizer of the scenes world.
#[must_use]
pub fn tokenizer_json() -> String {
    let words = vocabulary::words();
    word_level_tokenizer_json(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::text::{self, TextPreprocess};
    use crate::scenes::grammar::hierarchy;
    use crate::scenes::{Compositions, Scene, Wording, parse, say};
    use rand::{SeedableRng as _, rngs::ChaCha8Rng};

    fn tokenizer(context_length: usize) -> TextPreprocess {
        let tokenizer =
            TextPreprocess::from_tokenizer_json(tokenizer_json().as_bytes(), context_length);
        tokenizer.expect("the world's own tokenizer")
    }

    #[test]
    fn every_caption_fits_the_context_of_the_model() {
        let recipe = ScenesRecipe::new(Preset::Full, 0);
        let tokenizer = tokenizer(recipe.model.text_cfg.context_length);
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..500 {
            let scene = Scene::sample_with_count(4, Compositions::All, &mut rng);
            let [.., everything] = hierarchy(&scene, &mut rng);
            let caption = say(&everything, Wording::Varied, &mut rng);
            let tokens = tokenizer.encode(&caption).expect("a caption");
            assert!(!tokens.truncated, "cut: {caption}");
            assert_eq!(tokens.unknown_words, [""; 0], "words of: {caption}");
        }
    }

    #[test]
    fn american_spellings_are_read_and_mean_what_the_worlds_own_do() {
        assert_eq!(
            text::SPELLINGS,
            vocabulary::SPELLINGS,
            "of the tokenizer and of the grammar"
        );
        let tokenizer = tokenizer(64);
        let ids = |text: &str| tokenizer.encode(text).expect("a caption").ids;
        for (american, own) in vocabulary::SPELLINGS {
            assert_eq!(ids(american), ids(own), "{american} is {own}");
        }
        for (american, own) in [
            ("a star in the Center", "a star in the centre"),
            ("a colorful thing", "a colourful thing"),
        ] {
            assert_eq!(ids(american), ids(own), "{american}");
            let meaning = parse(american);
            assert!(meaning.is_some() && meaning == parse(own), "{american}");
            let unknown = tokenizer.encode(american).expect("a caption").unknown_words;
            assert_eq!(unknown, [""; 0], "{american}");
        }
    }

    #[test]
    fn model_and_tokenizer_have_the_same_vocabulary() {
        let text = ScenesRecipe::new(Preset::Small, 0).model.text_cfg;
        let tokenizer = tokenizer(64);
        assert_eq!(
            tokenizer.vocab_size(),
            text.vocab_size,
            "words and specials"
        );
        let ids = tokenizer.encode("a star").expect("a caption").ids;
        assert_eq!(ids.first(), text.start_token_id.as_ref(), "start");
        assert_eq!(ids.last(), Some(&text.end_token_id), "end");
    }
}
