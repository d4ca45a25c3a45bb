//! `open_clip`: `OpenAI`'s names, perhaps with the text tower in a module of its own; its `open_clip_config.json`.

use serde_json::Value;

use super::hf::channels;
use super::openai;
use super::place::ForeignPlace;
use super::sizes::{ClaimedSize, Hints, check_claims};
use crate::error::{Result, refuse};
use crate::model::clip::ClipConfig;
use crate::preprocess::ImagePreprocess;

/// Width of an attention head of the image tower, where the configuration does not say.
const DEFAULT_HEAD_WIDTH: usize = 64;

/// Sizes that `open_clip_config.json` claims, each with the same size as the tensors have it.
#[rustfmt::skip]
const CLAIMS: &[ClaimedSize] = &[
    ("/model_cfg/embed_dim", |clip| clip.embed_dim),
    ("/model_cfg/text_cfg/width", |clip| clip.text_cfg.width),
    ("/model_cfg/text_cfg/vocab_size", |clip| clip.text_cfg.vocab_size),
    ("/model_cfg/text_cfg/context_length", |clip| clip.text_cfg.context_length),
    ("/model_cfg/text_cfg/layers", |clip| clip.text_cfg.layers),
    ("/model_cfg/vision_cfg/width", |clip| clip.vision_cfg.width),
    ("/model_cfg/vision_cfg/image_size", |clip| clip.vision_cfg.image_size),
    ("/model_cfg/vision_cfg/patch_size", |clip| clip.vision_cfg.patch_size),
    ("/model_cfg/vision_cfg/layers", |clip| clip.vision_cfg.layers),
];

/// Place of one of our tensors.
pub(super) fn place(ours: &str, text_prefix: &str) -> Option<ForeignPlace> {
    let mut place = openai::place(ours)?;
    let is_text = ours.starts_with("text_");
    if is_text {
        place.name.insert_str(0, text_prefix);
    }
    Some(place)
}

/// Numbers of heads and the activation in `open_clip_config.json`, which no shape shows.
///
/// # Errors
///
/// An architecture that is not that of `OpenAI`'s vision transformers.
pub(super) fn hints(config: &Value) -> Result<Hints> {
    let is_there = |pointer: &str| config.pointer(pointer).is_some_and(|name| !name.is_null());
    let foreign = is_there("/model_cfg/text_cfg/hf_model_name")
        || is_there("/model_cfg/vision_cfg/timm_model_name");
    let foreign = foreign.then_some("a tower of another library");
    let is_set = |option: &&str| {
        let pointers =
            ["text_cfg", "vision_cfg"].map(|tower| format!("/model_cfg/{tower}/{option}"));
        pointers
            .iter()
            .any(|pointer| config.pointer(pointer) == Some(&Value::Bool(true)))
    };
    let options = ["no_causal_mask", "embed_cls", "attentional_pool"].into_iter();
    if let Some(reason) = foreign.into_iter().chain(options.filter(is_set)).next() {
        refuse!("open_clip_config.json: {reason}, which this program does not know");
    }
    let size = |pointer: &str| {
        let size = config.pointer(pointer).and_then(Value::as_u64)?;
        usize::try_from(size).ok()
    };
    let head_width = size("/model_cfg/vision_cfg/head_width").unwrap_or(DEFAULT_HEAD_WIDTH);
    let width = size("/model_cfg/vision_cfg/width");
    let quick_gelu = config.pointer("/model_cfg/quick_gelu");
    Ok(Hints {
        text_heads: size("/model_cfg/text_cfg/heads"),
        vision_heads: width.and_then(|width| width.checked_div(head_width)),
        quick_gelu: quick_gelu == Some(&Value::Bool(true)),
    })
}

/// Compares the sizes in `open_clip_config.json` with those of the tensors.
///
/// # Errors
///
/// The first claim that does not hold.
pub(super) fn check(config: &Value, clip: &ClipConfig) -> Result<()> {
    check_claims("open_clip_config.json", config, CLAIMS, clip)
}

/// Preprocessing of pictures as `open_clip_config.json` describes it: CLIP's, with its own channel statistics.
///
/// # Errors
///
/// A way that differs from CLIP's in more than the channels' statistics.
pub(super) fn preprocess(config: &Value, image_size: usize) -> Result<ImagePreprocess> {
    let clip = ImagePreprocess::clip(image_size);
    let Some(config) = config.get("preprocess_cfg") else {
        return Ok(clip);
    };
    for (name, expected) in [("interpolation", "bicubic"), ("resize_mode", "shortest")] {
        let found = config.get(name).and_then(Value::as_str);
        if let Some(found) = found
            && found != expected
        {
            refuse!("open_clip_config.json: {name} is {found}, expected {expected}");
        }
    }
    Ok(ImagePreprocess {
        mean: channels(config, "mean")?.unwrap_or(clip.mean),
        std: channels(config, "std")?.unwrap_or(clip.std),
        ..clip
    })
}
