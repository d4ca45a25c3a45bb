//! The largest sizes that a model may claim, asked before anything of such a size is allocated.
//!
//! Each leaves room above the largest published models of its kind: ViT-bigG/14 has 48 layers of width 1,664 and 2.5
//! billion parameters.

use crate::error::{Result, refuse_if};
use crate::model::adapter::AdapterConfig;
use crate::model::clip::ClipConfig;
use crate::model::efficientnet::EfficientNetConfig;
use crate::model::encoder::{HeadConfig, ImageTowerConfig, TextTowerConfig, TowersConfig};

/// Width of a layer, of features and of the common space.
const MAX_WIDTH: usize = 16_384;
/// Layers of a tower or of an adapter.
const MAX_LAYERS: usize = 256;
/// Width of an MLP over that of its transformer.
const MAX_MLP_RATIO: f64 = 16.0;
/// Greatest number of tokens of a caption.
const MAX_CONTEXT: usize = 8_192;
/// Token ids, each of which has a row in the token table.
const MAX_VOCABULARY: usize = 2_000_000;
/// Side of a picture in pixels.
const MAX_IMAGE_SIZE: usize = 2_048;
/// Patches of a picture, each of which attends to each.
const MAX_PATCHES: usize = 4_096;
/// Side of a convolution's kernel, and its stride.
const MAX_KERNEL: usize = 31;
/// Factor by which a block of convolutions widens its input.
const MAX_EXPANSION: usize = 64;
/// Captions or pictures of the training that are kept to compare others with.
const MAX_EXEMPLARS: usize = 100_000;
/// Values of the largest feature map of a picture.
const MAX_MAP_VALUES: f64 = 1e8;
/// Values of all tensors of a tower or of an adapter.
const MAX_PARAMETERS: f64 = 4e9;

/// Bytes of a file beside the manifest.
pub(super) const MAX_FILE_BYTES: u64 = 64_000_000_000;

/// Refuses a CLIP whose sizes no model has.
///
/// # Errors
///
/// The size, and the most that was expected.
pub(super) fn check_clip(clip: &ClipConfig) -> Result<()> {
    let (vision, text) = (&clip.vision_cfg, &clip.text_cfg);
    check("embed_dim", clip.embed_dim, MAX_WIDTH)?;
    check("vision_cfg.image_size", vision.image_size, MAX_IMAGE_SIZE)?;
    let patch = vision.patch_size.max(1);
    check("vision_cfg.patch_size", patch, MAX_IMAGE_SIZE)?;
    let n_patches = (vision.image_size / patch).pow(2);
    check("vision_cfg: the number of patches", n_patches, MAX_PATCHES)?;
    let tower = TransformerSizes {
        name: "vision_cfg",
        width: vision.width,
        layers: vision.layers,
        mlp_ratio: vision.mlp_ratio,
    };
    let n_rows = 3 * patch * patch + n_patches + clip.embed_dim;
    tower.check(n_rows)?;
    check_text_table("text_cfg", text.context_length, text.vocab_size)?;
    let tower = TransformerSizes {
        name: "text_cfg",
        width: text.width,
        layers: text.layers,
        mlp_ratio: text.mlp_ratio,
    };
    tower.check(text.vocab_size + text.context_length + clip.embed_dim)
}

/// Refuses towers and heads whose sizes no model has.
///
/// # Errors
///
/// As [`check_clip`].
pub(super) fn check_towers(towers: &TowersConfig) -> Result<()> {
    let TextTowerConfig::Bert(text) = &towers.text;
    let ImageTowerConfig::EfficientNet(image) = &towers.image;
    check("embed_dim", towers.embed_dim, MAX_WIDTH)?;
    check_text_table("text", text.context_length, text.vocab_size)?;
    let tower = TransformerSizes {
        name: "text",
        width: text.width,
        layers: text.layers,
        mlp_ratio: text.mlp_ratio,
    };
    tower.check(text.vocab_size + text.context_length)?;
    check_efficientnet(image)?;
    if let Some(exemplars) = towers.exemplars {
        check("exemplars.text", exemplars.text, MAX_EXEMPLARS)?;
        check("exemplars.image", exemplars.image, MAX_EXEMPLARS)?;
    }
    let head = |name: &str, head: &HeadConfig| check(name, head.hidden_width, MAX_WIDTH);
    head("text_head.hidden_width", &towers.text_head)?;
    head("image_head.hidden_width", &towers.image_head)
}

