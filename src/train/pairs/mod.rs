//! Captions and pictures as a model encodes them: their scores, and the sets of pictures that a caption could mean.
//!
//! Knows nothing of models, nor of what the pictures show: embeddings and κ come in.

pub mod captions;
pub mod encoded;
pub mod picture_sets;
pub mod scores;
