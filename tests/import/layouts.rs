//! One model in the files of four programs, held to the features that `transformers` computes with it.

use std::path::{Path, PathBuf};

use burn::tensor::{Int, Tensor, TensorData};
use kappascope::device::cpu;
use kappascope::inference::{CPU_TOLERANCE, Published, Session, Tolerance};
use kappascope::model::parameters::{Parameters as _, TensorRecord};
use kappascope::train::export::bundle;
use kappascope::train::import::golden::Verdict;
use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::train::import::{CheckpointSource, import};
use kappascope::weights::manifest::{Manifest, Part};
use kappascope::weights::shard::{Precision, file_entry, join, read, write};

use crate::checkpoints::{
    Scratch, fixture, fused, import_into, job, put, put_tokenizer, reference_vectors, tiny_folder,
};

/// Error over the greatest expected value, in f32.
const F32_TOLERANCE: f64 = 1e-4;
/// Least cosine with the expected features, by how the weights are stored.
const F16_COSINE: f64 = 0.9999;
const INT8_COSINE: f64 = 0.999;

/// Both towers' tensors as they are stored.
fn towers(folder: &Path) -> (Manifest, Vec<TensorRecord>, Vec<TensorRecord>) {
    let json = std::fs::read(folder.join("manifest.json")).expect("a manifest");
    let manifest = Manifest::from_json(&json).expect("a valid manifest");
    let part = |part| {
        let mut records = Vec::new();
        for shard in manifest.shards(part) {
            let bytes = std::fs::read(folder.join(&shard.entry.file)).expect("the shard");
            records.extend(read(&bytes).expect("safetensors"));
        }
        let mut records = join(records).expect("pieces of matrices");
        records.sort_by(|a, b| a.name.cmp(&b.name));
        records
    };
    let (text, image) = (part(Part::Text), part(Part::Image));
    (manifest, text, image)
}

/// Features that a stored model gives for the expected inputs.
fn features(folder: &Path, expected: &[TensorRecord]) -> (Vec<f32>, Vec<f32>) {
    let (manifest, text, image) = towers(folder);
    let device = cpu();
    let (mut text_tower, mut image_tower) = (
        manifest.encoder.init_text(&device),
        manifest.encoder.init_vision(&device),
    );
    text_tower.load(text).expect("the text tower");
    image_tower.load(image).expect("the image tower");
    let input = |name: &str| {
        let record = expected.iter().find(|record| record.name == name);
        record.expect("the fixture holds every input").clone()
    };
    let integers = |record: &TensorRecord| -> Vec<i64> {
        record.values.iter().map(|value| *value as i64).collect()
    };
    let (ids, ends, images) = (input("token_ids"), input("end_positions"), input("images"));
    let n_texts = ids.shape[0];
    let token_ids = TensorData::new(integers(&ids), [n_texts, ids.shape[1]]);
    let ends: Vec<usize> = ends.values.iter().map(|end| *end as usize).collect();
    let text = text_tower.forward(Tensor::<2, Int>::from_data(token_ids, &device), &ends);
    let shape: [usize; 4] = images.shape.clone().try_into().expect("four sizes");
    let pixels = TensorData::new(images.values.clone(), shape);
    let image = image_tower.forward(Tensor::<4>::from_data(pixels, &device));
    let host = |rows: Tensor<2>| rows.into_data().try_into_vec::<f32>().expect("f32");
    (host(text), host(image))
}

pub(crate) fn greatest_error(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len(), "number of features");
    let size = expected.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
    let errors = found.iter().zip(expected);
    errors.fold(0.0, |greatest, (found, expected)| {
        let error = f64::from((found - expected).abs() / size);
        assert!(error.is_finite(), "found {found}, expected {expected}");
        error.max(greatest)
    })
}

fn least_cosine(found: &[f32], expected: &[f32], width: usize) -> f64 {
    let rows = found.chunks(width).zip(expected.chunks(width));
    rows.fold(1.0, |least, (found, expected)| {
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            let products = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
            products.sum()
        };
        let norm = (dot(found, found) * dot(expected, expected)).sqrt();
        least.min(dot(found, expected) / norm)
    })
}

/// What `transformers` computed, held against the three precisions; prints the numbers.
fn compare_with_transformers(source: &Path, scratch: &Scratch, start_token_id: u32) {
    let tokenizer = byte_level_json(start_token_id);
    put(&scratch.path("."), "tokenizer.json", tokenizer.as_bytes());
    compare(source, scratch, Some(scratch.path("tokenizer.json")));
}

