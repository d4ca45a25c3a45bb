//! Description of another program's checkpoint as a model of ours: its sizes, its preprocessing, its tokenizer.

use serde_json::Value;

use super::layout::{CheckpointLayout, Mapping};
use super::sizes::{Hints, architecture, infer};
use super::tokenizer::from_vocab_and_merges;
use super::{hf, open_clip, openai, sentence_piece};
use crate::error::{Error, Result, refuse};
use crate::model::clip::{Architecture, ClipConfig};
use crate::model::encoder::EncoderConfig;
use crate::preprocess::{ImagePreprocess, TextPreprocess};
use crate::weights::size_limits::check_clip;

const CONFIG: &str = "config.json";
const OPEN_CLIP_CONFIG: &str = "open_clip_config.json";
const PREPROCESSOR_CONFIG: &str = "preprocessor_config.json";
const TOKENIZER: &str = "tokenizer.json";
const SENTENCE_PIECE: &str = "spiece.model";
const VOCABULARY: &str = "vocab.json";
const MERGES: &str = "merges.txt";

/// The small files that lie beside a checkpoint, as far as they are there.
#[derive(Debug, Clone, Default)]
pub struct CompanionFiles {
    config: Option<Value>,
    open_clip_config: Option<Value>,
    preprocessor_config: Option<Value>,
    tokenizer: Option<Vec<u8>>,
    sentence_piece: Option<Vec<u8>>,
    vocabulary: Option<Vec<u8>>,
    merges: Option<Vec<u8>>,
}

/// Sizes, preprocessing and tokenizer of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointDescription {
    /// Sizes of the towers.
    pub clip: ClipConfig,
    /// Preprocessing that turns a picture into the input of the image tower.
    pub preprocess: ImagePreprocess,
    /// The content of `tokenizer.json`.
    pub tokenizer: Vec<u8>,
}

impl CheckpointDescription {
    /// The encoder as a manifest has it.
    #[must_use]
    pub fn encoder(&self) -> EncoderConfig {
        EncoderConfig::Clip(self.clip.clone())
    }

    /// `CLIP ViT-B/32` or `SigLIP ViT-B/16`, after the width of the image tower as in the paper.
    #[must_use]
    pub fn title(&self) -> String {
        let vision = &self.clip.vision_cfg;
        let size = match vision.width {
            768 => "B".to_owned(),
            1024 => "L".to_owned(),
            width => width.to_string(),
        };
        let name = match self.clip.architecture {
            Architecture::Clip => "CLIP",
            Architecture::SigLip => "SigLIP",
        };
        format!("{name} ViT-{size}/{}", vision.patch_size)
    }
}

/// The licence of what this owner publishes at the model hub, where it is always the same.
#[must_use]
pub fn license(owner: &str) -> Option<&'static str> {
    match owner {
        "openai" | "laion" => Some("MIT"),
        "google" => Some("Apache-2.0"),
        _ => None,
    }
}

impl CompanionFiles {
    /// Names of the files that may lie beside a checkpoint at the model hub.
    pub const FILES: [&str; 5] = [
        CONFIG,
        OPEN_CLIP_CONFIG,
        PREPROCESSOR_CONFIG,
        TOKENIZER,
        SENTENCE_PIECE,
    ];

