//! Sizes of a CLIP, read from the shapes of its tensors and compared with those that configuration files claim.

use serde_json::Value;

use crate::error::{Result, refuse, refuse_if};
use crate::model::clip::{Architecture, ClipConfig, TextConfig, VisionConfig};

/// Width of an attention head, where nothing says otherwise: that of every model that `OpenAI` released.
const DEFAULT_HEAD_WIDTH: usize = 64;

/// Properties of a model that no shape shows: numbers of heads, and the activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hints {
    pub(super) text_heads: Option<usize>,
    pub(super) vision_heads: Option<usize>,
    pub(super) quick_gelu: bool,
}

/// A number in a configuration file, and the size that it must equal.
pub(super) type ClaimedSize = (&'static str, fn(&ClipConfig) -> usize);

/// Reads the sizes off the shapes.
///
/// # Errors
///
/// A tensor that is missing or whose shape no CLIP has; the message names it.
pub(super) fn infer(
    shape: impl Fn(&str) -> Option<Vec<usize>>,
    hints: Hints,
    (start_token_id, end_token_id): (Option<u32>, u32),
) -> Result<ClipConfig> {
    let architecture = architecture(&shape);
    let is_siglip = architecture == Architecture::SigLip;
    let [vocab_size, text_width] = dims(&shape, "text_model.embeddings.token_embedding.weight")?;
    let [context_length, _] = dims(&shape, "text_model.embeddings.position_embedding.weight")?;
    let projection = ["text_projection.weight", "text_model.head.weight"][usize::from(is_siglip)];
    let [embed_dim, _] = dims(&shape, projection)?;
    let patches = "vision_model.embeddings.patch_embedding.weight";
    let [vision_width, _, patch_size, _] = dims(&shape, patches)?;
    let positions = "vision_model.embeddings.position_embedding.weight";
    let [n_positions, _] = dims(&shape, positions)?;
    let n_patches = n_positions.saturating_sub(usize::from(!is_siglip));
    let grid = n_patches.isqrt();
    if grid == 0 || grid * grid != n_patches {
        let class = if is_siglip { "" } else { " and one" };
        refuse!("{positions}: {n_positions} rows, expected a square number of patches{class}");
    }
    let text = tower(&shape, "text_model", text_width, hints.text_heads)?;
    let vision = tower(&shape, "vision_model", vision_width, hints.vision_heads)?;
    let Some(image_size) = grid.checked_mul(patch_size) else {
        refuse!("{patches}: patches of {patch_size} pixels");
    };
    Ok(ClipConfig {
        architecture,
        embed_dim,
        vision_cfg: VisionConfig {
            image_size,
            layers: vision.layers,
            width: vision_width,
            head_width: vision_width / vision.heads,
            patch_size,
            mlp_ratio: vision.mlp_ratio,
        },
        text_cfg: TextConfig {
            context_length,
            vocab_size,
            width: text_width,
            heads: text.heads,
            layers: text.layers,
            mlp_ratio: text.mlp_ratio,
            start_token_id,
            end_token_id,
        },
        quick_gelu: hints.quick_gelu,
    })
}

/// Architecture by the shapes: `SigLIP` has a query that pools its pictures.
pub(super) fn architecture(shape: impl Fn(&str) -> Option<Vec<usize>>) -> Architecture {
    match shape("vision_model.head.probe") {
        Some(_) => Architecture::SigLip,
        None => Architecture::Clip,
    }
}

/// Compares each claim that a file makes with the sizes.
pub(super) fn check_claims(
    file: &str,
    config: &Value,
    claims: &[ClaimedSize],
    clip: &ClipConfig,
) -> Result<()> {
    for (pointer, size) in claims {
        let Some(claimed) = config.pointer(pointer) else {
            continue;
        };
        let found = size(clip);
        refuse_if!(
            claimed.as_u64() != u64::try_from(found).ok(),
            "{file}: {} is {claimed}, the tensors say {found}",
            pointer[1..].replace('/', ".")
        );
    }
    Ok(())
}

struct TowerSizes {
    layers: usize,
    heads: usize,
    mlp_ratio: f64,
}

fn tower(
    shape: &impl Fn(&str) -> Option<Vec<usize>>,
    name: &str,
    width: usize,
    heads: Option<usize>,
) -> Result<TowerSizes> {
    let block = |i_block: usize| format!("{name}.encoder.layers.{i_block}");
    let is_there = |i: &usize| shape(&format!("{}.layer_norm1.weight", block(*i))).is_some();
    let layers = (0..).take_while(is_there).count();
    let expand = format!("{}.mlp.fc1.weight", block(0));
    let [mlp_width, _] = dims(shape, &expand)?;
    let heads = heads.unwrap_or(width / DEFAULT_HEAD_WIDTH);
    refuse_if!(
        width == 0 || heads == 0 || !width.is_multiple_of(heads),
        "{name}: {heads} attention heads for a width of {width}, expected a divisor"
    );
    Ok(TowerSizes {
        layers,
        heads,
        mlp_ratio: mlp_width as f64 / width as f64,
    })
}

fn dims<const N: usize>(
    shape: &impl Fn(&str) -> Option<Vec<usize>>,
    name: &str,
) -> Result<[usize; N]> {
    let Some(found) = shape(name) else {
        refuse!("{name}: missing");
    };
    match <[usize; N]>::try_from(found) {
        Ok(sizes) if !sizes.contains(&0) => Ok(sizes),
        Ok(sizes) => refuse!("{name}: shape is {sizes:?}, expected sizes above 0"),
        Err(found) => refuse!("{name}: shape is {found:?}, expected {N} sizes"),
    }
}
