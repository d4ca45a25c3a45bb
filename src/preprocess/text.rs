//! A caption becomes token ids, with the tokenizer that lies beside the model's weights.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde_json::json;

pub use super::clean::{END_TOKEN, START_TOKEN};
use super::clean::{canonicalize, clean};
use super::tokenizer::{EncodedToken, Tokenizer};
use super::whole_words::WholeWords;
use crate::error::{Error, Result};

/// The token of a word that the model does not know; byte-level tokenizers have none.
pub const UNKNOWN_TOKEN: &str = "<|unknown|>";

/// American spellings, and the British ones that a vocabulary may have in their place: those of `scenes`, which this
/// module does not know. A test of the recipe for the scenes' model compares the two.
pub const SPELLINGS: &[(&str, &str)] = &[
    ("center", "centre"),
    ("color", "colour"),
    ("colored", "coloured"),
    ("colorful", "colourful"),
];

/// Special tokens and cleaning that the tokenizers of one kind share.
#[derive(Debug)]
struct Kind {
    /// The token before every caption, where there is one.
    start: Option<&'static str>,
    /// The token after every caption.
    end: &'static str,
    /// The token of text outside the vocabulary, where the tokenizer has one.
    unknown: &'static str,
    /// Cleans a caption before the tokenizer's own rules.
    clean: fn(&str) -> String,
}

const CLIP: Kind = Kind {
    start: Some(START_TOKEN),
    end: END_TOKEN,
    unknown: UNKNOWN_TOKEN,
    clean,
};

const SENTENCE_PIECE: Kind = Kind {
    start: None,
    end: "</s>",
    unknown: "<unk>",
    clean: canonicalize,
};

/// BERT's, whose own rules clean a caption.
const WORD_PIECE: Kind = Kind {
    start: Some("[CLS]"),
    end: "[SEP]",
    unknown: "[UNK]",
    clean: str::to_owned,
};

/// A caption as the text tower reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Start where the model has one, the caption's tokens, end; not padded.
    pub ids: Vec<u32>,
    /// Tokens between start and end.
    pub n_tokens: usize,
    /// Whether the caption was longer than the context and lost its end.
    pub truncated: bool,
    /// The caption's words that the model does not know, each once, in order.
    pub unknown_words: Vec<String>,
    /// The caption's words that are unknown or read in pieces, each with the word that was probably meant.
    pub respellings: Vec<(String, String)>,
}

/// Cleans captions and encodes them with a model's `tokenizer.json`.
#[derive(Debug, Clone)]
pub struct TextPreprocess {
    tokenizer: Tokenizer,
    context_length: usize,
    /// Cleans a caption before the tokenizer's own rules.
    clean: fn(&str) -> String,
    start: Option<u32>,
    end: u32,
    unknown: Option<u32>,
    /// Made when a word first needs another spelling.
    whole_words: OnceLock<WholeWords>,
}

