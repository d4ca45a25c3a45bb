//! What the page and its engines say to each other: plain owned data, nothing else.
//!
//! A request that only changes how a result is read (family, sorting, temperature) does not exist here: an
//! [`Answer`] holds what every reading needs. Pictures cross the boundary once, when they are added.

use serde::{Deserialize, Serialize};

mod device_timing;
mod hub;
mod picture_sets;
mod recorded;

pub use crate::family::PerFamily;
pub use device_timing::DeviceTiming;
pub use hub::Hub;
pub use picture_sets::{
    CompactDirection, CosineThresholds, FoundCoverage, MeasuredSets, PictureSets,
};
pub use recorded::{Recorded, RecordedPicture};

/// From the page to an engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Load and test the model behind this manifest: [`Response::Loaded`].
    Load {
        /// Address of `manifest.json`, absolute.
        manifest_url: String,
        /// SHA-256 of the manifest as `sha256-` and Base64; empty where the page does not say which one it wants.
        integrity: String,
    },
    /// Load a model out of files that the visitor picked; they come beside this message, as its property `files`.
    LoadFiles {
        /// Names of the picked files, in the order of `files`.
        names: Vec<String>,
    },
    /// Load a model out of a checkpoint at the model hub.
    LoadHub(Hub),
    /// Tell what [`Request::LoadHub`] would fetch: [`Response::DownloadSize`].
    QueryDownloadSize(Hub),
    /// Give the model adapters out of a file: [`Response::Loaded`] or [`Response::AdapterRefused`].
    Adapt {
        /// The file as it is.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Delete the adapters that the browser keeps for the model.
    ForgetAdapters,
    /// Embeddings by another engine, with which weights without golden values are compared.
    Expect(Probes),
    /// Embed the picture by which engines are compared: [`Response::PictureProbed`].
    ProbePicture,
    /// Time captions and pictures on this device: [`Response::DeviceMeasured`].
    MeasureDevice,
    /// Have the load wait; what has arrived is kept.
    Pause,
    /// Have the load go on.
    Resume,
    /// Have the load end with [`Response::Cancelled`]; what has arrived is kept.
    Cancel,
    /// Tell what the browser keeps: [`Response::Stored`].
    ListStored,
    /// Delete everything that the browser keeps, and answer as to [`Request::ListStored`].
    DeleteStored,
    /// Decode and encode a picture under a name of the page's choice.
    AddImage {
        /// The page's name for the picture.
        image: String,
        /// The file as it is: PNG, JPEG, WebP, GIF or BMP.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        /// What an image encoder made of it when the page was made; an engine that has none yet goes by that of its own.
        recorded: Option<Box<RecordedPicture>>,
    },
    /// Forget a picture: later answers leave it out.
    RemoveImage {
        /// The page's name for the picture.
        image: String,
    },
    /// Describe captions and compare each with each picture; the newest `id` wins.
    Score {
        /// Grows by one with each request.
        id: u64,
        /// The captions as typed.
        captions: Vec<String>,
        /// Names of pictures added before; unknown names are left out of the answer.
        images: Vec<String>,
        /// Whether the captions are compared with each other, too.
        relates: bool,
    },
}

impl Request {
    /// Whether this asks for a model.
    #[must_use]
    pub fn is_load(&self) -> bool {
        matches!(
            self,
            Self::Load { .. } | Self::LoadFiles { .. } | Self::LoadHub(_)
        )
    }
}

/// Characters of a caption at most, wherever one is taken from people; no model reads as many.
pub const MAX_CAPTION_CHARACTERS: usize = 2000;

/// With less memory than this, as the browser tells it, weights that are not stored in eight bits are held so.
pub const SHORT_MEMORY_GIGABYTES: f64 = 4.0;

/// The caption whose embedding two engines compare where no golden values are known.
pub const PROBE: &str = "a photo of two dogs running across a wet meadow";

/// What an engine makes of the caption and of the picture by which engines are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// The embedding of the [`PROBE`].
    pub caption: Vec<f32>,
    /// The embedding of the picture; none before the image encoder is loaded.
    pub picture: Option<Vec<f32>>,
}

