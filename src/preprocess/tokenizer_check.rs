//! Checks of a `tokenizer.json` before the library that runs it reads it. The library assumes part of this unchecked,
//! and panics where a file breaks it.

use std::collections::HashSet;

use serde_json::Value;

use super::character_map::check_character_map;
use crate::error::{Error, Result};

/// How many times longer the rules may make a text: a caption of 2,000 letters becomes 2 MB.
///
/// As [`check_parts`] counts, CLIP's rules have 48, those of a sentence piece model 44, Llama's 16 and BERT's 12.
const MAX_GROWTH: usize = 1024;
/// Bytes of all added tokens together, once they are normalised.
const MAX_ADDED_BYTES: usize = 4_000_000;
/// Bytes of a prefix, a suffix or the token of unknown text, of which each piece of a caption gets a copy.
const MAX_AFFIX_BYTES: usize = 64;
/// Characters of a word that is cut into pieces, which takes the square of their number; BERT's 100.
const MAX_WORD_CHARACTERS: u64 = 256;

/// Parses a `tokenizer.json`, and refuses one that draws at random, whose tables point outside of themselves, or that
/// can make a caption much longer.
///
/// What is returned is what was checked: in the text, a field can be written twice.
///
/// # Errors
///
/// [`Error::Text`] with the field that is wrong. What else may be wrong in the file is left to the library.
pub(super) fn check(json: &str) -> Result<Value> {
    let json: Value = serde_json::from_str(json)
        .map_err(|error| Error::Text(format!("the tokenizer cannot be read: {error}")))?;
    check_model(&json["model"])?;
    let normalized = check_parts(&json["normalizer"])?;
    let added = json["added_tokens"].as_array().into_iter().flatten();
    let added = added.filter_map(|token| token["content"].as_str());
    let n_added: usize = added.map(str::len).sum();
    if n_added.saturating_mul(normalized) > MAX_ADDED_BYTES {
        return Err(refused(&format!(
            "added_tokens can take more than {MAX_ADDED_BYTES} bytes once they are normalised, expected fewer"
        )));
    }
    let growth = normalized.saturating_mul(check_parts(&json["pre_tokenizer"])?);
    if growth > MAX_GROWTH {
        return Err(refused(&format!(
            "normalizer and pre_tokenizer can make a text more than {MAX_GROWTH} times longer, \
             expected shorter or fewer replacements"
        )));
    }
    Ok(json)
}

fn check_model(model: &Value) -> Result<()> {
    if model["dropout"]
        .as_f64()
        .is_some_and(|dropout| dropout != 0.0)
    {
        return Err(refused(
            "model.dropout leaves out merges at random, expected none",
        ));
    }
    for field in [
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "unk_token",
    ] {
        let n_bytes = model[field].as_str().map_or(0, str::len);
        if n_bytes > MAX_AFFIX_BYTES {
            return Err(refused(&format!(
                "model.{field} has {n_bytes} bytes, expected at most {MAX_AFFIX_BYTES}"
            )));
        }
    }
    let n_characters = model["max_input_chars_per_word"].as_u64();
    if let Some(n) = n_characters.filter(|n| *n > MAX_WORD_CHARACTERS) {
        return Err(refused(&format!(
            "model.max_input_chars_per_word is {n}, expected at most {MAX_WORD_CHARACTERS}"
        )));
    }
    check_merges(model)
}

/// Each merge of byte pairs makes a token of the vocabulary, and each token has an id of its own: the library copies
/// the text of each id that it finds, and one of two tokens of one id may be long.
fn check_merges(model: &Value) -> Result<()> {
    let Some(merges) = model["merges"].as_array() else {
        return Ok(());
    };
    let ids = model["vocab"].as_object().into_iter().flatten();
    let mut known = HashSet::new();
    if !ids.map(|(_, id)| id.as_u64()).all(|id| known.insert(id)) {
        return Err(refused(
            "model.vocab gives one id to two tokens, expected one each",
        ));
    }
    let prefix = model["continuing_subword_prefix"].as_str();
    let prefix = prefix.unwrap_or_default();
    let broken = || refused("model.merges makes a token that is not in model.vocab");
    for merge in merges {
        let (left, right) = halves(merge).ok_or_else(broken)?;
        let right = right.strip_prefix(prefix).ok_or_else(broken)?;
        model["vocab"]
            .get(format!("{left}{right}"))
            .ok_or_else(broken)?;
    }
    Ok(())
}

