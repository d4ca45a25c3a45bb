//! Sizes of an adapter, and the origin of its mean direction.

use serde::{Deserialize, Serialize};

/// Sizes of an [`Adapter`](super::Adapter).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterConfig {
    /// Dimension of features and of η.
    pub embed_dim: usize,
    /// Width of the hidden layers; 1024 in the paper's code.
    pub hidden_width: usize,
    /// Hidden layers; 3 in the paper's code, whose text counts them without the last linear layer.
    pub hidden_layers: usize,
    /// Origin of the mean direction.
    #[serde(default, skip_serializing_if = "MeanDirection::is_learned")]
    pub mean_direction: MeanDirection,
}

impl AdapterConfig {
    /// These sizes, with the encoder's own embeddings as mean directions.
    #[must_use]
    pub const fn with_encoder_mean(&self) -> Self {
        Self {
            mean_direction: MeanDirection::Encoder,
            ..*self
        }
    }
}

/// Origin of an adapter's mean direction: its perceptron, or the encoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeanDirection {
    /// The perceptron gives η = κμ, as in the paper.
    #[default]
    Learned,
    /// μ is the direction of the encoder's own feature; the perceptron gives ln κ alone. Pictures keep the order that
    /// the cosine gives them.
    Encoder,
}

impl MeanDirection {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out references"
    )]
    fn is_learned(&self) -> bool {
        *self == Self::Learned
    }
}
