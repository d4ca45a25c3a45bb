//! Readers of what comes from outside, each as a function of bytes that must end without a panic; the tests change
//! known files at random, `fuzz/` lets a fuzzer invent them.

#[path = "../import/npy.rs"]
mod npy;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kappascope::device::cpu;
use kappascope::explorer as link;
use kappascope::model::clip::{Architecture, ClipConfig};
use kappascope::preprocess::{DecodeBudget, TextPreprocess, decode_within};
use kappascope::train::data::{
    captions_csv, cifar, coco, conceptual, flickr, hierarcaps, karpathy, stl10, webdataset,
};
use kappascope::train::import::CheckpointSource;
use kappascope::train::import::open::open;
use kappascope::train::import::towers::{read_image, read_text};
use kappascope::train::photos_model::evaluation::{judged_pairs, read_ratings};
use kappascope::train::photos_model::wordnet::WordNet;
use kappascope::weights::adapter_file::AdapterFile;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::original::{
    CompanionFiles, Entry, Index, Mapping, TensorDtype, Towers, describe, header_range, tokenizer,
};
use kappascope::weights::shard;

/// What a picture may take where a second's work is to be little.
const PICTURE: DecodeBudget = DecodeBudget {
    pixels: 1_000_000,
    ..DecodeBudget::SHORT_MEMORY
};
/// A picture of one pixel.
const DOT: &[u8] = b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0";
/// Captions that people judge.
const TOKENS: &[u8] = b"a.jpg#0\ta red star\na.jpg#1\ta star\nb.jpg#0\ttwo circles\n";
/// Bytes of a picture of STL-10.
const STL10_BYTES: usize = 3 * 96 * 96;
/// What parts files that are given as one.
const PARTS: &str = "\n\n\n";
/// Tokens of a caption at most.
const CONTEXT_LENGTH: usize = 77;

