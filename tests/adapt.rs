//! `train adapt` from end to end: a handful of coloured pictures, a tiny CLIP, two tiny towers.
//!
//! A program of its own, and one test at a time: the device's random numbers belong to the whole process.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use clap::Parser as _;
use kappascope::device::cpu;
use kappascope::report::AdaptedReport;
use kappascope::train::cli::{Cli, run};
use kappascope::train::exit::{BAD_INPUT, code_of};
use kappascope::train::export::bundle;
use kappascope::train::gallery::png::png;
use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::weights::adapter_file::{self, AdapterFile};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const SENTENCES: [&str; 2] = ["A dog runs on the grass .", "A puppy jumps over a wall ."];
const N_TRAIN: usize = 12;
const N_TEST: usize = 10;
/// A fit of one step.
const ONE_STEP: [&str; 4] = ["--batch", "32", "--epochs", "1"];

fn train(words: &[&str]) -> anyhow::Result<()> {
    let words = std::iter::once("train").chain(words.iter().copied());
    run(&Cli::try_parse_from(words)?)
}

fn refused(words: &[&str], part: &str) {
    let error = train(words).expect_err("not to be done");
    assert_eq!(code_of(&error), BAD_INPUT, "the exit code");
    let error = format!("{error:#}");
    assert!(error.contains(part), "{error}");
}

fn fixture(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures").join(name)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn made(path: &Path) -> SystemTime {
    let file = fs::metadata(path).expect("it is there");
    file.modified().expect("a time")
}

fn write_picture(path: &Path, seed: usize) {
    let shade = |step: usize| u8::try_from(seed * step % 256).expect("below 256");
    let pixels = [shade(37), shade(91), shade(53)].repeat(16 * 16);
    fs::write(path, png(&pixels, 16).expect("a picture")).expect("a folder of the test");
}

/// Flickr8k's files with few pictures, and the same pictures as any folder with a `captions.csv`.
fn write_data(root: &Path) {
    let images = root.join("Images");
    fs::create_dir_all(&images).expect("a folder");
    let (mut tokens, mut csv) = (String::new(), "image,caption,split\n".to_owned());
    for (split, n_pictures, first) in [("train", N_TRAIN, 1), ("test", N_TEST, 100)] {
        let names: Vec<String> = (0..n_pictures).map(|i| format!("{split}{i}.png")).collect();
        for (i, name) in names.iter().enumerate() {
            write_picture(&images.join(name), first + i);
            for (j, sentence) in SENTENCES.iter().enumerate() {
                tokens += &format!("{name}#{j}\t{sentence}\n");
                csv += &format!("Images/{name},{sentence},{split}\n");
            }
        }
        let list = root.join(format!("Flickr_8k.{split}Images.txt"));
        fs::write(list, names.join("\n")).expect("a list");
    }
    fs::write(root.join("Flickr8k.token.txt"), tokens).expect("captions");
    fs::write(root.join("captions.csv"), csv).expect("captions");
}

/// A checkpoint of another program with its tokenizer beside it.
fn write_checkpoint(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    for name in ["model.safetensors", "config.json"] {
        fs::copy(fixture("import").join(name), folder.join(name)).expect("the fixture");
    }
    fs::write(folder.join("tokenizer.json"), byte_level_json(512)).expect("a tokenizer");
}

fn import_towers(out: &Path) {
    let sources = ["photos/text", "photos/image"].map(|name| text(&fixture(name)));
    let [words, pictures] = &sources;
    let out = text(out);
    train(&["import", words, "--image-tower", pictures, "--out", &out]).expect("imported");
}

fn report(model: &Path) -> AdaptedReport {
    let json = fs::read(model.join("evaluation.json")).expect("an evaluation");
    serde_json::from_slice(&json).expect("of this form")
}

/// The model opens as the page opens it, and a caption has a κ.
fn has_kappa(model: &Path) {
    let session = bundle::open(model, &cpu()).expect("its golden values");
    let captions = ["a dog".to_owned()];
    let texts = pollster::block_on(session.encode_text(&captions)).expect("a caption");
    assert!(texts[0].distributions.is_some(), "a caption has a κ");
    let of = &session.manifest().reference_uncertainty;
    assert!(of.is_some(), "there is something to compare 1/κ with");
    train(&["score", "--model", &text(model), "--caption", "a dog"]).expect("scored");
}

#[test]
fn towers_get_adapters_beside_them_and_nothing_is_made_twice() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = tempfile::tempdir().expect("a folder");
    let [root, model, out] = ["data", "towers", "run"].map(|name| scratch.path().join(name));
    write_data(&root);
    import_towers(&model);
    let encoder = made(&model.join("text-1.safetensors"));
    let [model_name, root_name, out_name] = [&model, &root, &out].map(|path| text(path));
    let words = [
        "adapt",
        &model_name,
        "--root",
        &root_name,
        "--out",
        &out_name,
    ];
    let words = [&words[..], &ONE_STEP].concat();
    let flickr = [&words[..], &["--data", "flickr8k"]].concat();
    train(&flickr).expect("adapted");

    has_kappa(&model);
    let first = report(&model);
    let of_training = (first.n_training_pictures, first.n_training_captions);
    assert_eq!(of_training, (12, 24), "the official list to train on");
    let measured_on = (first.n_pictures, first.n_captions);
    assert_eq!(measured_on, (10, 20), "the official list to measure on");
    let recall = first.cosine.recall.text_to_image;
    assert!(recall.r10 > 0.99, "ten of ten pictures: {recall:?}");
    assert_eq!(
        made(&model.join("text-1.safetensors")),
        encoder,
        "the encoder is not written again"
    );

    refused(&flickr, "--force");
    let features = made(&out.join("features/train.safetensors"));
    let fit = made(&out.join("vmf/method.safetensors"));
    fs::remove_dir_all(out.join("power_spherical")).expect("the fit was there");
    train(&[&flickr[..], &["--force"]].concat()).expect("resumed");
    assert_eq!(
        made(&out.join("features/train.safetensors")),
        features,
        "read again"
    );
    assert_eq!(made(&out.join("vmf/method.safetensors")), fit, "read again");
    assert_eq!(
        report(&model),
        first,
        "the fit that was lost is the same again"
    );

    let more = |more: &[&'static str]| [&words[..], &["--force"], more].concat();
    refused(
        &more(&["--data", "captions"]),
        "another recipe, which differs in data;",
    );
    refused(
        &more(&["--data", "flickr8k", "--limit", "5"]),
        "another recipe, which differs in limit;",
    );
    refused(
        &more(&["--data", "flickr8k", "--seed", "1"]),
        "another recipe, which differs in seed;",
    );
}

