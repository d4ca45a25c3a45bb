//! `transformers`: its names are ours; its `config.json` and `preprocessor_config.json`.

use serde_json::Value;

use super::place::ForeignPlace;
use super::sizes::{ClaimedSize, Hints, check_claims};
use crate::error::{Error, Result, refuse, refuse_if};
use crate::model::clip::{Architecture, ClipConfig};
use crate::preprocess::{ImagePreprocess, ResizeMode};

/// Values where `config.json` leaves them out: the defaults of `CLIPConfig` and `SiglipConfig`.
#[derive(Debug)]
struct Defaults {
    model_type: &'static str,
    text_heads: u64,
    vision_heads: u64,
    activation: &'static str,
    norm_epsilon: f64,
}

const CLIP: Defaults = Defaults {
    model_type: "clip",
    text_heads: 8,
    vision_heads: 12,
    activation: "quick_gelu",
    norm_epsilon: 1e-5,
};

const SIGLIP: Defaults = Defaults {
    model_type: "siglip",
    text_heads: 12,
    vision_heads: 12,
    activation: "gelu_pytorch_tanh",
    norm_epsilon: 1e-6,
};

/// Bicubic, as `PIL` counts its filters.
const BICUBIC: u64 = 3;

/// Sizes that `config.json` claims, each with the same size as the tensors have it.
#[rustfmt::skip]
const CLAIMS: &[ClaimedSize] = &[
    ("/projection_dim", |clip| clip.embed_dim),
    ("/text_config/projection_size", |clip| clip.embed_dim),
    ("/text_config/hidden_size", |clip| clip.text_cfg.width),
    ("/text_config/vocab_size", |clip| clip.text_cfg.vocab_size),
    ("/text_config/max_position_embeddings", |clip| clip.text_cfg.context_length),
    ("/text_config/num_hidden_layers", |clip| clip.text_cfg.layers),
    ("/vision_config/hidden_size", |clip| clip.vision_cfg.width),
    ("/vision_config/image_size", |clip| clip.vision_cfg.image_size),
    ("/vision_config/patch_size", |clip| clip.vision_cfg.patch_size),
    ("/vision_config/num_hidden_layers", |clip| clip.vision_cfg.layers),
];

/// Place of one of our tensors: the whole tensor of the same name.
#[expect(
    clippy::unnecessary_wraps,
    reason = "one function a layout, with one signature"
)]
pub(super) fn place(ours: &str) -> Option<ForeignPlace> {
    Some(ForeignPlace::whole(ours))
}

/// Numbers of heads and the activation in `config.json`, which no shape shows; the defaults where it leaves them out.
///
/// # Errors
///
/// Another architecture than the tensors have, or one that is not known.
pub(super) fn hints(config: &Value, architecture: Architecture) -> Result<Hints> {
    let defaults = match architecture {
        Architecture::Clip => &CLIP,
        Architecture::SigLip => &SIGLIP,
    };
    let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str);
    let model = text("/model_type").unwrap_or(defaults.model_type);
    let expected = defaults.model_type;
    refuse_if!(
        model != expected,
        "config.json: model_type is {model}, expected {expected}"
    );
    for tower in ["text_config", "vision_config"] {
        let epsilon = config.pointer(&format!("/{tower}/layer_norm_eps"));
        let expected = defaults.norm_epsilon;
        let epsilon = epsilon.and_then(Value::as_f64).unwrap_or(expected);
        let is_other = (epsilon - expected).abs() > 1e-9;
        refuse_if!(
            is_other,
            "config.json: {tower}.layer_norm_eps is {epsilon}, expected {expected:?}"
        );
    }
    let activations = ["/text_config/hidden_act", "/vision_config/hidden_act"];
    let activations = activations.map(|pointer| text(pointer).unwrap_or(defaults.activation));
    let heads = |tower: &str, default: u64| {
        let heads = config.pointer(&format!("/{tower}/num_attention_heads"));
        usize::try_from(heads.and_then(Value::as_u64).unwrap_or(default)).ok()
    };
    Ok(Hints {
        text_heads: heads("text_config", defaults.text_heads),
        vision_heads: heads("vision_config", defaults.vision_heads),
        quick_gelu: quick_gelu(architecture, activations)?,
    })
}