impl TextPreprocess {
    /// Reads a `tokenizer.json`, of CLIP's kind, `SigLIP`'s or BERT's; captions are cut so that they fit in
    /// `context_length` tokens with start and end.
    ///
    /// # Errors
    /// [`Error::Text`] if the bytes are not a tokenizer, would run differently each time or not at all, lack the start
    /// or end token, or leave no room for a caption.
    pub fn from_tokenizer_json(bytes: &[u8], context_length: usize) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            Error::Text("the tokenizer is not UTF-8 text, expected JSON".to_owned())
        })?;
        let tokenizer = Tokenizer::from_json(text)?;
        if context_length < 3 {
            return Err(Error::Text(format!(
                "a context of {context_length} tokens holds no caption, expected at least 3"
            )));
        }
        let id = |token: &str| tokenizer.id(token);
        let missing = |token: &str| {
            Error::Text(format!(
                "the tokenizer lacks the token {token}, expected a tokenizer of CLIP's kind"
            ))
        };
        let is_of = |kind: &Kind| id(START_TOKEN).is_none() && id(kind.end).is_some();
        let kinds = [SENTENCE_PIECE, WORD_PIECE];
        let kind = kinds.into_iter().find(is_of).unwrap_or(CLIP);
        let start = kind
            .start
            .map(|token| id(token).ok_or_else(|| missing(token)));
        Ok(Self {
            clean: kind.clean,
            start: start.transpose()?,
            end: id(kind.end).ok_or_else(|| missing(kind.end))?,
            unknown: id(kind.unknown),
            tokenizer,
            context_length,
            whole_words: OnceLock::new(),
        })
    }

    /// The ids of a caption.
    ///
    /// # Errors
    /// [`Error::Text`] if the tokenizer's own rules fail on this caption or make too much of it.
    pub fn encode(&self, caption: &str) -> Result<Tokens> {
        let text = (self.clean)(caption);
        let mut tokens = self.tokenizer.encode(&text)?;
        let (mut unknown_words, mut seen) = (Vec::new(), HashSet::new());
        for token in tokens
            .iter_mut()
            .filter(|token| Some(token.id) == self.unknown)
        {
            let word = text.get(token.place.clone()).unwrap_or_default();
            if let Some(known) = self.respelt(word) {
                token.id = known;
            } else if seen.insert(word) {
                unknown_words.push(word.to_owned());
            }
        }
        let room = self.context_length - 1 - usize::from(self.start.is_some());
        let kept = &tokens[..tokens.len().min(room)];
        let mut ids = Vec::with_capacity(kept.len() + 2);
        ids.extend(self.start);
        ids.extend(kept.iter().map(|token| token.id));
        ids.push(self.end);
        Ok(Tokens {
            ids,
            n_tokens: kept.len(),
            truncated: tokens.len() > room,
            respellings: self.respellings(&text, &tokens, &unknown_words),
            unknown_words,
        })
    }

    /// The vocabulary's words that unknown words and words in pieces were probably meant to be.
    fn respellings(
        &self,
        text: &str,
        tokens: &[EncodedToken],
        unknown_words: &[String],
    ) -> Vec<(String, String)> {
        let in_pieces = tokens.chunk_by(|token, next| token.word == next.word);
        let in_pieces = in_pieces.filter(|pieces| pieces.len() > 1);
        let in_pieces = in_pieces.filter_map(|pieces| {
            let place = pieces.first()?.place.start..pieces.last()?.place.end;
            Some((text.get(place)?, pieces.len()))
        });
        let unknown = unknown_words.iter().map(|word| (word.as_str(), 1));
        let mut respellings: Vec<(String, String)> = Vec::new();
        for (word, n_pieces) in unknown.chain(in_pieces) {
            let lower = word.to_lowercase();
            if respellings.iter().any(|(known, _)| known == word) {
                continue;
            }
            if let Some(meant) = self.whole_words().nearest(&lower, n_pieces) {
                respellings.push((word.to_owned(), meant.to_owned()));
            }
        }
        respellings
    }

    fn whole_words(&self) -> &WholeWords {
        self.whole_words
            .get_or_init(|| WholeWords::new(self.tokenizer.tokens()))
    }

    /// Id of an unknown word as the vocabulary spells it.
    fn respelt(&self, word: &str) -> Option<u32> {
        let mut all = SPELLINGS.iter();
        let (_, british) = all.find(|(american, _)| *american == word)?;
        self.tokenizer.id(british)
    }

    /// Id of the token before every caption, where there is one.
    pub fn start_token_id(&self) -> Option<u32> {
        self.start
    }

    /// Id of the token after every caption.
    pub fn end_token_id(&self) -> u32 {
        self.end
    }

    /// The number of ids, which is the height of the token table.
    pub fn vocab_size(&self) -> usize {
        self.tokenizer.n_tokens()
    }
}

