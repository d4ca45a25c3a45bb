//! Presets: shares of the papers' experiments to repeat.

use super::corrupted::Severities;
use crate::train::methods::MethodName::{
    self, AsymvlmPs, AsymvlmPsEncoderMean, AsymvlmVmf, AsymvlmVmfEncoderMean, Augmentation,
    Bayesvlm, BayesvlmCosine, Clip, Density, Deterministic, ElipBottleneck, Entropy, ImageDensity,
    ImageEntropy, ImageVmf, Pcmepp, Pfe, Probvlm, Prolip, SymvlmVmf,
};

/// Amount of work for an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReproducePreset {
    /// Each paper's method once with three seeds: a quarter of an hour on two cores.
    Small,
    /// Every method with five seeds, as many steps as the shipped adapters had, all severities.
    Full,
}

/// Settings of a preset; each number can be given by hand, too.
#[derive(Debug, Clone, PartialEq)]
pub struct PresetRecipe {
    /// The methods, in the order of the tables.
    pub methods: Vec<MethodName>,
    /// Number of seeds, counted from 0.
    pub seeds: u64,
    /// Pairs in a batch.
    pub batch: usize,
    /// Passes over the captions.
    pub epochs: usize,
    /// Passes of the fits by which learning rates are chosen.
    pub grid_epochs: usize,
    /// Passes of the fits and of their grid on photos, whose features are twice as wide.
    pub photos_epochs: [usize; 2],
    /// Scenes to train on, to measure on, and of each task.
    pub scenes: [usize; 3],
    /// Augmented views of each picture that is measured on.
    pub views: usize,
    /// Severities of disturbed pictures and of misspelt captions.
    pub severities: Severities,
}

/// Augmented views by which a picture's uncertainty is estimated.
const VIEWS: usize = 8;

/// The methods of the small preset.
const HEART: [MethodName; 20] = [
    Clip,
    Pfe,
    Pcmepp,
    Bayesvlm,
    BayesvlmCosine,
    Entropy,
    ImageEntropy,
    Density,
    ImageDensity,
    Augmentation,
    Probvlm,
    Prolip,
    ElipBottleneck,
    AsymvlmVmf,
    AsymvlmPs,
    AsymvlmVmfEncoderMean,
    AsymvlmPsEncoderMean,
    ImageVmf,
    SymvlmVmf,
    Deterministic,
];

impl PresetRecipe {
    /// The recipe of the world of photos.
    #[must_use]
    pub fn of_photos(self) -> Self {
        let [epochs, grid_epochs] = self.photos_epochs;
        Self {
            epochs,
            grid_epochs,
            ..self
        }
    }
}

impl ReproducePreset {
    /// Steps, sizes, seeds and severities of this preset.
    #[must_use]
    pub fn recipe(self) -> PresetRecipe {
        match self {
            // 28 batches of 512 of 14,000 captions: 840 steps.
            Self::Small => PresetRecipe {
                methods: HEART.to_vec(),
                seeds: 3,
                batch: 512,
                epochs: 30,
                grid_epochs: 4,
                // 59 batches of 512 of 30,000 captions: 885 steps.
                photos_epochs: [15, 3],
                scenes: [2000, 1000, 300],
                views: VIEWS,
                severities: Severities {
                    pictures: vec![5],
                    captions: vec![5],
                },
            },
            // 69 batches of 1,024 of 70,000 captions: 4,140 steps.
            Self::Full => PresetRecipe {
                methods: MethodName::ALL.to_vec(),
                seeds: 5,
                batch: 1024,
                epochs: 60,
                grid_epochs: 10,
                photos_epochs: [60, 10],
                scenes: [10_000, 5000, 1000],
                views: VIEWS,
                severities: Severities::published(),
            },
        }
    }
}
