//! Answers of a model recorded when it was made, which the page shows before any engine runs.

use serde::{Deserialize, Serialize};

use super::{Answer, ImageReading, ModelCard};

/// An answer recorded when the model was made, which the page shows before any engine runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The model that answered.
    pub card: ModelCard,
    /// Readings of the pictures of the answer.
    pub images: Vec<ImageReading>,
    /// The answer; its pictures are named as in the gallery.
    pub answer: Answer,
}

/// Reading and embedding of a gallery's picture, recorded so that the image encoder is not loaded for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedPicture {
    /// SHA-256 of each shard of the image encoder.
    pub encoder: Vec<String>,
    /// Size, notes and familiarity of the picture.
    pub reading: ImageReading,
    /// Embedding of the picture: a point on the sphere, `[embed_dim]`.
    pub embedding: Vec<f32>,
}