/// The two tokens of a merge, which is a list or has a space between them.
fn halves(merge: &Value) -> Option<(&str, &str)> {
    match merge {
        Value::Array(halves) => match halves.as_slice() {
            [left, right] => Some((left.as_str()?, right.as_str()?)),
            _ => None,
        },
        _ => merge.as_str()?.split_once(' '),
    }
}

/// Checks the steps of a normaliser or of a pre-tokenizer, which may hold others, and returns how many times longer
/// they can make a text at most.
fn check_parts(part: &Value) -> Result<usize> {
    // The library also takes lists for objects and `{ "NFC": null }` for "NFC".
    let is_typed = part.get("type").is_none_or(Value::is_string);
    if !(part.is_null() || part.is_object() && is_typed) {
        return Err(refused(
            "normalizer or pre_tokenizer has another kind of step, expected objects whose type is a text",
        ));
    }
    if part["type"] == "Precompiled" && !part["precompiled_charsmap"].is_string() {
        return Err(refused(
            "normalizer has no precompiled_charsmap, expected base64",
        ));
    }
    let mut growth = growth_of_step(part);
    if let Some(map) = part["precompiled_charsmap"].as_str() {
        let map = base64::decode(map).map_err(|error| {
            refused(&format!(
                "normalizer.precompiled_charsmap is not base64: {error}"
            ))
        })?;
        let of_map = check_character_map(&map)
            .map_err(|reason| refused(&format!("normalizer.precompiled_charsmap {reason}")))?;
        growth = growth.saturating_mul(of_map);
    }
    if part["type"] == "FixedLength" && part["length"] == 0 {
        return Err(refused("pre_tokenizer.length is 0, expected at least 1"));
    }
    let parts = ["normalizers", "pretokenizers"].map(|name| part[name].as_array());
    for part in parts.into_iter().flatten().flatten() {
        growth = growth.saturating_mul(check_parts(part)?);
    }
    Ok(growth)
}

/// How many times longer a step by itself, without a table and other steps in it, can make a text at most.
///
/// The library knows some steps by their fields alone, whatever their type says.
fn growth_of_step(step: &Value) -> usize {
    // Written at each byte, where a regular expression matches nothing, and once more.
    let written = ["content", "prepend", "replacement"].map(|field| step[field].as_str());
    let n_written: usize = written.into_iter().flatten().map(str::len).sum();
    // Spaces around a character (2), decomposed (3), in lower case (2).
    let is_bert = step.get("handle_chinese_chars").is_some();
    let of_fields = (1 + n_written).saturating_mul(if is_bert { 12 } else { 1 });
    let of_type = match step["type"].as_str() {
        Some("Lowercase") => 2,
        // Maximum expansion factors in UTF-8, <https://www.unicode.org/faq/normalization.html>.
        Some("NFC" | "NFD") => 3,
        Some("NFKC" | "NFKD") => 11,
        // Two bytes for each, and for a space before the text.
        Some("ByteLevel") => 4,
        _ => 1,
    };
    of_fields.saturating_mul(of_type)
}

