//! Captions: their greatest length, wherever one is taken from people or files, and what of them was read.

use serde::{Deserialize, Serialize};

/// Characters of a caption at most, wherever one is taken from people; no model reads as many.
pub const MAX_CAPTION_CHARACTERS: usize = 2000;

/// Tokens and unknown words of one caption, by a model without adapters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaptionTokens {
    /// The caption as asked.
    pub caption: String,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was cut to the context length.
    pub truncated: bool,
    /// Words the model's vocabulary does not hold.
    pub unknown_words: Vec<String>,
    /// Words that are unknown or read in pieces, and what each was probably meant to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub respellings: Vec<Respelling>,
}

/// A word of a caption, and the word of the model's vocabulary that it was probably meant to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Respelling {
    /// The word as it was typed, but for the case of its letters.
    pub word: String,
    /// The word in the vocabulary, one letter or two neighbours apart.
    pub meant: String,
}

/// The first [`MAX_CAPTION_CHARACTERS`] of a text.
#[must_use]
pub fn shortened(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CAPTION_CHARACTERS);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Message about a caption that is too long; `None` for any other.
#[must_use]
pub fn too_long(caption: &str) -> Option<String> {
    let is_long = shortened(caption).len() < caption.len();
    is_long.then(|| {
        let n = caption.chars().count();
        format!("a caption of {n} characters, expected at most {MAX_CAPTION_CHARACTERS}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let full = "ä".repeat(MAX_CAPTION_CHARACTERS);
        assert_eq!(shortened(&full), full, "as many as fit");
        assert_eq!(too_long(&full), None, "as many as fit");
        let long = format!("{full}b");
        assert_eq!(shortened(&long), full, "the last is cut off");
        let expected = "a caption of 2001 characters, expected at most 2000";
        assert_eq!(too_long(&long).as_deref(), Some(expected), "one too many");
    }
}
