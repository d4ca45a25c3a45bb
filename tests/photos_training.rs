//! `train photos` from end to end: a handful of coloured pictures, small random towers, a few lines of `WordNet`.
//!
//! A program of its own: tests beside this one would draw from the same random numbers of the device.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use kappascope::device::cpu;
use kappascope::report::PhotosReport;
use kappascope::train::cli::{Cli, run};
use kappascope::train::experiments::EvaluationData;
use kappascope::train::experiments::corrupted::{CorruptedSide, Severities};
use kappascope::train::export::bundle;
use kappascope::train::features::cache::Cache;
use kappascope::train::methods::MethodName;
use kappascope::train::photos_model::frozen::FrozenPhotos;
use kappascope::train::photos_model::test_variants::VariantPlan;
use kappascope::weights::shard::read;

/// Pictures to train on, to choose by, to measure on.
const SPLITS: [(&str, usize); 3] = [("train", 12), ("dev", 4), ("test", 10)];
const SENTENCES: [&str; 2] = ["A dog runs on the grass .", "A puppy jumps over a wall ."];

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    path.join(name).display().to_string()
}

/// A picture of one colour, as a PNG file.
fn write_picture(path: &Path, seed: usize) {
    let shade = |step: usize| u8::try_from(seed * step % 256).expect("below 256");
    let pixels = [shade(37), shade(91), shade(53)].repeat(16 * 16);
    image::save_buffer(path, &pixels, 16, 16, image::ColorType::Rgb8).expect("a picture");
}

/// Flickr8k's files with few pictures, and a file of hierarchies of the same pictures.
fn write_data(root: &Path) {
    let images = root.join("Images");
    fs::create_dir_all(&images).expect("a folder");
    let mut captions = String::new();
    let mut hierarchies = "id,captions,image_url\n".to_owned();
    let mut number = 0;
    for (split, n_pictures) in SPLITS {
        let names: Vec<String> = (0..n_pictures).map(|i| format!("{split}{i}.png")).collect();
        for name in &names {
            number += 1;
            write_picture(&images.join(name), number);
            for (i, sentence) in SENTENCES.iter().enumerate() {
                captions += &format!("{name}#{i}\t{sentence}\n");
            }
            let ladder = "animal => dog => dog on grass => a dog running on grass";
            hierarchies += &format!("{number},{ladder},http://pictures/{name}\n");
        }
        let list = root.join(format!("Flickr_8k.{split}Images.txt"));
        fs::write(list, names.join("\n")).expect("a list");
    }
    fs::write(root.join("Flickr8k.token.txt"), captions).expect("captions");
    fs::write(images.join("hierarcaps_test.csv"), hierarchies).expect("hierarchies");
    let judged = "test0.png\ttest1.png#0\t1\t2\t1\ntest1.png\ttest0.png#1\t3\t4\t4\n";
    fs::write(root.join("ExpertAnnotations.txt"), judged).expect("judgements");
}

fn train(root: &Path, more: &[&str]) -> anyhow::Result<()> {
    let (data, out) = (root.display().to_string(), root.join("run"));
    let hierarchies = root.join("Images").display().to_string();
    let (text, image) = (fixture("photos/text"), fixture("photos/image"));
    let (wordnet, out) = (fixture("wordnet"), out.display().to_string());
    let arguments = [
        "train",
        "photos",
        "--root",
        &data,
        "--hierarcaps",
        &hierarchies,
        "--wordnet",
        &wordnet,
        "--text-tower",
        &text,
        "--image-tower",
        &image,
        "--out",
        &out,
    ];
    run(&Cli::try_parse_from(arguments.iter().chain(more))?)
}

