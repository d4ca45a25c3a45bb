//! Token ids of awkward captions, against other programs; natively and in WebAssembly.
//!
//! Expected ids: `tests/fixtures/generate_preprocess.py`.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[cfg(not(target_arch = "wasm32"))]
#[path = "support/shared.rs"]
mod shared;

use kappascope::corruption::{Corruption, CorruptionKind as _, Misspelling};
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

/// The tokenizer of photographs, whose vocabulary lacks a third of the common English words.
fn photographs() -> TextPreprocess {
    let json = include_bytes!("../public/models/photos/tokenizer.json");
    TextPreprocess::from_tokenizer_json(json, CONTEXT_LENGTH).expect("a tokenizer")
}

/// Words of a caption that were probably meant to be others, each with the other.
fn respellings(tokenizer: &TextPreprocess, caption: &str) -> Vec<[String; 2]> {
    let tokens = tokenizer.encode(caption).expect("a caption");
    let respellings = tokens.respellings.into_iter();
    respellings.map(|(word, meant)| [word, meant]).collect()
}

#[test]
fn misspelt_words_are_asked_about_and_rare_ones_are_not() {
    let photographs = photographs();
    for (caption, expected) in [
        ("a golden retriever puppy", &[][..]),
        ("a Golden Retreiver on grass", &[["Retreiver", "retriever"]]),
        (
            "two motorycles and a toiet",
            &[["motorycles", "motorcycles"], ["toiet", "toilet"]],
        ),
        (
            "poeple and a beatiful sunset",
            &[["poeple", "people"], ["beatiful", "beautiful"]],
        ),
        ("a chandelier above a dishwasher", &[]),
        ("giraffes, motorcyclists and tangerines", &[]),
        ("a golden retrie", &[]),
        ("ein Hund auf dem Sofa", &[]),
    ] {
        let found = respellings(&photographs, caption);
        assert_eq!(found, expected, "{caption}");
    }
}

/// Some errors leave a word of the vocabulary, or one of two pieces, as rare words have them; few of those are asked
/// about.
#[test]
fn of_misspelt_words_half_are_asked_about_and_few_as_others() {
    let photographs = photographs();
    let words = "puppy golden retriever grass couch frisbee garden beach horse riding running jumping surfer mountain \
        snowy yellow orange children football soccer baseball kitchen elephant bicycle motorcycle umbrella sandwich \
        people standing holding playing bright colorful stripes";
    let spelling = Corruption::new(Misspelling::Spelling, Misspelling::MAX_SEVERITY);
    let (mut n_misspelt, mut n_right, mut n_wrong) = (0, 0, 0);
    for word in words.split_whitespace() {
        let misspelt = (0..200).map(|i| spelling.apply(word, &i.to_string()));
        for misspelt in misspelt.filter(|misspelt| misspelt != word) {
            n_misspelt += 1;
            match respellings(&photographs, &misspelt).as_slice() {
                [[_, meant]] if meant == word => n_right += 1,
                [] => (),
                _ => n_wrong += 1,
            }
        }
    }
    let [right, wrong] = [n_right, n_wrong].map(|n| f64::from(n) / f64::from(n_misspelt));
    assert!(n_misspelt > 2000, "enough to judge by: {n_misspelt}");
    assert!(right > 0.4, "the right word is found for {right} of them");
    assert!(wrong < 0.05, "another is found for {wrong} of them");
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

    #[derive(Deserialize)]
    struct CocoCaption {
        caption: String,
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn of_what_people_wrote_one_word_in_a_thousand_is_asked_about() {
        let captions = std::fs::read(shared("clip_features/coco_val2017_500_captions.json"));
        let captions: Vec<CocoCaption> =
            serde_json::from_slice(&captions.expect("captions of COCO")).expect("a list");
        let captions = captions.iter().map(|coco| coco.caption.as_str());
        let n_words = captions.clone().flat_map(str::split_whitespace).count();
        let photographs = photographs();
        let asked = captions.flat_map(|caption| respellings(&photographs, caption));
        let asked: Vec<_> = asked.collect();
        assert!(
            asked.len() * 1000 <= n_words,
            "of {n_words} words: {asked:?}"
        );
        for (word, meant) in [("Motorycles", "motorcycles"), ("TOIET", "toilet")] {
            let pair = [word.to_owned(), meant.to_owned()];
            assert!(asked.contains(&pair), "{word} is an error: {asked:?}");
        }
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