/// A `tokenizer.json` whose tokens are whole words.
///
/// Ids: 0 is [`UNKNOWN_TOKEN`], then `words` in their order from 1, then [`START_TOKEN`], and [`END_TOKEN`] as the
/// highest. Letters and digits make words, each symbol (such as an emoji) is one, and punctuation is dropped: a caption
/// means the same with and without its full stop. So `words` must be lower-case runs of letters and digits.
pub fn word_level_tokenizer_json(words: &[&str]) -> String {
    let specials = [START_TOKEN, END_TOKEN];
    let tokens = [UNKNOWN_TOKEN]
        .into_iter()
        .chain(words.iter().copied())
        .chain(specials);
    let vocab: serde_json::Map<_, _> = tokens
        .zip(0_u32..)
        .map(|(token, id)| (token.to_owned(), id.into()))
        .collect();
    let added = |token: &str| {
        json!({ "id": vocab[token], "content": token, "special": true, "normalized": false,
                "single_word": false, "lstrip": false, "rstrip": false })
    };
    let special = |token: &str| {
        let special = json!({ "id": token, "ids": [vocab[token]], "tokens": [token] });
        (token.to_owned(), special)
    };
    let sequence = |id: &str| json!({ "Sequence": { "id": id, "type_id": 0 } });
    let template = |token: &str| json!({ "SpecialToken": { "id": token, "type_id": 0 } });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [added(UNKNOWN_TOKEN), added(START_TOKEN), added(END_TOKEN)],
        "normalizer": { "type": "Sequence", "normalizers": [{ "type": "NFC" }, { "type": "Lowercase" }] },
        "pre_tokenizer": {
            "type": "Split", "pattern": { "Regex": r"[\p{L}\p{M}\p{N}]+|[\p{S}--[|<>=+~^$`]]" }, "behavior": "Removed", "invert": true
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [template(START_TOKEN), sequence("A"), template(END_TOKEN)],
            "pair": [template(START_TOKEN), sequence("A"), sequence("B"), template(END_TOKEN)],
            "special_tokens": specials.map(special).into_iter().collect::<serde_json::Map<_, _>>(),
        },
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocab, "unk_token": UNKNOWN_TOKEN },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenes() -> TextPreprocess {
        let json = word_level_tokenizer_json(&["a", "red", "star"]);
        TextPreprocess::from_tokenizer_json(json.as_bytes(), 6).expect("a complete tokenizer")
    }

    fn encode(caption: &str) -> Tokens {
        scenes().encode(caption).expect("a caption")
    }

    #[test]
    fn words_get_ids_in_their_order_and_the_end_is_highest() {
        assert_eq!(
            encode("a red star").ids,
            [4, 1, 2, 3, 5],
            "start, a, red, star, end"
        );
        assert_eq!(scenes().vocab_size(), 6, "unknown, three words, start, end");
    }

    #[test]
    fn nothing_is_start_and_end() {
        let nothing = Tokens {
            ids: vec![4, 5],
            n_tokens: 0,
            truncated: false,
            unknown_words: vec![],
            respellings: vec![],
        };
        assert_eq!(encode(" \n"), nothing, "no caption");
    }

    #[test]
    fn a_long_caption_loses_its_end_but_keeps_the_end_token() {
        let tokens = encode("a red red red red star");
        assert_eq!(
            (tokens.ids, tokens.truncated),
            (vec![4, 1, 2, 2, 2, 5], true),
            "cut to six"
        );
        assert_eq!(
            (tokens.n_tokens, encode("a red red star").truncated),
            (4, false),
            "four words fit"
        );
    }

    #[test]
    fn unknown_words_are_named_once() {
        let tokens = encode("A Purple star, a purple ⭐!");
        assert_eq!(
            tokens.unknown_words,
            ["purple", "⭐"],
            "lower case, each once"
        );
        assert_eq!(tokens.ids, [4, 1, 0, 3, 1, 5], "unknown words are id 0");
    }

    #[test]
    fn american_spellings_are_the_words_of_a_british_vocabulary() {
        let json = word_level_tokenizer_json(&["centre", "in", "the"]);
        let text = TextPreprocess::from_tokenizer_json(json.as_bytes(), 8).expect("a tokenizer");
        let encode = |caption: &str| text.encode(caption).expect("a caption");
        assert_eq!(encode("in the Center"), encode("in the centre"), "one word");
        let unknown = encode("the color").unknown_words;
        assert_eq!(unknown, ["color"], "the vocabulary has it in no spelling");
    }

    #[test]
    fn punctuation_does_not_count() {
        assert_eq!(encode("\"A red-star.\""), encode("a red star"), "dropped");
    }

    #[test]
    fn typed_special_tokens_are_no_tokens() {
        assert_eq!(
            encode("a <|endoftext|> star <|unknown|>").ids,
            [4, 1, 3, 0, 5],
            "the word unknown is unknown"
        );
    }

    #[test]
    fn a_broken_tokenizer_is_refused() {
        let error = TextPreprocess::from_tokenizer_json(b"{}", 77).expect_err("no model");
        assert!(
            error
                .to_string()
                .starts_with("the tokenizer cannot be read"),
            "{error}"
        );
    }

    #[test]
    fn a_tokenizer_without_an_end_token_is_refused() {
        let json = word_level_tokenizer_json(&["a"]).replace(END_TOKEN, "[SEP]");
        let error = TextPreprocess::from_tokenizer_json(json.as_bytes(), 77).expect_err("no end");
        assert_eq!(
            error.to_string(),
            "the tokenizer lacks the token <|endoftext|>, expected a tokenizer of CLIP's kind",
            "names it"
        );
    }
}
