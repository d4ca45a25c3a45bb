//! What the page asks its engines, and what it is told of them.

use std::sync::Arc;

use crate::explorer::{Compared, GeneratedRequest, Snapshot};
use crate::protocol::{Answer, ImageReading, ModelCard, Progress, Stored, Weighed};
use crate::ui::card::Card;

/// What the client tells the page.
#[derive(Debug)]
pub(crate) enum Event {
    /// A load goes on.
    Progress(Progress),
    /// This engine answers from now on.
    Loaded(Card),
    /// As [`Self::Loaded`], with another model than before.
    Changed(Card),
    /// A model that was asked for does not come; why, unless the visitor gave it up.
    GivenUp(Option<String>),
    /// What a model at the hub would cost, or why that is not known.
    Weighed(Result<Weighed, String>),
    /// What the browser keeps.
    Stored(Stored),
    /// The model cannot use the adapters that it was given, and why.
    AdapterRefused(String),
    /// The newest question was answered without κ.
    Compared(Box<Compared>),
    /// No engine answers any more, and why.
    Stopped(String),
    /// The newest question was answered.
    Answered(Box<Snapshot>),
    /// A picture can be asked about.
    Picture(ImageReading),
    /// A picture cannot be used, and why.
    PictureRefused { image: String, message: String },
    /// A question asked aside was answered.
    AnsweredAside(Box<Aside>),
    /// A request failed, and why.
    Failed(String),
    /// A question asked aside failed, and why.
    FailedAside(String),
    /// The engine died and was started again; what it said.
    Restarted(String),
    /// Why the other engine is not used, or that it is.
    Choice(String),
}

/// What became of a question asked aside.
#[derive(Debug)]
pub(crate) struct Aside {
    pub(crate) question: Question,
    pub(crate) card: ModelCard,
    pub(crate) answer: Answer,
}

/// A question: captions with their keys, and pictures; one asked aside has no keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Question {
    pub(crate) keys: Vec<u64>,
    pub(crate) captions: Vec<String>,
    pub(crate) images: Vec<String>,
    /// Whether the captions are compared with each other, too.
    pub(crate) relates: bool,
    /// What the pictures that are made for this question show.
    pub(crate) made: Option<GeneratedRequest>,
    /// Those pictures, each under its name; they replace the ones of that name.
    pub(crate) pictures: Vec<(String, Arc<Vec<u8>>)>,
}
