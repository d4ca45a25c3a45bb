//! `transformers`: its names are ours; its `config.json` and `preprocessor_config.json`.

use serde_json::Value;

use super::layout::Place;
use super::sizes::{Claim, Hints, check_claims};
use crate::error::{Error, Result};
use crate::model::clip::ClipConfig;
use crate::preprocess::ImagePreprocess;

/// Attention heads where `config.json` does not say: the defaults of `CLIPTextConfig` and `CLIPVisionConfig`.
const DEFAULT_HEADS: (usize, usize) = (8, 12);

/// Bicubic, as `PIL` counts its filters.
const BICUBIC: u64 = 3;

/// What `config.json` claims, and what the tensors say.
const CLAIMS: &[Claim] = &[
    ("/projection_dim", |clip| clip.embed_dim),
    ("/text_config/hidden_size", |clip| clip.text_cfg.width),
    ("/text_config/vocab_size", |clip| clip.text_cfg.vocab_size),
    ("/text_config/max_position_embeddings", |clip| {
        clip.text_cfg.context_length
    }),
    ("/text_config/num_hidden_layers", |clip| {
        clip.text_cfg.layers
    }),
    ("/vision_config/hidden_size", |clip| clip.vision_cfg.width),
    ("/vision_config/image_size", |clip| {
        clip.vision_cfg.image_size
    }),
    ("/vision_config/patch_size", |clip| {
        clip.vision_cfg.patch_size
    }),
    ("/vision_config/num_hidden_layers", |clip| {
        clip.vision_cfg.layers
    }),
];

/// Where one of our tensors lies: everywhere the same.
#[expect(
    clippy::unnecessary_wraps,
    reason = "one function a layout, with one signature"
)]
pub(super) fn place(ours: &str) -> Option<Place> {
    Some(Place::whole(ours))
}

/// What `config.json` says beyond the shapes.
///
/// # Errors
///
/// Another architecture than CLIP's.
pub(super) fn hints(config: &Value) -> Result<Hints> {
    let invalid = |reason: String| Err(Error::Weights(format!("config.json: {reason}")));
    let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str);
    if let Some(model) = text("/model_type")
        && model != "clip"
    {
        return invalid(format!("model_type is {model}, expected clip"));
    }
    for tower in ["text_config", "vision_config"] {
        let epsilon = config.pointer(&format!("/{tower}/layer_norm_eps"));
        let epsilon = epsilon.and_then(Value::as_f64).unwrap_or(1e-5);
        if (epsilon - 1e-5).abs() > 1e-9 {
            return invalid(format!(
                "{tower}.layer_norm_eps is {epsilon}, expected 1e-5"
            ));
        }
    }
    let activations = ["/text_config/hidden_act", "/vision_config/hidden_act"];
    let activations = activations.map(|pointer| text(pointer).unwrap_or("quick_gelu"));
    let quick_gelu = match activations {
        ["quick_gelu", "quick_gelu"] => true,
        ["gelu", "gelu"] => false,
        [text, vision] => {
            return invalid(format!(
                "hidden_act is {text} and {vision}, expected twice quick_gelu or twice gelu"
            ));
        }
    };
    let heads = |tower: &str, default: usize| {
        let heads = config.pointer(&format!("/{tower}/num_attention_heads"));
        heads
            .and_then(Value::as_u64)
            .and_then(|heads| usize::try_from(heads).ok())
            .unwrap_or(default)
    };
    Ok(Hints {
        text_heads: Some(heads("text_config", DEFAULT_HEADS.0)),
        vision_heads: Some(heads("vision_config", DEFAULT_HEADS.1)),
        quick_gelu,
    })
}

/// Compares `config.json` with what the tensors say.
///
/// # Errors
///
/// The first claim that does not hold.
pub(super) fn check(config: &Value, clip: &ClipConfig) -> Result<()> {
    check_claims("config.json", config, CLAIMS, clip)
}

/// How `preprocessor_config.json` makes a picture the tower's input.
///
/// # Errors
///
/// A way that differs from CLIP's in more than the size and the channels' statistics.
pub(super) fn preprocess(config: &Value, image_size: usize) -> Result<ImagePreprocess> {
    let invalid = |reason: String| {
        Err(Error::Weights(format!(
            "preprocessor_config.json: {reason}"
        )))
    };
    let clip = ImagePreprocess::clip(image_size);
    let filter = config.get("resample").and_then(Value::as_u64);
    if filter.is_some_and(|filter| filter != BICUBIC) {
        return invalid("resample is not 3, bicubic".to_owned());
    }
    for step in [
        "do_resize",
        "do_center_crop",
        "do_normalize",
        "do_convert_rgb",
    ] {
        if config.get(step).and_then(Value::as_bool) == Some(false) {
            return invalid(format!("{step} is false, expected true"));
        }
    }
    for (name, members) in [
        ("size", &["shortest_edge"][..]),
        ("crop_size", &["height", "width"]),
    ] {
        let Some(size) = config.get(name) else {
            continue;
        };
        let as_expected = |size: &Value| size.as_u64() == u64::try_from(image_size).ok();
        let holds = as_expected(size)
            || members
                .iter()
                .all(|member| size.get(member).is_some_and(as_expected));
        if !holds {
            return invalid(format!("{name} is {size}, expected {image_size}"));
        }
    }
    Ok(ImagePreprocess {
        image_size,
        mean: channels(config, "image_mean")?.unwrap_or(clip.mean),
        std: channels(config, "image_std")?.unwrap_or(clip.std),
    })
}

/// Three numbers, if the file has them.
pub(super) fn channels(config: &Value, name: &str) -> Result<Option<[f32; 3]>> {
    let Some(value) = config.get(name) else {
        return Ok(None);
    };
    serde_json::from_value(value.clone())
        .map(Some)
        .map_err(|_| Error::Weights(format!("{name} is {value}, expected three numbers")))
}