#[test]
fn a_model_is_trained_measured_and_exported_and_nothing_is_done_twice() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = scratch.path();
    write_data(root);
    let model = root.join("model").display().to_string();
    let frozen = ["--frozen-towers", "--seeds", "2", "--export", &model];
    train(root, &frozen).expect("trained");
    let (session, _) = bundle::open_tested(Path::new(&model), &cpu()).expect("its golden values");
    let captions = ["a dog".to_owned()];
    let texts = pollster::block_on(session.encode_text(&captions)).expect("a caption");
    let distributions = texts[0].distributions.as_ref().expect("a caption has a κ");
    let kappa = distributions.vmf.concentration;
    assert!(kappa.is_finite() && kappa > 0.0, "κ is {kappa}");
    let read = || fs::read_to_string(root.join("model/evaluation.json")).expect("an evaluation");
    let first = read();
    let report: PhotosReport = serde_json::from_str(&first).expect("a report");
    assert_eq!(report.seeds.len(), 2, "a row a seed");
    assert!(
        report.seeds[0].families.vmf.int8.is_some(),
        "of the exported weights, too"
    );
    let card = fs::read_to_string(root.join("model/MODEL_CARD.md")).expect("a model card");
    assert!(card.contains("mean ± sd of 2 seeds"), "{card}");

    // What is there is read: an adapter that was lost is trained again, to the same numbers.
    fs::remove_file(root.join("run/seed-0/adapter_vmf.safetensors")).expect("it was there");
    let heads = root.join("run/seed-0/heads.safetensors");
    let made = |path: &Path| {
        fs::metadata(path)
            .and_then(|file| file.modified())
            .expect("a time")
    };
    let before = made(&heads);
    train(root, &[&frozen[..], &["--force"]].concat()).expect("resumed");
    assert_eq!(made(&heads), before, "heads are not trained again");
    assert_eq!(read(), first, "the same numbers");

    let masked = ["--frozen-towers", "--mask-fitting"];
    let refused = train(root, &masked).expect_err("another recipe in the same folder");
    assert!(refused.to_string().contains("another recipe"), "{refused}");
    let refused = train(root, &[]).expect_err("another recipe, too");
    assert!(refused.to_string().contains("another recipe"), "{refused}");
    let refused = train(root, &["--export", &model]).expect_err("a model is there");
    assert!(refused.to_string().contains("--force"), "{refused}");

    test_pictures_are_read_corrupted_and_in_views(root);
    the_last_stage_is_tuned_with_the_heads_and_exported_with_the_tower();
}

/// Part of the test above. The pictures are of one colour each: blur, zoom, blocks and crops leave them as they are.
fn test_pictures_are_read_corrupted_and_in_views(root: &Path) {
    let photos = FrozenPhotos {
        run: root.join("run"),
        flickr8k: root.to_owned(),
        hierarcaps: Some(root.join("Images")),
    };
    let datasets = |data: &EvaluationData| -> Vec<String> {
        let configs = data.others.iter().map(|cache| &cache.config);
        configs
            .map(|config| format!("{}{}", config.dataset, config.noise))
            .collect()
    };
    let clean = photos.data(None).expect("a finished run");
    assert_eq!(datasets(&clean), ["hierarcaps"], "nothing is corrupted");
    assert!(
        clean.why_not(MethodName::Augmentation).is_some(),
        "no views"
    );
    let plan = VariantPlan {
        severities: Severities {
            pictures: vec![5],
            captions: vec![5],
        },
        n_views: 2,
    };
    let data = photos.data(Some(&plan)).expect("embedded");
    let features = &data.own.test.images.features;
    for split in &data.corrupted {
        let kind = split.corruption.kind.as_str();
        let clean = match split.side {
            CorruptedSide::Pictures => features,
            CorruptedSide::Captions => &data.own.test.texts.features,
        };
        let moved = difference(&clean.values, &split.rows.features.values);
        let is_same = ["defocus", "zoom", "pixelate"].contains(&kind);
        assert_eq!(moved < 0.05, is_same, "{kind}: {moved}");
    }
    assert_eq!(
        data.corrupted.len(),
        11,
        "nine of pictures, two of captions"
    );
    let spread = &data.own.test.images.view_spread.values;
    let is_none = spread.iter().all(|one| (0.0..1e-5).contains(one));
    assert!(is_none && spread.len() == features.n_rows(), "{spread:?}");
    assert!(data.why_not(MethodName::Augmentation).is_none(), "views");
    let both = ["hierarcaps", "photosshot 5, keyboard 5"];
    assert_eq!(datasets(&data), both, "both sides");
    let said = |cache: &Cache| cache.test.ids.captions[0].text.clone();
    assert_ne!(said(&data.others[1]), said(&data.own), "misspelt");
    let again = photos.data(None).expect("what lies there is read");
    assert_eq!(again.corrupted, data.corrupted, "as written");
    assert_eq!(again.own.config, data.own.config, "with its views");
}

