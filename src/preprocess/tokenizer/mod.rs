//! Captions → token ids, as a `tokenizer.json` of Hugging Face describes it.
//!
//! Of what such a file can ask for, this runs what encoders of the CLIP family ask for: whole words, `WordPiece`, byte
//! pairs and unigram models, with their usual rules. Whatever a file says, a caption takes bounded time and memory.
//! The `tokenizers` library runs everything, and with its regular expressions would be a third of the page's engine;
//! `tests/tokenizers.rs` compares the two.

mod added_tokens;
mod aligned;
mod byte_pairs;
mod character_map;
mod character_set;
mod normalizer;
mod pattern;
mod pattern_reader;
mod pre_tokenizer;
mod rules;
mod unigram;
mod vocabulary;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use added_tokens::{AddedTokens, CaptionPart};
use aligned::{AlignedChar, align, place_of, text_of};
use byte_pairs::BytePairs;
use normalizer::Normalizer;
use pre_tokenizer::PreTokenizer;
pub(crate) use pre_tokenizer::byte_symbol;
use rules::{check_length, refused};
use unigram::Unigram;
use vocabulary::{Piece, TokenIds};
use words::{WordLevel, WordPiece};

use crate::error::{Error, Result};

/// Cuts captions into tokens.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    /// Found in the caption as it is written.
    written: AddedTokens,
    /// Found in what the normalizer makes of it.
    normalized: AddedTokens,
    /// Those of both, by their texts.
    added: BTreeMap<String, u32>,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    model: TokenizerModel,
}

/// How words are cut into tokens.
#[derive(Debug, Clone)]
enum TokenizerModel {
    WordLevel(WordLevel),
    WordPiece(WordPiece),
    BytePairs(BytePairs),
    Unigram(Unigram),
}