/// From an engine to the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// The worker script runs and listens.
    Started,
    /// The engine computes and is alive; sent between passes of the model and steps of a load.
    Heartbeat,
    /// The engine panicked and answers nothing any more.
    Crashed {
        /// What the panic said.
        message: String,
    },
    /// The engine lost its GPU and answers nothing any more.
    Lost {
        /// What the browser said.
        message: String,
    },
    /// A picture waits for the image encoder, which is being loaded.
    ImageEncoderLoads,
    /// The image encoder is loaded.
    ImageEncoderLoaded,
    /// How far a load has come.
    Progress(Progress),
    /// The model is loaded and has reproduced its golden values.
    Loaded(Box<ModelCard>),
    /// A model without adapters is loaded: it compares, but does not know how vague a caption is.
    LoadedBare(Box<BareCard>),
    /// What the image encoder makes of the picture by which engines are compared.
    PictureProbed {
        /// Embedding of that picture: a point on the sphere.
        embedding: Vec<f32>,
    },
    /// Adapters that the visitor gave this model before, in the browser's store.
    KeptAdapters {
        /// The file as it was given.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// The load ended because the page asked for that; what was loaded before stays.
    Cancelled,
    /// What a model at the hub would cost, or why that is not known.
    DownloadSize(Result<DownloadSize, String>),
    /// How long the loaded model takes on this device, or why that is not known.
    DeviceMeasured(Result<Vec<DeviceTiming>, String>),
    /// The model cannot use these adapters; it goes on without them.
    AdapterRefused {
        /// Why, ready to be shown.
        message: String,
    },
    /// What the browser keeps.
    Stored(Stored),
    /// The model cannot be used on this engine; nothing was answered with it.
    Refused {
        /// Why, ready to be shown.
        message: String,
    },
    /// A picture was decoded and encoded.
    ImageAdded(ImageReading),
    /// A picture could not be used.
    ImageRefused {
        /// The page's name for the picture.
        image: String,
        /// Why, ready to be shown.
        message: String,
    },
    /// The answer to [`Request::Score`].
    Scored(Answer),
    /// The answer to [`Request::Score`] of a model without adapters.
    Compared(Comparison),
    /// A request failed; what was there before still is.
    Failed {
        /// The `id` of the score request, if it was one.
        id: Option<u64>,
        /// Why, ready to be shown.
        message: String,
    },
}

/// How far a load has come, in bytes counted from the manifest and never from headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being loaded.
    pub stage: Stage,
    /// Bytes that have arrived.
    pub loaded_bytes: u64,
    /// Bytes that will have arrived at the end of this stage.
    pub stage_end_bytes: u64,
    /// Bytes of the whole model, over all its stages.
    pub total_bytes: u64,
}

/// A part of a model, as it is loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Captions → embeddings, with the tokenizer.
    #[default]
    TextEncoder,
    /// Pictures → embeddings, loaded after the text encoder or with the first picture.
    ImageEncoder,
    /// Text embeddings → distributions.
    Adapters,
}

/// What a loaded model is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// The manifest's name, such as `scenes`.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Dimension d of the embedding space; the sphere is S^{d−1}.
    pub embed_dim: usize,
    /// The logit scale τ of each adapter.
    pub logit_scale: PerFamily<f64>,
    /// 1/κ of the reference captions, ascending, for percentiles.
    pub reference_uncertainty: PerFamily<Vec<f64>>,
    /// Which pictures a caption could mean, where that was measured.
    #[serde(default)]
    pub picture_sets: Option<PictureSets>,
    /// The command, seed and commit that made the weights.
    pub provenance: String,
    /// Kind of the engine that has the model: `cpu` or `gpu`.
    pub engine: String,
    /// The device in words, such as `Flex, WebAssembly SIMD` or the GPU's name.
    pub device: String,
    /// The self-test's greatest relative error and its tolerance.
    pub self_test: SelfTest,
    /// Sum of the weights in bytes.
    pub weights_bytes: u64,
    /// Whether the weights came from the browser's cache.
    pub from_cache: bool,
    /// Milliseconds from the request to this answer.
    pub load_millis: f64,
    /// Milliseconds that one golden text and image pass took when warm.
    pub warm_millis: f64,
}

/// What a loaded model without adapters is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BareCard {
    /// Its name: of the manifest, the file or at the hub.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Dimension d of the embedding space.
    pub embed_dim: usize,
    /// Where the weights come from.
    pub provenance: String,
    /// Licence of the weights, as far as it is known.
    pub license: String,
    /// Kind of the engine that has the model: `cpu` or `gpu`.
    pub engine: String,
    /// The device in words.
    pub device: String,
    /// The self-test, where golden values are known.
    pub self_test: Option<SelfTest>,
    /// Whether it answers captions as `OpenAI`'s ViT-B/32 is known to.
    pub is_vit_b_32: bool,
    /// Sum of the weights in bytes.
    pub weights_bytes: u64,
    /// Whether the image encoder is loaded, too; else it is with the first picture.
    pub has_vision: bool,
    /// Whether the weights came from the browser's disk.
    pub from_cache: bool,
    /// Milliseconds from the request to this answer.
    pub load_millis: f64,
    /// Milliseconds that the [`PROBE`] took when warm.
    pub warm_millis: f64,
    /// The embedding of the [`PROBE`].
    pub probe: Vec<f32>,
}

