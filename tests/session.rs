//! A session end to end: a small random model is written as a manifest with shards, opened, and asked.
#![cfg(feature = "engine")]
#![allow(missing_docs, reason = "an integration test has no users")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "the pictures and vectors are small"
)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Cursor;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use burn::tensor::{Int, Tensor};
use kappascope::device::cpu;
use kappascope::error::{Error, Result};
use kappascope::host::gemm::portable;
use kappascope::inference::{
    CPU_TOLERANCE, GoldenReadings, Session, Source, TextEncoding, WeightFormat,
};
use kappascope::model::adapter::{AdapterConfig, MeanDirection, PerFamily};
use kappascope::model::clip::{Architecture, ClipConfig, TextConfig, VisionConfig};
use kappascope::model::encoder::EncoderConfig;
use kappascope::model::parameters::{Parameters, TensorRecord};
use kappascope::numerics::Family;
use kappascope::preprocess::{ImagePreprocess, word_level_tokenizer_json};
use kappascope::protocol::Stage;
use kappascope::weights::adapter_file::{self, About, AdapterFile};
use kappascope::weights::manifest::{
    FORMAT, FileEntry, Golden, Manifest, OutOfDistributionDetector, Part, Provenance, Shard,
};
use kappascope::weights::shard::{Precision, describe, file_entry, read, write};

const WORDS: [&str; 5] = ["a", "red", "star", "above", "circle"];
const EMBED_DIM: usize = 12;
const IMAGE_SIZE: usize = 8;

/// Files of a model in memory, by name.
struct Memory(HashMap<String, Vec<u8>>);

impl Source for Memory {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        self.0.get(&entry.file).cloned().ok_or_else(|| Error::Io {
            path: entry.file.clone(),
            reason: "not found".to_owned(),
        })
    }
}

impl Memory {
    fn put(&mut self, file: &str, bytes: Vec<u8>) -> FileEntry {
        let entry = file_entry(file, &bytes);
        self.0.insert(file.to_owned(), bytes);
        entry
    }

    fn put_shard(
        &mut self,
        file: &str,
        part: Part,
        records: &[TensorRecord],
        precision: Precision,
    ) -> Shard {
        let bytes = write(records, precision).expect("valid records");
        Shard {
            part,
            tensors: describe(&bytes).expect("just written"),
            entry: self.put(file, bytes),
        }
    }
}

/// Runs a future that never waits: on the CPU every read-back is there at once.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

fn records(module: &impl Parameters) -> Vec<TensorRecord> {
    let tensors = module.named_tensors().into_iter();
    tensors
        .map(|tensor| TensorRecord {
            name: tensor.name,
            shape: tensor.shape,
            values: tensor.values.into_data().as_slice().expect("f32").to_vec(),
        })
        .collect()
}

fn clip_of(manifest: &mut Manifest) -> &mut ClipConfig {
    match &mut manifest.encoder {
        EncoderConfig::Clip(clip) => clip,
        EncoderConfig::Towers(_) => panic!("the model of these tests is a CLIP"),
    }
}

fn clip_config() -> ClipConfig {
    // An unknown word's token, the words, start, end.
    let vocab_size = WORDS.len() + 3;
    ClipConfig {
        architecture: Architecture::Clip,
        embed_dim: EMBED_DIM,
        vision_cfg: VisionConfig {
            image_size: IMAGE_SIZE,
            layers: 1,
            width: 16,
            head_width: 8,
            patch_size: 4,
            mlp_ratio: 2.0,
        },
        text_cfg: TextConfig {
            context_length: 6,
            vocab_size,
            width: 16,
            heads: 2,
            layers: 2,
            mlp_ratio: 2.0,
            start_token_id: Some(6),
            end_token_id: 7,
        },
        quick_gelu: false,
    }
}

fn picture() -> Vec<u8> {
    let pixels =
        image::RgbImage::from_fn(10, 9, |x, y| image::Rgb([20 * x as u8, 25 * y as u8, 77]));
    let mut bytes = Cursor::new(Vec::new());
    pixels
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("a PNG in memory");
    bytes.into_inner()
}

/// A random model and its manifest, without golden values.
fn model() -> (Manifest, Memory) {
    model_in(Precision::F32)
}

fn adapter_config() -> AdapterConfig {
    AdapterConfig {
        embed_dim: EMBED_DIM,
        hidden_width: 10,
        hidden_layers: 3,
        mean_direction: MeanDirection::Learned,
    }
}

