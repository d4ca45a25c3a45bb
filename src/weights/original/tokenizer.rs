//! Tokenizers for models that come without one.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::preprocess::text::{END_TOKEN, START_TOKEN};
use crate::preprocess::tokenizer::byte_symbol;

/// Regular expression by which CLIP's tokenizer cuts a caption into words.
const WORDS: &str = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

/// A `tokenizer.json` of CLIP's kind that merges nothing: each byte is a token, and another one at the end of a word.
///
/// For random models, whose captions mean nothing. `start_token_id` must be at least 512, where CLIP's merges begin,
/// and the end token is the next one.
#[must_use]
pub fn byte_level_json(start_token_id: u32) -> String {
    let bytes = byte_symbols();
    let ends = bytes.iter().map(|symbol| format!("{symbol}</w>"));
    let symbols = bytes.iter().map(char::to_string).chain(ends);
    let vocab = symbols.zip(0_u32..).map(|(symbol, id)| (symbol, id.into()));
    let mut vocab: Map<String, Value> = vocab.collect();
    vocab.insert(START_TOKEN.to_owned(), start_token_id.into());
    vocab.insert(END_TOKEN.to_owned(), (start_token_id + 1).into());
    json(&vocab, &[])
}

/// A `tokenizer.json` of the two files in which it was kept before: `vocab.json` and `merges.txt`.
///
/// # Errors
///
/// A vocabulary that is no JSON object or lacks the start or end token.
pub fn from_vocab_and_merges(vocab: &[u8], merges: &str) -> Result<String> {
    let vocab: Map<String, Value> = serde_json::from_slice(vocab)
        .map_err(|error| Error::Text(format!("vocab.json: {error}")))?;
    for token in [START_TOKEN, END_TOKEN] {
        if !vocab.contains_key(token) {
            return Err(Error::Text(format!("vocab.json: lacks the token {token}")));
        }
    }
    // The first line holds the version.
    let merges = merges.lines().filter(|line| !line.starts_with("#version"));
    let merges: Vec<&str> = merges.filter(|line| !line.is_empty()).collect();
    Ok(json(&vocab, &merges))
}

fn json(vocab: &Map<String, Value>, merges: &[&str]) -> String {
    let added = [START_TOKEN, END_TOKEN].map(|token| {
        json!({ "id": vocab[token], "content": token, "special": true, "normalized": false,
                "single_word": false, "lstrip": false, "rstrip": false })
    });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": { "type": "Sequence", "normalizers": [{ "type": "NFC" }, { "type": "Lowercase" }] },
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
            { "type": "Split", "pattern": { "Regex": WORDS }, "behavior": "Removed", "invert": true },
            { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        ] },
        "post_processor": null,
        "decoder": null,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": END_TOKEN, "continuing_subword_prefix": "",
            "end_of_word_suffix": "</w>", "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": merges,
        },
    })
    .to_string()
}

/// The printable characters that stand for the bytes, in the order of CLIP's vocabulary, which is their own.
fn byte_symbols() -> Vec<char> {
    let mut symbols: Vec<char> = (0..=u8::MAX).map(byte_symbol).collect();
    symbols.sort_unstable();
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::TextPreprocess;

    fn tokenizer() -> TextPreprocess {
        let json = byte_level_json(49_406);
        TextPreprocess::from_tokenizer_json(json.as_bytes(), 77).expect("a tokenizer")
    }

    #[test]
    fn every_byte_is_a_token() {
        // CLIP's ids of `!`, `a` and `!` at the end of a word: 0, 64, 256 (vocab.json).
        let ids = tokenizer().encode("a !a!").expect("a caption").ids;
        let expected = [49_406, 320, 256, 320, 256, 49_407];
        assert_eq!(ids, expected, "bytes at the end of a word");
        let ids = tokenizer().encode("aa é").expect("a caption").ids;
        assert_eq!(
            ids.len(),
            6,
            "two letters, and a letter of two bytes: {ids:?}"
        );
    }

    #[test]
    fn start_and_end_have_the_ids_asked_for() {
        let tokenizer = tokenizer();
        assert_eq!(tokenizer.start_token_id(), Some(49_406), "start");
        assert_eq!(tokenizer.end_token_id(), 49_407, "end");
        let n = tokenizer.vocab_size();
        assert_eq!(n, 514, "bytes, ends of words, start and end");
    }
}
