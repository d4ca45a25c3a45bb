//! Checks of a `tokenizer.json` before the library that runs it reads it. The library assumes part of this unchecked,
//! and panics where a file breaks it.

use serde_json::Value;

use super::character_map::check_character_map;
use crate::error::{Error, Result};

/// Refuses a tokenizer that draws at random, or whose tables point outside of themselves.
///
/// # Errors
///
/// [`Error::Text`] with the field that is wrong. What else may be wrong in the file is left to the library.
pub(super) fn check(json: &str) -> Result<()> {
    let json: Value = serde_json::from_str(json)
        .map_err(|error| Error::Text(format!("the tokenizer cannot be read: {error}")))?;
    let model = json.get("model").unwrap_or(&Value::Null);
    if model["dropout"]
        .as_f64()
        .is_some_and(|dropout| dropout != 0.0)
    {
        return Err(refused(
            "model.dropout leaves out merges at random, expected none",
        ));
    }
    check_merges(model)?;
    check_parts(&json["normalizer"])?;
    check_parts(&json["pre_tokenizer"])
}

/// Each merge of byte pairs makes a token of the vocabulary.
fn check_merges(model: &Value) -> Result<()> {
    let Some(merges) = model["merges"].as_array() else {
        return Ok(());
    };
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

/// Checks the steps of a normaliser or of a pre-tokenizer, which may hold others.
fn check_parts(part: &Value) -> Result<()> {
    if let Some(map) = part["precompiled_charsmap"].as_str() {
        let map = base64::decode(map).map_err(|error| {
            refused(&format!(
                "normalizer.precompiled_charsmap is no base64: {error}"
            ))
        })?;
        check_character_map(&map)
            .map_err(|reason| refused(&format!("normalizer.precompiled_charsmap {reason}")))?;
    }
    if part["type"] == "FixedLength" && part["length"] == 0 {
        return Err(refused("pre_tokenizer.length is 0, expected at least 1"));
    }
    let parts = ["normalizers", "pretokenizers"].map(|name| part[name].as_array());
    parts
        .into_iter()
        .flatten()
        .flatten()
        .try_for_each(check_parts)
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
        let mut outside = bpe();
        let map = json!({ "type": "Precompiled", "precompiled_charsmap": base64::encode([0; 8]) });
        outside["normalizer"] = json!({ "type": "Sequence", "normalizers": [map] });
        for (tokenizer, reason) in [
            (random, "model.dropout"),
            (longer, "model.merges"),
            (prefixed, "model.merges"),
            (empty, "pre_tokenizer.length"),
            (outside, "normalizer.precompiled_charsmap"),
        ] {
            let found = refusal(&tokenizer).unwrap_or_default();
            let expected = format!("the tokenizer cannot be used: {reason}");
            assert!(found.starts_with(&expected), "{found}, expected {expected}");
        }
    }
}