/// Tensors of text tower, image tower and both adapters, drawn once: the device's random numbers belong to all tests.
fn tensors() -> [Vec<TensorRecord>; 4] {
    static DRAWN: OnceLock<[Vec<TensorRecord>; 4]> = OnceLock::new();
    let draw = || {
        let device = cpu();
        device.seed(1);
        let clip = clip_config().init(&device);
        let adapter = || records(&adapter_config().init(&device));
        let (vmf, power_spherical) = (adapter(), adapter());
        [
            records(&clip.text),
            records(&clip.vision),
            vmf,
            power_spherical,
        ]
    };
    DRAWN.get_or_init(draw).clone()
}

fn model_in(precision: Precision) -> (Manifest, Memory) {
    let mut memory = Memory(HashMap::new());
    let (clip_config, adapter_config) = (clip_config(), adapter_config());
    let [text, image, vmf, power_spherical] = tensors();
    let shards = vec![
        ("text", Part::Text, text, precision),
        ("image", Part::Image, image, precision),
        ("vmf", Part::AdapterVmf, vmf, Precision::F32),
        (
            "ps",
            Part::AdapterPowerSpherical,
            power_spherical,
            Precision::F32,
        ),
    ];
    let put = |(name, part, records, precision): (&str, Part, Vec<TensorRecord>, Precision)| {
        memory.put_shard(&format!("{name}.safetensors"), part, &records, precision)
    };
    let shards = shards.into_iter().map(put).collect();
    let manifest = Manifest {
        format: FORMAT,
        name: "random".to_owned(),
        title: "Random".to_owned(),
        license: "MIT".to_owned(),
        encoder: EncoderConfig::Clip(clip_config),
        logits: None,
        preprocess: ImagePreprocess::clip(IMAGE_SIZE),
        tokenizer: memory.put(
            "tokenizer.json",
            word_level_tokenizer_json(&WORDS).into_bytes(),
        ),
        shards,
        adapters: Some(PerFamily {
            vmf: adapter_config.clone(),
            power_spherical: adapter_config,
        }),
        reference_uncertainty: None,
        out_of_distribution: Some(OutOfDistributionDetector {
            grounds: vec![[200, 30, 30]],
            tolerance: 8,
            threshold: 0.5,
            false_alarms: 0.05,
            detected: vec![],
        }),
        unfamiliar: None,
        picture_sets: None,
        golden: None,
        provenance: Provenance::default(),
    };
    (manifest, memory)
}

fn open(manifest: Manifest, memory: &Memory) -> Result<Session> {
    block_on(Session::open(manifest, memory, &cpu(), |_, _, _| {}))
}

fn captions(captions: &[&str]) -> Vec<String> {
    captions
        .iter()
        .map(|caption| (*caption).to_owned())
        .collect()
}

/// What a session answers to two captions and a picture.
fn golden(session: &Session) -> Golden {
    let captions = captions(&["a red star", "a star above a circle"]);
    let readings = block_on(session.golden_readings(&captions, &picture()));
    let image = file_entry("golden.png", &picture());
    readings
        .expect("an engine that runs")
        .into_golden(captions, image)
}

#[test]
fn a_session_reproduces_its_own_golden_values_and_refuses_others() {
    let (mut manifest, memory) = model();
    let session = open(manifest.clone(), &memory).expect("a valid model");
    let golden = golden(&session);
    let test = |golden: &Golden| {
        manifest.golden = Some(golden.clone());
        let session = open(manifest.clone(), &memory).expect("a valid model");
        let whole = block_on(session.self_test(&picture(), CPU_TOLERANCE)).expect("it runs");
        let (texts, picture) = (session.encode_text(&golden.captions), picture());
        let texts = block_on(texts).expect("it runs");
        let text = session.self_test_text(&texts, CPU_TOLERANCE);
        let image = session.self_test_image(&texts, &picture, CPU_TOLERANCE);
        let image = block_on(image).expect("it runs");
        assert_eq!(image, whole, "with captions encoded before");
        let fewer = session.self_test_image(&texts[1..], &picture, CPU_TOLERANCE);
        assert!(block_on(fewer).is_err(), "a caption is left out");
        assert!(
            session.self_test_text(&[], CPU_TOLERANCE).is_err(),
            "all are"
        );
        (whole.passed(), text.expect("it has values").passed())
    };
    let mut test = test;
    assert_eq!(test(&golden), (true, true), "the same engine and weights");

    let mut other = golden.clone();
    let concentration = other.concentration.as_mut().expect("adapters");
    concentration.power_spherical[1] *= 1.001;
    assert_eq!(test(&other), (false, false), "κ is off by a thousandth");
    let mut other = golden.clone();
    other.features_norm.as_mut().expect("norms")[0] *= 1.001;
    assert_eq!(test(&other), (false, false), "a length is");
    let mut other = golden;
    other.cosine[1] += 0.001;
    assert_eq!(
        test(&other),
        (false, true),
        "a cosine is, which needs the picture"
    );
}

