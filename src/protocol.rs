//! Messages between the page and its engines: plain owned data, nothing else.
//!
//! A request that only changes how a result is read (family, sorting, temperature) does not exist here: an
//! [`Answer`] holds the numbers that every reading needs. Pictures cross the boundary once, when they are added.

use serde::{Deserialize, Serialize};

mod caption;
mod device_timing;
mod familiarity;
mod hub;
mod picture_sets;
mod recorded;

pub use crate::family::PerFamily;
pub use caption::{CaptionTokens, MAX_CAPTION_CHARACTERS, Respelling, shortened, too_long};
pub use device_timing::DeviceTiming;
pub use familiarity::Familiarity;
pub use hub::{Hub, HubFailure, HubFault};
pub use picture_sets::{
    CompactDirection, CosineThresholds, FoundCoverage, MeasuredSets, PictureSets,
};
pub use recorded::{RecordedAnswer, RecordedPicture};

/// Message from the page to an engine.
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
    /// Tell the bytes that [`Request::LoadHub`] would fetch: [`Response::DownloadSize`].
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
    /// Have the load pause; the bytes that have arrived are kept.
    Pause,
    /// Have a paused load go on.
    Resume,
    /// Have the load end with [`Response::Cancelled`]; the bytes that have arrived are kept.
    Cancel,
    /// Have loads take weights from the browser's own disk alone; what is not there is refused.
    FetchNothing,
    /// Have loads fetch what is not on the browser's own disk, as they do if nothing was said.
    FetchMissing,
    /// Tell the models that the browser keeps: [`Response::Stored`].
    ListStored,
    /// Store all files of the models behind these manifests, each by its address and hash as in [`Request::Load`]:
    /// [`Response::ModelsStored`].
    StoreModels(Vec<(String, String)>),
    /// Delete everything that the browser keeps, and answer as to [`Request::ListStored`].
    DeleteStored,
    /// Decode and encode a picture under a name of the page's choice.
    AddImage {
        /// The page's name for the picture.
        image: String,
        /// The file as it is: PNG, JPEG, WebP, GIF or BMP.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Take pictures as they were recorded with the model's image encoder; there is no response.
    AddRecorded(Vec<RecordedPicture>),
    /// Forget a picture: later answers leave it out.
    RemoveImage {
        /// The page's name for the picture.
        image: String,
    },
    /// Describe captions and compare each with each picture; the newest `id` wins.
    Score {
        /// Number of the request, which grows by one with each.
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

/// Gigabytes of memory, as the browser reports them, below which an engine on the CPU holds in eight bits the weights
/// of another program's file, and all weights that are stored so.
pub const SHORT_MEMORY_GIGABYTES: f64 = 4.0;

/// The caption whose embedding two engines compare where no golden values are known.
pub const PROBE: &str = "a photo of two dogs running across a wet meadow";

/// Embeddings by one engine of the caption and of the picture by which engines are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// Embedding of the [`PROBE`], `[embed_dim]`, of length one.
    pub caption: Vec<f32>,
    /// Embedding of the picture, `[embed_dim]`, of length one; none before the image encoder is loaded.
    pub picture: Option<Vec<f32>>,
}

/// Message from an engine to the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// The program runs, and reads what was posted to it meanwhile.
    Started,
    /// The engine computes and is alive; sent between passes of the model and steps of a load.
    Heartbeat,
    /// The engine panicked and answers nothing any more.
    Crashed {
        /// Message of the panic.
        message: String,
    },
    /// The engine lost its GPU and answers nothing any more.
    Lost {
        /// Message of the browser.
        message: String,
    },
    /// A picture is queued until the image encoder is loaded, which has begun.
    ImageEncoderLoads,
    /// The image encoder is loaded.
    ImageEncoderLoaded,
    /// Progress of a load.
    Progress(Progress),
    /// The model is loaded and has reproduced its golden values.
    Loaded(Box<ModelCard>),
    /// A model without adapters is loaded: it compares, but does not know how vague a caption is.
    LoadedBare(Box<BareCard>),
    /// The time of one warm pass over the [`PROBE`] and, where both encoders were loaded at once, over a picture. An
    /// engine that is compared with another says it before its model's card; the reference engine may say it after its
    /// first answer, which then does not wait for it.
    PassTimed {
        /// Milliseconds of the pass, from the caption as text to its embedding.
        millis: f64,
    },
    /// Embedding of the picture by which engines are compared.
    PictureProbed {
        /// Point on the sphere, `[embed_dim]`.
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
    /// Bytes of a model at the hub, or why they are not known.
    DownloadSize(Result<DownloadSize, HubFailure>),
    /// Times of the loaded model on this device, or why they are not known.
    DeviceMeasured(Result<Vec<DeviceTiming>, String>),
    /// The model cannot use these adapters; it goes on without them.
    AdapterRefused {
        /// Reason in words for the visitor.
        message: String,
    },
    /// Bytes and hashes of the models that the browser keeps.
    Stored(Stored),
    /// The models that were to be stored are, or why not.
    ModelsStored(Result<(), String>),
    /// The model cannot be used on this engine; nothing was answered with it.
    Refused {
        /// Reason in words for the visitor.
        message: String,
    },
    /// A picture was decoded and encoded.
    ImageAdded(ImageReading),
    /// A picture could not be used.
    ImageRefused {
        /// The page's name for the picture.
        image: String,
        /// Reason in words for the visitor.
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
        /// Reason in words for the visitor.
        message: String,
    },
}

/// Progress of a load, in bytes counted from the manifest and never from headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Part of the model that is being loaded.
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

/// Card of a loaded model with adapters: its name, scales, engine, self-test and times.
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
    /// Thresholds for the set of pictures that a caption could mean, where they were chosen.
    #[serde(default)]
    pub picture_sets: Option<PictureSets>,
    /// Whether it reads whole pictures, squashed to a square, and not only their middle squares.
    #[serde(default)]
    pub squashes_pictures: bool,
    /// The command, seed and commit that made the weights.
    pub provenance: String,
    /// Eight hexadecimal digits that other weights do not have; empty for a file of another program.
    #[serde(default)]
    pub weights: String,
    /// SHA-256 of each shard of the image encoder, which identify it.
    #[serde(default)]
    pub image_encoder: Vec<String>,
    /// Kind of the engine that answers: `cpu`, `gpu`, or `recorded` for answers that were recorded.
    pub engine: String,
    /// Name of the device, for people, such as `WebAssembly, one thread` or the GPU's name.
    pub device: String,
    /// The self-test's greatest relative error and its tolerance.
    pub self_test: SelfTest,
    /// Sum of the weights in bytes.
    pub weights_bytes: u64,
    /// Whether the weights came from the browser's cache.
    pub from_cache: bool,
    /// Milliseconds from the request to this answer.
    pub load_millis: f64,
}

