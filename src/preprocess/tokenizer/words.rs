//! Tokenizers of whole words, and of words cut into the longest pieces that the vocabulary has (`WordPiece`, Schuster
//! and Nakajima 2012, as BERT uses it).

use serde_json::Value;

use super::rules::{refused, short_text};
use super::vocabulary::{Piece, TokenIds};
use crate::error::{Error, Result};

/// Characters of a word that is cut into pieces, which takes the square of their number; BERT's 100.
const MAX_WORD_CHARACTERS: u64 = 256;

/// Each word is a token.
#[derive(Debug, Clone)]
pub(super) struct WordLevel {
    pub(super) vocabulary: TokenIds,
    unknown: String,
}

impl WordLevel {
    pub(super) fn from_json(model: &mut Value) -> Result<Self> {
        Ok(Self {
            unknown: short_text(model, "unk_token")?
                .unwrap_or("<unk>")
                .to_owned(),
            vocabulary: TokenIds::from_json(model["vocab"].take())?,
        })
    }

    pub(super) fn pieces(&self, word: &str) -> Result<Vec<Piece>> {
        let id = self.vocabulary.id(word);
        let id = id.map_or_else(|| unknown_id(&self.vocabulary, &self.unknown), Ok)?;
        Ok(vec![Piece {
            id,
            bytes: 0..word.len(),
        }])
    }
}

/// Words are cut into pieces, of which all but the first are written with a prefix.
#[derive(Debug, Clone)]
pub(super) struct WordPiece {
    pub(super) vocabulary: TokenIds,
    unknown: String,
    prefix: String,
    max_characters: usize,
}

impl WordPiece {
    pub(super) fn from_json(model: &mut Value) -> Result<Self> {
        let n_characters = model["max_input_chars_per_word"].as_u64().unwrap_or(100);
        if n_characters > MAX_WORD_CHARACTERS {
            return Err(refused(&format!(
                "model.max_input_chars_per_word is {n_characters}, expected at most {MAX_WORD_CHARACTERS}"
            )));
        }
        Ok(Self {
            unknown: short_text(model, "unk_token")?
                .unwrap_or("[UNK]")
                .to_owned(),
            prefix: short_text(model, "continuing_subword_prefix")?
                .unwrap_or("##")
                .to_owned(),
            max_characters: usize::try_from(n_characters).unwrap_or(usize::MAX),
            vocabulary: TokenIds::from_json(model["vocab"].take())?,
        })
    }

    pub(super) fn pieces(&self, word: &str) -> Result<Vec<Piece>> {
        let is_short = word.chars().count() <= self.max_characters;
        if let Some(pieces) = is_short.then(|| self.longest_pieces(word)).flatten() {
            return Ok(pieces);
        }
        let id = unknown_id(&self.vocabulary, &self.unknown)?;
        Ok(vec![Piece {
            id,
            bytes: 0..word.len(),
        }])
    }

    fn longest_pieces(&self, word: &str) -> Option<Vec<Piece>> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < word.len() {
            let prefix = if at > 0 { self.prefix.as_str() } else { "" };
            let rest = [prefix, &word[at..]].concat();
            let longer = self
                .vocabulary
                .prefixes(&rest)
                .filter(|(n_bytes, _)| *n_bytes > prefix.len());
            let (n_bytes, id) = longer.last()?;
            let end = at + n_bytes - prefix.len();
            pieces.push(Piece { id, bytes: at..end });
            at = end;
        }
        Some(pieces)
    }
}

fn unknown_id(vocabulary: &TokenIds, unknown: &str) -> Result<u32> {
    vocabulary.id(unknown).ok_or_else(|| {
        Error::Text(format!(
            "this caption cannot be encoded: it has a word outside the vocabulary, which has no {unknown}"
        ))
    })
}
