//! Tokens that are found in a caption before it is cut into words, such as `[SEP]`.

use serde_json::Value;

use super::aligned::{AlignedChar, align, text_of};
use super::normalizer::Normalizer;
use super::rules::refused;
use super::vocabulary::TokenIds;
use crate::error::Result;

/// Bytes of all added tokens together, once they are normalized.
const MAX_ADDED_BYTES: usize = 4_000_000;

/// Tokens of a `tokenizer.json`'s `added_tokens`, all of them found in the caption as it is written or all in what the
/// normalizer makes of it.
#[derive(Debug, Clone, Default)]
pub(super) struct AddedTokens {
    tokens: Vec<AddedToken>,
    /// What is looked for, and the place of its token.
    texts: TokenIds,
}

#[derive(Debug, Clone)]
struct AddedToken {
    id: u32,
    is_single_word: bool,
    takes_spaces_before: bool,
    takes_spaces_behind: bool,
}

/// A part of a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CaptionPart {
    Text(Vec<AlignedChar>),
    Token(u32, Vec<AlignedChar>),
}

impl AddedTokens {
    /// The added tokens with their ids in the file, where `vocabulary` has no other for them.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if one has no text or no id.
    pub(super) fn ids(added: &Value, vocabulary: &TokenIds) -> Result<Vec<(String, u32)>> {
        let id = |token: &Value| {
            let id = token["id"].as_u64().and_then(|id| u32::try_from(id).ok());
            let content = token["content"].as_str();
            let (Some(content), Some(id)) = (content, id) else {
                return Err(refused(
                    "added_tokens has one without content or id, expected a text and a whole number",
                ));
            };
            Ok((content.to_owned(), vocabulary.id(content).unwrap_or(id)))
        };
        added.as_array().into_iter().flatten().map(id).collect()
    }

    /// Those that are found in the caption as it is written, or those that are found in what the normalizer makes of
    /// it, which are normalized, too.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if they become too long.
    pub(super) fn from_json(
        added: &Value,
        ids: &[(String, u32)],
        normalizer: Option<&Normalizer>,
    ) -> Result<Self> {
        let (mut tokens, mut texts, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        for (token, (content, id)) in added.as_array().into_iter().flatten().zip(ids) {
            let flag = |field: &str| token[field].as_bool();
            let is_special = flag("special").unwrap_or_default();
            if flag("normalized").unwrap_or(!is_special) != normalizer.is_some() {
                continue;
            }
            let text = match normalizer {
                Some(normalizer) => text_of(&normalizer.apply(align(content))?),
                None => content.clone(),
            };
            n_bytes += text.len();
            if n_bytes > MAX_ADDED_BYTES {
                return Err(refused(&format!(
                    "added_tokens take more than {MAX_ADDED_BYTES} bytes once they are normalized, expected fewer"
                )));
            }
            texts.push((text, u32::try_from(tokens.len()).unwrap_or(u32::MAX)));
            tokens.push(AddedToken {
                id: *id,
                is_single_word: flag("single_word").unwrap_or_default(),
                takes_spaces_before: flag("lstrip").unwrap_or_default(),
                takes_spaces_behind: flag("rstrip").unwrap_or_default(),
            });
        }
        Ok(Self {
            tokens,
            texts: TokenIds::new(texts),
        })
    }

    /// Cuts a text at the tokens in it, of which the leftmost are taken, and of those the longest.
    pub(super) fn cut(&self, characters: Vec<AlignedChar>) -> Vec<CaptionPart> {
        if self.tokens.is_empty() {
            return vec![CaptionPart::Text(characters)];
        }
        let text = text_of(&characters);
        let (mut parts, mut rest, mut at, mut byte) = (Vec::new(), 0, 0, 0);
        let is_space = |at: &&AlignedChar| at.character.is_whitespace();
        while at < characters.len() {
            let Some((n_bytes, place)) = self.texts.prefixes(&text[byte..]).last() else {
                byte += characters[at].character.len_utf8();
                at += 1;
                continue;
            };
            let mut end = at + text[byte..byte + n_bytes].chars().count();
            let token = &self.tokens[place as usize];
            byte += n_bytes;
            let mut from = at;
            at = end;
            if token.is_single_word
                && (ends_a_word(&characters[..from]) || begins_a_word(&characters[end..]))
            {
                continue;
            }
            if token.takes_spaces_before {
                from -= characters[rest.min(from)..from]
                    .iter()
                    .rev()
                    .take_while(is_space)
                    .count();
            }
            if token.takes_spaces_behind {
                end += characters[end..].iter().take_while(is_space).count();
            }
            if rest < from {
                parts.push(CaptionPart::Text(characters[rest..from].to_vec()));
            }
            parts.push(CaptionPart::Token(
                token.id,
                characters[from.max(rest)..end].to_vec(),
            ));
            rest = end;
        }
        if rest < characters.len() {
            parts.push(CaptionPart::Text(characters[rest..].to_vec()));
        }
        parts
    }
}

fn is_of_word(at: &AlignedChar) -> bool {
    at.character.is_alphanumeric() || at.character == '_'
}

fn ends_a_word(before: &[AlignedChar]) -> bool {
    before.last().is_some_and(is_of_word)
}

fn begins_a_word(behind: &[AlignedChar]) -> bool {
    behind.first().is_some_and(is_of_word)
}
