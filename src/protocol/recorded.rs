//! What a model answered when it was made, which the page shows before any engine runs.

use serde::{Deserialize, Serialize};

use super::{Answer, ImageReading, ModelCard};

/// An answer recorded when the model was made, which the page shows before any engine runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The model that answered.
    pub card: ModelCard,
    /// What was found in the pictures of the answer.
    pub images: Vec<ImageReading>,
    /// The answer; its pictures are named as in the gallery.
    pub answer: Answer,
}

/// A picture of a gallery as an image encoder sees it, recorded so that the encoder is not loaded for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedPicture {
    /// SHA-256 of each shard of the image encoder.
    pub encoder: Vec<String>,
    /// What was found in it.
    pub reading: ImageReading,
    /// Its embedding: a point on the sphere.
    pub embedding: Vec<f32>,
}
