//! Data sets in their published formats, embedded in pieces by the shipped model, and real files where they are.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

#[path = "support/shared.rs"]
mod shared;

use std::path::{Path, PathBuf};

use kappascope::corruption::{Corruption, ImageCorruption, Misspelling};
use kappascope::device::cpu;
use kappascope::train::data::corruption::Corruptions;
use kappascope::train::data::{captions_csv, cifar, coco, image_folder};
use kappascope::train::features::cache::Cache;
use kappascope::train::features::embed::embed_pieces;
use kappascope::train::features::merge::merge;
use kappascope::train::features::part_of::PartOf;
use kappascope::train::features::pieces::Sources;
use kappascope::train::gallery::png::png;
use kappascope::weights::shard::Precision;

/// A folder of a test's own, which is deleted at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        std::fs::write(&path, bytes).expect("the folder is the test's own");
        path
    }
}

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("public/models/scenes")
}

/// A picture of stripes.
fn stripes(period: usize) -> Vec<u8> {
    const SIDE: usize = 80;
    let pixel = |at: usize| {
        if ((at % SIDE) / period).is_multiple_of(2) {
            [200, 30, 40]
        } else {
            [20, 60, 220]
        }
    };
    let pixels: Vec<u8> = (0..SIDE * SIDE).flat_map(pixel).collect();
    png(&pixels, SIDE).expect("a picture")
}

/// Pictures with two captions each, one picture broken, and classes of stripes.
fn sources(folder: &Folder) -> Sources {
    let mut rows = "image,caption,split,level\n".to_owned();
    for i in 0..6 {
        folder.put(&format!("{i}.png"), stripes(3 + i));
        let split = if i < 4 { "train" } else { "test" };
        rows += &format!("{i}.png,a picture,{split},0\n{i}.png,{i} red stripes,{split},1\n");
    }
    folder.put("5.png", "no picture");
    for (class, period) in [("thin_stripes", 3), ("broad_stripes", 20)] {
        folder.put(&format!("classes/{class}/a.png"), stripes(period));
        folder.put(&format!("classes/{class}/b.png"), stripes(period + 1));
    }
    let csv = folder.put("captions.csv", rows);
    Sources {
        dataset: "captions".to_owned(),
        splits: captions_csv::splits(&csv, folder.0.path(), 0.1, 0).expect("captions"),
        tasks: vec![image_folder::labelled(&folder.0.path().join("classes")).expect("classes")],
        templates: vec!["a picture of {}".to_owned(), "{}".to_owned()],
        dummies: vec!["something".to_owned()],
        noise: Corruptions::default(),
        views: 2,
        seed: 0,
    }
}

fn embedded(sources: &Sources, out: &Path, part: PartOf) -> anyhow::Result<()> {
    embed_pieces(sources, &model(), out, part, Precision::F32, &cpu())
}