/// Card of a loaded model without adapters: its name, origin, engine, self-test and times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BareCard {
    /// Name of the model: that of the manifest, the file or at the hub.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Dimension d of the embedding space.
    pub embed_dim: usize,
    /// Origin of the weights: a source and its revision, or the command that made them.
    pub provenance: String,
    /// Eight hexadecimal digits that other weights do not have; empty for a file of another program.
    #[serde(default)]
    pub weights: String,
    /// SHA-256 of each shard of the image encoder, which identify it.
    #[serde(default)]
    pub image_encoder: Vec<String>,
    /// Licence of the weights, as far as it is known.
    pub license: String,
    /// Kind of the engine that answers: `cpu`, `gpu`, or `recorded` for answers that were recorded.
    pub engine: String,
    /// Name of the device, for people.
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
    /// Embedding of the [`PROBE`], `[embed_dim]`, of length one.
    pub probe: Vec<f32>,
}

/// Bytes of both encoders of a model at the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadSize {
    /// Address of the model at the hub, with the commit that was found.
    pub hub: Hub,
    /// Bytes of the text encoder.
    pub text_bytes: u64,
    /// Bytes of the image encoder.
    pub image_bytes: u64,
}

/// Bytes and hashes of models in the browser's storage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Whether the browser keeps anything at all; else each visit downloads again.
    pub is_allowed: bool,
    /// Bytes of weights that the browser keeps.
    pub bytes: u64,
    /// Bytes that may still be kept; `None` where the browser does not say.
    pub room_bytes: Option<u64>,
    /// SHA-256 of the files from the model hub, and why each is trusted: a line for each file.
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

/// Size, notes and familiarity of one picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageReading {
    /// The page's name for the picture.
    pub image: String,
    /// Width in pixels, after EXIF rotation.
    pub width: u32,
    /// Height in pixels, after EXIF rotation.
    pub height: u32,
    /// Notes for the visitor, such as "only the first frame of this animation is used".
    pub notes: Vec<String>,
    /// Familiarity of the picture; `None` for a model without a detector.
    pub familiarity: Option<Familiarity>,
}

/// Answer to a request for scores: readings of each caption, of each pair of caption and picture and, if asked for, of
/// each pair of captions.
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
    /// One for each caption × caption, if that was asked: cosines of their embeddings and of their mean directions.
    #[serde(default)]
    pub relations: Vec<PairReading>,
    /// Milliseconds the engine took.
    pub millis: f64,
}

/// Distribution, tokens and unknown words of one caption, by a model with adapters.
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
    /// Words that are unknown or read in pieces, and what each was probably meant to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub respellings: Vec<Respelling>,
    /// Familiarity of the caption; `None` for a model without a detector.
    #[serde(default)]
    pub familiarity: Option<Familiarity>,
    /// Mean direction under each family; none in answers that were recorded without.
    #[serde(default, skip_serializing_if = "picture_sets::is_without")]
    pub mean_direction: PerFamily<CompactDirection>,
}

/// Cosines of one caption with one picture, or with another caption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PairReading {
    /// Cosine between the embeddings of the encoder.
    pub cosine: f64,
    /// Cosine between the caption's mean direction and the image embedding, or the other caption's mean direction,
    /// under each family.
    pub mean_direction_cosine: PerFamily<f64>,
}