/// A reader by its name, which is that of its fuzz target; it tells whether the bytes were a file of its kind.
pub(crate) type Target = (&'static str, fn(&[u8]) -> bool);

/// Readers of what comes from outside, by name.
pub(crate) const TARGETS: [Target; 11] = [
    ("picture", picture),
    ("safetensors", safetensors),
    ("manifest", manifest),
    ("adapter", adapter),
    ("checkpoint", checkpoint),
    ("config", config),
    ("tokenizer", tokenizers),
    ("link", links),
    ("caption", caption),
    ("data", data),
    ("npy", npy),
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

/// `config.json`, `preprocessor_config.json` and `open_clip_config.json` beside checkpoints that they may describe.
pub(crate) fn config(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let [clip, siglip, open_clip] = &*MAPPINGS;
    let mut is_read = is_config_of_tower(bytes);
    for (mapping, name, key) in [
        (clip, "config.json", "model_type"),
        (siglip, "config.json", "model_type"),
        (clip, "preprocessor_config.json", "image_mean"),
        (siglip, "preprocessor_config.json", "image_mean"),
        (open_clip, "open_clip_config.json", "model_cfg"),
    ] {
        let mut beside = CompanionFiles::default();
        beside.replace_tokenizer(tokenizer::byte_level_json(512).into_bytes());
        let put = beside.put(name, bytes.to_vec());
        let described = put.and_then(|()| describe(mapping, &beside, |_| None));
        // A file that says nothing contradicts nothing.
        is_read |= described.is_ok() && text.contains(key);
    }
    is_read
}

/// The names and shapes of `OpenAI`'s tensors that tell a model's sizes, with a layer of each tower.
const OPEN_CLIP: [(&str, &[usize]); 9] = [
    ("token_embedding.weight", &[49_408, 512]),
    ("positional_embedding", &[77, 512]),
    ("text_projection", &[512, 512]),
    ("transformer.resblocks.0.ln_1.weight", &[512]),
    ("transformer.resblocks.0.mlp.c_fc.weight", &[2048, 512]),
    ("visual.conv1.weight", &[768, 3, 32, 32]),
    ("visual.positional_embedding", &[50, 768]),
    ("visual.transformer.resblocks.0.ln_1.weight", &[768]),
    (
        "visual.transformer.resblocks.0.mlp.c_fc.weight",
        &[3072, 768],
    ),
];

/// Tensors of a CLIP and a `SigLIP` under the names of `transformers`, and of a CLIP under those of `open_clip`.
static MAPPINGS: LazyLock<[Mapping; 3]> = LazyLock::new(|| {
    let mapping = |shapes: Vec<(String, Vec<usize>)>| {
        let dtype = TensorDtype::F16;
        let entry = |(name, shape)| (name, Entry { dtype, shape });
        let entries: BTreeMap<_, _> = shapes.into_iter().map(entry).collect();
        Mapping::of(&entries).expect("a known layout")
    };
    let of = |clip: &ClipConfig| {
        let Towers { text, image, .. } = Towers::of(clip, &cpu());
        mapping([text, image].concat())
    };
    let open_clip = OPEN_CLIP.map(|(name, shape)| (name.to_owned(), shape.to_vec()));
    [
        of(&ClipConfig::vit_b_32()),
        of(&siglip()),
        mapping(open_clip.to_vec()),
    ]
});

/// A configuration of `SigLIP`'s form; the sizes are CLIP's.
fn siglip() -> ClipConfig {
    ClipConfig {
        architecture: Architecture::SigLip,
        ..ClipConfig::vit_b_32()
    }
}

/// `config.json` beside towers that were trained apart: a BERT, and an `EfficientNet` of `timm`.
fn is_config_of_tower(bytes: &[u8]) -> bool {
    let folder = |weights: &[u8]| {
        let folder = tempfile::tempdir().expect("a folder for the test");
        put(folder.path(), "config.json", bytes);
        put(folder.path(), "model.safetensors", weights);
        folder
    };
    let text = folder(include_bytes!("../fixtures/photos/text/model.safetensors"));
    let tokens = include_bytes!("../fixtures/photos/text/tokenizer.json");
    put(text.path(), "tokenizer.json", tokens);
    let image = folder(include_bytes!("../fixtures/photos/image/model.safetensors"));
    let [text, image] = [&text, &image].map(|f| CheckpointSource::Local(f.path().to_owned()));
    let is_read = [read_text(&text).is_ok(), read_image(&image).is_ok()];
    is_read.contains(&true)
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
    if let Some((vocab, merges)) = text.split_once(PARTS)
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
    for picture in ["a.png", "a.jpg", "b.png", "b.jpg", "0.png"] {
        put(root, picture, DOT);
    }
    let is_read = [
        is_captions(root, bytes),
        is_judgements(root, bytes),
        is_classes(root, bytes),
        is_wordnet(root, bytes),
        is_archive(&put(root, "pictures.tar", bytes)),
    ];
    is_read.contains(&true)
}

/// An array of `NumPy`, which the tests of `train import` compare with.
pub(crate) fn npy(bytes: &[u8]) -> bool {
    npy::read(bytes).is_ok_and(|array| {
        let n_values: usize = array.shape.iter().product();
        assert_eq!(array.values.len(), n_values, "{:?}", array.shape);
        true
    })
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the folder is the test's own");
    path
}

fn is_captions(root: &Path, bytes: &[u8]) -> bool {
    let file = |name: &str| put(root, name, bytes);
    let csv = file("captions.csv");
    let is_read = [
        captions_csv::splits(&csv, root, 0.1, 0).is_ok(),
        hierarcaps::splits(&csv, root).is_ok(),
        conceptual::captions_of(&file("captions.tsv"), root).is_ok(),
        flickr::captions_of(&file("tokens.txt"), root).is_ok(),
        coco::captions_of(&file("captions.json"), root).is_ok(),
        karpathy::splits(&file("dataset.json"), root).is_ok(),
    ];
    is_read.contains(&true)
}

fn is_judgements(root: &Path, bytes: &[u8]) -> bool {
    let listing = flickr::captions_of(&put(root, "judged.txt", TOKENS), root);
    let listing = listing.expect("its pictures are there");
    let judgements = read_ratings(&put(root, "ExpertAnnotations.txt", bytes));
    judgements.is_ok_and(|judgements| judged_pairs(&judgements, &listing).is_ok())
}

/// Pictures with labels, labels of pictures that are there, and names of classes.
fn is_classes(root: &Path, bytes: &[u8]) -> bool {
    let names = |n: usize| (0..n).map(|i| format!("class{i}\n")).collect::<String>();
    for (name, n) in [
        ("batches.meta.txt", 10),
        ("class_names.txt", 10),
        ("fine_label_names.txt", 100),
    ] {
        put(root, name, names(n).as_bytes());
    }
    for name in ["test_batch.bin", "test.bin", "test_y.bin"] {
        put(root, name, bytes);
    }
    let pictures = fs::File::create(root.join("test_X.bin"));
    let sized = pictures.and_then(|file| file.set_len((bytes.len() * STL10_BYTES) as u64));
    sized.expect("a file without blocks");
    let named = root.join("named");
    fs::create_dir(&named).expect("the folder is the test's own");
    put(&named, "batches.meta.txt", bytes);
    put(&named, "test_batch.bin", &[0; 3073]);
    let found = [
        cifar::cifar_10(root),
        cifar::cifar_100(root),
        stl10::labelled(root),
        cifar::cifar_10(&named),
    ];
    let found = found.into_iter().flatten();
    let read = found.map(|labelled| labelled.listing.items[0].picture.read());
    read.fold(false, |_, picture| {
        picture.expect("as many bytes as pictures need");
        true
    })
}

/// The four files of `WordNet` as one.
fn is_wordnet(root: &Path, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let parts: Vec<&str> = text.split(PARTS).collect();
    let [nouns, synsets, verbs, senses] = parts[..] else {
        return false;
    };
    for (name, part) in [
        ("index.noun", nouns),
        ("data.noun", synsets),
        ("index.verb", verbs),
        ("index.sense", senses),
    ] {
        put(root, name, part.as_bytes());
    }
    let Ok(wordnet) = WordNet::read(root) else {
        return false;
    };
    for word in wordnet.nouns().take(8) {
        if let Some(noun) = wordnet.noun(word) {
            let classes = wordnet.classes(noun.synset);
            assert!(!classes.contains(&noun.synset), "{word} is above itself");
            classes.iter().for_each(|class| drop(wordnet.word(*class)));
        }
        let is_verb = wordnet.can_be_verb(word);
        assert!(is_verb || !wordnet.is_rather_verb(word), "{word}");
    }
    true
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