/// Part of the test above, which draws from the same random numbers.
fn the_last_stage_is_tuned_with_the_heads_and_exported_with_the_tower() {
    let scratch = tempfile::tempdir().expect("a folder");
    let root = scratch.path();
    write_data(root);
    let model = root.join("model");
    let export = model.display().to_string();
    train(root, &["--export", &export]).expect("trained");
    let (_, test) = bundle::open_tested(&model, &cpu()).expect("its golden values");
    assert!(test.passed(), "{test:?}");
    let read = || fs::read_to_string(model.join("evaluation.json")).expect("an evaluation");
    let first = read();
    let last = |of: &Path| weights(of, "vision_model.conv_head.weight");
    let [imported, exported] = ["run/towers", "model"].map(|folder| last(&root.join(folder)));
    let trained = |name: &str| {
        let tensor = tensor(&root.join("run/seed-0/heads.safetensors"), name);
        tensor.expect("kept with the heads")
    };
    let tuned = trained("vision_model.conv_head.weight");
    let rounding = difference(&tuned, &exported);
    assert!(rounding < 0.01, "rounded to eight bits alone");
    // Twelve steps of a rate that still climbs move it little, but by more than its decay does.
    assert!(difference(&tuned, &imported) > 3e-5, "it was tuned");
    let kernels = "vision_model.blocks.6.0.conv_dw.weight";
    let imported = weights(&root.join("run/towers"), kernels);
    let moved = difference(&trained(kernels), &imported);
    assert!(moved < 1e-6, "depthwise kernels are left alone");
    let fold = root.join("run/seed-0/fold-0.safetensors");
    let of_fold = tensor(&fold, "vision_model.conv_head.weight").expect("a stage a fold");
    assert_ne!(of_fold, tuned, "that has not seen the fold's pictures");

    fs::remove_file(root.join("run/seed-0/adapter_vmf.safetensors")).expect("it was there");
    train(root, &["--export", &export, "--force"]).expect("resumed");
    assert_eq!(read(), first, "the same numbers");
    test_pictures_are_read_corrupted_and_in_views(root);
}

/// Greatest difference of two tensors, in shares of the first one's greatest number.
fn difference(tensor: &[f32], other: &[f32]) -> f32 {
    let greatest = |most: f32, value: f32| most.max(value.abs());
    let differences = tensor.iter().zip(other).map(|(a, b)| a - b);
    differences.fold(0.0, greatest) / tensor.iter().copied().fold(0.0, greatest)
}

/// A tensor of a model folder, whichever of its files holds it.
fn weights(folder: &Path, name: &str) -> Vec<f32> {
    let files = fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("a file").path());
    let is_shard = |path: &PathBuf| path.extension().is_some_and(|end| end == "safetensors");
    let mut found = files
        .filter(is_shard)
        .filter_map(|path| tensor(&path, name));
    found.next().expect("a file that holds it")
}

fn tensor(path: &Path, name: &str) -> Option<Vec<f32>> {
    let records = read(&fs::read(path).expect("a file")).expect("tensors");
    let own = records.into_iter().find(|record| record.name == name);
    own.map(|record| record.values)
}
