//! The commands of `train` one after the other, as a user gives them: features, fits, a model folder, a look at each.
#![cfg(feature = "train")]
#![allow(missing_docs, reason = "an integration test has no users")]

use std::path::Path;

use clap::Parser as _;
use kappascope::device::cpu;
use kappascope::explorer::N_WALL_SCENES;
use kappascope::protocol::CompactDirection;
use kappascope::train::cli::inspect::describe;
use kappascope::train::cli::{Cli, run};
use kappascope::train::exit::{BAD_INPUT, code_of};
use kappascope::train::export::bundle;
use kappascope::train::gallery::png::png;
use kappascope::train::gallery::wall;
use kappascope::weights::adapter_file::{self, AdapterFile};
use kappascope::weights::manifest::Manifest;

/// A folder of a test's own, which is deleted at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

fn train(words: &[&str]) -> anyhow::Result<()> {
    let words = std::iter::once("train").chain(words.iter().copied());
    run(&Cli::try_parse_from(words)?)
}

fn model() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("public/models/scenes").display().to_string()
}

fn embed(out: &str, more: &[&str]) {
    let model = model();
    let words = [
        "embed",
        "--model",
        &model,
        "--train-scenes",
        "12",
        "--test-scenes",
        "8",
        "--task-scenes",
        "6",
    ];
    train(&[&words[..], &["--out", out], more].concat()).expect("embedded");
}