/// A token of a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedToken {
    /// Its place in the vocabulary.
    pub id: u32,
    /// Bytes of the caption that it stands for.
    pub place: Range<usize>,
    /// Which of the caption's words it is of.
    pub word: usize,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`. Padding, truncation and what is put around a caption are left to others.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if it is not JSON, holds rules that are not known, or would run differently each time.
    pub fn from_json(json: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(json)
            .map_err(|error| Error::Text(format!("the tokenizer cannot be read: {error}")))?;
        Self::from_value(json)
    }

    fn from_value(mut json: Value) -> Result<Self> {
        let mut model = json.get_mut("model").map(Value::take).unwrap_or_default();
        let model = TokenizerModel::from_json(&mut model)?;
        let normalizer = Normalizer::from_json(&json["normalizer"])?;
        let tokens = &json["added_tokens"];
        let ids = AddedTokens::ids(tokens, model.vocabulary())?;
        Ok(Self {
            written: AddedTokens::from_json(tokens, &ids, None)?,
            normalized: AddedTokens::from_json(tokens, &ids, Some(&normalizer))?,
            added: ids.into_iter().collect(),
            normalizer,
            pre_tokenizer: PreTokenizer::from_json(&json["pre_tokenizer"])?,
            model,
        })
    }

    /// The tokens of a caption.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if the file's rules make too much of this caption, or have no token for a part of it.
    pub fn encode(&self, caption: &str) -> Result<Vec<EncodedToken>> {
        let (mut tokens, mut n_characters) = (Vec::new(), 0);
        for part in self.written.cut(align(caption)) {
            let parts = match part {
                CaptionPart::Text(text) => self.normalized.cut(self.normalizer.apply(text)?),
                token @ CaptionPart::Token(..) => vec![token],
            };
            for part in parts {
                n_characters += self.push_tokens(part, &mut tokens)?;
                check_length(n_characters)?;
            }
        }
        Ok(tokens)
    }

    /// Appends the tokens of a part, and returns the number of characters that the rules made of it.
    fn push_tokens(&self, part: CaptionPart, tokens: &mut Vec<EncodedToken>) -> Result<usize> {
        let text = match part {
            CaptionPart::Text(text) => text,
            CaptionPart::Token(id, text) => {
                let (place, word) = (place_of(&text), next_word(tokens));
                tokens.push(EncodedToken { id, place, word });
                return Ok(text.len());
            }
        };
        let mut n_characters = text.len();
        for characters in self.pre_tokenizer.words(text)? {
            n_characters += characters.len();
            let word = next_word(tokens);
            let pieces = self.model.pieces(&text_of(&characters))?;
            let places = places(&characters, &pieces);
            let of_word = pieces.iter().zip(places);
            tokens.extend(of_word.map(|(Piece { id, .. }, place)| EncodedToken {
                id: *id,
                place,
                word,
            }));
        }
        Ok(n_characters)
    }

    /// Id of a token that is written so in the file.
    pub fn id(&self, token: &str) -> Option<u32> {
        let added = self.added.get(token).copied();
        added.or_else(|| self.model.vocabulary().id(token))
    }

    /// The vocabulary's tokens and their ids, in the order of the tokens' bytes.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, u32)> + Clone {
        self.model.vocabulary().iter()
    }

    /// The number of tokens, added ones included.
    pub fn n_tokens(&self) -> usize {
        let vocabulary = self.model.vocabulary();
        let further = self
            .added
            .keys()
            .filter(|token| vocabulary.id(token).is_none());
        vocabulary.len() + further.count()
    }
}

impl TokenizerModel {
    fn from_json(model: &mut Value) -> Result<Self> {
        // Old files do not say what they are.
        let kind = match model["type"].as_str() {
            Some(kind) => kind.to_owned(),
            None if model["merges"].is_array() => "BPE".to_owned(),
            None if model["vocab"].is_array() => "Unigram".to_owned(),
            None if model["max_input_chars_per_word"].is_u64() => "WordPiece".to_owned(),
            None => {
                let reason = "model has no type, expected WordLevel, WordPiece, BPE or Unigram";
                return Err(Error::Text(format!(
                    "the tokenizer cannot be read: {reason}"
                )));
            }
        };
        Ok(match kind.as_str() {
            "WordLevel" => Self::WordLevel(WordLevel::from_json(model)?),
            "WordPiece" => Self::WordPiece(WordPiece::from_json(model)?),
            "BPE" => Self::BytePairs(BytePairs::from_json(model)?),
            "Unigram" => Self::Unigram(Unigram::from_json(model)?),
            _ => {
                return Err(refused(&format!(
                    "model.type is {kind:?}, expected WordLevel, WordPiece, BPE or Unigram"
                )));
            }
        })
    }

    fn vocabulary(&self) -> &TokenIds {
        match self {
            Self::WordLevel(words) => &words.vocabulary,
            Self::WordPiece(words) => &words.vocabulary,
            Self::BytePairs(pairs) => &pairs.vocabulary,
            Self::Unigram(unigram) => &unigram.vocabulary,
        }
    }

    fn pieces(&self, word: &str) -> Result<Vec<Piece>> {
        match self {
            Self::WordLevel(words) => words.pieces(word),
            Self::WordPiece(words) => words.pieces(word),
            Self::BytePairs(pairs) => pairs.pieces(word),
            Self::Unigram(unigram) => unigram.pieces(word),
        }
    }
}

fn next_word(tokens: &[EncodedToken]) -> usize {
    tokens.last().map_or(0, |last| last.word + 1)
}

/// The bytes of the caption that each piece of a word stands for.
fn places(word: &[AlignedChar], pieces: &[Piece]) -> Vec<Range<usize>> {
    let mut n_bytes = 0;
    let ends = word.iter().map(|at| {
        n_bytes += at.character.len_utf8();
        n_bytes
    });
    let ends: Vec<usize> = ends.collect();
    // The character that a byte is of.
    let character = |byte: usize| ends.partition_point(|end| *end <= byte);
    let place = |piece: &Piece| {
        let last = character(piece.bytes.end.saturating_sub(1).max(piece.bytes.start));
        place_of(
            word.get(character(piece.bytes.start)..=last)
                .unwrap_or_default(),
        )
    };
    pieces.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bpe() -> Value {
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "post_processor": null, "decoder": null,
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
                "vocab": { "a": 0, "b": 1, "ab": 2, "[CLS]": 3, "[SEP]": 4 }, "merges": [["a", "b"]],
            },
        })
    }

    fn ids(tokenizer: &Value, caption: &str) -> Result<Vec<u32>> {
        let tokens = Tokenizer::from_json(&tokenizer.to_string())?.encode(caption)?;
        Ok(tokens.into_iter().map(|token| token.id).collect())
    }

    fn refusal(tokenizer: &Value) -> String {
        let found = ids(tokenizer, "ab");
        found
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    /// A tokenizer with steps of its normalizer and of its pre-tokenizer.
    fn steps(normalizers: &[Value], pretokenizers: &[Value]) -> Value {
        let mut tokenizer = bpe();
        tokenizer["normalizer"] = json!({ "type": "Sequence", "normalizers": normalizers });
        tokenizer["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": pretokenizers });
        tokenizer
    }

    fn replace(pattern: &Value, content: &str) -> Value {
        json!({ "type": "Replace", "pattern": pattern, "content": content })
    }

    #[test]
    fn merges_are_lists_or_lines_and_leave_nothing_to_chance() {
        let mut tokenizer = bpe();
        assert_eq!(ids(&tokenizer, "aba").expect("a caption"), [2, 0], "lists");
        tokenizer["model"]["merges"] = json!(["a b"]);
        tokenizer["model"]["dropout"] = json!(0.0);
        assert_eq!(ids(&tokenizer, "aba").expect("a caption"), [2, 0], "lines");
        tokenizer["model"]["dropout"] = json!(0.1);
        let expected = "the tokenizer cannot be used: model.dropout leaves out merges at random, expected none";
        assert_eq!(refusal(&tokenizer), expected, "drawn at random");
    }

    fn assert_refused(refused: impl IntoIterator<Item = (Value, &'static str)>) {
        for (tokenizer, reason) in refused {
            let expected = format!("the tokenizer cannot be used: {reason}");
            let found = refusal(&tokenizer);
            assert!(found.starts_with(&expected), "{found}, expected {expected}");
        }
    }

    #[test]
    fn models_that_are_not_known_are_refused_with_those_that_are() {
        let changed = |field: &str, value: Value| {
            let mut tokenizer = bpe();
            tokenizer["model"][field] = value;
            tokenizer
        };
        assert_refused([
            (
                changed("type", json!("Other")),
                "model.type is \"Other\", expected WordLevel",
            ),
            (changed("vocab", json!(7)), "model.vocab is no object"),
            (
                changed("vocab", json!({ "a": -1 })),
                "model.vocab has no id for a",
            ),
            (changed("merges", Value::Null), "model.merges is no list"),
            (
                changed("merges", json!([["[CLS]", "[SEP]"]])),
                "model.merges makes a token",
            ),
            (
                changed("merges", json!(["ab"])),
                "model.merges makes a token",
            ),
            (
                changed("continuing_subword_prefix", json!("####")),
                "model.merges makes a token",
            ),
        ]);
        let unigram =
            |unknown: u32| json!({ "type": "Unigram", "unk_id": unknown, "vocab": [["a", 0.0]] });
        let long = json!({ "type": "WordPiece", "vocab": {}, "max_input_chars_per_word": 100_000 });
        let model = |model: Value| json!({ "model": model });
        assert_refused([
            (model(unigram(1)), "model.unk_id is no id of model.vocab"),
            (
                model(json!({ "type": "Unigram", "vocab": [["a"]] })),
                "model.vocab[0] is [\"a\"]",
            ),
            (
                model(long),
                "model.max_input_chars_per_word is 100000, expected at most 256",
            ),
        ]);
    }

    #[test]
    fn json_that_is_no_tokenizer_is_refused() {
        for json in [
            json!(null),
            json!(5),
            json!("model"),
            json!([1]),
            json!({}),
            json!({ "model": [1] }),
        ] {
            let expected = "the tokenizer cannot be read: model has no type";
            assert!(
                refusal(&json).starts_with(expected),
                "{json}: {}",
                refusal(&json)
            );
        }
    }

    #[test]
    fn steps_that_are_not_known_are_refused_with_those_that_are() {
        let map = |map: &str| json!({ "type": "Precompiled", "precompiled_charsmap": map });
        let replaced = |pattern: Value| steps(&[replace(&pattern, "b")], &[]);
        let cut = |step: Value| steps(&[], &[step]);
        assert_refused([
            (
                steps(&[json!({ "type": "Nmt" })], &[]),
                "normalizer has the step \"Nmt\", expected NFC",
            ),
            (steps(&[json!([1])], &[]), "normalizer has the step null"),
            (
                steps(&[json!({ "type": "Sequence" })], &[]),
                "normalizer has a sequence without normalizers",
            ),
            (
                steps(&[json!({ "type": "Precompiled" })], &[]),
                "normalizer has no precompiled_charsmap",
            ),
            (
                steps(&[map("")], &[]),
                "normalizer.precompiled_charsmap has no length",
            ),
            (
                replaced(json!({ "Regex": "(a)" })),
                "the pattern (a) is not known from “(a)” on",
            ),
            (
                replaced(json!("a")),
                "the pattern \"a\" is neither String nor Regex",
            ),
            (
                cut(json!({ "type": "FixedLength" })),
                "pre_tokenizer has the step \"FixedLength\", expected Split",
            ),
            (
                cut(json!({ "type": "Metaspace", "replacement": "__" })),
                "pre_tokenizer.replacement is \"__\"",
            ),
            (
                cut(json!({ "type": "Metaspace", "prepend_scheme": "x" })),
                "pre_tokenizer.prepend_scheme is \"x\"",
            ),
            (
                cut(json!({ "type": "Punctuation", "behavior": "x" })),
                "pre_tokenizer.behavior is \"x\"",
            ),
        ]);
    }

    #[test]
    fn a_caption_of_many_parts_is_stopped_like_one_of_a_single_part() {
        let doubled = replace(&json!({ "String": "a" }), "aa");
        let mut tokenizer = steps(&vec![doubled; 10], &[]);
        tokenizer["added_tokens"] =
            json!([{ "id": 4, "content": "|", "special": true, "normalized": false }]);
        assert_eq!(
            ids(&tokenizer, "a|a").expect("two parts").len(),
            2 * 1_024 + 1,
            "each 1,024 times as long"
        );
        let error = ids(&tokenizer, &"a|".repeat(1_000))
            .expect_err("a million")
            .to_string();
        assert!(
            error.contains("make more than 262144 characters"),
            "{error}"
        );
    }

    #[test]
    fn rules_that_make_much_of_a_caption_are_stopped() {
        let doubled = replace(&json!({ "String": "a" }), "aa");
        let ligature = replace(&json!({ "Regex": "." }), "\u{fdfa}");
        let unfolded = [ligature, json!({ "type": "NFKC" })];
        let bytes = json!({ "type": "ByteLevel", "add_prefix_space": false, "use_regex": false });
        let too_much = "this caption cannot be encoded: the tokenizer's rules make";
        let refused = "the tokenizer cannot be used: ";
        let long = replace(&json!({ "String": "a" }), &"a".repeat(65));
        for (tokenizer, reason, what) in [
            (
                steps(&vec![doubled.clone(); 60], &[]),
                too_much.to_owned(),
                "60 times twice as long",
            ),
            (
                steps(&vec![unfolded; 6].concat(), &[]),
                too_much.to_owned(),
                "ligatures of 18 characters",
            ),
            (
                steps(&[replace(&json!({ "String": "a" }), "é")], &vec![bytes; 60]),
                too_much.to_owned(),
                "bytes of bytes",
            ),
            (
                steps(&vec![doubled; 65], &[]),
                format!("{refused}normalizer has 65 steps"),
                "65 steps",
            ),
            (
                steps(&[long], &[]),
                format!("{refused}content has 65 bytes"),
                "a long replacement",
            ),
            (
                steps(
                    &[replace(&json!({ "String": "a".repeat(1_025) }), "b")],
                    &[],
                ),
                format!("{refused}a pattern has 1025 bytes"),
                "a long pattern",
            ),
        ] {
            let found = refusal(&tokenizer);
            assert!(found.starts_with(&reason), "{what}: {found}");
        }
    }

    #[test]
    fn texts_that_are_written_for_each_piece_are_short() {
        for field in [
            "unk_token",
            "continuing_subword_prefix",
            "end_of_word_suffix",
        ] {
            let mut tokenizer = bpe();
            tokenizer["model"][field] = json!("#".repeat(65));
            let found = refusal(&tokenizer);
            assert_eq!(
                found,
                format!("the tokenizer cannot be used: {field} has 65 bytes, expected at most 64"),
                "{field}"
            );
        }
        let mut tokenizer = bpe();
        tokenizer["normalizer"] = replace(&json!({ "String": "a" }), &"a".repeat(64));
        let added = |id: u32| json!({ "id": id, "content": format!("{id}{}", "a".repeat(2_000)), "normalized": true });
        tokenizer["added_tokens"] = (5..50).map(added).collect();
        assert!(
            refusal(&tokenizer).contains("added_tokens take more than 4000000 bytes"),
            "45 times 128,000"
        );
    }

    #[test]
    fn a_field_that_is_written_twice_counts_as_it_stands_last() {
        let broken =
            r#""normalizer":{"type":"Precompiled","precompiled_charsmap":""},"normalizer":null"#;
        let json = bpe()
            .to_string()
            .replacen(r#""normalizer":null"#, broken, 1);
        assert!(json.contains(broken), "{json}");
        let found = Tokenizer::from_json(&json).and_then(|tokenizer| tokenizer.encode("ab"));
        assert_eq!(found.expect("the last is valid").len(), 1, "one merge");
    }

    #[test]
    fn added_tokens_are_found_before_all_rules() {
        let mut tokenizer = steps(&[json!({ "type": "Lowercase" })], &[]);
        let token = |id: u32, content: &str, normalized: bool| {
            json!({ "id": id, "content": content, "special": !normalized, "normalized": normalized,
                    "single_word": normalized, "lstrip": !normalized, "rstrip": false })
        };
        tokenizer["added_tokens"] = json!([
            token(4, "[SEP]", false),
            token(9, "AB", true),
            token(7, "[SEP]]", false)
        ]);
        for (caption, expected) in [
            ("b  [SEP]b", &[1, 4, 1][..]),
            ("[sep]", &[]),
            ("a[SEP]]", &[0, 7]),
            ("aB", &[9]),
            ("aab b", &[0, 2, 1]),
        ] {
            assert_eq!(
                ids(&tokenizer, caption).expect("a caption"),
                expected,
                "{caption}"
            );
        }
        let tokenizer = Tokenizer::from_json(&tokenizer.to_string()).expect("a tokenizer");
        assert_eq!(
            (tokenizer.n_tokens(), tokenizer.id("AB")),
            (7, Some(9)),
            "two more than the vocabulary has"
        );
    }

    #[test]
    fn tokens_know_where_they_stand_in_the_caption() {
        let unknown =
            json!({ "type": "WordLevel", "unk_token": "?", "vocab": { "?": 0, "red": 1 } });
        let mut tokenizer = steps(
            &[json!({ "type": "NFKD" }), json!({ "type": "Lowercase" })],
            &[],
        );
        tokenizer["pre_tokenizer"] = json!({ "type": "BertPreTokenizer" });
        tokenizer["model"] = unknown;
        let tokenizer = Tokenizer::from_json(&tokenizer.to_string()).expect("a tokenizer");
        let caption = "Ｒed CAFÉ, ﬁne";
        let tokens = tokenizer.encode(caption).expect("a caption");
        let places: Vec<_> = tokens
            .iter()
            .map(|token| (&caption[token.place.clone()], token.id))
            .collect();
        assert_eq!(
            places,
            [("Ｒed", 1), ("CAFÉ", 0), (",", 0), ("ﬁne", 0)],
            "as they were written"
        );
    }
}