#[test]
fn a_checkpoint_is_imported_into_the_run_and_a_new_folder_is_made_of_it() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = tempfile::tempdir().expect("a folder");
    let names = ["data", "tiny-clip", "run", "model"];
    let [root, checkpoint, out, model] = names.map(|name| scratch.path().join(name));
    write_data(&root);
    write_checkpoint(&checkpoint);
    let paths = [&checkpoint, &root, &out, &model].map(|path| text(path));
    let [checkpoint, root_name, out_name, export] = &paths;
    let words = ["adapt", checkpoint, "--root", root_name, "--out", out_name];
    let data = ["--data", "captions", "--limit", "8", "--export", export];
    let words = [&words[..], &data, &ONE_STEP].concat();
    train(&words).expect("adapted");

    has_kappa(&model);
    let report = report(&model);
    let measured = (report.n_training_pictures, report.n_pictures);
    assert_eq!(measured, (8, 8), "of each split");
    let imported = out.join("model/tiny-clip");
    let bare = bundle::open(&imported, &cpu()).expect("its golden values");
    assert!(
        bare.manifest().adapters.is_none(),
        "the import stays as it was"
    );
    let alone = fs::read(model.join(adapter_file::FILE)).expect("a file");
    let alone = AdapterFile::read(&alone).expect("an adapter file");
    pollster::block_on(bare.with_adapters(alone)).expect("the adapters alone fit the encoder");

    refused(&words, "--force");
    let import = made(&imported.join("manifest.json"));
    let before = link_files(&model, &scratch.path().join("before"));
    let again = [&words[..], &["--force"]].concat();
    train(&again).expect("again");
    assert_eq!(
        made(&imported.join("manifest.json")),
        import,
        "not imported again"
    );
    for (file, written) in before {
        let name = file.display();
        assert_eq!(made(&file), written, "{name} is written over, not replaced");
    }
    fails_before_the_manifest(&again, &model);
}

/// A second name of each file of a folder, with the time at which the file was written.
fn link_files(folder: &Path, links: &Path) -> Vec<(PathBuf, SystemTime)> {
    fs::create_dir(links).expect("a folder");
    let entries = fs::read_dir(folder).expect("a folder");
    let link = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("a file");
        let link = links.join(entry.file_name());
        fs::hard_link(entry.path(), &link).expect("another name");
        let written = made(&link);
        (link, written)
    };
    entries.map(link).collect()
}

/// An export that cannot write its last file but the manifest leaves the manifest that is there.
fn fails_before_the_manifest(words: &[&str], model: &Path) {
    let (alone, manifest) = (model.join(adapter_file::FILE), model.join("manifest.json"));
    fs::remove_file(&alone).expect("the adapters alone");
    fs::create_dir(&alone).expect("a folder in their place");
    let written = made(&manifest);
    let error = train(words).expect_err("a folder is no file");
    let error = format!("{error:#}");
    assert!(error.contains(adapter_file::FILE), "{error}");
    assert_eq!(made(&manifest), written, "the manifest is the last");
}

#[test]
fn what_cannot_be_adapted_is_refused_before_anything_is_written() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = tempfile::tempdir().expect("a folder");
    let [root, checkpoint, out] = ["data", "clip", "run"].map(|name| scratch.path().join(name));
    write_data(&root);
    write_checkpoint(&checkpoint);
    let scenes = text(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("public/models/scenes"));
    let paths = [&checkpoint, &root, &out].map(|path| text(path));
    let [checkpoint, root, out_name] = &paths;
    for (model, data, root, part) in [
        ("nowhere", "flickr8k", root, "no id at the model hub"),
        (&scenes[..], "flickr8k", root, "has adapters already"),
        (checkpoint, "scenes", root, "scenes are drawn"),
        (checkpoint, "coco", root, "captions_train2017.json"),
        (
            checkpoint,
            "flickr8k",
            checkpoint,
            "Flickr_8k.trainImages.txt",
        ),
    ] {
        let words = [
            "adapt", model, "--data", data, "--root", root, "--out", out_name,
        ];
        refused(&words, part);
    }
    let words = [
        "adapt", &scenes, "--data", "flickr8k", "--root", root, "--out", out_name,
    ];
    refused(
        &[&words[..], &["--revision", "main"]].concat(),
        "no revision",
    );
    let train_only = "image,caption,split\nImages/train0.png,a dog,train\n";
    fs::write(Path::new(root).join("captions.csv"), train_only).expect("captions");
    let words = [
        "adapt", checkpoint, "--data", "captions", "--root", root, "--out", out_name,
    ];
    refused(&words, "no pictures to measure on");
    assert!(!out.exists(), "no run was begun");
}