#[test]
fn captions_are_described_before_the_image_encoder_is_there() {
    let (manifest, memory) = model();
    let whole = open(manifest.clone(), &memory).expect("a valid model");
    let total = manifest.weights_bytes();
    let without_image = Memory(
        memory
            .0
            .iter()
            .filter(|(file, _)| *file != "image.safetensors")
            .map(|(file, bytes)| (file.clone(), bytes.clone()))
            .collect(),
    );
    let device = cpu();
    let opened = Session::open_text(
        manifest,
        &without_image,
        &device,
        WeightFormat::Tensor,
        |_, _, _| {},
    );
    let session = block_on(opened).expect("its files are there");
    assert!(!session.has_vision(), "not asked for");
    let batch = captions(&["a red star"]);
    let found = block_on(session.encode_text(&batch)).expect("it runs");
    let expected = block_on(whole.encode_text(&batch)).expect("it runs");
    assert_eq!(found, expected, "the same tower");
    let rgb = kappascope::preprocess::decode(&picture())
        .expect("a PNG")
        .rgb;
    let error = block_on(session.encode_image(&rgb)).expect_err("no image encoder");
    assert_eq!(error.to_string(), "the image encoder is not loaded", "said");

    let mut last = 0;
    let on_progress = |_: Stage, loaded: u64, of: u64| {
        assert_eq!(of, total, "one total");
        last = loaded;
    };
    block_on(session.load_vision(&memory, on_progress)).expect("now it is there");
    assert_eq!(last, total, "all of it");
    let found = block_on(session.encode_image(&rgb)).expect("it runs");
    let expected = block_on(whole.encode_image(&rgb)).expect("it runs");
    assert_eq!(found, expected, "the same tower");
}

#[test]
fn a_dropped_image_encoder_answers_nothing_until_one_is_loaded_again() {
    let (manifest, memory) = model();
    let session = open(manifest, &memory).expect("a valid model");
    let dropped = session.without_vision();
    assert!(!dropped.has_vision() && session.has_vision(), "a copy");
    let batch = captions(&["a red star"]);
    let [found, expected] =
        [&dropped, &session].map(|session| block_on(session.encode_text(&batch)).expect("it runs"));
    assert_eq!(found, expected, "captions go on");
    let rgb = kappascope::preprocess::decode(&picture())
        .expect("a PNG")
        .rgb;
    assert!(block_on(dropped.encode_image(&rgb)).is_err(), "none");
    block_on(dropped.load_vision(&memory, |_, _, _| {})).expect("a valid model");
    assert!(block_on(dropped.encode_image(&rgb)).is_ok(), "another");
}

/// The adapters of a model as a file of their own.
fn adapter_file(manifest: &Manifest, memory: &Memory, golden: Golden) -> AdapterFile {
    let records = |file: &str| read(&memory.0[file]).expect("a shard");
    AdapterFile {
        about: About {
            format: adapter_file::FORMAT,
            title: "Random, adapted".to_owned(),
            adapters: manifest.adapters.clone().expect("it has adapters"),
            reference_uncertainty: PerFamily {
                vmf: vec![0.1, 0.2],
                power_spherical: vec![0.1, 0.2],
            },
            captions: golden.captions,
            concentration: golden.concentration.expect("it has adapters"),
            provenance: Provenance::default(),
        },
        records: PerFamily {
            vmf: records("vmf.safetensors"),
            power_spherical: records("ps.safetensors"),
        },
    }
}

