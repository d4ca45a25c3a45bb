//! The kinds of locked towers. A new one is a variant here and a module of its own.

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::host::gemm::Kernel;
use crate::model::bert::{Bert, BertConfig};
use crate::model::efficientnet::{EfficientNet, EfficientNetConfig, LastStage, MapMeans};
use crate::model::parameters::{ParameterVisitor, Parameters};

/// A text tower's architecture and sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "architecture", rename_all = "snake_case")]
pub enum TextTowerConfig {
    /// BERT with mean pooling.
    Bert(BertConfig),
}

/// An image tower's architecture and sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "architecture", rename_all = "snake_case")]
pub enum ImageTowerConfig {
    /// EfficientNet-Lite, averaged over its last feature map.
    EfficientNet(EfficientNetConfig),
}

/// Locked text tower: token ids → features, `[n_texts, width]`.
#[derive(Module, Debug)]
pub enum LockedTextTower {
    /// BERT with mean pooling.
    Bert(Bert),
}

/// Locked image tower: pictures → features, `[n_images, width]`.
#[derive(Module, Debug)]
pub enum ImageTower {
    /// EfficientNet-Lite, averaged over its last feature map.
    EfficientNet(EfficientNet),
}

impl TextTowerConfig {
    pub(super) fn context_length(&self) -> usize {
        let Self::Bert(bert) = self;
        bert.context_length
    }

    pub(super) fn vocab_size(&self) -> usize {
        let Self::Bert(bert) = self;
        bert.vocab_size
    }

    pub(super) fn end_token_id(&self) -> u32 {
        let Self::Bert(bert) = self;
        bert.end_token_id
    }

    /// Width of the tower's features.
    #[must_use]
    pub fn width(&self) -> usize {
        let Self::Bert(bert) = self;
        bert.width
    }

    /// A tower with random initial weights.
    #[must_use]
    pub fn init(&self, device: &Device) -> LockedTextTower {
        let Self::Bert(bert) = self;
        LockedTextTower::Bert(bert.init(device))
    }
}

impl ImageTowerConfig {
    pub(super) fn image_size(&self) -> usize {
        let Self::EfficientNet(config) = self;
        config.image_size
    }

    /// Width of the tower's features.
    #[must_use]
    pub fn width(&self) -> usize {
        let Self::EfficientNet(config) = self;
        config.width
    }

    /// Channels of the map that the tower's last block reads.
    pub(super) fn map_width(&self) -> usize {
        let Self::EfficientNet(config) = self;
        let [_, _, channels] = config.last_map();
        channels
    }

    /// A tower with random initial weights.
    #[must_use]
    pub fn init(&self, device: &Device) -> ImageTower {
        let Self::EfficientNet(config) = self;
        ImageTower::EfficientNet(config.init(device))
    }

    /// The tower's last stage, which training may tune, with random initial weights.
    #[must_use]
    pub fn init_last_stage(&self, device: &Device) -> LastStage {
        let Self::EfficientNet(config) = self;
        config.init_last_stage(device)
    }
}

impl LockedTextTower {
    /// Features, not normalised, as the tower's own module documents them.
    pub fn forward(&self, ids: Tensor<2, Int>, ends: &[usize]) -> Tensor<2> {
        let Self::Bert(bert) = self;
        bert.forward(ids, ends)
    }

    /// Features of captions of any lengths, not normalised, `[n_texts, width]`, without filled rows.
    pub fn forward_packed<'a>(&self, captions: impl IntoIterator<Item = &'a [u32]>) -> Tensor<2> {
        let Self::Bert(bert) = self;
        bert.forward_packed(captions)
    }
}

impl ImageTower {
    /// Features, and the means by which unfamiliar pictures are noticed, as the tower's own module documents them.
    pub fn forward(&self, images: Tensor<4>) -> MapMeans {
        let Self::EfficientNet(tower) = self;
        tower.forward(images)
    }

    /// The maps that the tower's last stage reads, `[n_images, height * width * channels]`.
    pub fn last_map(&self, images: Tensor<4>) -> Tensor<2> {
        let Self::EfficientNet(tower) = self;
        tower.last_map(images)
    }
}

impl Parameters for LockedTextTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let Self::Bert(bert) = self;
        bert.visit_parameters(visitor)
    }
}

impl Parameters for ImageTower {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        let Self::EfficientNet(tower) = self;
        tower.visit_parameters(visitor)
    }

    fn pack(&mut self, kernel: Kernel) {
        let Self::EfficientNet(tower) = self;
        tower.pack(kernel);
    }
}
