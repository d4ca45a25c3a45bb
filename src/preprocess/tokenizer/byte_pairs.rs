//! Byte pair encoding (Sennrich et al. 2016): characters, of which neighbours are merged in the order of the merges.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use serde_json::Value;

use super::rules::{refused, short_text};
use super::vocabulary::{Piece, TokenIds};
use crate::error::{Error, Result};

/// Where a merge stands among all, and the id that it makes.
type Merge = (usize, u32);

/// Merges, and what they begin with.
#[derive(Debug, Clone)]
pub(super) struct BytePairs {
    pub(super) vocabulary: TokenIds,
    merges: HashMap<(u32, u32), Merge>,
    /// Written before all characters of a word but the first.
    prefix: String,
    /// Written behind the last character of a word.
    suffix: String,
    unknown: Option<String>,
    /// Whether neighbours outside the vocabulary are one token.
    joins_unknown: bool,
    /// Whether a character outside the vocabulary becomes the tokens of its bytes.
    has_bytes: bool,
    /// Whether a word of the vocabulary is taken as it is.
    takes_words: bool,
}

impl BytePairs {
    pub(super) fn from_json(model: &mut Value) -> Result<Self> {
        if model["dropout"]
            .as_f64()
            .is_some_and(|dropout| dropout != 0.0)
        {
            return Err(refused(
                "model.dropout leaves out merges at random, expected none",
            ));
        }
        let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let is_set = |field: &str| model[field].as_bool().unwrap_or_default();
        let mut pairs = Self {
            prefix: owned(short_text(model, "continuing_subword_prefix")?),
            suffix: owned(short_text(model, "end_of_word_suffix")?),
            unknown: short_text(model, "unk_token")?.map(str::to_owned),
            joins_unknown: is_set("fuse_unk"),
            has_bytes: is_set("byte_fallback"),
            takes_words: is_set("ignore_merges"),
            vocabulary: TokenIds::from_json(model["vocab"].take())?,
            merges: HashMap::new(),
        };
        let merges = model["merges"].as_array();
        let merges =
            merges.ok_or_else(|| refused("model.merges is no list, expected pairs of tokens"))?;
        for (rank, merge) in merges.iter().enumerate() {
            let merged = pairs.merge(merge);
            let (pair, id) = merged
                .ok_or_else(|| refused("model.merges makes a token that is not in model.vocab"))?;
            pairs.merges.insert(pair, (rank, id));
        }
        Ok(pairs)
    }

    /// The two ids of a merge, which is a list or has a space between its tokens, and the id that it makes.
    fn merge(&self, merge: &Value) -> Option<((u32, u32), u32)> {
        let (left, right) = match merge {
            Value::Array(halves) => match halves.as_slice() {
                [left, right] => (left.as_str()?, right.as_str()?),
                _ => return None,
            },
            _ => merge.as_str()?.split_once(' ')?,
        };
        let merged = [left, right.strip_prefix(&self.prefix)?].concat();
        let id = |token: &str| self.vocabulary.id(token);
        Some(((id(left)?, id(right)?), id(&merged)?))
    }

    pub(super) fn pieces(&self, word: &str) -> Result<Vec<Piece>> {
        if let Some(id) = self.vocabulary.id(word).filter(|_| self.takes_words) {
            return Ok(vec![Piece {
                id,
                bytes: 0..word.len(),
            }]);
        }
        Ok(self.merged(self.characters(word)?))
    }

    /// The tokens of single characters.
    fn characters(&self, word: &str) -> Result<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(word.len());
        let mut was_unknown = false;
        for (at, character) in word.char_indices() {
            let bytes = at..at + character.len_utf8();
            let prefix = if at > 0 { self.prefix.as_str() } else { "" };
            let suffix = if bytes.end == word.len() {
                self.suffix.as_str()
            } else {
                ""
            };
            let token = [prefix, &word[bytes.clone()], suffix].concat();
            let id = self.vocabulary.id(&token);
            let of_bytes = || {
                self.vocabulary
                    .byte_ids(&token)
                    .filter(|_| self.has_bytes && id.is_none())
            };
            if let Some(ids) = of_bytes() {
                let one_byte = |(i, id)| Piece {
                    id,
                    bytes: at + i..at + i + 1,
                };
                pieces.extend((0..).zip(ids).map(one_byte));
            } else if let Some(id) = id {
                pieces.push(Piece { id, bytes });
            } else {
                self.push_unknown(&mut pieces, bytes, was_unknown)?;
                was_unknown = true;
                continue;
            }
            was_unknown = false;
        }
        Ok(pieces)
    }

    /// The token of text outside the vocabulary; without one, such text is left out.
    fn push_unknown(
        &self,
        pieces: &mut Vec<Piece>,
        bytes: Range<usize>,
        was_unknown: bool,
    ) -> Result<()> {
        let Some(unknown) = &self.unknown else {
            return Ok(());
        };
        let id = self.vocabulary.id(unknown);
        let id = id.ok_or_else(|| {
            Error::Text(format!(
                "this caption cannot be encoded: model.vocab has no {unknown}"
            ))
        })?;
        match pieces
            .last_mut()
            .filter(|_| was_unknown && self.joins_unknown)
        {
            Some(last) => last.bytes.end = bytes.end,
            None => pieces.push(Piece { id, bytes }),
        }
        Ok(())
    }

    /// Merges neighbours, the pair whose merge comes first in the list before all others, and the leftmost of those.
    fn merged(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        let mut next: Vec<usize> = (1..=pieces.len()).collect();
        let mut previous: Vec<Option<usize>> =
            (0..pieces.len()).map(|i| i.checked_sub(1)).collect();
        let mut is_merged = vec![false; pieces.len()];
        let merge_of = |pieces: &[Piece], left: usize, right: usize| {
            let (left, right) = (pieces.get(left)?, pieces.get(right)?);
            self.merges.get(&(left.id, right.id)).copied()
        };
        let mut queue = BinaryHeap::new();
        for left in 0..pieces.len() {
            if let Some((rank, id)) = merge_of(&pieces, left, left + 1) {
                queue.push(Reverse((rank, left, id)));
            }
        }
        while let Some(Reverse((_, left, id))) = queue.pop() {
            let right = next[left];
            // What was queued may have been merged with others since.
            let is_there = !is_merged[left]
                && merge_of(&pieces, left, right).is_some_and(|merge| merge.1 == id);
            if !is_there {
                continue;
            }
            pieces[left] = Piece {
                id,
                bytes: pieces[left].bytes.start..pieces[right].bytes.end,
            };
            is_merged[right] = true;
            next[left] = next[right];
            if let Some(behind) = previous.get_mut(next[left]) {
                *behind = Some(left);
            }
            for (left, right) in previous[left]
                .map(|before| (before, left))
                .into_iter()
                .chain([(left, next[left])])
            {
                if let Some((rank, id)) = merge_of(&pieces, left, right) {
                    queue.push(Reverse((rank, left, id)));
                }
            }
        }
        let kept = pieces
            .into_iter()
            .zip(is_merged)
            .filter(|(_, is_merged)| !is_merged);
        kept.map(|(piece, _)| piece).collect()
    }
}