#[test]
fn adapters_that_are_given_later_answer_as_those_of_the_model() {
    let (mut manifest, memory) = model();
    let whole = open(manifest.clone(), &memory).expect("a valid model");
    let golden = golden(&whole);
    let file = adapter_file(&manifest, &memory, golden.clone());
    manifest.adapters = None;
    manifest.golden = Some(Golden {
        concentration: None,
        nats: None,
        ..golden
    });
    manifest
        .shards
        .retain(|shard| matches!(shard.part, Part::Text | Part::Image));
    let bare = open(manifest, &memory).expect("a model without adapters");
    assert_eq!(bare.logit_scale(), None, "no κ yet");

    let bytes = file.write().expect("a file");
    let file = AdapterFile::read(&bytes).expect("just written");
    let about = file.about.clone();
    let adapted = block_on(bare.with_adapters(file)).expect("they fit");
    let test = block_on(adapted.self_test_adapters(&about.captions, about.concentration));
    let test = test.expect("it runs");
    assert!(test.passed(), "stored in two bytes: {test:?}");
    assert_eq!(adapted.manifest().title, "Random, adapted", "its title");
    let test = block_on(adapted.self_test(&picture(), CPU_TOLERANCE)).expect("it runs");
    assert!(test.passed(), "the encoder is the same: {test:?}");
    let batch = captions(&["a red star"]);
    let [found, expected] =
        [&adapted, &whole].map(|session| block_on(session.encode_text(&batch)).expect("it runs"));
    let kappa = |texts: &[TextEncoding]| {
        texts[0]
            .distributions
            .clone()
            .expect("distributions")
            .vmf
            .concentration
    };
    let (found, expected) = (kappa(&found), kappa(&expected));
    assert!(
        (found / expected - 1.0).abs() < 1e-2,
        "κ {found}, of the whole model {expected}"
    );
    assert_eq!(bare.logit_scale(), None, "the bare one stays as it was");
}

#[test]
fn adapters_of_another_encoder_are_refused_or_found_out() {
    let (manifest, memory) = model();
    let whole = open(manifest.clone(), &memory).expect("a valid model");
    let good = adapter_file(&manifest, &memory, golden(&whole));
    let mut wide = good.clone();
    wide.about.adapters.vmf.embed_dim += 1;
    let error = block_on(whole.with_adapters(wide)).expect_err("another dimension");
    assert_eq!(
        error.to_string(),
        format!(
            "adapters for {} dimensions, this encoder has {EMBED_DIM}",
            EMBED_DIM + 1
        ),
        "told"
    );
    let mut thick = good.clone();
    thick.about.adapters.power_spherical.hidden_width += 1;
    let error = block_on(whole.with_adapters(thick)).expect_err("other sizes than its tensors");
    assert!(error.to_string().contains("shape"), "{error}");
    let mut lost = good.clone();
    lost.records.vmf.pop();
    let error = block_on(whole.with_adapters(lost)).expect_err("a tensor is not there");
    assert!(error.to_string().contains("missing"), "{error}");

    let mut about = good.about.clone();
    about.concentration.vmf[0] *= 1.5;
    let adapted = block_on(whole.with_adapters(good)).expect("they fit");
    let test = block_on(adapted.self_test_adapters(&about.captions, about.concentration));
    let test = test.expect("it runs");
    assert!(!test.passed(), "κ is half as large again there: {test:?}");
}

/// A caption and a picture, by a model that holds its weights in this way.
fn embeddings(manifest: &Manifest, memory: &Memory, format: WeightFormat) -> [Vec<f32>; 2] {
    let device = cpu();
    let opened = Session::open_text(manifest.clone(), memory, &device, format, |_, _, _| {});
    let session = block_on(opened).expect("a valid model");
    block_on(session.load_vision(memory, |_, _, _| {})).expect("its files are there");
    let decoded = kappascope::preprocess::decode(&picture()).expect("a PNG");
    let mut texts = block_on(session.encode_text(&captions(&["a red star"]))).expect("it runs");
    let image = block_on(session.encode_image(&decoded.rgb)).expect("it runs");
    [texts.remove(0).embedding, image.embedding]
}

#[test]
fn a_caption_that_is_too_long_is_refused_whoever_asks() {
    let (manifest, memory) = model();
    let session = open(manifest, &memory).expect("a valid model");
    let asked = ["a red star".to_owned(), "a ".repeat(1000)];
    let answered = block_on(session.encode_text(&asked)).expect("2,000 characters fit");
    assert_eq!(answered.len(), 2, "one for each caption");
    let asked = [asked[0].clone(), format!("{}a", asked[1])];
    let error = block_on(session.encode_text(&asked)).expect_err("one too many");
    let expected = "a caption of 2001 characters, expected at most 2000";
    assert_eq!(error.to_string(), expected, "the page is told");
}

