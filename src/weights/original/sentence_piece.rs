//! `spiece.model` of `SentencePiece` → the `tokenizer.json` that runs it.
//!
//! The file is a protocol buffer, `ModelProto` of `sentencepiece_model.proto`; of its fields only the pieces with their
//! scores and the table of the normaliser are needed.

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Field number of `ModelProto.pieces`, one message a piece.
const PIECES: u64 = 1;
/// Field number of `ModelProto.normalizer_spec`, a message.
const NORMALIZER: u64 = 3;
/// Field number of `NormalizerSpec.precompiled_charsmap`, the table of the normaliser.
const CHARACTER_MAP: u64 = 2;
/// `SentencePiece.piece`, `.score` and `.type`.
const PIECE: (u64, u64, u64) = (1, 2, 3);
/// The type of the piece for text outside the vocabulary.
const UNKNOWN: u64 = 2;

/// One piece of the vocabulary.
#[derive(Debug, Default)]
struct VocabularyPiece {
    text: String,
    score: f32,
    kind: u64,
}

/// The tokenizer of a unigram model; the caption's words begin with `▁`, also the first.
///
/// # Errors
///
/// Bytes that are not a `SentencePiece` model, or a model without a piece for unknown text.
pub(super) fn to_tokenizer_json(model: &[u8]) -> Result<String> {
    let (mut pieces, mut character_map) = (Vec::new(), None);
    for field in fields(model)? {
        match (field.number, field.value) {
            (PIECES, Wire::Bytes(message)) => pieces.push(piece(message)?),
            (NORMALIZER, Wire::Bytes(message)) => character_map = find_character_map(message)?,
            _ => {}
        }
    }
    if !pieces.iter().all(|piece| piece.score.is_finite()) {
        return Err(invalid("the score of a piece is not finite"));
    }
    let Some(unknown) = pieces.iter().position(|piece| piece.kind == UNKNOWN) else {
        return Err(invalid("no piece stands for unknown text"));
    };
    let normalizer = character_map.map_or(
        Value::Null,
        |map| json!({ "type": "Precompiled", "precompiled_charsmap": base64::encode(map) }),
    );
    let vocab = pieces.iter().map(|piece| json!([piece.text, piece.score]));
    let vocab: Vec<Value> = vocab.collect();
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true },
        "post_processor": null,
        "decoder": null,
        "model": { "type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": false },
    })
    .to_string())
}

fn piece(message: &[u8]) -> Result<VocabularyPiece> {
    // The type is left out of a normal piece.
    let mut piece = VocabularyPiece {
        kind: 1,
        ..VocabularyPiece::default()
    };
    for field in fields(message)? {
        match (field.number, field.value) {
            (number, Wire::Bytes(text)) if number == PIECE.0 => {
                let text =
                    std::str::from_utf8(text).map_err(|_| invalid("a piece is not UTF-8 text"))?;
                text.clone_into(&mut piece.text);
            }
            (number, Wire::Fixed32(score)) if number == PIECE.1 => piece.score = score,
            (number, Wire::Varint(kind)) if number == PIECE.2 => piece.kind = kind,
            _ => {}
        }
    }
    Ok(piece)
}

fn find_character_map(message: &[u8]) -> Result<Option<&[u8]>> {
    let mut fields = fields(message)?.into_iter();
    Ok(fields.find_map(|field| match (field.number, field.value) {
        (CHARACTER_MAP, Wire::Bytes(map)) if !map.is_empty() => Some(map),
        _ => None,
    }))
}

/// One field of a protocol buffer.
struct WireField<'a> {
    number: u64,
    value: Wire<'a>,
}

enum Wire<'a> {
    Varint(u64),
    Fixed32(f32),
    Bytes(&'a [u8]),
    /// Eight bytes that nothing here needs.
    Fixed64,
}

fn fields(mut message: &[u8]) -> Result<Vec<WireField<'_>>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let value = match tag & 7 {
            0 => Wire::Varint(varint(&mut message)?),
            1 => {
                take(&mut message, 8)?;
                Wire::Fixed64
            }
            2 => {
                let length = varint(&mut message)?;
                let length = usize::try_from(length).map_err(|_| invalid("a field is too long"))?;
                Wire::Bytes(take(&mut message, length)?)
            }
            5 => {
                let (bytes, _) = take(&mut message, 4)?.as_chunks::<4>();
                Wire::Fixed32(f32::from_le_bytes(bytes[0]))
            }
            kind => return Err(invalid(&format!("a field of the unknown kind {kind}"))),
        };
        fields.push(WireField {
            number: tag >> 3,
            value,
        });
    }
    Ok(fields)
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
fn varint(message: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(invalid("a number of more than ten bytes"))
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let Some((taken, rest)) = message.split_at_checked(length) else {
        return Err(invalid("the file ends in a field"));
    };
    *message = rest;
    Ok(taken)
}

fn invalid(reason: &str) -> Error {
    Error::Text(format!("spiece.model: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_ends_early_or_is_something_else_is_refused() {
        for (bytes, reason) in [
            (&[0x0a, 5, b'a'][..], "the file ends in a field"),
            (&[0x0b], "a field of the unknown kind 3"),
            (&[0x80; 11], "a number of more than ten bytes"),
            (&[0x0a, 3, 0x0a, 1, 0xff], "a piece is not UTF-8 text"),
            (
                &[0x0a, 8, 0x0a, 1, b'a', 0x15, 0, 0, 0xc0, 0x7f],
                "the score of a piece is not finite",
            ),
            (&[], "no piece stands for unknown text"),
        ] {
            let error = to_tokenizer_json(bytes).expect_err(reason).to_string();
            assert!(error.ends_with(reason), "{error}, expected {reason}");
        }
    }
}
