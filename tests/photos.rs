//! The towers for photographs against `transformers` and `timm`, on small random models of their architectures, and the
//! dual encoder that `train import` makes of two towers.
//!
//! `tests/fixtures/generate_photos.py` wrote the weights, the inputs and the expected outputs.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fixture's integers are small"
)]

use std::path::{Path, PathBuf};

use burn::tensor::{Int, Tensor, TensorData};
use kappascope::device::cpu;
use kappascope::model::encoder::{EncoderConfig, TowersConfig};
use kappascope::model::parameters::{Parameters as _, TensorRecord};
use kappascope::preprocess::{RgbPixels, TextPreprocess};
use kappascope::train::export::bundle;
use kappascope::train::import::towers::{
    ReadImage, ReadText, Vocabulary, import_towers, read_image, read_text,
};
use kappascope::train::import::{CheckpointSource, Import};
use kappascope::weights::manifest::Manifest;
use kappascope::weights::shard::{Precision, read};
use serde::Deserialize;

/// Error over the greatest expected value: f32 sums in another order.
const TOLERANCE: f32 = 1e-5;

/// Greatest error of a preprocessed value: one step of 255 in 0–255, over the scale of 128.
const PIXEL_TOLERANCE: f32 = 1.0 / 128.0;

#[derive(Deserialize)]
struct Caption {
    caption: String,
    ids: Vec<u32>,
}

/// A folder of references, and the checkpoints that they are of.
struct References {
    folder: PathBuf,
    text: PathBuf,
    image: PathBuf,
}

impl References {
    fn small() -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/photos");
        Self {
            text: folder.join("text"),
            image: folder.join("image"),
            folder,
        }
    }

    fn expected(&self, name: &str) -> TensorRecord {
        let bytes = std::fs::read(self.folder.join("expected.safetensors")).expect("references");
        let mut records = read(&bytes).expect("safetensors").into_iter();
        let found = records.find(|record| record.name == name);
        found.expect("the references hold it")
    }

    fn captions(&self) -> Vec<Caption> {
        let json = std::fs::read(self.folder.join("captions.json")).expect("captions");
        serde_json::from_slice(&json).expect("captions with ids")
    }

    fn read_text(&self) -> ReadText {
        read_text(&CheckpointSource::Local(self.text.clone())).expect("a BERT of transformers")
    }

    fn read_image(&self) -> ReadImage {
        read_image(&CheckpointSource::Local(self.image.clone())).expect("an EfficientNet-Lite")
    }

    /// Compares the text tower's features with the references.
    fn check_text(&self) {
        let ReadText {
            config, tensors, ..
        } = self.read_text();
        let device = cpu();
        let mut tower = config.init(&device);
        tower.load(tensors).expect("every tensor has its place");
        let captions = self.captions();
        let length = captions.iter().map(|c| c.ids.len()).max().expect("some");
        let filler = captions[0].ids[captions[0].ids.len() - 1];
        let rows = captions.iter().flat_map(|caption| {
            let ids = caption.ids.iter().copied();
            let filled = ids.chain(std::iter::repeat(filler)).take(length);
            filled.map(i64::from).collect::<Vec<_>>()
        });
        let rows = TensorData::new(rows.collect(), [captions.len(), length]);
        let ends: Vec<usize> = captions.iter().map(|c| c.ids.len() - 1).collect();
        let found = tower.forward(Tensor::<2, Int>::from_data(rows, &device), &ends);
        assert_close(found, &self.expected("text_features"));
    }

    /// Compares the image tower's features with the references.
    fn check_image(&self) {
        let ReadImage {
            config, tensors, ..
        } = self.read_image();
        let device = cpu();
        let mut tower = config.init(&device);
        tower.load(tensors).expect("every tensor has its place");
        let images = self.expected("images");
        let shape: [usize; 4] = images.shape.try_into().expect("four sizes");
        let images = Tensor::<4>::from_data(TensorData::new(images.values, shape), &device);
        assert_close(
            tower.forward(images).features,
            &self.expected("image_features"),
        );
    }

    /// Compares the tower's input with the references' first picture.
    fn check_preprocessing(&self) {
        // The genuine file has no card; the fixture's card is timm's, whose statistics are others.
        let mut preprocess = self.read_image().preprocess;
        (preprocess.mean, preprocess.std) = ([127.0 / 255.0; 3], [128.0 / 255.0; 3]);
        let picture = self.expected("picture");
        let rgb = RgbPixels {
            width: picture.shape[1],
            height: picture.shape[0],
            pixels: picture.values.iter().map(|value| *value as u8).collect(),
        };
        let found = preprocess.apply(&rgb);
        let expected = self.expected("images").values;
        let errors = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
        let greatest = errors.fold(0.0, f32::max);
        assert!(
            greatest <= PIXEL_TOLERANCE + 1e-6,
            "{greatest}, {PIXEL_TOLERANCE} is allowed"
        );
    }

    /// Compares the ids of captions with the references.
    fn check_tokens(&self) {
        let ReadText {
            tokenizer, config, ..
        } = self.read_text();
        let config = EncoderConfig::Towers(TowersConfig {
            text: config,
            ..TowersConfig::photographs()
        });
        let length = config.context_length();
        let tokenizer = TextPreprocess::from_tokenizer_json(&tokenizer, length);
        let tokenizer = tokenizer.expect("a tokenizer of BERT's kind");
        for Caption { caption, ids } in self.captions() {
            let found = tokenizer.encode(&caption).expect("a caption").ids;
            assert_eq!(found, ids, "{caption:?}");
        }
    }
}

