//! State of the models, and of the load that goes on.

use leptos::prelude::*;

use crate::explorer::{ModelChoice, ModelSource, TransferRate, World};
use crate::protocol::{DeviceTiming, DownloadSize, HubFailure, Progress, Stage, Stored};
use crate::ui::dom::browser;

/// State of the models; copied freely, since it holds only handles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelsState {
    /// Whether the panel is open.
    pub(crate) is_open: RwSignal<bool>,
    /// The model that answers.
    pub(crate) at_work: RwSignal<Option<ModelChoice>>,
    pub(crate) load: RwSignal<Load>,
    pub(crate) transfer_rate: RwSignal<TransferRate>,
    pub(crate) is_paused: RwSignal<bool>,
    /// Source of a load that an earlier visit left unfinished.
    pub(crate) left: RwSignal<Option<ModelSource>, LocalStorage>,
    /// Reason why a model was not loaded, in words for the visitor.
    pub(crate) trouble: RwSignal<Option<String>>,
    /// Download size of the hub's model, or why it is not known.
    pub(crate) download_size: RwSignal<Option<Result<DownloadSize, HubFailure>>>,
    /// Times of the model that answers on this device.
    pub(crate) timings: RwSignal<Timings>,
    /// Weights that the browser keeps.
    pub(crate) stored: RwSignal<Option<Stored>>,
    /// Whether all files of the built-in models are on their way to the browser's disk.
    pub(crate) is_keeping: RwSignal<bool>,
    /// Models that the page's own site serves.
    pub(crate) found: RwSignal<Vec<SameSiteModel>>,
}

/// Progress of a load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Load {
    /// Nothing is being loaded.
    None,
    /// Nothing has arrived yet.
    Begun,
    Going(Progress),
}

/// Times of the model on this device, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Timings {
    /// The visitor has not asked for a measurement of this model.
    #[default]
    Unknown,
    /// The engine is measuring the model.
    Running,
    Measured(Vec<DeviceTiming>),
    /// Reason why the measurement failed.
    Failed(String),
}

impl Timings {
    pub(crate) fn of(measured: Result<Vec<DeviceTiming>, String>) -> Self {
        measured.map_or_else(Self::Failed, Self::Measured)
    }
}

/// A model that the page's own site serves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SameSiteModel {
    /// The path of its manifest.
    pub(crate) path: &'static str,
    pub(crate) bytes: u64,
}

impl ModelsState {
    pub(crate) fn new() -> Self {
        Self {
            is_open: RwSignal::new(false),
            at_work: RwSignal::new(None),
            load: RwSignal::new(Load::None),
            transfer_rate: RwSignal::default(),
            is_paused: RwSignal::new(false),
            left: RwSignal::new_local(None),
            trouble: RwSignal::new(None),
            download_size: RwSignal::new(None),
            timings: RwSignal::default(),
            stored: RwSignal::new(None),
            is_keeping: RwSignal::new(false),
            found: RwSignal::default(),
        }
    }

    /// Size of a world's model in bytes, once it is known.
    pub(crate) fn bytes_of(self, world: World) -> Option<u64> {
        self.found.with(|found| {
            let known = found.iter().find(|found| found.path == world.manifest())?;
            Some(known.bytes)
        })
    }

    /// Takes note that a load begins.
    pub(crate) fn begin(self) {
        self.load.set(Load::Begun);
        self.is_paused.set(false);
        self.left.set(None);
        self.trouble.set(None);
        self.transfer_rate.update(TransferRate::rest);
    }

    /// Updates the progress of a load.
    pub(crate) fn progressed(self, progress: &Progress) {
        if progress.loaded_bytes == progress.total_bytes {
            // All bytes have arrived; nothing else of the load is counted.
            return self.load.set(Load::None);
        }
        if !self.is_paused.get_untracked() {
            let now = browser::now_millis();
            self.transfer_rate
                .update(|rate| rate.note(now, progress.loaded_bytes));
        }
        self.load.set(Load::Going(progress.clone()));
    }

    /// Whether the image encoder is being loaded.
    pub(crate) fn loads_image_encoder(self) -> bool {
        self.load.with(|load| match load {
            Load::Going(progress) => progress.stage == Stage::ImageEncoder,
            Load::None | Load::Begun => false,
        })
    }

    /// Notes that a model answers. A message on why the wanted model does not answer is kept.
    pub(crate) fn loaded(self, model: ModelChoice, wanted: ModelChoice) {
        self.timings.set(Timings::Unknown);
        self.at_work.set(Some(model));
        self.load.set(Load::None);
        self.is_paused.set(false);
        if model == wanted {
            self.trouble.set(None);
        }
    }
}