/// What a model at the hub would cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadSize {
    /// Address of the model at the hub, with the commit that was found.
    pub hub: Hub,
    /// Bytes of the text encoder.
    pub text_bytes: u64,
    /// Bytes of the image encoder.
    pub image_bytes: u64,
}

/// What the browser keeps of models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Whether the browser keeps anything at all; else each visit downloads again.
    pub is_allowed: bool,
    /// Bytes that are kept.
    pub bytes: u64,
    /// Bytes that may still be kept, where the browser tells.
    pub room_bytes: Option<u64>,
    /// SHA-256 of what came from the model hub, and why each is trusted: a line for each file.
    pub hashes: String,
}

/// Captions against pictures, by a model without adapters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The `id` of the [`Request::Score`] that this answers.
    pub id: u64,
    /// One for each caption, in the order asked.
    pub captions: Vec<CaptionTokens>,
    /// The pictures that were known, in the order asked.
    pub images: Vec<String>,
    /// The encoder's cosine of each caption × picture, captions outermost.
    pub cosines: Vec<f64>,
    /// Milliseconds the engine took.
    pub millis: f64,
}

/// What a model without adapters says of one caption.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaptionTokens {
    /// The caption as asked.
    pub caption: String,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut to the context length.
    pub truncated: bool,
    /// Words the model's vocabulary does not hold.
    pub unknown_words: Vec<String>,
}

/// The outcome of the self-test against the manifest's golden values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Greatest relative error found; infinite where an answer was not a number.
    pub max_relative_error: f64,
    /// Greatest relative error allowed.
    pub tolerance: f64,
}

impl SelfTest {
    /// Whether the engine may answer.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.max_relative_error <= self.tolerance
    }
}

/// What was found in one picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageReading {
    /// The page's name for the picture.
    pub image: String,
    /// Width in pixels, after EXIF rotation.
    pub width: u32,
    /// Height in pixels, after EXIF rotation.
    pub height: u32,
    /// Things the visitor should know, such as "only the first frame of this animation is used".
    pub notes: Vec<String>,
    /// How well the picture fits the model's world; `None` where the model does not know its world.
    pub familiarity: Option<Familiarity>,
}

/// Whether a picture or a caption is like those that the model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Familiarity {
    /// How like: a measure of the model's own, greater for what is more familiar.
    #[serde(alias = "ground_share")]
    pub score: f64,
    /// What scores less is out of distribution.
    pub threshold: f64,
    /// Whether it is out of distribution: `score < threshold`.
    pub outside: bool,
}

impl Familiarity {
    /// Judges a score by the threshold below which it is out of distribution.
    #[must_use]
    pub fn new(score: f64, threshold: f64) -> Self {
        Self {
            score,
            threshold,
            outside: score < threshold,
        }
    }
}

/// Everything the page needs to read captions against pictures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The `id` of the [`Request::Score`] that this answers.
    pub id: u64,
    /// One for each caption, in the order asked.
    pub captions: Vec<CaptionReading>,
    /// The pictures that were known, in the order asked.
    pub images: Vec<String>,
    /// One for each caption × picture, captions outermost.
    pub pairs: Vec<PairReading>,
    /// One for each caption × caption, if that was asked; the inner one stands in the place of the picture.
    #[serde(default)]
    pub relations: Vec<PairReading>,
    /// Milliseconds the engine took.
    pub millis: f64,
}

/// What a model with adapters says of one caption: its distribution, and which words it could read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaptionReading {
    /// The caption as asked.
    pub caption: String,
    /// Concentration κ under each family.
    pub concentration: PerFamily<f64>,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut to the context length.
    pub truncated: bool,
    /// Words the model's vocabulary does not hold.
    pub unknown_words: Vec<String>,
    /// How like the captions of its training it is; `None` where the model cannot tell.
    #[serde(default)]
    pub familiarity: Option<Familiarity>,
    /// Direction of its embedding; none in answers that were recorded without.
    #[serde(default, skip_serializing_if = "CompactDirection::is_empty")]
    pub direction: CompactDirection,
}

/// One caption against one picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PairReading {
    /// The encoder's own cosine between text and image embedding.
    pub cosine: f64,
    /// Cosine between the caption's mean direction and the image embedding, under each family.
    pub mean_direction_cosine: PerFamily<f64>,
}
