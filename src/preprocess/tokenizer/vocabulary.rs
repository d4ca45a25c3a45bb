//! Tokens and their ids.

use std::ops::Range;

use serde_json::Value;

use super::rules::refused;
use crate::error::Result;

/// Bytes of the longest token that is found at the start of a text.
const MAX_TOKEN_BYTES: usize = 256;

/// A token of a word, and the bytes of the word that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) id: u32,
    pub(super) bytes: Range<usize>,
}

/// Tokens in the order of their bytes, each with its id.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenIds {
    tokens: Vec<(Box<str>, u32)>,
}

impl TokenIds {
    /// Of two tokens that are alike, the later one counts.
    pub(super) fn new(tokens: impl IntoIterator<Item = (String, u32)>) -> Self {
        let tokens = tokens
            .into_iter()
            .map(|(token, id)| (token.into_boxed_str(), id));
        let mut tokens: Vec<(Box<str>, u32)> = tokens.collect();
        // Stable: later ones stay behind.
        tokens.sort_by(|(a, _), (b, _)| a.cmp(b));
        tokens.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 = later.1;
            }
            is_same
        });
        Self { tokens }
    }

    /// Takes `model.vocab`, an object of ids.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if it is something else.
    pub(super) fn from_json(vocab: Value) -> Result<Self> {
        let Value::Object(ids) = vocab else {
            return Err(refused(
                "model.vocab is no object, expected tokens and their ids",
            ));
        };
        let id = |(token, id): (String, Value)| {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
            let id = id.ok_or_else(|| {
                refused(&format!(
                    "model.vocab has no id for {token}, expected a whole number"
                ))
            })?;
            Ok((token, id))
        };
        let tokens: Vec<_> = ids.into_iter().map(id).collect::<Result<_>>()?;
        Ok(Self::new(tokens))
    }

    pub(super) fn id(&self, token: &str) -> Option<u32> {
        let place = self
            .tokens
            .binary_search_by(|(known, _)| known.as_ref().cmp(token));
        place.ok().map(|place| self.tokens[place].1)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> + Clone {
        self.tokens.iter().map(|(token, id)| (token.as_ref(), *id))
    }

    /// The tokens of single bytes, such as `<0x0A>`, if all are there.
    pub(super) fn byte_ids(&self, text: &str) -> Option<Vec<u32>> {
        let id = |byte: u8| self.id(&format!("<0x{byte:02X}>"));
        text.bytes().map(id).collect()
    }

    /// Tokens that a text begins with, the shortest first: bytes of each, and its id.
    pub(super) fn prefixes(&self, text: &str) -> impl Iterator<Item = (usize, u32)> {
        let mut tokens = self.tokens.as_slice();
        let bytes = text.bytes().enumerate().take(MAX_TOKEN_BYTES);
        let narrowed = bytes.map_while(move |(i, byte)| {
            let at = |(token, _): &(Box<str>, u32)| token.as_bytes().get(i).copied();
            tokens = &tokens[tokens.partition_point(|token| at(token) < Some(byte))..];
            tokens = &tokens[..tokens.partition_point(|token| at(token) == Some(byte))];
            let (first, id) = tokens.first()?;
            Some((first.len() == i + 1).then_some((i + 1, *id)))
        });
        narrowed.flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(tokens: &[&str]) -> TokenIds {
        TokenIds::new(tokens.iter().map(|token| (*token).to_owned()).zip(0..))
    }

    #[test]
    fn prefixes_are_the_tokens_that_a_text_begins_with() {
        let words = vocabulary(&["b", "abc", "a", "ab", "é", "abd", "ébc"]);
        let found = |text: &str| words.prefixes(text).collect::<Vec<_>>();
        assert_eq!(found("abcd"), [(1, 2), (2, 3), (3, 1)], "a, ab, abc");
        assert_eq!(found("éa"), [(2, 4)], "of two bytes");
        assert_eq!(found("xa"), [], "none");
        let ids = ["a", "b", "c"].map(|token| words.id(token));
        assert_eq!(ids, [Some(2), Some(0), None], "whole tokens");
    }

    #[test]
    fn the_later_of_two_like_tokens_counts() {
        let words = vocabulary(&["a", "b", "a"]);
        assert_eq!((words.id("a"), words.len()), (Some(2), 2), "the third");
    }
}