#[test]
fn weights_held_in_eight_bits_are_those_of_eight_bit_shards() {
    let (manifest, memory) = model_in(Precision::Int8);
    let held = [WeightFormat::Tensor, WeightFormat::PackedInt8(portable)]
        .map(|format| embeddings(&manifest, &memory, format));
    for (floats, int8) in held[0].iter().flatten().zip(held[1].iter().flatten()) {
        assert!((floats - int8).abs() < 1e-6, "{int8} for {floats}");
    }
}

#[test]
fn packed_weights_give_what_tensors_give() {
    let (manifest, memory) = model();
    let held = [WeightFormat::Tensor, WeightFormat::Packed(portable)]
        .map(|format| embeddings(&manifest, &memory, format));
    for (tensors, packed) in held[0].iter().flatten().zip(held[1].iter().flatten()) {
        assert!((tensors - packed).abs() < 1e-6, "{packed} for {tensors}");
    }
}

#[test]
fn the_numbers_of_a_caption_do_not_depend_on_those_beside_it() {
    let (manifest, memory) = model();
    let format = WeightFormat::Packed(portable);
    let device = cpu();
    let opened = Session::open_text(manifest, &memory, &device, format, |_, _, _| {});
    let session = block_on(opened).expect("a valid model");
    let together = captions(&["a red star", "a blue circle and a star", "a", "red"]);
    let all = block_on(session.encode_text(&together)).expect("it runs");
    for (caption, expected) in together.iter().zip(&all) {
        let alone = block_on(session.encode_text(std::slice::from_ref(caption)));
        assert_eq!(
            &alone.expect("it runs")[0],
            expected,
            "{caption}, to the bit"
        );
    }
}

#[test]
fn floats_may_be_held_in_eight_bits_and_change_little() {
    let (manifest, memory) = model();
    let held = [WeightFormat::Tensor, WeightFormat::PackedInt8(portable)]
        .map(|format| embeddings(&manifest, &memory, format));
    for (floats, int8) in held[0].iter().zip(&held[1]) {
        let cosine: f32 = floats.iter().zip(int8).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.999 && cosine < 1.0, "cosine {cosine}");
    }
}

#[test]
fn a_model_without_shards_is_read_by_name() {
    let (mut manifest, memory) = model();
    let whole = open(manifest.clone(), &memory).expect("a valid model");
    manifest.shards.clear();
    manifest.adapters = None;
    manifest.out_of_distribution = None;
    let error = open(manifest.clone(), &memory).expect_err("this source has shards alone");
    assert_eq!(
        error.to_string(),
        "text_model.embeddings.token_embedding.weight: in no shard",
        "names the tensor"
    );
    let by_name = ByName(memory);
    let device = cpu();
    let opened = Session::open(manifest, &by_name, &device, |_, _, _| {});
    let session = block_on(opened).expect("a source of tensors");
    let batch = captions(&["a red star"]);
    let found = block_on(session.encode_text(&batch)).expect("it runs");
    let expected = block_on(whole.encode_text(&batch)).expect("it runs");
    assert_eq!(found[0].embedding, expected[0].embedding, "the same tower");
}

/// Tensors by name, as out of another program's file.
struct ByName(Memory);

impl Source for ByName {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        self.0.read(entry).await
    }

    async fn tensor(&self, name: &str, _shape: &[usize]) -> Result<TensorRecord> {
        let files = ["text.safetensors", "image.safetensors"];
        let mut records = files
            .iter()
            .flat_map(|file| read(&self.0.0[*file]).expect("a shard"));
        let found = records.find(|record| record.name == name);
        found.ok_or_else(|| Error::Weights(format!("{name}: missing")))
    }
}

