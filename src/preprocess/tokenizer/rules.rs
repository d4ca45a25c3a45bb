//! What the rules of a `tokenizer.json` have in common: steps, texts that are written often, and refusals.

use serde_json::Value;

use crate::error::{Error, Result};

/// Bytes of a text that is written at each place of a caption.
const MAX_WRITTEN_BYTES: usize = 64;
/// Steps of a normalizer or of a pre-tokenizer; CLIP's has three.
const MAX_STEPS: usize = 64;
/// Characters that rules may make of a caption; of 2,000 letters, 130 each.
const MAX_CHARACTERS: usize = 1 << 18;

/// The steps of a normalizer or of a pre-tokenizer, which may hold others in `nested`.
pub(super) fn parts<'a>(part: &'a Value, name: &str, nested: &str) -> Result<Vec<&'a Value>> {
    let mut steps = Vec::new();
    push_parts(part, name, nested, &mut steps)?;
    if steps.len() > MAX_STEPS {
        return Err(refused(&format!(
            "{name} has {} steps, expected at most {MAX_STEPS}",
            steps.len()
        )));
    }
    Ok(steps)
}

fn push_parts<'a>(
    part: &'a Value,
    name: &str,
    nested: &str,
    steps: &mut Vec<&'a Value>,
) -> Result<()> {
    if part.is_null() {
        return Ok(());
    }
    if part["type"] != "Sequence" {
        steps.push(part);
        return Ok(());
    }
    let inner = part[nested].as_array();
    let inner = inner.ok_or_else(|| {
        refused(&format!(
            "{name} has a sequence without {nested}, expected a list"
        ))
    })?;
    inner
        .iter()
        .try_for_each(|part| push_parts(part, name, nested, steps))
}

/// A field whose text is written at many places, if it is there.
pub(super) fn short_text<'a>(part: &'a Value, field: &str) -> Result<Option<&'a str>> {
    let text = part[field].as_str();
    let n_bytes = text.map_or(0, str::len);
    if n_bytes > MAX_WRITTEN_BYTES {
        return Err(refused(&format!(
            "{field} has {n_bytes} bytes, expected at most {MAX_WRITTEN_BYTES}"
        )));
    }
    Ok(text)
}

/// Stops rules that make too much of a caption.
///
/// # Errors
///
/// [`Error::Text`] for more than [`MAX_CHARACTERS`].
pub(super) fn check_length(n_characters: usize) -> Result<()> {
    if n_characters > MAX_CHARACTERS {
        return Err(Error::Text(format!(
            "this caption cannot be encoded: the tokenizer's rules make more than {MAX_CHARACTERS} characters of it"
        )));
    }
    Ok(())
}

/// A file whose rules cannot be run, and the reason.
pub(super) fn refused(reason: &str) -> Error {
    Error::Text(format!("the tokenizer cannot be used: {reason}"))
}
