//! A wordpiece vocabulary cut to the most frequent pieces, and the token table that goes with it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::model::parameters::TensorRecord;
use crate::preprocess::tokenizer::Tokenizer;

/// A tokenizer whose ids are a selection of another's.
#[derive(Debug)]
pub(super) struct PrunedTokenizer {
    /// Bytes of the new `tokenizer.json`.
    pub(super) tokenizer: Vec<u8>,
    /// The old id of each new one, ascending.
    pub(super) kept: Vec<usize>,
}

/// Leaves out of a `tokenizer.json` all pieces but the special ones, those of one printable ASCII character, and the
/// `n_pieces` that `texts` need most often, ties in the order of the vocabulary.
///
/// A word whose pieces stay keeps them; any other ASCII word is spelt with smaller ones.
///
/// # Errors
///
/// The bytes are not a wordpiece tokenizer, or it cannot take a text.
pub(super) fn prune<S: AsRef<str>>(
    tokenizer: &[u8],
    texts: impl IntoIterator<Item = S>,
    n_pieces: usize,
) -> Result<PrunedTokenizer> {
    let mut json: Value = serde_json::from_slice(tokenizer).context("tokenizer.json")?;
    ensure!(
        json.pointer("/model/type").and_then(Value::as_str) == Some("WordPiece"),
        "tokenizer.json: not a wordpiece tokenizer"
    );
    let ids = ids(&json)?;
    let n_uses = count_uses(&json, texts)?;
    let special = special_ids(&json);
    let is_needed = |piece: &str, id: usize| special.contains(&id) || is_letter(piece);
    let (mut kept, mut others): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (piece, &id) in &ids {
        if is_needed(piece, id) {
            &mut kept
        } else {
            &mut others
        }
        .push(id);
    }
    others.sort_by_key(|id| {
        (
            usize::MAX - n_uses.get(id).copied().unwrap_or_default(),
            *id,
        )
    });
    others.truncate(n_pieces.saturating_sub(kept.len()));
    kept.extend(others);
    kept.sort_unstable();
    renumber(&mut json, &ids, &kept)?;
    Ok(PrunedTokenizer {
        tokenizer: serde_json::to_vec(&json)?,
        kept,
    })
}

impl PrunedTokenizer {
    /// The rows of a token table that stay.
    ///
    /// # Errors
    ///
    /// A table that has fewer rows than the vocabulary.
    pub(super) fn table(&self, table: TensorRecord) -> Result<TensorRecord> {
        let TensorRecord { name, shape, .. } = &table;
        let [n_rows, width] = shape[..] else {
            anyhow::bail!("{name}: shape is {shape:?}, expected a matrix");
        };
        let has_all = self.kept.iter().all(|id| *id < n_rows);
        ensure!(
            has_all,
            "{name}: {n_rows} rows, fewer than the tokenizer has ids"
        );
        let rows = self.kept.iter();
        let rows = rows.flat_map(|id| &table.values[id * width..(id + 1) * width]);
        Ok(TensorRecord {
            values: rows.copied().collect(),
            shape: vec![self.kept.len(), width],
            name: table.name,
        })
    }
}

fn ids(json: &Value) -> Result<BTreeMap<String, usize>> {
    let vocab = json.pointer("/model/vocab").and_then(Value::as_object);
    let vocab = vocab.context("tokenizer.json: no vocabulary")?;
    let of_piece = |(piece, id): (&String, &Value)| {
        let id = id
            .as_u64()
            .context("tokenizer.json: an id that is not a number")?;
        Ok((piece.clone(), usize::try_from(id)?))
    };
    vocab.iter().map(of_piece).collect()
}

fn special_ids(json: &Value) -> BTreeSet<usize> {
    let added = json.get("added_tokens").and_then(Value::as_array);
    let ids = added
        .into_iter()
        .flatten()
        .filter_map(|token| token["id"].as_u64());
    ids.filter_map(|id| usize::try_from(id).ok()).collect()
}

