//! Safetensors files that are cut short, contradict themselves, or hold another model.

use kappascope::model::parameters::TensorRecord;
use kappascope::train::import::open::open;
use kappascope::weights::shard::{Precision, read, write};

use crate::checkpoints::{Scratch, fixture, import_into, put, put_tokenizer};

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), data].concat()
}

/// The error of an import of this file, after which nothing is left.
fn error(scratch: &Scratch, bytes: &[u8]) -> String {
    let source = scratch.path("source");
    put(&source, "model.safetensors", bytes);
    let config = std::fs::read(fixture("config.json")).expect("the fixture");
    put(&source, "config.json", &config);
    put_tokenizer(&source);
    let error = import_into(&source, &scratch.path("out"), Precision::F16);
    let error = error.expect_err("no such file may be imported");
    assert_eq!(scratch.names("."), ["source"], "nothing half-written");
    error.root_cause().to_string()
}

/// A tensor's entry in the header.
fn entry(name: &str, dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
}

/// The file's bytes must be refused with this message.
fn refused(scratch: &Scratch, bytes: &[u8], message: &str) {
    let error = error(scratch, bytes);
    assert!(error.contains(message), "{error:?}, expected {message:?}");
}

#[test]
fn a_file_without_a_readable_header_is_refused() {
    let scratch = Scratch::new();
    let cases: [(Vec<u8>, &str); 5] = [
        (Vec::new(), "not a safetensors file: 0 bytes"),
        (
            vec![0xff; 8],
            "a header of 18446744073709551615 bytes in a file of 8",
        ),
        (
            1000_u64.to_le_bytes().to_vec(),
            "a header of 1000 bytes in a file of 8",
        ),
        (
            file("[]", &[]),
            "header: invalid type: sequence, expected an object",
        ),
        (file("{", &[]), "header: EOF while parsing"),
    ];
    for (bytes, message) in cases {
        refused(&scratch, &bytes, message);
    }
}

#[test]
fn a_tensor_that_contradicts_the_file_is_refused_by_its_name() {
    let scratch = Scratch::new();
    let cases = [
        (
            "F8_E5M2",
            "[4]",
            "[0,4]",
            "a: dtype \"F8_E5M2\" is not known",
        ),
        (
            "F32",
            "[2]",
            "[0,8]",
            "a: lies at bytes 0..8, the file holds 4",
        ),
        (
            "F32",
            "[1]",
            "[4,0]",
            "a: lies at bytes 4..0, the file holds 4",
        ),
        (
            "F32",
            "[2]",
            "[0,4]",
            "a: 4 bytes, but F32 of shape [2] takes 8",
        ),
        (
            "F32",
            "[4294967296,4294967296]",
            "[0,4]",
            "a: shape [4294967296, 4294967296] is larger than any memory",
        ),
        ("F32", "[-1]", "[0,4]", "a: invalid value: integer `-1`"),
    ];
    for (dtype, shape, offsets, message) in cases {
        let header = format!("{{{}}}", entry("a", dtype, shape, offsets));
        refused(&scratch, &file(&header, &[0; 4]), message);
    }
    let incomplete = file(r#"{"a":{"dtype":"F32","shape":[1]}}"#, &[0; 4]);
    refused(&scratch, &incomplete, "a: missing field `data_offsets`");
}

#[test]
fn tensors_that_contradict_each_other_are_refused_by_their_names() {
    let scratch = Scratch::new();
    let cases = [
        ("a", "[0,4]", "b", "[2,6]", 8, "b: overlaps a"),
        ("a", "[0,4]", "b", "[0,4]", 4, "b: overlaps a"),
        ("a", "[0,4]", "b", "[5,9]", 9, "b: 1 unused bytes before it"),
        (
            "a",
            "[0,4]",
            "b",
            "[4,8]",
            9,
            "1 bytes after the last tensor, b",
        ),
        ("a", "[0,4]", "a", "[4,8]", 8, "a: given twice"),
    ];
    for (first, offsets, second, other_offsets, n_bytes, message) in cases {
        let header = format!(
            "{{{},{}}}",
            entry(first, "F32", "[1]", offsets),
            entry(second, "F32", "[1]", other_offsets)
        );
        refused(&scratch, &file(&header, &vec![0; n_bytes]), message);
    }
}

#[test]
fn another_model_is_refused_by_the_name_of_what_is_wrong() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(fixture("model.safetensors")).expect("the fixture");
    let records = read(&bytes).expect("safetensors");
    type Break = fn(&mut Vec<TensorRecord>);
    let cases: [(Break, &str); 8] = [
        (
            |records| records.retain(|r| r.name != "text_model.final_layer_norm.bias"),
            "text_model.final_layer_norm.bias: missing",
        ),
        (
            |records| {
                named(records, "text_model.encoder.layers.0.mlp.fc2.weight")
                    .shape
                    .reverse();
            },
            "text_model.encoder.layers.0.mlp.fc2.weight: shape is [16, 4], expected [4, 16]",
        ),
        (
            |records| named(records, "text_projection.weight").shape.reverse(),
            "config.json: projection_dim is 6, the tensors say 4",
        ),
        (
            |records| {
                let patches = "vision_model.embeddings.patch_embedding.weight";
                let patches = named(records, patches);
                patches.shape = vec![6, 3, 0, 0];
                patches.values.clear();
            },
            "vision_model.embeddings.patch_embedding.weight: shape is [6, 3, 0, 0], expected sizes above 0",
        ),
        (
            |records| {
                let positions = "vision_model.embeddings.position_embedding.weight";
                let positions = named(records, positions);
                positions.shape[0] -= 1;
                positions.values.truncate(4 * 6);
            },
            "vision_model.embeddings.position_embedding.weight: 4 rows, expected a square number of patches and one",
        ),
        (
            |records| named(records, "vision_model.post_layernorm.bias").values[1] = f32::NAN,
            "vision_model.post_layernorm.bias: holds NaN",
        ),
        (
            |records| named(records, "vision_model.post_layernorm.bias").name += ".more",
            "vision_model.post_layernorm.bias: missing",
        ),
        (
            |records| {
                let mut more = records[0].clone();
                more.name = "text_model.head.weight".to_owned();
                records.push(more);
            },
            "text_model.head.weight: no part of a CLIP of this layout",
        ),
    ];
    for (break_it, message) in cases {
        let mut records = records.clone();
        break_it(&mut records);
        let bytes = write(&records, Precision::F32).expect("valid records");
        let error = error(&scratch, &bytes);
        assert!(error.contains(message), "{error:?}, expected {message:?}");
    }
}

fn named<'a>(records: &'a mut [TensorRecord], name: &str) -> &'a mut TensorRecord {
    let found = records.iter_mut().find(|record| record.name == name);
    found.expect("the fixture holds it")
}

#[test]
fn a_tensor_of_integers_is_no_parameter() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(fixture("model.safetensors")).expect("the fixture");
    let start = bytes.windows(5).position(|word| word == b"\"F32\"");
    let start = start.expect("a tensor");
    bytes[start..start + 5].copy_from_slice(b"\"I32\"");
    let error = error(&scratch, &bytes);
    assert!(
        error.contains(": does not hold floats, expected F16"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(fixture("model.safetensors")).expect("the fixture");
    for length in (0..bytes.len()).step_by(97) {
        put(&scratch.path("."), "cut", &bytes[..length]);
        let opened = open(&scratch.path("cut"));
        assert!(opened.is_err(), "cut to {length} bytes");
    }
}