fn assert_close(found: Tensor<2>, expected: &TensorRecord) {
    assert_eq!(found.dims(), expected.shape[..], "shape");
    let found = found.into_data().try_into_vec::<f32>().expect("f32");
    let sizes = expected.values.iter().map(|value| value.abs());
    let size = sizes.fold(0.0, f32::max);
    for (index, (found, expected)) in found.iter().zip(&expected.values).enumerate() {
        assert!(
            (found - expected).abs() <= TOLERANCE * size,
            "value {index}: found {found}, expected {expected}, greatest {size}"
        );
    }
}

#[test]
fn bert_gives_the_features_of_transformers() {
    References::small().check_text();
}

#[test]
fn efficientnet_gives_the_features_of_timm() {
    References::small().check_image();
}

#[test]
fn another_programs_names_in_an_old_file_give_the_same() {
    let small = References::small();
    let flat = small.image.join("flat.pth");
    let (ours, old) = (
        small.read_image(),
        read_image(&CheckpointSource::Local(flat)).expect("a file of PyTorch before 1.6"),
    );
    assert_eq!(old.config, ours.config, "sizes told by shapes");
    assert_eq!(old.tensors, ours.tensors, "the same values under our names");
}

#[test]
fn captions_get_the_ids_of_transformers() {
    References::small().check_tokens();
}

#[test]
fn pictures_are_squashed_as_pil_does_it() {
    References::small().check_preprocessing();
}

#[test]
#[ignore = "needs KAPPASCOPE_PHOTO_TOWERS, a folder with `minilm/`, `lite0.pth` and what generate_photos.py --full wrote"]
fn the_genuine_towers_give_their_features() {
    let folder = std::env::var_os("KAPPASCOPE_PHOTO_TOWERS").expect("names the folder");
    let folder = PathBuf::from(folder);
    let references = References {
        text: folder.join("minilm"),
        image: folder.join("lite0.pth"),
        folder,
    };
    references.check_tokens();
    references.check_preprocessing();
    references.check_text();
    references.check_image();
}

fn job(out: &Path, precision: Precision) -> Import {
    Import {
        source: CheckpointSource::Local(References::small().text),
        out: out.to_owned(),
        precision,
        tokenizer: None,
        golden_picture: None,
        replace: false,
        command: "a test".to_owned(),
    }
}

#[test]
fn two_towers_become_one_model_that_answers() {
    let scratch = tempfile::tempdir().expect("a folder");
    let image = CheckpointSource::Local(References::small().image);
    for (name, dtype) in [("f32", Precision::F32), ("int8", Precision::Int8)] {
        let out = scratch.path().join(name);
        let manifest =
            import_towers(&job(&out, dtype), &image, &Vocabulary::default()).expect("two towers");
        let json = std::fs::read(out.join("manifest.json")).expect("a manifest");
        assert_eq!(
            Manifest::from_json(&json).as_ref(),
            Ok(&manifest),
            "read back"
        );
        let (session, _) = bundle::open_tested(&out, &cpu()).expect("meets its golden values");
        let captions = ["a cat".to_owned(), "the running dog".to_owned()];
        let texts = pollster::block_on(session.encode_text(&captions)).expect("captions");
        assert_eq!(
            texts[0].embedding.len(),
            manifest.encoder.embed_dim(),
            "in the common space"
        );
        assert!(texts[0].features_norm > 0.0, "not normalised before");
    }
}

#[test]
fn wordpieces_that_nobody_types_are_left_out() {
    let scratch = tempfile::tempdir().expect("a folder");
    let typed = scratch.path().join("typed.txt");
    std::fs::write(&typed, "the cat running\na photo of two dogs\n").expect("written");
    let vocabulary = Vocabulary {
        typed: vec![typed],
        pieces: 75,
    };
    let image = CheckpointSource::Local(References::small().image);
    let answers = [Vocabulary::default(), vocabulary].map(|vocabulary| {
        let out = scratch.path().join(vocabulary.pieces.to_string());
        let manifest = import_towers(&job(&out, Precision::F32), &image, &vocabulary);
        let manifest = manifest.expect("two towers");
        let (session, _) = bundle::open_tested(&out, &cpu()).expect("meets its golden values");
        let captions = ["the cat".to_owned(), "a photo of dogs".to_owned()];
        let texts = pollster::block_on(session.encode_text(&captions)).expect("captions");
        (manifest.encoder.vocab_size(), texts)
    });
    let [(all, whole), (few, pruned)] = answers;
    assert_eq!((all, few), (100, 75), "rows of the token table");
    for (whole, pruned) in whole.iter().zip(&pruned) {
        let pairs = whole.embedding.iter().zip(&pruned.embedding);
        let cosine: f32 = pairs.map(|(a, b)| a * b).sum();
        assert!(cosine > 1.0 - 1e-5, "{cosine}: the same features");
    }
}

#[test]
fn a_text_tower_without_its_tokenizer_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder");
    let text = References::small().text;
    for file in ["model.safetensors", "config.json"] {
        std::fs::copy(text.join(file), scratch.path().join(file)).expect("copied");
    }
    let error =
        read_text(&CheckpointSource::Local(scratch.path().to_owned())).expect_err("no tokenizer");
    assert!(format!("{error:#}").contains("tokenizer.json"), "{error:#}");
}