/// Whether a piece is one printable ASCII character, at a word's start or within it.
fn is_letter(piece: &str) -> bool {
    let letter = piece.strip_prefix("##").unwrap_or(piece);
    letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_graphic())
}

fn count_uses<S: AsRef<str>>(
    json: &Value,
    texts: impl IntoIterator<Item = S>,
) -> Result<BTreeMap<usize, usize>> {
    let tokenizer = Tokenizer::from_json(&json.to_string())?;
    let mut n_uses = BTreeMap::new();
    for text in texts {
        let tokens = tokenizer.encode(text.as_ref());
        for token in tokens.with_context(|| text.as_ref().to_owned())? {
            *n_uses.entry(usize::try_from(token.id)?).or_default() += 1;
        }
    }
    Ok(n_uses)
}

fn renumber(json: &mut Value, ids: &BTreeMap<String, usize>, kept: &[usize]) -> Result<()> {
    let new_id = |id: usize| kept.binary_search(&id).ok();
    let vocab = ids
        .iter()
        .filter_map(|(piece, id)| Some((piece.clone(), new_id(*id)?.into())));
    json["model"]["vocab"] = Value::Object(vocab.collect());
    let renumbered = |id: &Value| {
        let id = id.as_u64().and_then(|id| usize::try_from(id).ok());
        let new = id.and_then(new_id);
        new.context("tokenizer.json: a special token that is not a piece")
    };
    for token in json["added_tokens"].as_array_mut().into_iter().flatten() {
        token["id"] = renumbered(&token["id"])?.into();
    }
    let specials = json.pointer_mut("/post_processor/special_tokens");
    let specials = specials.and_then(Value::as_object_mut);
    for (_, token) in specials.into_iter().flatten() {
        for id in token["ids"].as_array_mut().into_iter().flatten() {
            *id = renumbered(id)?.into();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::TextPreprocess;

    const TOKENIZER: &[u8] =
        include_bytes!("../../../../tests/fixtures/photos/text/tokenizer.json");
    const CONTEXT_LENGTH: usize = 20;

    fn ids(tokenizer: &[u8], caption: &str) -> Vec<usize> {
        let tokenizer = TextPreprocess::from_tokenizer_json(tokenizer, CONTEXT_LENGTH);
        let tokens = tokenizer.expect("a tokenizer").encode(caption);
        tokens
            .expect("a caption")
            .ids
            .iter()
            .map(|id| *id as usize)
            .collect()
    }

    #[test]
    fn what_was_typed_keeps_its_pieces_and_their_rows() {
        let typed = ["a photo of two dogs", "the cat running in snow"];
        let pruned = prune(TOKENIZER, typed, 75).expect("a wordpiece tokenizer");
        assert_eq!(pruned.kept.len(), 75, "as many as asked for");
        for caption in typed {
            let renumbered = ids(&pruned.tokenizer, caption);
            let old: Vec<usize> = renumbered.iter().map(|id| pruned.kept[*id]).collect();
            assert_eq!(old, ids(TOKENIZER, caption), "{caption}");
        }
        let table = TensorRecord {
            name: "table".to_owned(),
            shape: vec![100, 2],
            values: (0..200_u8).map(f32::from).collect(),
        };
        let table = pruned.table(table).expect("rows of all ids");
        assert_eq!(table.shape, [75, 2], "a row a piece");
        let last = pruned.kept[74] as f32;
        assert_eq!(table.values[148], 2.0 * last, "of the old id");
    }

    #[test]
    fn what_was_not_typed_is_spelt() {
        let pruned = prune(TOKENIZER, ["a cat"], 62).expect("a wordpiece tokenizer");
        let found = ids(&pruned.tokenizer, "dog");
        assert_eq!(found.len(), 5, "start, three letters, end: {found:?}");
        assert_eq!(ids(TOKENIZER, "dog").len(), 3, "one piece before");
    }
}