#[test]
fn two_fits_become_a_model_folder_that_reproduces_its_golden_values() {
    let folder = Folder::new();
    let features = folder.path("features");
    embed(&features, &[]);
    let fit = |method: &str, out: &str| {
        let words = [
            "fit",
            "--method",
            method,
            "--features",
            &features,
            "--out",
            out,
        ];
        train(&[&words[..], &["--batch", "32", "--epochs", "1"]].concat())
    };
    let (vmf, ps, out) = (folder.path("vmf"), folder.path("ps"), folder.path("model"));
    fit("asymvlm-vmf", &vmf).expect("fitted");
    fit("asymvlm-ps", &ps).expect("fitted");
    let again = fit("asymvlm-ps", &ps).expect_err("it is there");
    assert!(again.to_string().contains("--force"), "{again}");
    assert_eq!(code_of(&again), BAD_INPUT, "the exit code");

    let model = model();
    let export = |vmf: &str, ps: &str| {
        train(&[
            "export", "--model", &model, "--vmf", vmf, "--ps", ps, "--out", &out,
        ])
    };
    let swapped = format!("{:#}", export(&ps, &vmf).expect_err("the wrong way round"));
    assert!(
        swapped.contains("one of asymvlm-vmf was expected"),
        "{swapped}"
    );
    // It opens what it wrote and holds it to its golden values.
    export(&vmf, &ps).expect("exported and tested");

    let written = bundle::open(Path::new(&out), &cpu()).expect("a model");
    let sets = &written.manifest().picture_sets;
    assert_eq!(*sets, None, "those of the encoder's own adapters");

    let alone = std::fs::read(Path::new(&out).join(adapter_file::FILE)).expect("a file");
    let alone = AdapterFile::read(&alone).expect("an adapter file");
    let about = alone.about.clone();
    let encoder = bundle::open(Path::new(&model), &cpu()).expect("the encoder");
    let adapted = pollster::block_on(encoder.with_adapters(alone)).expect("they fit");
    let test = adapted.self_test_adapters(&about.captions, about.concentration);
    let test = pollster::block_on(test).expect("it runs");
    assert!(test.passed(), "alone they answer the same: {test:?}");

    for (path, part) in [
        (&features, "84 captions of 12 pictures"),
        (&vmf, "a fit of asymvlm-vmf with seed 0"),
        (&out, "a model, Scenes"),
    ] {
        let said = describe(Path::new(path)).expect("a known folder");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn sets_go_into_the_manifest_and_nothing_else_in_it_changes() {
    let folder = Folder::new();
    let copy = folder.path("model");
    std::fs::create_dir(&copy).expect("a new folder");
    for entry in std::fs::read_dir(model()).expect("a model folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, Path::new(&copy).join(name)).expect("copied");
    }
    let sets = |more: &[&str]| {
        let words = ["sets", "--model", &copy];
        train(&[&words[..], more].concat())
    };
    sets(&["--scenes", "20", "--force"]).expect("chosen");
    let [before, after] = [&model(), &copy].map(|folder| {
        let session = bundle::open(Path::new(folder), &cpu()).expect("a model");
        session.manifest().clone()
    });
    let found = after.picture_sets.clone().expect("they are there");
    assert_eq!(found.problem(), None, "{found:?}");
    let measured = &found.measured[0];
    let on = (&*measured.on, measured.n_pictures, measured.n_pairs);
    assert_eq!(on, ("20 other drawings", 20, 120), "six captions of each");
    let picture_sets = before.picture_sets.clone();
    let others = Manifest {
        picture_sets,
        ..after
    };
    assert!(others == before, "the rest is as it was");
    let again = sets(&[]).expect_err("they are there");
    assert!(again.to_string().contains("--force"), "{again}");
    let none = sets(&["--scenes", "0", "--force"]).expect_err("nothing to choose on");
    assert!(none.to_string().contains("no scenes"), "{none}");
}

#[test]
fn the_committed_wall_of_drawings_is_what_the_model_makes_of_them() {
    let folder = Folder::new();
    let session = bundle::open(Path::new(&model()), &cpu()).expect("the model");
    wall::write_drawings(&session, folder.0.path()).expect("written");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/examples/scenes");
    let [made, committed] = [folder.0.path(), &committed].map(|folder| {
        let bytes = std::fs::read(folder.join("wall.bin")).expect("directions");
        CompactDirection::read_all(&bytes, bytes.len() / N_WALL_SCENES)
    });
    assert_eq!(made.len(), N_WALL_SCENES, "drawings");
    assert_eq!(committed.len(), N_WALL_SCENES, "committed drawings");
    for (i, (made, committed)) in made.iter().zip(&committed).enumerate() {
        let cosine = made.cosine(committed);
        assert!(cosine > 0.999, "drawing {i}: {cosine}");
    }
}

#[test]
fn noisy_features_tell_what_noise_costs() {
    let folder = Folder::new();
    let (features, noisy, out) = (folder.path("f"), folder.path("n"), folder.path("out"));
    embed(&features, &[]);
    embed(&noisy, &["--distort", "shot:5", "--misspell", "keyboard:7"]);
    let words = [
        "reproduce",
        "--features",
        &features,
        "--measure-on",
        &noisy,
        "--out",
        &out,
    ];
    let more = [
        "--seeds",
        "1",
        "--methods",
        "clip,pfe",
        "--batch",
        "32",
        "--epochs",
        "1",
    ];
    train(&[&words[..], &more].concat()).expect("reproduced");
    let report = std::fs::read_to_string(folder.0.path().join("out/report.md")).expect("a report");
    let (own, shifted) = report
        .split_once("# scenes, shot 5, keyboard 7")
        .expect("two chapters");
    assert!(!own.contains("## Noise"), "{own}");
    assert!(shifted.contains("## Noise"), "{shifted}");
}

/// A picture of one colour, as a file of a data set.
fn put_picture(path: &Path, shade: u8) {
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
    let pixels = [shade, 255 - shade, 90].repeat(12 * 12);
    std::fs::write(path, png(&pixels, 12).expect("a picture")).expect("the test's own folder");
}

/// Twelve pictures with a caption each, in COCO's files.
fn coco(root: &Path) {
    for split in ["train2017", "val2017"] {
        let ids = 0..12_u8;
        let images: Vec<_> = ids
            .clone()
            .map(|id| serde_json::json!({"id": id, "file_name": format!("{id}.png")}))
            .collect();
        let annotations: Vec<_> = ids
            .clone()
            .map(|id| serde_json::json!({"id": id, "image_id": id, "caption": format!("{id} red stars")}))
            .collect();
        let json = serde_json::json!({"images": images, "annotations": annotations});
        let folder = root.join("annotations");
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(format!("captions_{split}.json"));
        std::fs::write(path, json.to_string()).expect("the test's own folder");
        ids.for_each(|id| put_picture(&root.join(split).join(format!("{id}.png")), 20 * id));
    }
}

/// Twenty-four pictures with a caption each, in Flickr30k's files.
fn flickr30k(root: &Path) {
    let (mut tokens, mut lists) = (String::new(), [String::new(), String::new()]);
    for id in 0..24_u8 {
        tokens += &format!("{id}.jpg#0\tA star and {id} rings .\n");
        lists[usize::from(id / 12)] += &format!("{id}\n");
        put_picture(&root.join(format!("flickr30k-images/{id}.jpg")), 10 * id);
    }
    std::fs::write(root.join("results_20130124.token"), tokens).expect("the test's own folder");
    for (name, list) in ["train.txt", "test.txt"].into_iter().zip(lists) {
        std::fs::write(root.join(name), list).expect("the test's own folder");
    }
}

/// Twenty-four lines with a picture each, as Conceptual Captions are downloaded.
fn cc(root: &Path) {
    let line = |id: u8| format!("{id} shapes in a row\thttp://nowhere/{id}\n");
    for id in 0..24 {
        put_picture(&root.join(format!("images/00000/{id:09}.jpg")), 10 * id);
    }
    let tsv: String = (0..24).map(line).collect();
    std::fs::write(root.join("Train_GCC-training.tsv"), tsv).expect("the test's own folder");
}

/// Embeds a data set of the paper and fits some methods to it.
fn reproduces(world: &str, put_files: fn(&Path), more: &[&str]) {
    let folder = Folder::new();
    let (root, model) = (folder.path("data"), model());
    let (features, out) = (folder.path("features"), folder.path("out"));
    std::fs::create_dir_all(&root).expect("a folder");
    put_files(Path::new(&root));
    let words = ["--world", world, "--root", &root, "--model", &model];
    train(&[&["embed"], &words[..], &["--out", &features], more].concat()).expect("embedded");
    let words = ["--world", world, "--features", &features, "--out", &out];
    let short = ["--seeds", "2", "--batch", "6", "--epochs", "1"];
    let methods = ["--methods", "clip,prolip,asymvlm-vmf"];
    train(&[&["reproduce"], &words[..], &short, &methods].concat()).expect("reproduced");
    let report = std::fs::read_to_string(Path::new(&out).join("report.md")).expect("a report");
    for part in [
        "```sh\ntrain",
        "## What holds of the papers' findings",
        "| AsymVLM vMF | 2 |",
        "| – in the paper | 5 |",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
}

#[test]
fn coco_is_reproduced_beside_the_papers_numbers() {
    reproduces("coco", coco, &[]);
}

#[test]
fn flickr30k_is_reproduced_beside_the_papers_numbers() {
    reproduces("flickr30k", flickr30k, &[]);
}

#[test]
fn conceptual_captions_are_reproduced_beside_the_papers_numbers() {
    reproduces("cc", cc, &["--hold-out", "0.5"]);
}

#[test]
fn photographs_have_no_number_of_scenes() {
    let folder = Folder::new();
    let (run, out) = (folder.path("run"), folder.path("out"));
    let words = ["reproduce", "--world", "photos", "--preset", "small"];
    let more = ["--train-scenes", "9", "--features", &run, "--out", &out];
    let error = train(&[&words[..], &more].concat()).expect_err("nothing to draw");
    assert!(error.to_string().contains("--train-scenes"), "{error:#}");
}

#[test]
fn a_caption_that_is_too_long_is_a_wrong_command_line() {
    let long = "a".repeat(2001);
    let error = train(&["score", "--caption", &long]).expect_err("a caption too long");
    assert!(error.to_string().contains("2001 characters"), "{error}");
    assert_eq!(code_of(&error), BAD_INPUT, "the exit code");
}

#[test]
fn golden_values_are_renewed_for_what_the_page_opens_with_and_for_no_other_model() {
    let folder = Folder::new();
    let copy = folder.path("scenes");
    std::fs::create_dir(&copy).expect("a folder");
    for file in std::fs::read_dir(model()).expect("the model") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), Path::new(&copy).join(file.file_name())).expect("a copy");
    }
    let path = Path::new(&copy).join("manifest.json");
    let read = || Manifest::from_json(&std::fs::read(&path).expect("there")).expect("a manifest");
    let mut old = read();
    let shipped = old.golden.clone().expect("golden values");
    let session = bundle::open(Path::new(&copy), &cpu()).expect("its golden values");
    let picture = std::fs::read(Path::new(&copy).join(&shipped.image.file)).expect("a picture");
    let other = vec!["a red star".to_owned()];
    let found = pollster::block_on(session.golden_readings(&other, &picture)).expect("readings");
    old.golden = Some(found.into_golden(other, shipped.image.clone()));
    let write = |manifest: &Manifest| {
        let json = serde_json::to_vec(manifest).expect("plain numbers");
        std::fs::write(&path, json).expect("a manifest");
    };
    write(&old);

    train(&["golden", "--model", &copy]).expect("renewed");
    let renewed = read().golden.expect("golden values");
    assert_eq!(
        renewed.captions, shipped.captions,
        "what the page opens with"
    );
    assert_eq!(read().shards, old.shards, "the weights stay");
    bundle::open(Path::new(&copy), &cpu()).expect("it meets them");

    old.name = "another".to_owned();
    write(&old);
    let refused = train(&["golden", "--model", &copy]).expect_err("no world opens with it");
    let expected = "a model that comes with the page was expected";
    assert!(refused.to_string().contains(expected), "{refused}");
}