/// The same with this tokenizer, or that which lies beside the checkpoint.
#[expect(clippy::print_stdout, reason = "the numbers are the point")]
pub(crate) fn compare(source: &Path, scratch: &Scratch, tokenizer: Option<PathBuf>) {
    let bytes = std::fs::read(source.join("expected.safetensors")).expect("the expected features");
    let expected = read(&bytes).expect("safetensors");
    let of = |name: &str| {
        let record = expected.iter().find(|record| record.name == name);
        record.expect("the fixture holds every output")
    };
    let (text, image) = (of("text_features"), of("image_features"));
    for dtype in [Precision::F32, Precision::F16, Precision::Int8] {
        let out = scratch.path(&format!("{dtype:?}"));
        let mut job = job(source, &out, dtype);
        job.tokenizer.clone_from(&tokenizer);
        import(&job).expect("a model of transformers");
        let (found_text, found_image) = features(&out, &expected);
        let errors = [(&found_text, text), (&found_image, image)]
            .map(|(found, expected)| greatest_error(found, &expected.values));
        let cosines = [(&found_text, text), (&found_image, image)]
            .map(|(found, expected)| least_cosine(found, &expected.values, expected.shape[1]));
        println!(
            "{dtype:?}: greatest error {:.1e} (text) {:.1e} (image), least cosine {:.7} (text) {:.7} (image)",
            errors[0], errors[1], cosines[0], cosines[1]
        );
        let least = match dtype {
            Precision::F32 => {
                assert!(
                    errors.iter().all(|error| *error <= F32_TOLERANCE),
                    "{errors:?}, {F32_TOLERANCE} is allowed"
                );
                F16_COSINE
            }
            Precision::F16 => F16_COSINE,
            Precision::Int8 => INT8_COSINE,
        };
        assert!(
            cosines.iter().all(|cosine| *cosine >= least),
            "{dtype:?}: {cosines:?}, at least {least} is expected"
        );
    }
}

#[test]
fn a_tiny_clip_of_transformers_gives_the_features_it_has_there() {
    let scratch = Scratch::new();
    compare_with_transformers(&fixture("."), &scratch, 512);
}

#[test]
#[ignore = "reads the folder KAPPASCOPE_FULL_CLIP, which `generate_import.py --full FOLDER` makes"]
fn a_full_size_clip_of_transformers_gives_the_features_it_has_there() {
    let source = std::env::var_os("KAPPASCOPE_FULL_CLIP").expect("the variable names a folder");
    let scratch = Scratch::new();
    compare_with_transformers(Path::new(&source), &scratch, 49_406);
}

#[test]
fn the_four_layouts_hold_the_same_towers() {
    let scratch = Scratch::new();
    let reference = tiny_folder(&scratch, "hf", &["model.safetensors", "config.json"]);
    let torch = tiny_folder(&scratch, "torch", &["pytorch_model.bin", "config.json"]);
    let openai = tiny_folder(&scratch, "openai", &["tiny.pt"]).join("tiny.pt");
    let open_clip = scratch.path("open_clip");
    open_clip_folder(&open_clip, "");
    let custom = scratch.path("open_clip-custom");
    open_clip_folder(&custom, "text.");
    let import = |source: &Path, name: &str| {
        let out = scratch.path(name);
        let imported = import_into(source, &out, Precision::F32).expect(name);
        assert_eq!(
            imported.verdict,
            Verdict::Unknown,
            "nothing is known of a random model"
        );
        towers(&out)
    };
    let (manifest, text, image) = import(&reference, "out-hf");
    assert_eq!(text.len(), 16 + 5, "tensors of the text tower");
    assert_eq!(image.len(), 2 * 16 + 8, "tensors of the image tower");
    for (source, name) in [
        (&torch, "out-torch"),
        (&openai, "out-openai"),
        (&open_clip, "out-open_clip"),
        (&custom, "out-open_clip-custom"),
    ] {
        let (other, other_text, other_image) = import(source, name);
        assert_eq!(other.encoder, manifest.encoder, "{name}: sizes");
        assert_eq!(other.logits, manifest.logits, "{name}: scale of the logits");
        assert_eq!(other_text, text, "{name}: text tower");
        assert_eq!(other_image, image, "{name}: image tower");
    }
}

/// The fixture as `open_clip` stores it.
fn open_clip_folder(folder: &Path, text_prefix: &str) {
    let bytes = std::fs::read(fixture("model.safetensors")).expect("the fixture");
    let records = fused(&read(&bytes).expect("safetensors"), text_prefix);
    let bytes = write(&records, Precision::F32).expect("valid records");
    put(folder, "open_clip_pytorch_model.safetensors", &bytes);
    let config = r#"{"model_cfg": {"embed_dim": 6, "quick_gelu": true,
        "vision_cfg": {"image_size": 16, "layers": 2, "width": 6, "head_width": 2, "patch_size": 8},
        "text_cfg": {"context_length": 12, "vocab_size": 514, "width": 4, "heads": 2, "layers": 1}},
        "preprocess_cfg": {"mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}}"#;
    put(folder, "open_clip_config.json", config.as_bytes());
    put_tokenizer(folder);
}

