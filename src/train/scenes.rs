//! `train scenes`: from nothing to a small CLIP with its two adapters.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use burn::module::Module as _;
use burn::store::ModuleRecord;
use burn::tensor::Device;
use rand::{SeedableRng as _, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::attributes::attribute_accuracy;
use super::batch::Pool;
use super::clip::{self, ClipRecipe};
use super::embed::Encoder;
use super::files;
use super::fit::{Features, FitRecipe, fit};
use crate::model::adapter::{Adapter, AdapterConfig, Family, PerFamily};
use crate::model::clip::{Architecture, Clip, ClipConfig, TextConfig, VisionConfig};
use crate::preprocess::image::ImagePreprocess;
use crate::preprocess::text::{TextPreprocess, word_level_tokenizer_json};
use crate::scenes::grammar::{hierarchy, random_part, single_attribute};
use crate::scenes::{Compositions, Scene, Wording, say, vocabulary};

/// Side of the model's input in pixels.
const IMAGE_SIZE: usize = 72;
/// Side of a patch: the model looks at each of the nine cells of a scene as a whole.
const PATCH_SIZE: usize = IMAGE_SIZE / 3;
/// Tokens of the longest caption: four objects in full, ground and light.
const CONTEXT_LENGTH: usize = 64;
/// Scenes on which attributes are checked while developing; the test set of `evaluate` has another seed.
const N_VALIDATION: usize = 1000;
const VALIDATION_SEED: u64 = 1_000_000;

/// How much work to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    /// About an hour on two CPU cores.
    Small,
    /// The shipped model: some three hours on two CPU cores through libtorch, eight through Flex.
    Full,
}

/// Everything that decides what `train scenes` makes; saved as `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenesRecipe {
    /// The encoder's sizes.
    pub model: ClipConfig,
    /// The encoder's training.
    pub clip: ClipRecipe,
    /// Sizes of the adapters.
    pub adapter: AdapterConfig,
    /// Scenes whose captions of all levels the adapters are fitted to.
    pub adapter_scenes: usize,
    /// The adapters' training.
    pub fit: FitRecipe,
}

