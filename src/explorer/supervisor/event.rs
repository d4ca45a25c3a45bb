//! Messages of the supervisor: events that it receives, actions for the page to perform, and events that it reports to
//! the page.

use std::sync::Arc;

use super::model::{EngineKind, LoadedModel, ModelSource};
use super::strikes::{LoadNote, LoadNotes};
use crate::explorer::latest_queue::Priority;
use crate::explorer::readings::cosines::CosineSnapshot;
use crate::explorer::readings::generated::GeneratedRequest;
use crate::explorer::readings::snapshot::Snapshot;
use crate::explorer::world::World;
use crate::protocol::{
    Answer, DeviceTiming, DownloadSize, HubFailure, ImageReading, ModelCard, Progress,
    RecordedPicture, Request, Response, Stored,
};

/// Captions with their keys, and pictures; captions that a view asks about have no keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreRequest {
    /// Key of the row of each caption; empty for the captions of a view.
    pub keys: Vec<u64>,
    /// The captions to be scored, in order.
    pub captions: Vec<String>,
    /// Names of the pictures to be scored.
    pub images: Vec<String>,
    /// Whether the captions are compared with each other, too.
    pub relates: bool,
    /// Contents of the pictures that are generated for this request.
    pub generated: Option<GeneratedRequest>,
    /// Pictures that were generated, as files under their names; each replaces the earlier one of its name.
    pub pictures: Vec<(String, Arc<Vec<u8>>)>,
}

/// Event that the supervisor receives, from the page or from an engine.
#[derive(Debug, Clone)]
pub enum Event {
    /// The page begins, with the model that it was left with.
    Start(Start),
    /// The page asks about captions.
    Ask(Priority, ScoreRequest),
    /// The page has another picture.
    AddPicture(PagePicture),
    /// A picture left the page.
    RemovePicture(String),
    /// The visitor wants another model.
    ChangeModel(ModelSource),
    /// The page shows another of its worlds, whose model is loaded in place of the one at work.
    OpenWorld(World),
    /// The visitor gives the model adapters, out of a file of this name.
    GiveAdapters(String, Arc<Vec<u8>>),
    /// The load that goes on is to wait.
    Pause,
    /// The load is to go on.
    Resume,
    /// The load is to end.
    Cancel,
    /// The page asks something that is not about captions; answered by [`EngineEvent::DownloadSize`],
    /// [`EngineEvent::DeviceMeasured`], [`EngineEvent::Stored`] or [`EngineEvent::ModelsStored`].
    Query(Request),
    /// The visitor does not wait any longer for an engine that does not answer.
    Stop,
    /// The visitor wants another try with a model that comes with the page.
    Retry,
    /// The page is left, perhaps for good.
    Leave,
    /// Every event that the page sent before it performed [`Action::AddBarrier`] is handled.
    BarrierReached,
    /// An engine sent a response.
    Response(u64, Response),
    /// An engine died, could not be started, could not be sent a message, or sent one that is not understood.
    Died(u64, String),
    /// Whether the device has a GPU that is worth trying, or why not.
    GpuProbed(Result<(), String>),
    /// Time passes; comes every second.
    Tick,
}

/// A picture of the page.
#[derive(Debug, Clone)]
pub struct PagePicture {
    /// The page's name for it.
    pub image: String,
    /// Bytes of the picture's file as picked or fetched, not decoded.
    pub bytes: Arc<Vec<u8>>,
    /// Embedding of it, recorded when the page was made.
    pub recorded: Option<Arc<RecordedPicture>>,
}

/// Start of the page: its model, its engine, and notes of earlier visits.
#[derive(Debug, Clone)]
pub struct Start {
    /// The model to load first.
    pub source: ModelSource,
    /// The engine that the address asks for.
    pub asked_kind: Option<EngineKind>,
    /// Notes of earlier visits on loads.
    pub notes: LoadNotes,
    /// Reason why no engine can run in this browser; `None` where one can.
    pub obstacle: Option<String>,
}

/// Action that the page performs for the supervisor.
#[derive(Debug, Clone)]
pub enum Action {
    /// Starts an engine's worker; its number is never used again.
    Spawn(u64, EngineKind),
    /// Tells an engine to load a model.
    Load(u64, ModelSource),
    /// Sends a request to an engine.
    Post(u64, Request),
    /// Ends an engine's worker; what it still says is not heard.
    Terminate(u64),
    /// Finds out whether there is a GPU: [`Event::GpuProbed`].
    ProbeGpu,
    /// Sends back [`Event::BarrierReached`], behind the events by which the page answers the reports so far.
    AddBarrier,
    /// Keeps a note on a load for later visits.
    Keep(LoadNote),
    /// Reports an event to the page.
    Report(EngineEvent),
}

/// Event of an engine that is reported to the page.
#[derive(Debug, Clone)]
pub enum EngineEvent {
    /// A load goes on.
    Progress(Progress),
    /// This engine answers from now on.
    Loaded(LoadedModel),
    /// This engine answers from now on, with another model than before.
    Changed(LoadedModel),
    /// A model that was asked for does not come; why, unless the visitor gave it up.
    GivenUp(Option<String>),
    /// Download size of a model at the hub, or why it is not known.
    DownloadSize(Result<DownloadSize, HubFailure>),
    /// Times of the loaded model on this device, or why they are not known.
    DeviceMeasured(Result<Vec<DeviceTiming>, String>),
    /// Weights that the browser keeps.
    Stored(Stored),
    /// The models that were to be stored are, or why not.
    ModelsStored(Result<(), String>),
    /// The model cannot use the adapters of this file, and why.
    AdapterRefused(String, String),
    /// The latest request of the matrix was answered without κ.
    Compared(Box<CosineSnapshot>),
    /// No engine answers any more, and why; the visitor may have it tried again.
    Stopped(String),
    /// Loading the scenes' model, which takes the place of others, stopped the page before; it waits for the visitor's
    /// word.
    SafeMode,
    /// The latest request of the matrix was answered.
    Answered(Box<Snapshot>),
    /// A view's request was answered.
    ViewAnswered(Box<ViewAnswer>),
    /// A picture can be asked about.
    Picture(ImageReading),
    /// A picture cannot be used.
    PictureRefused {
        /// Name of the picture.
        image: String,
        /// Reason why it was refused, in words for the visitor.
        message: String,
    },
    /// A caption stopped an engine twice, the second time alone, and is not sent any more.
    Quarantined {
        /// The caption that is set aside.
        caption: String,
        /// Message of the engine that died last.
        message: String,
    },
    /// A request of this priority failed, and why.
    Failed(Priority, String),
    /// Another failure, in words for the visitor.
    Failure(String),
    /// The engine died and was started again; what it said.
    Restarted(String),
    /// Reason why the engine at work computes on the CPU or on the GPU.
    BackendChosen(String),
    /// Whether the engine is silent for so long that the visitor may stop it.
    IsSlow(bool),
}

/// The answer to a view's request.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewAnswer {
    /// The request that was answered.
    pub request: ScoreRequest,
    /// The model that answered.
    pub card: ModelCard,
    /// The engine's answer to it.
    pub answer: Answer,
}
