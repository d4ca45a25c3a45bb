//! Unigram language model (Kudo 2018), as `SentencePiece` runs it: of all ways to cut a text, the most probable.

use serde_json::Value;

use super::rules::refused;
use super::vocabulary::{Piece, TokenIds};
use crate::error::{Error, Result};

/// How much less probable than the rarest piece a character outside the vocabulary is (`kUnkPenalty`).
const UNKNOWN_PENALTY: f64 = 10.0;

/// Pieces and their log-probabilities.
#[derive(Debug, Clone)]
pub(super) struct Unigram {
    pub(super) vocabulary: TokenIds,
    /// Log-probability of the piece with each id.
    scores: Vec<f64>,
    unknown: Option<u32>,
    unknown_score: f64,
    /// Whether a character outside the vocabulary becomes the tokens of its bytes.
    has_bytes: bool,
}

/// The best way to cut a text up to some place: its score, where its last piece begins, and the id of that.
#[derive(Debug, Clone, Copy)]
struct BestEnd {
    score: f64,
    from: usize,
    /// `None` outside the vocabulary.
    id: Option<u32>,
}

impl Unigram {
    pub(super) fn from_json(model: &mut Value) -> Result<Self> {
        let Value::Array(pieces) = model["vocab"].take() else {
            return Err(refused(
                "model.vocab is no list, expected pieces and their scores",
            ));
        };
        let (mut tokens, mut scores) = (
            Vec::with_capacity(pieces.len()),
            Vec::with_capacity(pieces.len()),
        );
        for (piece, id) in pieces.into_iter().zip(0..) {
            let text = piece[0].as_str().map(str::to_owned);
            let (Some(text), Some(score)) = (text, piece[1].as_f64()) else {
                return Err(refused(&format!(
                    "model.vocab[{id}] is {piece}, expected a text and its score"
                )));
            };
            tokens.push((text, id));
            scores.push(score);
        }
        let unknown = model["unk_id"].as_u64();
        let unknown = unknown.map(|id| u32::try_from(id).unwrap_or(u32::MAX));
        if unknown.is_some_and(|id| id as usize >= scores.len()) {
            return Err(refused("model.unk_id is no id of model.vocab"));
        }
        Ok(Self {
            vocabulary: TokenIds::new(tokens),
            unknown_score: scores.iter().copied().fold(f64::INFINITY, f64::min) - UNKNOWN_PENALTY,
            scores,
            unknown,
            has_bytes: model["byte_fallback"].as_bool().unwrap_or_default(),
        })
    }

    pub(super) fn pieces(&self, word: &str) -> Result<Vec<Piece>> {
        let (best, mut end) = (self.best_ends(word), word.len());
        let mut cuts: Vec<(Option<u32>, usize, usize)> = Vec::new();
        while let Some(Some(last)) = best.get(end).filter(|_| end > 0) {
            let id = last.id.filter(|id| Some(*id) != self.unknown);
            match cuts.last_mut() {
                // Neighbours outside the vocabulary are one token.
                Some((None, from, _)) if id.is_none() => *from = last.from,
                _ => cuts.push((id, last.from, end)),
            }
            end = last.from;
        }
        let mut pieces = Vec::with_capacity(cuts.len());
        for (id, from, to) in cuts.into_iter().rev() {
            let bytes = from..to;
            let of_bytes = || {
                self.vocabulary
                    .byte_ids(&word[bytes.clone()])
                    .filter(|_| self.has_bytes)
            };
            if let Some(id) = id.or_else(|| self.vocabulary.id(&word[bytes.clone()])) {
                pieces.push(Piece { id, bytes });
            } else if let Some(ids) = of_bytes() {
                pieces.extend(ids.into_iter().map(|id| Piece {
                    id,
                    bytes: bytes.clone(),
                }));
            } else {
                let id = self.unknown.ok_or_else(|| {
                    Error::Text(
                        "this caption cannot be encoded: it has characters outside the vocabulary"
                            .to_owned(),
                    )
                })?;
                pieces.push(Piece { id, bytes });
            }
        }
        Ok(pieces)
    }

    /// Viterbi's algorithm: the best end at each byte where one is.
    fn best_ends(&self, word: &str) -> Vec<Option<BestEnd>> {
        let mut best: Vec<Option<BestEnd>> = vec![None; word.len() + 1];
        for (from, character) in word.char_indices() {
            let before = best[from].map_or(0.0, |end| end.score);
            let mut offer = |end: usize, score: f64, id: Option<u32>| {
                let score = before + score;
                if best[end].is_none_or(|known| score > known.score) {
                    best[end] = Some(BestEnd { score, from, id });
                }
            };
            let mut has_character = false;
            for (n_bytes, id) in self.vocabulary.prefixes(&word[from..]) {
                offer(from + n_bytes, self.scores[id as usize], Some(id));
                has_character |= n_bytes == character.len_utf8();
            }
            if !has_character {
                offer(from + character.len_utf8(), self.unknown_score, None);
            }
        }
        best
    }
}
