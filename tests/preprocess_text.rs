//! Token ids of awkward captions, against other programs; natively and in WebAssembly.
//!
//! Expected ids: `tests/fixtures/generate_preprocess.py`.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[cfg(not(target_arch = "wasm32"))]
#[path = "support/shared.rs"]
mod shared;

use kappascope::preprocess::TextPreprocess;
use serde::Deserialize;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::{wasm_bindgen_test as test, wasm_bindgen_test_configure};

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Context length of CLIP in tokens, start and end included.
const CONTEXT_LENGTH: usize = 77;

#[derive(Deserialize)]
struct Case {
    text: String,
    times: usize,
    ids: Vec<u32>,
    n_tokens: usize,
}

fn differences(preprocess: &TextPreprocess, cases: &str) -> Vec<String> {
    let cases: Vec<Case> = serde_json::from_str(cases).expect("a list of captions");
    assert!(cases.len() > 60, "no case was lost: {}", cases.len());
    let difference = |case: &Case| {
        let tokens = preprocess
            .encode(&case.text.repeat(case.times))
            .expect("a caption");
        let truncated = case.n_tokens + 2 > CONTEXT_LENGTH;
        let same = tokens.ids == case.ids
            && tokens.truncated == truncated
            && tokens.n_tokens + 2 == case.ids.len();
        (!same).then(|| {
            format!(
                "{:?} × {}: {:?}, expected {:?}",
                case.text, case.times, tokens.ids, case.ids
            )
        })
    };
    cases.iter().filter_map(difference).collect()
}

/// A small tokenizer of CLIP's kind; the ids are those of the Python package, whose regular expressions run in C.
#[test]
fn awkward_captions_have_the_same_ids_in_every_program() {
    let tokenizer = include_bytes!("fixtures/preprocess/small_bpe.json");
    let preprocess =
        TextPreprocess::from_tokenizer_json(tokenizer, CONTEXT_LENGTH).expect("a tokenizer");
    let differences = differences(
        &preprocess,
        include_str!("fixtures/preprocess/small_bpe_ids.json"),
    );
    assert!(differences.is_empty(), "{differences:#?}");
}

#[cfg(not(target_arch = "wasm32"))]
mod shared_data {
    use super::*;
    use crate::shared::shared;

    fn clip() -> TextPreprocess {
        let json = std::fs::read(shared("clip_tokenizer/clip_tokenizer.json"));
        let json = json.expect("CLIP's tokenizer");
        TextPreprocess::from_tokenizer_json(&json, CONTEXT_LENGTH).expect("CLIP's tokenizer")
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn awkward_captions_have_the_ids_of_openais_program() {
        let clip = clip();
        let differences = differences(&clip, include_str!("fixtures/preprocess/clip_ids.json"));
        assert!(differences.is_empty(), "{differences:#?}");
        assert_eq!(clip.vocab_size(), 49_408, "CLIP's vocabulary");
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn known_captions_have_their_published_ids() {
        let clip = clip();
        let ids = |caption| clip.encode(caption).expect("a caption").ids;
        assert_eq!(
            ids("a photo of a cat"),
            [49406, 320, 1125, 539, 320, 2368, 49407],
            "plain"
        );
        let mixed = [
            49406, 3306, 267, 1002, 256, 585, 568, 273, 271, 273, 275, 15304, 47466, 254, 29290,
            377, 49407,
        ];
        assert_eq!(
            ids("Hello, World! it's 2024 café 你好"),
            mixed,
            "punctuation, digits, accents, Chinese"
        );
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn a_byte_level_tokenizer_knows_every_word() {
        let clip = clip();
        assert!(
            clip.encode("xyzzy 🦄")
                .expect("a caption")
                .unknown_words
                .is_empty(),
            "bytes are always known"
        );
    }
}