#[test]
fn captions_of_one_batch_are_what_each_is_alone() {
    let (manifest, memory) = model();
    let session = open(manifest, &memory).expect("a valid model");
    let batch = captions(&["star", "", "a red circle above a star", "a green star"]);
    let together = block_on(session.encode_text(&batch)).expect("it runs");
    assert!(
        together[2].tokens.truncated,
        "six words do not fit between start and end"
    );
    assert_eq!(
        together[3].tokens.unknown_words,
        ["green"],
        "not in the vocabulary"
    );
    for (caption, found) in batch.iter().zip(&together) {
        let alone = block_on(session.encode_text(std::slice::from_ref(caption))).expect("it runs");
        let (found, alone) = (
            found.distributions.as_ref().expect("adapters"),
            alone[0].distributions.as_ref().expect("adapters"),
        );
        for family in Family::ALL {
            let (found, alone) = (
                found.get(family).concentration,
                alone.get(family).concentration,
            );
            assert!(
                (found - alone).abs() <= 1e-5 * alone,
                "{caption:?}, {family:?}: {found} in the batch, {alone} alone"
            );
        }
    }
}

#[test]
fn beginnings_and_repeated_captions_are_what_each_is_alone() {
    let (manifest, memory) = model();
    let session = open(manifest, &memory).expect("a valid model");
    let batch = captions(&[
        "a",
        "a red",
        "a red star",
        "a red star above",
        "red star above",
        "a red",
    ]);
    let together = block_on(session.encode_text(&batch)).expect("it runs");
    assert_eq!(together[1], together[5], "the same caption");
    for (caption, found) in batch.iter().zip(&together) {
        let alone = block_on(session.encode_text(std::slice::from_ref(caption))).expect("it runs");
        for (found, alone) in found.embedding.iter().zip(&alone[0].embedding) {
            assert!(
                (found - alone).abs() <= 1e-5,
                "{caption:?}: {found} in the batch, {alone} alone"
            );
        }
    }
}

#[test]
fn a_session_gives_what_the_modules_give() {
    let (manifest, memory) = model();
    let device = cpu();
    let mut text = manifest.encoder.init_text(&device);
    let shard = |file: &str| read(&memory.0[file]).expect("a shard");
    text.load(shard("text.safetensors")).expect("its weights");
    let mut adapter = manifest
        .adapters
        .clone()
        .expect("adapters")
        .vmf
        .init(&device);
    adapter.load(shard("vmf.safetensors")).expect("its weights");
    // start, "red", "star", end
    let ids = Tensor::<2, Int>::from_data([[6, 2, 3, 7]], &device);
    let features = text.forward(ids, &[3]);
    let eta: f32 = adapter
        .forward(features)
        .powf_scalar(2.0)
        .sum()
        .sqrt()
        .into_scalar();

    let session = open(manifest, &memory).expect("a valid model");
    let found = block_on(session.encode_text(&captions(&["Red star!"]))).expect("it runs");
    let found = found[0]
        .distributions
        .as_ref()
        .expect("adapters")
        .vmf
        .concentration;
    assert!(
        (found - f64::from(eta)).abs() <= 1e-5 * found,
        "session {found}, modules {eta}"
    );
}

#[test]
fn the_ground_share_counts_the_pixels_near_one_of_the_grounds() {
    let (manifest, memory) = model();
    let session = open(manifest, &memory).expect("a valid model");
    let picture = kappascope::preprocess::RgbPixels {
        width: 2,
        height: 2,
        pixels: vec![200, 30, 30, 208, 22, 30, 209, 30, 30, 0, 0, 0],
    };
    assert_eq!(
        session.ground_share(&picture),
        Some(0.5),
        "the ground, eight away, nine away, black"
    );
}

#[test]
fn a_model_without_adapters_gives_cosines_and_passes_its_self_test() {
    let (mut manifest, memory) = model();
    let with_adapters = open(manifest.clone(), &memory).expect("a valid model");
    manifest.adapters = None;
    manifest.out_of_distribution = None;
    manifest
        .shards
        .retain(|shard| matches!(shard.part, Part::Text | Part::Image));
    let session = open(manifest.clone(), &memory).expect("adapters may be missing");
    let found = golden(&session);
    assert_eq!(found.concentration, None, "nothing gives κ");
    assert_eq!(found.nats, None, "nothing gives nats");
    let expected = golden(&with_adapters);
    assert_eq!(found.cosine, expected.cosine, "the same towers");
    manifest.golden = Some(found);
    let session = open(manifest, &memory).expect("a valid model");
    let test = block_on(session.self_test(&picture(), CPU_TOLERANCE)).expect("it runs");
    assert!(test.passed(), "the same engine and weights: {test:?}");
}