/// Refuses an adapter whose sizes no adapter has.
///
/// # Errors
///
/// As [`check_clip`].
pub(super) fn check_adapter(adapter: &AdapterConfig) -> Result<()> {
    let (width, layers) = (adapter.hidden_width, adapter.hidden_layers);
    check("an adapter's embed_dim", adapter.embed_dim, MAX_WIDTH)?;
    check("an adapter's hidden_width", width, MAX_WIDTH)?;
    check("an adapter's hidden_layers", layers, MAX_LAYERS)?;
    let n_values = width as f64 * (layers * width + 2 * adapter.embed_dim) as f64;
    check_parameters("an adapter", n_values)
}

/// Sizes that determine a transformer's number of parameters.
struct TransformerSizes<'a> {
    name: &'a str,
    width: usize,
    layers: usize,
    mlp_ratio: f64,
}

impl TransformerSizes<'_> {
    /// Refuses sizes of the blocks, or of them with `n_rows` of tables and projections, that are too large.
    fn check(&self, n_rows: usize) -> Result<()> {
        let (name, ratio) = (self.name, self.mlp_ratio);
        check(&format!("{name}.width"), self.width, MAX_WIDTH)?;
        check(&format!("{name}.layers"), self.layers, MAX_LAYERS)?;
        let is_ratio = ratio > 0.0 && ratio <= MAX_MLP_RATIO;
        refuse_if!(
            !is_ratio,
            "{name}.mlp_ratio is {ratio}, expected more than 0 and at most {MAX_MLP_RATIO}"
        );
        // Four matrices of attention, two of the MLP.
        let (width, layers) = (self.width as f64, self.layers as f64);
        let n_values = layers * width * width * (4.0 + 2.0 * ratio) + n_rows as f64 * width;
        check_parameters(name, n_values)
    }
}

fn check_text_table(name: &str, context_length: usize, vocab_size: usize) -> Result<()> {
    check(
        &format!("{name}.context_length"),
        context_length,
        MAX_CONTEXT,
    )?;
    check(&format!("{name}.vocab_size"), vocab_size, MAX_VOCABULARY)
}

fn check_efficientnet(image: &EfficientNetConfig) -> Result<()> {
    check("image.image_size", image.image_size, MAX_IMAGE_SIZE)?;
    check("image.stem_width", image.stem_width, MAX_WIDTH)?;
    check("image.width", image.width, MAX_WIDTH)?;
    let mut n_layers = 0_usize;
    let (mut side, mut width) = (image.image_size.div_ceil(2), image.stem_width);
    let mut n_values = 27.0 * width as f64;
    let mut n_map_values = map_values(side, width);
    for stage in &image.stages {
        n_layers = n_layers.saturating_add(stage.layers);
        for (name, size, most) in [
            ("layers", n_layers, MAX_LAYERS),
            ("kernel_size", stage.kernel_size, MAX_KERNEL),
            ("stride", stage.stride, MAX_KERNEL),
            ("width", stage.width, MAX_WIDTH),
            ("expansion", stage.expansion, MAX_EXPANSION),
        ] {
            check(&format!("image.stages.{name}"), size, most)?;
        }
        let inner = width.max(stage.width) * stage.expansion;
        let kernel = stage.kernel_size * stage.kernel_size;
        n_map_values = n_map_values.max(map_values(side, inner));
        n_values += (stage.layers * inner) as f64 * (width.max(stage.width) * 2 + kernel) as f64;
        side = side.div_ceil(stage.stride.max(1));
        width = stage.width;
    }
    n_map_values = n_map_values.max(map_values(side, image.width));
    refuse_if!(
        n_map_values > MAX_MAP_VALUES,
        "image: a feature map of {n_map_values:.0} values, expected at most {MAX_MAP_VALUES:.0}"
    );
    check_parameters("image", n_values + (width * image.width) as f64)
}

fn map_values(side: usize, width: usize) -> f64 {
    (side * side) as f64 * width as f64
}

fn check(name: &str, found: usize, most: usize) -> Result<()> {
    refuse_if!(found > most, "{name} is {found}, expected at most {most}");
    Ok(())
}

