//! Probe sentences from vague to full, kept with the features, whose κ a fit reports while it is under way.

use super::rows::Rows;

/// Sentences of the released code of `AsymVLM`, for encoders of photographs.
pub const PHOTOGRAPH_SENTENCES: [&str; 5] = [
    "a photo",
    "a photo of a cat",
    "a photo of a black cat",
    "a photo of a black cat with green eyes",
    "a photo of a black cat with big dark green eyes",
];

/// Sentences and their features by the text tower, a row each.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeSentences {
    /// The sentences, in order of their rows.
    pub sentences: Vec<String>,
    /// Features, `[n_sentences, embed_dim]`, not normalised.
    pub features: Rows,
}
