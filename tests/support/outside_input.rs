//! Readers of what comes from outside, each as a function of bytes that must end without a panic; the tests change
//! known files at random, `fuzz/` lets a fuzzer invent them.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use kappascope::explorer as link;
use kappascope::preprocess::{DecodeBudget, TextPreprocess, decode_within};
use kappascope::train::data::{
    captions_csv, cifar, coco, conceptual, flickr, hierarcaps, karpathy, webdataset,
};
use kappascope::train::import::open::open;
use kappascope::weights::adapter_file::AdapterFile;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::original::{CompanionFiles, Index, header_range, tokenizer};
use kappascope::weights::shard;

/// What a picture may take where a second's work is to be little.
const PICTURE: DecodeBudget = DecodeBudget {
    pixels: 1_000_000,
    ..DecodeBudget::SHORT_MEMORY
};
/// A picture of one pixel.
const DOT: &[u8] = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0";
/// Names of CIFAR-10's classes, as many as there are.
const CLASSES: &[u8] = b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
/// Tokens of a caption at most.
const CONTEXT_LENGTH: usize = 77;

/// A reader by its name, which is that of its fuzz target; it tells whether the bytes were a file of its kind.
pub(crate) type Target = (&'static str, fn(&[u8]) -> bool);

/// Readers of what comes from outside, by name.
pub(crate) const TARGETS: [Target; 9] = [
    ("picture", picture),
    ("safetensors", safetensors),
    ("manifest", manifest),
    ("adapter", adapter),
    ("checkpoint", checkpoint),
    ("tokenizer", tokenizers),
    ("link", links),
    ("caption", caption),
    ("data", data),
];

/// PNG, JPEG, GIF, WebP or BMP.
pub(crate) fn picture(bytes: &[u8]) -> bool {
    decode_within(&PICTURE, bytes).is_ok()
}

/// The header of a safetensors file by itself, and a whole shard.
pub(crate) fn safetensors(bytes: &[u8]) -> bool {
    if let Some((length, rest)) = bytes.split_first_chunk() {
        let n_bytes = bytes.len() as u64;
        if header_range(*length, n_bytes).is_ok() {
            Index::read(rest, None).ok();
        }
    }
    shard::describe(bytes).ok();
    shard::read(bytes).is_ok()
}

/// Reads bytes as a `manifest.json`.
pub(crate) fn manifest(bytes: &[u8]) -> bool {
    Manifest::from_json(bytes).is_ok()
}

/// Reads bytes as an `adapters.safetensors`.
pub(crate) fn adapter(bytes: &[u8]) -> bool {
    AdapterFile::read(bytes).is_ok()
}

/// Checkpoints of other programs: safetensors, `PyTorch`'s zip archives and their pickles.
pub(crate) fn checkpoint(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut is_read = false;
    for name in ["model.safetensors", "pytorch_model.bin"] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("the folder is the test's own");
        if let Ok(mut file) = open(&path) {
            let names: Vec<String> = file.entries().keys().cloned().collect();
            for name in names {
                is_read |= file.read(&name).is_ok();
            }
        }
    }
    is_read
}

/// `tokenizer.json`, `spiece.model`, and the older pair of `vocab.json` and `merges.txt`, which two empty lines part.
pub(crate) fn tokenizers(bytes: &[u8]) -> bool {
    let mut is_read = encodes(bytes);
    let mut beside = CompanionFiles::default();
    let put = beside.put("spiece.model", bytes.to_vec());
    if let Ok(json) = put.and_then(|()| beside.tokenizer_json()) {
        is_read |= encodes(&json);
    }
    let text = String::from_utf8_lossy(bytes);
    if let Some((vocab, merges)) = text.split_once("\n\n\n")
        && let Ok(json) = tokenizer::from_vocab_and_merges(vocab.as_bytes(), merges)
    {
        is_read |= encodes(json.as_bytes());
    }
    is_read
}

fn encodes(json: &[u8]) -> bool {
    let text = TextPreprocess::from_tokenizer_json(json, CONTEXT_LENGTH);
    text.is_ok_and(|text| {
        let caption = "Two red stars, caf\u{e9} \u{1f31f} and 12 more";
        text.encode(caption).is_ok()
    })
}

/// What stands behind `#` in the page's address.
pub(crate) fn links(bytes: &[u8]) -> bool {
    let Some((state, _)) = link::decode(&String::from_utf8_lossy(bytes)) else {
        return false;
    };
    let written = link::encode(&state);
    let again = link::decode(&written).map(|(state, _)| link::encode(&state));
    assert_eq!(again, Some(written), "what is written is read alike");
    true
}

/// A caption of people's, cleaned and cut into tokens.
pub(crate) fn caption(bytes: &[u8]) -> bool {
    static TEXT: LazyLock<TextPreprocess> = LazyLock::new(|| {
        let json = tokenizer::byte_level_json(512);
        let text = TextPreprocess::from_tokenizer_json(json.as_bytes(), CONTEXT_LENGTH);
        text.expect("a tokenizer of this crate")
    });
    TEXT.encode(&String::from_utf8_lossy(bytes)).is_ok()
}

/// A file of each kind of data set, with a few pictures.
pub(crate) fn data(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let root = folder.path();
    let file = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        fs::write(&path, bytes).expect("the folder is the test's own");
        path
    };
    for picture in ["a.png", "a.jpg", "b.png", "b.jpg", "0.png"] {
        file(picture, DOT);
    }
    let csv = file("captions.csv", bytes);
    let is_table = [
        captions_csv::splits(&csv, root, 0.1, 0).is_ok(),
        hierarcaps::splits(&csv, root).is_ok(),
        conceptual::captions_of(&file("captions.tsv", bytes), root).is_ok(),
        flickr::captions_of(&file("tokens.txt", bytes), root).is_ok(),
    ];
    let is_json = [
        coco::captions_of(&file("captions.json", bytes), root).is_ok(),
        karpathy::splits(&file("dataset.json", bytes), root).is_ok(),
    ];
    for name in [
        "data_batch_1.bin",
        "train.bin",
        "test_batch.bin",
        "test.bin",
    ] {
        file(name, bytes);
    }
    file("batches.meta.txt", CLASSES);
    let is_binary = [
        cifar::cifar_10(root).is_ok(),
        cifar::cifar_100(root).is_ok(),
    ];
    let is_archive = is_archive(&file("pictures.tar", bytes));
    is_archive
        || [&is_table[..], &is_json, &is_binary]
            .concat()
            .contains(&true)
}

fn is_archive(path: &Path) -> bool {
    let listing = webdataset::listing(path);
    listing.is_ok_and(|listing| {
        for item in &listing.items {
            item.picture.read().ok();
        }
        !listing.items.is_empty()
    })
}