#[test]
fn a_tensor_that_is_cut_over_two_shards_is_put_together() {
    let (mut manifest, mut memory) = model();
    let session = open(manifest.clone(), &memory).expect("a valid model");
    let whole = read(&memory.0["text.safetensors"]).expect("the text tower");
    let (mut first, mut second) = (whole.clone(), Vec::new());
    for record in &mut first {
        if record.name.ends_with("token_embedding.weight") {
            let mut rest = record.clone();
            rest.values = record.values.split_off(3 * record.shape[1]);
            rest.shape[0] -= 3;
            record.shape[0] = 3;
            second.push(rest);
        }
    }
    manifest.shards.retain(|shard| shard.part != Part::Text);
    let shards = [
        ("text-1.safetensors", &first),
        ("text-2.safetensors", &second),
    ];
    for (file, records) in shards {
        manifest
            .shards
            .push(memory.put_shard(file, Part::Text, records, Precision::F32));
    }
    let cut = open(manifest, &memory).expect("pieces of a matrix");
    let batch = captions(&["a red star", "above"]);
    let expected = block_on(session.encode_text(&batch)).expect("it runs");
    let found = block_on(cut.encode_text(&batch)).expect("it runs");
    assert_eq!(found, expected, "the same tower");
}

#[test]
fn a_changed_file_is_refused_by_name() {
    let (manifest, mut memory) = model();
    let bytes = memory.0.get_mut("vmf.safetensors").expect("the shard");
    *bytes.last_mut().expect("not empty") ^= 1;
    let error = open(manifest, &memory).expect_err("one bit is another");
    assert!(
        error.to_string().starts_with("vmf.safetensors: sha256 is"),
        "the message names the file: {error}"
    );
}

#[test]
fn progress_grows_to_the_manifests_sum() {
    let (manifest, memory) = model();
    let total = manifest.weights_bytes();
    let seen = RefCell::new(Vec::new());
    let on_progress = |stage: Stage, loaded: u64, of: u64| {
        seen.borrow_mut().push((stage, loaded, of));
    };
    block_on(Session::open(manifest, &memory, &cpu(), on_progress)).expect("a valid model");
    let seen = seen.into_inner();
    assert!(
        seen.is_sorted_by_key(|(_, loaded, _)| *loaded),
        "never back: {seen:?}"
    );
    assert!(
        seen.iter().all(|(_, _, of)| *of == total),
        "one total: {seen:?}"
    );
    assert_eq!(seen.last().map(|last| last.1), Some(total), "all of it");
}

#[test]
fn a_manifest_that_contradicts_itself_is_refused_before_anything_is_read() {
    type Break = fn(&mut Manifest);
    let cases: [(Break, &str); 6] = [
        (
            |m| m.format = 99,
            "manifest: format is 99, this program reads 1",
        ),
        (
            |m| m.shards.retain(|shard| shard.part != Part::Image),
            "manifest: no shard holds the part Image",
        ),
        (
            |m| m.tokenizer.file = "../secret".to_owned(),
            "manifest: file is \"../secret\", expected a path below the manifest's folder",
        ),
        (
            |m| m.tokenizer.sha256 = "ABC".to_owned(),
            "manifest: tokenizer.json: sha256 is \"ABC\", expected 64 lower-case hexadecimal digits",
        ),
        (
            |m| clip_of(m).vision_cfg.patch_size = 3,
            "manifest: clip.vision_cfg.image_size is 8, expected a multiple of 3",
        ),
        (
            |m| {
                let captions = vec!["a".to_owned(), "b".to_owned()];
                let image = m.tokenizer.clone();
                let readings = GoldenReadings {
                    concentration: None,
                    nats: None,
                    cosine: vec![],
                    features_norm: vec![1.0, 2.0],
                };
                m.golden = Some(readings.into_golden(captions, image));
            },
            "manifest: golden.cosine has [0] values, expected 2, one for each caption",
        ),
    ];
    for (break_it, message) in cases {
        let (mut manifest, _) = model();
        break_it(&mut manifest);
        let nothing = Memory(HashMap::new());
        let error = open(manifest, &nothing).expect_err("broken");
        assert_eq!(error.to_string(), message, "the message says what is wrong");
    }
}

#[test]
fn a_manifest_survives_json() {
    let (manifest, _) = model();
    let json = serde_json::to_vec(&manifest).expect("plain data");
    assert_eq!(Manifest::from_json(&json), Ok(manifest), "read back");
}
