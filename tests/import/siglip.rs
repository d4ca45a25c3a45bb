//! The second architecture: `SigLIP` as `transformers` stores and computes it.

use std::path::PathBuf;

use burn::tensor::{Int, Tensor, TensorData};
use kappascope::device::cpu;
use kappascope::model::clip::Architecture;
use kappascope::model::parameters::{Parameters as _, TensorRecord};
use kappascope::preprocess::{RgbPixels, TextPreprocess};
use kappascope::train::export::bundle;
use kappascope::train::import::import;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::shard::{Precision, read};

use crate::checkpoints::{Scratch, job};
use crate::layouts::{compare, greatest_error};

/// Error over the greatest expected value, in f32.
const TOLERANCE: f64 = 1e-5;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/siglip")
}

fn records(file: &str) -> Vec<TensorRecord> {
    let bytes = std::fs::read(folder().join(file)).expect("a fixture");
    read(&bytes).expect("safetensors")
}

fn expected(name: &str) -> TensorRecord {
    let mut records = records("expected.safetensors").into_iter();
    let found = records.find(|record| record.name == name);
    found.expect("the fixture holds it")
}

fn captions() -> Vec<String> {
    let json = std::fs::read(folder().join("captions.json")).expect("a fixture");
    serde_json::from_slice(&json).expect("captions")
}

/// The tiny model as a folder of ours.
fn imported(scratch: &Scratch) -> (PathBuf, Manifest) {
    let out = scratch.path("siglip");
    import(&job(&folder(), &out, Precision::F32)).expect("a SigLIP of transformers");
    let json = std::fs::read(out.join("manifest.json")).expect("a manifest");
    (out, Manifest::from_json(&json).expect("a valid manifest"))
}

#[test]
fn a_siglip_of_transformers_gives_the_features_it_has_there() {
    let scratch = Scratch::new();
    compare(&folder(), &scratch, None);
}

#[test]
fn its_logits_have_the_scale_and_the_bias_of_the_file() {
    let scratch = Scratch::new();
    let (_, manifest) = imported(&scratch);
    let sizes = manifest
        .encoder
        .clip()
        .expect("a dual encoder of this kind");
    assert_eq!(sizes.architecture, Architecture::SigLip, "told");
    let device = cpu();
    let mut siglip = sizes.init(&device);
    siglip
        .load(records("model.safetensors"))
        .expect("its names");
    let scalar = |tensor: Tensor<1>| f64::from(tensor.into_scalar::<f32>());
    let bias = siglip.logit_bias.as_ref().expect("a sigmoid loss has one");
    let (log_scale, bias) = (scalar(siglip.log_logit_scale.val()), scalar(bias.val()));
    let kept = manifest.logits.expect("the manifest keeps them");
    assert_eq!(
        (kept.scale, kept.bias),
        (log_scale.exp(), Some(bias)),
        "scale and bias"
    );
    let (ids, images) = (expected("token_ids"), expected("images"));
    let [n_texts, n_tokens] = [ids.shape[0], ids.shape[1]];
    let values: Vec<i64> = ids.values.iter().map(|id| *id as i64).collect();
    let ids = Tensor::<2, Int>::from_data(TensorData::new(values, [n_texts, n_tokens]), &device);
    let ends = vec![n_tokens - 1; n_texts];
    let shape: [usize; 4] = images.shape.try_into().expect("four sizes");
    let images = Tensor::<4>::from_data(TensorData::new(images.values, shape), &device);
    let logits = siglip.logits(
        siglip.vision.forward(images),
        siglip.text.forward(ids, &ends),
    );
    let found = logits.into_data().try_into_vec::<f32>().expect("f32");
    let error = greatest_error(&found, &expected("logits").values);
    assert!(error <= TOLERANCE, "error {error}, {TOLERANCE} is allowed");
}

#[test]
fn captions_get_the_tokens_of_sentence_piece() {
    let scratch = Scratch::new();
    let (out, manifest) = imported(&scratch);
    let tokenizer = std::fs::read(out.join("tokenizer.json")).expect("a tokenizer");
    let length = manifest.encoder.context_length();
    let tokenizer =
        TextPreprocess::from_tokenizer_json(&tokenizer, length).expect("a unigram tokenizer");
    let rows = expected("token_ids");
    for (caption, row) in captions().iter().zip(rows.values.chunks(length)) {
        let mut tokens = tokenizer.encode(caption).expect("a caption");
        tokens.ids.resize(length, manifest.encoder.end_token_id());
        let row: Vec<u32> = row.iter().map(|id| *id as u32).collect();
        assert_eq!(tokens.ids, row, "{caption:?}");
    }
    let unknown = tokenizer.encode("a cat 你好").expect("a caption");
    assert_eq!(unknown.unknown_words, ["你好"], "no piece holds them");
}

#[test]
fn pictures_are_squashed_as_there() {
    let scratch = Scratch::new();
    let (_, manifest) = imported(&scratch);
    let picture = expected("picture");
    let rgb = RgbPixels {
        width: picture.shape[1],
        height: picture.shape[0],
        pixels: picture.values.iter().map(|value| *value as u8).collect(),
    };
    let found = manifest.preprocess.apply(&rgb);
    let error = greatest_error(&found, &expected("images").values[..found.len()]);
    assert!(error <= 1e-6, "error {error}");
}

#[test]
fn a_session_answers_captions_as_the_tower_does() {
    let scratch = Scratch::new();
    let (out, _) = imported(&scratch);
    let session = bundle::open(&out, &cpu()).expect("an open model");
    let texts = pollster::block_on(session.encode_text(&captions())).expect("encodings");
    let features = expected("text_features");
    for (text, row) in texts.iter().zip(features.values.chunks(features.shape[1])) {
        let norm = row
            .iter()
            .map(|x| f64::from(*x).powi(2))
            .sum::<f64>()
            .sqrt();
        let unit: Vec<f32> = row.iter().map(|x| (f64::from(*x) / norm) as f32).collect();
        let error = greatest_error(&text.embedding, &unit);
        assert!(error <= TOLERANCE, "error {error}, {TOLERANCE} is allowed");
    }
}
