//! Our tokenizers beside Hugging Face's library, on captions that people write and on text that nobody does.
#![cfg(all(feature = "train", not(target_arch = "wasm32")))]
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/shared.rs"]
mod shared;

use std::ops::Range;
use std::str::FromStr as _;

use kappascope::preprocess::tokenizer::{EncodedToken, Tokenizer};
use kappascope::weights::original::CompanionFiles;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Deserialize;
use serde_json::{Value, json};

/// Captions of fixtures, which are as awkward as possible.
const AWKWARD: &str = include_str!("fixtures/preprocess/small_bpe_ids.json");

/// Characters that rules treat unlike others; they are as old as the library's tables of punctuation (Unicode 8).
const CHARACTERS: &[&str] = &[
    "a",
    "e",
    "r",
    "s",
    "t",
    "ing",
    "red",
    "star",
    "dog",
    "the",
    "B",
    "K",
    "1",
    "42",
    "'s",
    "'ll",
    " ",
    "  ",
    "\t",
    "\n",
    "\u{a0}",
    "\u{3000}",
    ".",
    ",",
    "!",
    "?",
    "-",
    "_",
    "#",
    "##",
    "<",
    "|",
    ">",
    "^",
    "`",
    "$",
    "é",
    "É",
    "ß",
    "ẞ",
    "İ",
    "ﬁ",
    "Å",
    "Ω",
    "ς",
    "½",
    "²",
    "Ⅷ",
    "中",
    "文",
    "あ",
    "ｶ",
    "한",
    "ñ",
    "ø",
    "й",
    "Ж",
    "א",
    "ا",
    "¿",
    "«",
    "“",
    "’",
    "—",
    "…",
    "€",
    "©",
    "★",
    "🌟",
    "👩\u{200d}🚀",
    "\u{200b}",
    "\u{feff}",
    "\0",
    "\u{7f}",
    "\u{fffd}",
    "\u{e000}",
    "▁",
    "Ġ",
    "[SEP]",
    "[UNK]",
    "<|endoftext|>",
    "<|unknown|>",
    "</s>",
];

/// Characters that join others.
const MARKS: &[&str] = &[
    "\u{301}", "\u{327}", "\u{308}", "\u{345}", "ᄒ", "ᅡ", "ᆫ", "ﾞ", "\u{903}", "க", "ொ",
];

/// Ids, and the place of each word in the caption.
type Encoded = (Vec<u32>, Vec<Range<usize>>);

fn ours(tokenizer: &Tokenizer, caption: &str) -> Encoded {
    let tokens = tokenizer.encode(caption).expect("a caption");
    let words = tokens.chunk_by(|token, next| token.word == next.word);
    let place = |word: &[EncodedToken]| word[0].place.start..word[word.len() - 1].place.end;
    let places = words.map(place).collect();
    (tokens.into_iter().map(|token| token.id).collect(), places)
}

fn theirs(tokenizer: &tokenizers::Tokenizer, caption: &str) -> Encoded {
    let encoding = tokenizer.encode(caption, false).expect("a caption");
    let words: Vec<_> = encoding
        .get_word_ids()
        .iter()
        .zip(encoding.get_offsets())
        .collect();
    let words = words.chunk_by(|(word, _), (next, _)| word == next);
    let places = words
        .map(|word| word[0].1.0..word[word.len() - 1].1.1)
        .collect();
    (encoding.get_ids().to_vec(), places)
}

/// A tokenizer as either program reads it.
struct Both {
    ours: Tokenizer,
    theirs: tokenizers::Tokenizer,
    what: &'static str,
}

impl Both {
    fn new(what: &'static str, json: &str) -> Self {
        let mut theirs = tokenizers::Tokenizer::from_str(json).expect(what);
        theirs
            .with_post_processor(None::<tokenizers::PostProcessorWrapper>)
            .with_padding(None)
            .with_truncation(None)
            .expect(what);
        Self {
            ours: Tokenizer::from_json(json).expect(what),
            theirs,
            what,
        }
    }

    /// Where several characters become one, the library says that it stands for the first alone, and ours for all.
    fn assert_same(&self, caption: &str) {
        let (mut ours, mut theirs) = (ours(&self.ours, caption), theirs(&self.theirs, caption));
        if MARKS.iter().any(|mark| caption.contains(mark)) {
            (ours.1, theirs.1) = (vec![], vec![]);
        }
        assert_eq!(ours, theirs, "{}: {caption:?}", self.what);
    }
}

const SMALL_BPE: &str = include_str!("fixtures/preprocess/small_bpe.json");
const SCENES: &str = include_str!("../public/models/scenes/tokenizer.json");
const PHOTOGRAPHS: &str = include_str!("../public/models/photos/tokenizer.json");

/// A tokenizer with other rules.
fn changed(json: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut json: Value = serde_json::from_str(json).expect("JSON");
    change(&mut json);
    json.to_string()
}