#[test]
fn an_imported_model_opens_without_adapters_and_meets_its_golden_values() {
    let scratch = Scratch::new();
    let source = tiny_folder(&scratch, "hf", &["model.safetensors", "config.json"]);
    for dtype in [Precision::F32, Precision::F16, Precision::Int8] {
        let out = scratch.path(&format!("out-{dtype:?}"));
        let manifest = import_into(&source, &out, dtype)
            .expect("imported")
            .manifest;
        assert!(manifest.adapters.is_none(), "nobody trained any");
        let (session, test): (Session, _) = bundle::open_tested(&out, &cpu()).expect("it opens");
        assert!(
            test.max_relative_error <= CPU_TOLERANCE,
            "{dtype:?}: {test:?}"
        );
        assert_eq!(
            session.manifest().shards,
            manifest.shards,
            "what was returned is what was written"
        );
        let origin = manifest.provenance.origin.expect("a file");
        assert_eq!(origin.source, "model.safetensors", "the file's name");
        let bytes = std::fs::read(fixture("model.safetensors")).expect("the fixture");
        let entry = file_entry("model.safetensors", &bytes);
        assert_eq!(origin.checkpoint, entry, "size and SHA-256 of the file");
    }
}

#[test]
fn a_folder_that_is_there_stays_as_it_is_unless_told_otherwise() {
    let scratch = Scratch::new();
    let source = tiny_folder(&scratch, "hf", &["model.safetensors", "config.json"]);
    let out = scratch.path("out");
    put(&out, "mine", b"x");
    let error = import_into(&source, &out, Precision::F16).expect_err("the folder is there");
    assert!(error.to_string().contains("is there already"), "{error}");
    assert_eq!(scratch.names("out"), ["mine"], "untouched");
    let mut job = job(&source, &out, Precision::F16);
    job.replace = true;
    import(&job).expect("told to replace it");
    assert!(
        !scratch.names("out").contains(&"mine".to_owned()),
        "replaced"
    );
    assert_eq!(scratch.names("."), ["hf", "out"], "nothing beside it");
}

#[test]
fn what_a_configuration_claims_must_be_what_the_tensors_say() {
    let scratch = Scratch::new();
    let cases = [
        (
            "\"hidden_size\": 4",
            "\"hidden_size\": 8",
            "config.json: text_config.hidden_size is 8, the tensors say 4",
        ),
        (
            "\"clip\"",
            "\"siglip\"",
            "config.json: model_type is siglip, expected clip",
        ),
        (
            "\"layer_norm_eps\": 1e-05",
            "\"layer_norm_eps\": 1e-06",
            "config.json: text_config.layer_norm_eps is 0.000001, expected 1e-5",
        ),
        (
            "\"hidden_act\": \"quick_gelu\"",
            "\"hidden_act\": \"relu\"",
            "config.json: hidden_act is relu and quick_gelu, expected twice quick_gelu or twice gelu",
        ),
        (
            "\"num_attention_heads\": 2",
            "\"num_attention_heads\": 3",
            "text_model: 3 attention heads for a width of 4, expected a divisor",
        ),
    ];
    let config = std::fs::read_to_string(fixture("config.json")).expect("the fixture");
    for (index, (claim, other, message)) in cases.into_iter().enumerate() {
        let source = tiny_folder(&scratch, &format!("hf{index}"), &["model.safetensors"]);
        assert!(config.contains(claim), "the fixture claims {claim}");
        put(
            &source,
            "config.json",
            config.replacen(claim, other, 1).as_bytes(),
        );
        let error = import_into(&source, &scratch.path("out"), Precision::F16).expect_err(claim);
        assert_eq!(error.root_cause().to_string(), message, "{claim}");
    }
}

#[test]
fn a_source_is_a_path_or_an_id() {
    let parse = |source: &str| CheckpointSource::parse(source, None);
    let hub = parse("openai/clip-vit-base-patch32").expect("an id");
    assert!(matches!(hub, CheckpointSource::Hub { .. }), "{hub:?}");
    let local = parse(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    assert!(matches!(local, CheckpointSource::Local(_)), "{local:?}");
    for nothing in [
        "model.safetensors",
        "a/b/c",
        "../x/y",
        "/no/such",
        "a b/c",
        "",
    ] {
        let error = parse(nothing).expect_err(nothing);
        assert!(error.to_string().contains("no such file"), "{error}");
    }
}

mod shared_data {
    use super::*;

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn the_published_answers_are_those_of_the_reference_vectors() {
        let (texts, picture) = reference_vectors();
        let published = Published::vit_b_32().expect("a file of this crate");
        let worst = |texts: &[_], picture| published.worst(Tolerance::ORIGINAL, texts, picture);
        let exact = worst(&texts, Some(&picture));
        // The file has six decimals.
        assert!(exact <= 0.01, "{exact} of what is allowed");
        let exact = published.picture_error(&picture);
        assert!(exact <= 0.01, "the picture: {exact} of what is allowed");
        let mut swapped = texts.clone();
        swapped.swap(1, 2);
        assert!(worst(&swapped, None) > 1.0, "a cat is no dog");
        let mut other = picture.clone();
        other.embedding.reverse();
        assert!(worst(&texts, Some(&other)) > 1.0, "another picture");
        assert!(published.check_picture(&other).is_err(), "by itself, too");
    }
}
