//! The sizes of an adapter.

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
}