#[test]
fn shards_make_the_same_features_as_one_process_and_none_may_be_missing() {
    let folder = Folder::new();
    let sources = sources(&folder);
    let (whole, parts) = (folder.0.path().join("whole"), folder.0.path().join("parts"));
    embedded(&sources, &whole, PartOf::WHOLE).expect("embedded");
    let whole = merge(&whole, "whole".to_owned()).expect("complete").cache;
    embedded(&sources, &parts, PartOf { index: 1, n: 2 }).expect("the second half");
    let error = merge(&parts, "parts".to_owned()).expect_err("the first half is missing");
    assert!(
        error
            .to_string()
            .contains("3 of 5 pieces are missing, train-00000"),
        "{error}"
    );
    embedded(&sources, &parts, PartOf { index: 0, n: 2 }).expect("the first half");
    let merged = merge(&parts, "parts".to_owned()).expect("complete");
    let parts = Cache::read(&parts).expect("written");

    assert_eq!(parts.train.texts, whole.train.texts, "captions");
    assert_eq!(parts.train.images, whole.train.images, "pictures");
    assert_eq!(parts.test.ids, whole.test.ids, "ids");
    assert_eq!(parts.test.images, whole.test.images, "pictures with views");
    let spread = &parts.test.images.view_spread.values;
    assert!(spread.len() == 1 && spread[0] > 0.0, "views: {spread:?}");
    assert!(!parts.train.images.has_views(), "of what is measured alone");
    assert_eq!(parts.probes, whole.probes, "probe sentences");
    let probes = parts.probes.expect("they are embedded");
    assert_eq!(probes.sentences[1], "a photo", "the released code's");
    assert_eq!(probes.no_words().map(|root| root.n_rows()), Some(1));
    assert_eq!(parts.config.command, "parts", "its own command");
    assert_eq!(
        (parts.train.ids.images.len(), parts.test.ids.images.len()),
        (4, 1),
        "the broken picture is left out"
    );
    assert_eq!(parts.test.ids.captions.len(), 2, "with its captions");
    assert_eq!(parts.test.ids.captions[1].level, Some(1), "levels are kept");
    assert_eq!(
        parts.train.ids.captions[0].n_tokens, 2,
        "tokens are counted"
    );
    let lines = merged.lines();
    assert!(
        lines.len() == 1 && lines[0].starts_with("test: 1 left out"),
        "{lines:?}"
    );
}

#[test]
fn classes_are_said_in_every_template() {
    let folder = Folder::new();
    let sources = sources(&folder);
    let out = folder.0.path().join("out");
    embedded(&sources, &out, PartOf::WHOLE).expect("embedded");
    let cache = merge(&out, String::new()).expect("complete").cache;
    let [task] = cache.tasks.as_slice() else {
        panic!("one task: {:?}", cache.tasks.len());
    };
    assert_eq!(
        task.ids.classes,
        ["broad stripes", "thin stripes"],
        "classes"
    );
    assert_eq!(
        task.texts.features.n_rows(),
        4,
        "two classes in two templates"
    );
    assert_eq!(
        task.ids.labels,
        [Some(0), Some(0), Some(1), Some(1)],
        "labels"
    );
    assert!(
        task.ids.dummies.is_empty(),
        "dummies are for pictures of none"
    );
}

#[test]
fn pictures_of_none_of_the_classes_are_cifar_100s() {
    let folder = Folder::new();
    let mut sources = sources(&folder);
    let names = |n: usize| -> String { (0..n).map(|i| format!("class{i}\n")).collect() };
    let record = |labels: &[u8], value: u8| [labels.to_vec(), vec![value; 3072]].concat();
    folder.put("batches.meta.txt", names(10));
    folder.put(
        "test_batch.bin",
        [record(&[3], 10), record(&[9], 200)].concat(),
    );
    folder.put("fine_label_names.txt", names(100));
    folder.put("test.bin", record(&[0, 50], 90));
    sources.tasks = vec![
        cifar::cifar_10(folder.0.path()).expect("CIFAR-10"),
        cifar::cifar_100(folder.0.path()).expect("CIFAR-100"),
    ];
    let out = folder.0.path().join("out");
    embedded(&sources, &out, PartOf::WHOLE).expect("embedded");
    merge(&out, String::new()).expect("complete");
    let tasks = Cache::read(&out).expect("written").tasks;
    let names: Vec<&str> = tasks.iter().map(|task| task.ids.name.as_str()).collect();
    assert_eq!(names, ["cifar10", "cifar100", "none_of_the_above"], "tasks");
    assert_eq!(tasks[2].ids.labels, [Some(3), Some(9), None], "one of none");
    assert_eq!(tasks[2].images.features.n_rows(), 3, "pictures of both");
    assert_eq!(
        tasks[2].texts.features.n_rows(),
        21,
        "ten classes twice, and a dummy"
    );
    assert_eq!(
        tasks[0].texts.features.n_rows(),
        20,
        "no dummy for CIFAR-10 alone"
    );
    let none = &tasks[2].images.features.values[2 * tasks[2].images.features.width..];
    assert_eq!(
        none, tasks[1].images.features.values,
        "the picture of CIFAR-100"
    );
}