fn refused(reason: &str) -> Error {
    Error::Text(format!("the tokenizer cannot be used: {reason}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::preprocess::TextPreprocess;

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

    fn refusal(tokenizer: &Value) -> Option<String> {
        let json = tokenizer.to_string();
        let found = TextPreprocess::from_tokenizer_json(json.as_bytes(), 77);
        found.err().map(|error| error.to_string())
    }

    #[test]
    fn a_tokenizer_without_faults_is_taken() {
        assert_eq!(refusal(&bpe()), None, "merges within its vocabulary");
        let mut written = bpe();
        written["model"]["merges"] = json!(["a b"]);
        assert_eq!(refusal(&written), None, "merges as lines");
        written["model"]["dropout"] = json!(0.0);
        assert_eq!(refusal(&written), None, "a dropout of nothing");
    }

    /// A tokenizer with steps of its normaliser and of its pre-tokenizer.
    fn steps(normalizers: &[Value], pretokenizers: &[Value]) -> Value {
        let mut tokenizer = bpe();
        tokenizer["normalizer"] = json!({ "type": "Sequence", "normalizers": normalizers });
        tokenizer["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": pretokenizers });
        tokenizer
    }

    fn replace(pattern: &Value, content: &str) -> Value {
        json!({ "type": "Replace", "pattern": pattern, "content": content })
    }

    fn metaspace(replacement: char) -> Value {
        json!({ "type": "Metaspace", "replacement": replacement, "prepend_scheme": "always", "split": true })
    }

    #[test]
    fn rules_of_known_tokenizers_are_taken() {
        let kind = |name: &str| json!({ "type": name });
        let spaces = || replace(&json!({ "Regex": r"\s+" }), " ");
        let byte_level =
            || json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true });
        let bert = json!({
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true,
        });
        let prepend = json!({ "type": "Prepend", "prepend": "▁" });
        let underline = replace(&json!({ "String": " " }), "▁");
        let runs = replace(&json!({ "Regex": " {2,}" }), "▁");
        let clip = [kind("NFC"), spaces(), kind("Lowercase")];
        for (tokenizer, what) in [
            (steps(&clip, &[byte_level()]), "CLIP's"),
            (steps(&[bert], &[kind("BertPreTokenizer")]), "MiniLM's"),
            (steps(&[prepend, underline], &[]), "Llama's"),
            (steps(&[], &[byte_level()]), "GPT-2's"),
            (
                steps(&[kind("NFKC"), spaces(), runs], &[metaspace('▁')]),
                "that of a sentence piece model, as other programs write it",
            ),
        ] {
            assert_eq!(refusal(&tokenizer), None, "{what}");
        }
    }

    #[test]
    fn rules_that_make_much_of_a_caption_are_refused() {
        let doubled = replace(&json!({ "String": "a" }), "aa");
        let long = replace(&json!({ "String": "a" }), &"a".repeat(2_000));
        let ligature = replace(&json!({ "Regex": "." }), "\u{fdfa}");
        let unfolded = [ligature, json!({ "type": "NFKC" })];
        let byte_level =
            json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true });
        let prefixed = [metaspace('▁'), metaspace('_')];
        let untyped = json!({ "prepend": "a".repeat(2_000) });
        for (tokenizer, what) in [
            (steps(&vec![doubled; 60], &[]), "60 times twice as long"),
            (steps(&[long], &[]), "a long replacement"),
            (steps(&[untyped], &[]), "a long start, without a type"),
            (
                steps(&vec![unfolded; 4].concat(), &[]),
                "ligatures of 18 characters",
            ),
            (steps(&[], &vec![byte_level; 60]), "bytes of bytes"),
            (
                steps(&[], &vec![prefixed; 30].concat()),
                "a start for each piece",
            ),
        ] {
            let found = refusal(&tokenizer).unwrap_or_default();
            let expected = "the tokenizer cannot be used: normalizer and pre_tokenizer can make a text more than 1024 \
                            times longer, expected shorter or fewer replacements";
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn steps_in_another_form_than_the_one_that_is_checked_are_refused() {
        let lists = json!([[[{ "String": "a" }, "aa"], ["a long start"]]]);
        let map = json!({ "type": { "ByteLevel": null } });
        for (step, what) in [(lists, "a list of lists"), (map, "an object as the type")] {
            let found = refusal(&steps(&[step], &[])).unwrap_or_default();
            let expected = "the tokenizer cannot be used: normalizer or pre_tokenizer has another kind of step";
            assert!(found.starts_with(expected), "{what}: {found}");
        }
    }

    #[test]
    fn texts_that_are_copied_for_each_piece_are_short() {
        let changed = |field: &str, value: Value| {
            let mut tokenizer = bpe();
            tokenizer["model"][field] = value;
            tokenizer
        };
        let unknown = |n_bytes: usize| changed("unk_token", json!("u".repeat(n_bytes)));
        assert_eq!(refusal(&unknown(64)), None, "as long as allowed");
        let ids = json!({ "a": 0, "b": 1, "ab": 2, "[CLS]": 3, "[SEP]": 4, "a long token": 2 });
        let mut added = changed("unk_token", Value::Null);
        added["normalizer"] = replace(&json!({ "String": "a" }), "aaa");
        added["added_tokens"] = json!([{
            "id": 5, "content": "a".repeat(1_000_001), "special": false, "normalized": true, "single_word": false,
            "lstrip": false, "rstrip": false,
        }]);
        let long = json!("#".repeat(65));
        for (tokenizer, reason) in [
            (unknown(65), "model.unk_token has 65 bytes"),
            (
                changed("continuing_subword_prefix", long.clone()),
                "model.continuing_subword_prefix has 65 bytes",
            ),
            (
                changed("end_of_word_suffix", long),
                "model.end_of_word_suffix has 65 bytes",
            ),
            (
                changed("max_input_chars_per_word", json!(100_000)),
                "model.max_input_chars_per_word is 100000",
            ),
            (changed("vocab", ids), "model.vocab gives one id"),
            (added, "added_tokens can take more than 4000000 bytes"),
        ] {
            let found = refusal(&tokenizer).unwrap_or_default();
            let expected = format!("the tokenizer cannot be used: {reason}");
            assert!(found.starts_with(&expected), "{found}, expected {expected}");
        }
    }

    #[test]
    fn a_field_that_is_written_twice_is_read_as_it_was_checked() {
        let broken =
            r#""normalizer":{"type":"Precompiled","precompiled_charsmap":""},"normalizer":null"#;
        let json = bpe()
            .to_string()
            .replacen(r#""normalizer":null"#, broken, 1);
        assert!(json.contains(broken), "{json}");
        let found = TextPreprocess::from_tokenizer_json(json.as_bytes(), 77);
        let ids = found.and_then(|text| Ok(text.encode("ab")?.ids));
        assert_eq!(ids.expect("the last is valid"), [3, 2, 4], "one merge");
    }

    #[test]
    fn a_template_neither_repeats_the_caption_nor_asks_for_a_second_one() {
        for id in ["A", "B"] {
            let caption = json!({ "Sequence": { "id": id, "type_id": 0 } });
            let mut repeated = bpe();
            repeated["post_processor"] = json!({
                "type": "TemplateProcessing", "special_tokens": {}, "single": [caption, caption],
                "pair": [caption, caption],
            });
            let json = repeated.to_string();
            let text = TextPreprocess::from_tokenizer_json(json.as_bytes(), 77).expect("valid");
            let ids = text.encode("ab").expect("a caption").ids;
            assert_eq!(ids, [3, 2, 4], "start, the caption once, end: {id}");
        }
    }

    #[test]
    fn what_would_stop_the_program_or_draw_at_random_is_refused() {
        let mut random = bpe();
        random["model"]["dropout"] = json!(0.1);
        let mut longer = bpe();
        longer["model"]["merges"] = json!([["[CLS]", "[SEP]"]]);
        let mut prefixed = bpe();
        prefixed["model"]["continuing_subword_prefix"] = json!("####");
        let mut empty = bpe();
        empty["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [{ "type": "FixedLength", "length": 0 }] });
        let mut without_map = bpe();
        without_map["normalizer"] = json!({ "type": "Precompiled" });
        let mut outside = bpe();
        let map = json!({ "type": "Precompiled", "precompiled_charsmap": base64::encode([0; 8]) });
        outside["normalizer"] = json!({ "type": "Sequence", "normalizers": [map] });
        for (tokenizer, reason) in [
            (random, "model.dropout"),
            (longer, "model.merges"),
            (prefixed, "model.merges"),
            (empty, "pre_tokenizer.length"),
            (outside, "normalizer.precompiled_charsmap"),
            (
                without_map,
                "normalizer has no precompiled_charsmap, expected base64",
            ),
        ] {
            let found = refusal(&tokenizer).unwrap_or_default();
            let expected = format!("the tokenizer cannot be used: {reason}");
            assert!(found.starts_with(&expected), "{found}, expected {expected}");
        }
    }
}