fn quick_gelu(architecture: Architecture, activations: [&str; 2]) -> Result<bool> {
    let expected = match (architecture, activations) {
        (Architecture::Clip, ["quick_gelu", "quick_gelu"]) => return Ok(true),
        (Architecture::Clip, ["gelu", "gelu"])
        | (Architecture::SigLip, ["gelu_pytorch_tanh", "gelu_pytorch_tanh"]) => return Ok(false),
        (Architecture::Clip, _) => "twice quick_gelu or twice gelu",
        (Architecture::SigLip, _) => "twice gelu_pytorch_tanh",
    };
    let [text, vision] = activations;
    refuse!("config.json: hidden_act is {text} and {vision}, expected {expected}")
}

/// Compares the sizes in `config.json` with those of the tensors.
///
/// # Errors
///
/// The first claim that does not hold.
pub(super) fn check(config: &Value, clip: &ClipConfig) -> Result<()> {
    check_claims("config.json", config, CLAIMS, clip)
}

/// Preprocessing by `preprocessor_config.json`; the architecture's own where the file is empty.
///
/// # Errors
///
/// A way that differs from the architecture's in more than the size and the channels' statistics.
pub(super) fn preprocess(
    config: &Value,
    architecture: Architecture,
    image_size: usize,
) -> Result<ImagePreprocess> {
    let default = match architecture {
        Architecture::Clip => ImagePreprocess::clip(image_size),
        Architecture::SigLip => ImagePreprocess::siglip(image_size),
    };
    let filter = config.get("resample").and_then(Value::as_u64);
    let is_other = filter.is_some_and(|filter| filter != BICUBIC);
    refuse_if!(
        is_other,
        "preprocessor_config.json: resample is not 3, bicubic"
    );
    let (steps, sizes): (&[&str], &[(&str, &[&str])]) = match default.resize_mode {
        ResizeMode::Shortest => (
            &[
                "do_resize",
                "do_center_crop",
                "do_normalize",
                "do_convert_rgb",
            ],
            &[
                ("size", &["shortest_edge"]),
                ("crop_size", &["height", "width"]),
            ],
        ),
        ResizeMode::Squash => (
            &["do_resize", "do_normalize"],
            &[("size", &["height", "width"])],
        ),
    };
    for step in steps {
        let is_off = config.get(step).and_then(Value::as_bool) == Some(false);
        refuse_if!(
            is_off,
            "preprocessor_config.json: {step} is false, expected true"
        );
    }
    for (name, members) in sizes {
        let Some(size) = config.get(name) else {
            continue;
        };
        let as_expected = |size: &Value| size.as_u64() == u64::try_from(image_size).ok();
        let member_holds = |member: &&str| size.get(member).is_some_and(as_expected);
        let holds = as_expected(size) || members.iter().all(member_holds);
        refuse_if!(
            !holds,
            "preprocessor_config.json: {name} is {size}, expected {image_size}"
        );
    }
    Ok(ImagePreprocess {
        mean: channels(config, "image_mean")?.unwrap_or(default.mean),
        std: channels(config, "image_std")?.unwrap_or(default.std),
        ..default
    })
}

/// Three numbers, if the file has them.
pub(super) fn channels(config: &Value, name: &str) -> Result<Option<[f32; 3]>> {
    let Some(value) = config.get(name) else {
        return Ok(None);
    };
    let channels = serde_json::from_value(value.clone()).map(Some);
    channels.map_err(|_| Error::Weights(format!("{name} is {value}, expected three numbers")))
}