/// The tokenizers of the models that are there, and what others are made of.
fn all() -> Vec<Both> {
    let cased = changed(PHOTOGRAPHS, |json| {
        json["normalizer"] = json!({ "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false,
            "strip_accents": false, "lowercase": false });
    });
    let gpt_2 = changed(SMALL_BPE, |json| {
        json["normalizer"] = Value::Null;
        json["pre_tokenizer"] = json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true });
    });
    let pieces = changed(SCENES, |json| {
        json["normalizer"] = json!({ "type": "Sequence", "normalizers": [
            { "type": "StripAccents" }, { "type": "NFKC" }, { "type": "Strip", "strip_left": true, "strip_right": false },
            { "type": "Prepend", "prepend": "a" }, { "type": "Replace", "pattern": { "Regex": "[#^]" }, "content": "_" },
        ] });
        json["pre_tokenizer"] = json!({ "type": "Sequence", "pretokenizers": [
            { "type": "WhitespaceSplit" }, { "type": "Digits", "individual_digits": true },
            { "type": "Punctuation", "behavior": "Contiguous" },
            { "type": "Split", "pattern": { "String": "e" }, "behavior": "MergedWithPrevious", "invert": false },
        ] });
    });
    let fallback = changed(SMALL_BPE, |json| {
        json["normalizer"] =
            json!({ "type": "Replace", "pattern": { "String": " " }, "content": "▁" });
        json["pre_tokenizer"] = json!({ "type": "Split", "pattern": { "String": "▁" }, "behavior": "MergedWithNext", "invert": false });
        json["model"]["fuse_unk"] = true.into();
    });
    vec![
        Both::new("of CLIP's kind", SMALL_BPE),
        Both::new("of scenes", SCENES),
        Both::new("of photographs", PHOTOGRAPHS),
        Both::new("BERT's with case", &cased),
        Both::new("of GPT-2's kind", &gpt_2),
        Both::new("of words, with other steps", &pieces),
        Both::new("of characters, with unknown ones", &fallback),
    ]
}

/// Unigram models; their library normalises clusters of marks, `SentencePiece` itself the longest text of its table.
fn unigram() -> Vec<Both> {
    let mut files = CompanionFiles::default();
    let model = include_bytes!("fixtures/siglip/spiece.model").to_vec();
    files.put("spiece.model", model).expect("a known name");
    let json = String::from_utf8(files.tokenizer_json().expect("a model")).expect("text");
    let first = changed(&json, |json| {
        json["pre_tokenizer"]["prepend_scheme"] = "first".into();
        json["pre_tokenizer"]["split"] = false.into();
    });
    vec![
        Both::new("SigLIP's", &json),
        Both::new("SigLIP's in one piece", &first),
    ]
}

#[derive(Deserialize)]
struct Awkward {
    text: String,
    times: usize,
}

#[test]
fn awkward_captions_are_cut_alike() {
    let captions: Vec<Awkward> = serde_json::from_str(AWKWARD).expect("captions");
    assert!(captions.len() > 60, "all of them: {}", captions.len());
    for both in all().into_iter().chain(unigram()) {
        for Awkward { text, times } in &captions {
            both.assert_same(&text.repeat(*times));
        }
    }
}

#[test]
fn text_that_nobody_writes_is_cut_alike() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::with_cases(3_000), rng);
    let text = |parts: Vec<&'static str>| {
        let parts = prop::collection::vec(prop::sample::select(parts), 0..40);
        parts.prop_map(|parts| parts.concat())
    };
    let (all, unigram) = (all(), unigram());
    let run =
        |text: &str, tokenizers: &[Both]| tokenizers.iter().for_each(|both| both.assert_same(text));
    let with_marks = text([CHARACTERS, MARKS].concat());
    runner
        .run(&with_marks, |text| {
            run(&text, &all);
            Ok(())
        })
        .expect("the same");
    runner
        .run(&text(CHARACTERS.to_vec()), |text| {
            run(&text, &unigram);
            Ok(())
        })
        .expect("the same");
}

mod shared_data {
    use super::*;
    use crate::shared::shared;

    #[derive(Deserialize)]
    struct CocoCaption {
        caption: String,
    }

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn what_people_wrote_is_cut_alike() {
        let clip = std::fs::read_to_string(shared("clip_tokenizer/clip_tokenizer.json"));
        let clip = Both::new("CLIP's", &clip.expect("CLIP's tokenizer"));
        let captions = std::fs::read(shared("clip_features/coco_val2017_500_captions.json"));
        let captions: Vec<CocoCaption> =
            serde_json::from_slice(&captions.expect("captions")).expect("a list");
        assert!(captions.len() >= 500, "all of them: {}", captions.len());
        for both in all().into_iter().chain(unigram()).chain([clip]) {
            captions
                .iter()
                .for_each(|coco| both.assert_same(&coco.caption));
        }
    }
}