impl ScenesRecipe {
    /// The recipe of a preset.
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
            full_captions: 0.5,
            pixel_noise: 0.05,
            unknown_words: 0.3,
            seed,
        };
        let fit = FitRecipe {
            batch: pick(1024, 2048),
            epochs: pick(8, 40),
            learning_rate: 5e-2,
            momentum: 0.9,
            weight_decay: 5e-4,
            seed,
        };
        let model = model_config(pick(128, 192), pick(4, 5));
        let adapter = AdapterConfig {
            embed_dim: model.embed_dim,
            hidden_width: 256,
            hidden_layers: 3,
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
pub fn tokenizer_json() -> String {
    let words = vocabulary::words();
    word_level_tokenizer_json(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A trained encoder with its adapters.
#[derive(Debug)]
pub struct Trained {
    /// The encoder.
    pub clip: Clip,
    /// The adapters.
    pub adapters: PerFamily<Adapter>,
    /// What was measured on validation scenes.
    pub metrics: BTreeMap<String, f64>,
}

/// Trains encoder and adapters in a folder, going on where an interrupted run stopped.
///
/// # Errors
///
/// The folder holds a run with another recipe, cannot be written, or the user interrupted.
pub fn run(recipe: &ScenesRecipe, folder: &Path, device: &Device) -> Result<Trained> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    claim(recipe, folder)?;
    let json = tokenizer_json();
    std::fs::write(folder.join("tokenizer.json"), &json)?;
    let tokenizer =
        TextPreprocess::from_tokenizer_json(json.as_bytes(), recipe.model.text_cfg.context_length)?;
    let preprocess = ImagePreprocess::clip(recipe.model.vision_cfg.image_size);

    let clip = match clip::finished(&recipe.model, &recipe.clip, folder, device)? {
        Some(clip) => clip,
        None => train_encoder(recipe, &tokenizer, &preprocess, folder, device)?,
    };
    let encoder = Encoder {
        clip: &clip,
        tokenizer: &tokenizer,
        preprocess: &preprocess,
        device,
    };
    let metrics = validate(&encoder, folder)?;
    let adapters = fit_adapters(recipe, &encoder, folder, device)?;
    Ok(Trained {
        clip,
        adapters,
        metrics,
    })
}

fn train_encoder(
    recipe: &ScenesRecipe,
    tokenizer: &TextPreprocess,
    preprocess: &ImagePreprocess,
    folder: &Path,
    device: &Device,
) -> Result<Clip> {
    eprintln!("drawing {} scenes", recipe.clip.pool);
    let (n_scenes, seed) = (recipe.clip.pool, recipe.clip.seed);
    let pool = Pool::draw(n_scenes, Compositions::Seen, seed, preprocess);
    clip::train(&recipe.model, &recipe.clip, pool, tokenizer, folder, device)
}

/// Accuracy of each attribute on validation scenes, measured once for a run.
fn validate(encoder: &Encoder<'_>, folder: &Path) -> Result<BTreeMap<String, f64>> {
    let path = folder.join("metrics.json");
    if let Some(metrics) = files::find_json(&path)? {
        return Ok(metrics);
    }
    let metrics = attribute_accuracy(encoder, N_VALIDATION, VALIDATION_SEED)?;
    eprintln!("attributes on {N_VALIDATION} validation scenes: {metrics:.3?}");
    files::put(&path, serde_json::to_string_pretty(&metrics)?)?;
    Ok(metrics)
}

/// Writes `config.json`, or checks that the one there says the same.
fn claim(recipe: &ScenesRecipe, folder: &Path) -> Result<()> {
    let path = folder.join("config.json");
    let Some(there) = files::find_json::<ScenesRecipe>(&path)? else {
        return files::put(&path, serde_json::to_string_pretty(recipe)?);
    };
    ensure!(
        there == *recipe,
        "{} holds a run with another recipe; choose another folder",
        folder.display()
    );
    Ok(())
}

fn fit_adapters(
    recipe: &ScenesRecipe,
    encoder: &Encoder<'_>,
    folder: &Path,
    device: &Device,
) -> Result<PerFamily<Adapter>> {
    let mut features = None;
    let mut one = |family: Family, file: &str| -> Result<Adapter> {
        let path = folder.join(file);
        if path.exists() {
            return Ok(recipe
                .adapter
                .init(device)
                .load_record(ModuleRecord::load(path)?));
        }
        if features.is_none() {
            features = Some(adapter_features(recipe, encoder)?);
        }
        let features = features.as_ref().context("features were just made")?;
        let adapter = fit(&recipe.adapter, family, &recipe.fit, features, device)?;
        adapter.clone().into_record().save(path)?;
        Ok(adapter)
    };
    Ok(PerFamily {
        vmf: one(Family::VonMisesFisher, "vmf.bpk")?,
        power_spherical: one(Family::PowerSpherical, "power_spherical.bpk")?,
    })
}

/// Embeds fresh scenes with captions of all levels.
fn adapter_features(recipe: &ScenesRecipe, encoder: &Encoder<'_>) -> Result<Features> {
    let mut rng = ChaCha8Rng::seed_from_u64(recipe.fit.seed);
    rng.set_stream(u64::MAX);
    let scenes: Vec<Scene> = (0..recipe.adapter_scenes)
        .map(|_| Scene::sample(Compositions::Seen, &mut rng))
        .collect();
    let mut captions = Vec::new();
    let mut image_of_text = Vec::new();
    for (i, scene) in scenes.iter().enumerate() {
        let mut descriptions = hierarchy(scene, &mut rng).to_vec();
        descriptions.extend([
            single_attribute(scene, &mut rng),
            random_part(scene, &mut rng),
        ]);
        image_of_text.extend(std::iter::repeat_n(i as i64, descriptions.len()));
        captions.extend(
            descriptions
                .iter()
                .map(|description| say(description, Wording::Varied, &mut rng)),
        );
    }
    eprintln!(
        "embedding {} scenes and {} captions",
        scenes.len(),
        captions.len()
    );
    Ok(Features {
        texts: encoder.captions(&captions)?,
        images: encoder.scenes(&scenes),
        image_of_text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caption_fits_the_context_of_the_model() {
        let recipe = ScenesRecipe::new(Preset::Full, 0);
        let tokenizer = TextPreprocess::from_tokenizer_json(
            tokenizer_json().as_bytes(),
            recipe.model.text_cfg.context_length,
        )
        .expect("the world's own tokenizer");
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
    fn model_and_tokenizer_have_the_same_vocabulary() {
        let text = ScenesRecipe::new(Preset::Small, 0).model.text_cfg;
        let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer_json().as_bytes(), 64)
            .expect("the world's own tokenizer");
        assert_eq!(
            tokenizer.vocab_size(),
            text.vocab_size,
            "words and specials"
        );
        let ids = tokenizer.encode("a star").expect("a caption").ids;
        assert_eq!(
            (ids.first(), ids.last()),
            (text.start_token_id.as_ref(), Some(&text.end_token_id)),
            "start and end"
        );
    }

    #[test]
    fn a_folder_with_another_recipe_is_refused() {
        let folder = std::env::temp_dir().join(format!("kappascope-claim-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        let claim_with = |seed| claim(&ScenesRecipe::new(Preset::Small, seed), &folder);
        let results = [claim_with(0), claim_with(0), claim_with(1)].map(|result| result.is_ok());
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
        assert_eq!(
            results,
            [true, true, false],
            "new, the same again, another seed"
        );
    }
}
