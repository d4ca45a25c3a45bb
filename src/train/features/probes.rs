//! Probe sentences from vague to full, kept with the features, whose κ a fit reports while it is under way.

use super::rows::Rows;

/// Sentence without words, the vaguest of all: the root of `ProLIP`'s paths.
pub const NO_WORDS: &str = "";

/// No words, and the sentences of the released code of `AsymVLM`, for encoders of photographs.
pub const PHOTOGRAPH_SENTENCES: [&str; 6] = [
    NO_WORDS,
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

impl ProbeSentences {
    /// Feature of the sentence without words, `[1, embed_dim]`; none in folders of earlier versions.
    #[must_use]
    pub fn no_words(&self) -> Option<Rows> {
        let row = self.sentences.iter().position(|said| said == NO_WORDS)?;
        Some(Rows {
            values: self.features.row(row).to_vec(),
            width: self.features.width,
        })
    }
}