fn check_parameters(name: &str, n_values: f64) -> Result<()> {
    refuse_if!(
        n_values > MAX_PARAMETERS,
        "{name}: {n_values:.0} values by its sizes, expected at most {MAX_PARAMETERS:.0}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::weights::manifest::Manifest;

    const SCENES: &[u8] = include_bytes!("../../public/models/scenes/manifest.json");
    const PHOTOS: &[u8] = include_bytes!("../../public/models/photos/manifest.json");

    /// Message of the refusal of a manifest with another value at a place.
    fn refusal(manifest: &[u8], place: &str, value: &Value) -> String {
        let mut json: Value = serde_json::from_slice(manifest).expect("a manifest");
        *json
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("no {place}")) = value.clone();
        let bytes = serde_json::to_vec(&json).expect("JSON");
        match Manifest::from_json(&bytes) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{place} may not be {value}"),
        }
    }

    #[test]
    fn sizes_that_would_fill_any_memory_are_refused_by_name() {
        let huge = json!(1_u64 << 40);
        for (manifest, place, name) in [
            (SCENES, "/clip/embed_dim", "embed_dim"),
            (SCENES, "/clip/vision_cfg/width", "vision_cfg.width"),
            (SCENES, "/clip/vision_cfg/layers", "vision_cfg.layers"),
            (SCENES, "/clip/text_cfg/vocab_size", "text_cfg.vocab_size"),
            (
                SCENES,
                "/clip/text_cfg/context_length",
                "text_cfg.context_length",
            ),
            (SCENES, "/clip/text_cfg/layers", "text_cfg.layers"),
            (
                SCENES,
                "/adapters/vmf/hidden_width",
                "an adapter's hidden_width",
            ),
            (
                SCENES,
                "/adapters/vmf/hidden_layers",
                "an adapter's hidden_layers",
            ),
            (PHOTOS, "/towers/text/vocab_size", "text.vocab_size"),
            (PHOTOS, "/towers/text/layers", "text.layers"),
            (PHOTOS, "/towers/exemplars/text", "exemplars.text"),
            (PHOTOS, "/towers/exemplars/image", "exemplars.image"),
            (PHOTOS, "/towers/image/width", "image.width"),
            (PHOTOS, "/towers/image/image_size", "image.image_size"),
            (
                PHOTOS,
                "/towers/image/stages/0/layers",
                "image.stages.layers",
            ),
            (
                PHOTOS,
                "/towers/image/stages/0/expansion",
                "image.stages.expansion",
            ),
            (
                PHOTOS,
                "/towers/text_head/hidden_width",
                "text_head.hidden_width",
            ),
        ] {
            let found = refusal(manifest, place, &huge);
            assert!(found.contains(name), "{found}, expected {name}");
        }
        let bytes = refusal(SCENES, "/shards/0/bytes", &json!(u64::MAX));
        assert!(bytes.contains("expected at most 64000000000"), "{bytes}");
        let ratio = refusal(SCENES, "/clip/text_cfg/mlp_ratio", &json!(1e12));
        assert!(ratio.contains("text_cfg.mlp_ratio"), "{ratio}");
        let below = refusal(PHOTOS, "/towers/text/mlp_ratio", &json!(-4.0));
        assert!(below.contains("text.mlp_ratio"), "{below}");
    }

    #[test]
    fn a_golden_caption_that_no_page_would_ask_is_refused() {
        let long = json!("a".repeat(2001));
        let found = refusal(SCENES, "/golden/captions/0", &long);
        let expected =
            "manifest: golden.captions: a caption of 2001 characters, expected at most 2000";
        assert_eq!(found, expected, "one too many");
    }

    #[test]
    fn sizes_that_are_large_together_are_refused() {
        let mut clip = ClipConfig::vit_b_32();
        clip.text_cfg.width = MAX_WIDTH;
        clip.text_cfg.layers = MAX_LAYERS;
        let error = check_clip(&clip)
            .expect_err("825 billion values")
            .to_string();
        assert!(error.starts_with("text_cfg: 825"), "{error}");
        let mut image = EfficientNetConfig::lite0();
        (image.image_size, image.stem_width) = (MAX_IMAGE_SIZE, MAX_WIDTH);
        let error = check_efficientnet(&image).expect_err("a map of 17 billion values");
        assert!(error.to_string().contains("feature map"), "{error}");
    }

    #[test]
    fn the_largest_published_models_are_within_the_limits() {
        let mut clip = ClipConfig::vit_b_32();
        assert_eq!(check_clip(&clip), Ok(()), "ViT-B/32");
        let (vision, text) = (&mut clip.vision_cfg, &mut clip.text_cfg);
        (vision.width, vision.layers, vision.head_width) = (1664, 48, 104);
        (vision.patch_size, vision.mlp_ratio) = (14, 4.9231);
        (text.width, text.layers, text.heads) = (1280, 32, 20);
        clip.embed_dim = 1280;
        assert_eq!(check_clip(&clip), Ok(()), "ViT-bigG/14");
        let mut adapter = AdapterConfig {
            embed_dim: 1280,
            hidden_width: 4096,
            hidden_layers: 8,
            mean_direction: crate::model::adapter::MeanDirection::Learned,
        };
        assert_eq!(
            check_adapter(&adapter),
            Ok(()),
            "an adapter four times the paper's"
        );
        adapter.hidden_layers = MAX_LAYERS;
        assert!(
            check_adapter(&adapter).is_err(),
            "an adapter of 4.3 billion values"
        );
    }
}