#[test]
fn noise_touches_what_is_measured_on_alone() {
    let folder = Folder::new();
    let mut sources = sources(&folder);
    let embed = |sources: &Sources, name: &str| {
        let out = folder.0.path().join(name);
        embedded(sources, &out, PartOf::WHOLE).expect("embedded");
        merge(&out, String::new()).expect("complete").cache
    };
    let clean = embed(&sources, "clean");
    sources.noise = Corruptions {
        pictures: Some(Corruption::new(ImageCorruption::Gaussian, 5)),
        captions: Some(Corruption::new(Misspelling::Keyboard, 7)),
    };
    let noisy = embed(&sources, "noisy");
    assert_eq!(noisy.train.images, clean.train.images, "to train on");
    assert_eq!(noisy.train.texts, clean.train.texts, "to train on");
    assert_ne!(noisy.test.images, clean.test.images, "to measure on");
    assert_eq!(noisy.config.noise, "gaussian 5, keyboard 7", "it is said");
}

#[test]
fn what_is_embedded_is_not_embedded_again_nor_mixed_with_other_work() {
    let folder = Folder::new();
    let mut sources = sources(&folder);
    let out = folder.0.path().join("out");
    embedded(&sources, &out, PartOf { index: 0, n: 2 }).expect("the first half");
    let piece = out.join("pieces/train-00000.safetensors");
    let written = || {
        std::fs::metadata(&piece)
            .and_then(|m| m.modified())
            .expect("there")
    };
    let before = written();
    embedded(&sources, &out, PartOf::WHOLE).expect("the rest");
    assert_eq!(written(), before, "the piece is left as it was");
    sources.splits.train.items[0].captions[0].text = "another caption".to_owned();
    let error = embedded(&sources, &out, PartOf::WHOLE).expect_err("other captions");
    assert!(error.to_string().contains("other work"), "{error}");
}

mod shared_data {
    use super::*;

    #[test]
    #[ignore = "reads the folder that KAPPASCOPE_SHARED_DATA names"]
    fn real_photographs_and_captions_of_coco_are_read() {
        let photos = shared::shared("ccby_photos");
        let json = std::fs::read(photos.join("manifest.json")).expect("the photographs' list");
        let manifest: Vec<serde_json::Value> = serde_json::from_slice(&json).expect("a list");
        let images: Vec<_> = manifest
            .iter()
            .map(|photo| serde_json::json!({"id": photo["coco_id"], "file_name": photo["file"]}))
            .collect();
        let of_photo = |photo: &serde_json::Value| -> Vec<serde_json::Value> {
            let captions = photo["captions"].as_array().cloned().unwrap_or_default();
            captions
                .into_iter()
                .enumerate()
                .map(|(i, text)| {
                    let id = photo["coco_id"].as_u64().unwrap_or_default() * 10 + i as u64;
                    serde_json::json!({"id": id, "image_id": photo["coco_id"], "caption": text})
                })
                .collect()
        };
        let annotations: Vec<_> = manifest.iter().flat_map(of_photo).collect();
        let folder = Folder::new();
        let file = serde_json::json!({"images": images, "annotations": annotations});
        let captions = folder.put("captions.json", file.to_string());
        let listing = coco::captions_of(&captions, &photos).expect("COCO's format");
        assert_eq!(listing.items.len(), 248, "all photographs");
        assert!(listing.skipped.is_empty(), "{:?}", listing.skipped);
        for item in &listing.items {
            assert_eq!(item.captions.len(), 5, "captions of {}", item.id);
            let rgb = item.picture.read().expect("a photograph");
            assert_eq!(rgb.width.max(rgb.height), 256, "long side of {}", item.id);
        }
    }
}