    /// Names of those of [`FILES`](Self::FILES) that a checkpoint of this layout needs.
    #[must_use]
    pub fn needed(layout: CheckpointLayout) -> &'static [&'static str] {
        match layout {
            CheckpointLayout::HuggingFace => &[CONFIG, PREPROCESSOR_CONFIG, TOKENIZER],
            CheckpointLayout::OpenClip { .. } => &[OPEN_CLIP_CONFIG, TOKENIZER],
            CheckpointLayout::OpenAi => &[TOKENIZER],
        }
    }

    /// Names of two more, which hold the tokenizer where nothing else does.
    pub const OLD_TOKENIZER: [&str; 2] = [VOCABULARY, MERGES];

    /// Takes a file by its name; one of another name is passed over.
    ///
    /// # Errors
    ///
    /// A configuration that is no JSON.
    pub fn put(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        let json = |bytes: &[u8]| {
            let json = serde_json::from_slice(bytes).map(Some);
            json.map_err(|error| Error::Weights(format!("{name}: {error}")))
        };
        match name {
            CONFIG => self.config = json(&bytes)?,
            OPEN_CLIP_CONFIG => self.open_clip_config = json(&bytes)?,
            PREPROCESSOR_CONFIG => self.preprocessor_config = json(&bytes)?,
            TOKENIZER => self.tokenizer = Some(bytes),
            SENTENCE_PIECE => self.sentence_piece = Some(bytes),
            VOCABULARY => self.vocabulary = Some(bytes),
            MERGES => self.merges = Some(bytes),
            _ => {}
        }
        Ok(())
    }

    /// Prefers this tokenizer to all others.
    pub fn replace_tokenizer(&mut self, json: Vec<u8>) {
        self.sentence_piece = None;
        self.tokenizer = Some(json);
    }

    /// `config.json`, if it is there.
    #[must_use]
    pub fn config(&self) -> Option<&Value> {
        self.config.as_ref()
    }

    /// The `tokenizer.json` that is there or can be made of what is there.
    ///
    /// # Errors
    ///
    /// No tokenizer, or one that cannot be read.
    pub fn tokenizer_json(&self) -> Result<Vec<u8>> {
        match (&self.sentence_piece, &self.tokenizer, &self.vocabulary, &self.merges) {
            // Another program made the `tokenizer.json` beside it from this model.
            (Some(model), _, _, _) => Ok(sentence_piece::to_tokenizer_json(model)?.into_bytes()),
            (None, Some(tokenizer), _, _) => Ok(tokenizer.clone()),
            (None, None, Some(vocabulary), Some(merges)) => {
                let merges = std::str::from_utf8(merges);
                let merges = merges.map_err(|_| Error::Text(format!("{MERGES}: not UTF-8 text")))?;
                Ok(from_vocab_and_merges(vocabulary, merges)?.into_bytes())
            }
            _ => Err(Error::Text(
                "no tokenizer.json or spiece.model beside the weights; openai/clip-vit-base-patch32 at the model hub \
                 has that of all models of OpenAI and most of open_clip"
                    .to_owned(),
            )),
        }
    }
}

/// Describes a checkpoint by its tensors, and checks its files against each other.
///
/// `integer` gives a whole number that the checkpoint holds beside its tensors.
///
/// # Errors
///
/// A model that is neither a CLIP nor a `SigLIP` of a known layout, that lacks a tokenizer, or whose files contradict
/// each other.
pub fn describe(
    mapping: &Mapping,
    beside: &CompanionFiles,
    integer: impl Fn(&str) -> Option<usize>,
) -> Result<CheckpointDescription> {
    let tokenizer = beside.tokenizer_json()?;
    let ids = special_tokens(&tokenizer)?;
    let hints = hints(mapping, beside, integer)?;
    let clip = infer(|name| mapping.shape(name), hints, ids)?;
    check_clip(&clip)?;
    let preprocess = check(beside, &clip)?;
    Ok(CheckpointDescription {
        clip,
        preprocess,
        tokenizer,
    })
}

/// Ids of the start and end token by the tokenizer: `OpenAI`'s `config.json` at the hub names wrong ones.
fn special_tokens(tokenizer: &[u8]) -> Result<(Option<u32>, u32)> {
    let longest = usize::from(u16::MAX);
    let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer, longest)?;
    Ok((tokenizer.start_token_id(), tokenizer.end_token_id()))
}

fn hints(
    mapping: &Mapping,
    beside: &CompanionFiles,
    integer: impl Fn(&str) -> Option<usize>,
) -> Result<Hints> {
    let architecture = architecture(|name| mapping.shape(name));
    match (mapping.layout(), &beside.config, &beside.open_clip_config) {
        (CheckpointLayout::OpenAi, _, _) => Ok(openai::hints(integer)),
        (CheckpointLayout::HuggingFace, Some(config), _) => hf::hints(config, architecture),
        (CheckpointLayout::HuggingFace, None, _) => Ok(Hints {
            text_heads: None,
            vision_heads: None,
            quick_gelu: architecture == Architecture::Clip,
        }),
        (CheckpointLayout::OpenClip { .. }, _, Some(config)) => open_clip::hints(config),
        (CheckpointLayout::OpenClip { .. }, _, None) => refuse!(
            "no open_clip_config.json beside the weights, which says whether the model uses the quick GELU"
        ),
    }
}

/// Compares the sizes with every file that claims any, and returns the preprocessing of pictures.
fn check(beside: &CompanionFiles, clip: &ClipConfig) -> Result<ImagePreprocess> {
    let image_size = clip.vision_cfg.image_size;
    if let Some(config) = &beside.config {
        hf::check(config, clip)?;
    }
    if let Some(config) = &beside.open_clip_config {
        open_clip::check(config, clip)?;
    }
    match (&beside.preprocessor_config, &beside.open_clip_config) {
        (None, Some(config)) => open_clip::preprocess(config, image_size),
        (config, _) => {
            let config = config.as_ref().unwrap_or(&Value::Null);
            hf::preprocess(config, clip.architecture, image_size)
        }
    }
}
