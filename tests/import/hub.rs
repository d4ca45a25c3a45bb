//! The hub, played by a few lines of HTTP: what is downloaded, what happens when the connection breaks, and what when
//! a file is not what the hub says.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use kappascope::device::cpu;
use kappascope::preprocess::decode;
use kappascope::train::export::bundle;
use kappascope::train::gallery::png::png;
use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::shard::file_entry;

use crate::checkpoints::{Scratch, fixture, put};
use crate::http::{Answer, Request, serve};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const WEIGHTS: &str = "model.safetensors";

/// Where the files of a model lie at the hub.
const TINY_CLIP: &str = "someone/tiny-clip";

/// Files of models, and what was asked of them.
struct Hub {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Hub {
    /// Serves `files` by `OWNER/NAME/FILE`; the first download of weights breaks half way. `etag` is what the hub says of
    /// them, if not their hash.
    fn new(files: HashMap<String, Vec<u8>>, etag: Option<String>) -> Self {
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let requests = Arc::clone(&asked);
        let address = serve(move |request| {
            requests.lock().expect("no panic").push(request.clone());
            Some(answer(&files, etag.as_deref(), request))
        });
        Self { address, asked }
    }

    /// Runs `train` with these words and an output folder.
    fn train(&self, scratch: &Scratch, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        command
            .args(words)
            .arg("--out")
            .arg(scratch.path("out"))
            .env("HF_ENDPOINT", format!("http://{}", self.address))
            .env("HF_HOME", scratch.path("cache"))
            .output()
            .expect("the program starts")
    }

    fn import(&self, scratch: &Scratch) -> Output {
        self.train(scratch, &["import", TINY_CLIP, "--dtype", "f32"])
    }

    /// The parts that were asked for of files whose address ends so.
    fn asked(&self, file: &str) -> Vec<Range<usize>> {
        let asked = self.asked.lock().expect("no panic");
        let of_file = asked.iter().filter(|request| request.path.ends_with(file));
        of_file
            .filter_map(|request| request.range.clone())
            .collect()
    }

    /// How often anything was asked for.
    fn n_asked(&self) -> usize {
        self.asked.lock().expect("no panic").len()
    }
}

/// Files lie at `/OWNER/NAME/resolve/REVISION/FILE`.
fn answer(files: &HashMap<String, Vec<u8>>, etag: Option<&str>, request: Request) -> Answer {
    let Some((model, rest)) = request.path.split_once("/resolve/") else {
        return Answer::missing();
    };
    let (revision, file) = rest.split_once('/').unwrap_or_default();
    let commit = if revision == "main" { COMMIT } else { revision };
    let Some(content) = files.get(&format!("{}/{file}", model.trim_start_matches('/'))) else {
        return Answer::missing();
    };
    let etag = match (file == WEIGHTS, etag) {
        (true, Some(etag)) => etag.to_owned(),
        (true, None) => file_entry(file, content).sha256,
        (false, _) => file.to_owned(),
    };
    let mut answer = Answer::file(content.clone(), request.range)
        .with_header("ETag", format!("\"{etag}\""))
        .with_header("x-repo-commit", commit);
    if file == WEIGHTS && answer.n_bytes() == content.len() {
        answer.breaks_after = Some(content.len() / 2);
    }
    answer
}

fn files() -> HashMap<String, Vec<u8>> {
    let mut files = files_of(TINY_CLIP, &fixture("."), &[WEIGHTS, "config.json"]);
    let tokenizer = byte_level_json(512).into_bytes();
    files.insert(format!("{TINY_CLIP}/tokenizer.json"), tokenizer);
    files
}

fn files_of(model: &str, folder: &Path, names: &[&str]) -> HashMap<String, Vec<u8>> {
    let file = |name: &&str| {
        let content = std::fs::read(folder.join(name)).expect("the fixture");
        (format!("{model}/{name}"), content)
    };
    names.iter().map(file).collect()
}

fn succeeded(output: &Output) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
}

fn manifest(folder: &Path) -> Manifest {
    let json = std::fs::read(folder.join("manifest.json")).expect("a manifest");
    Manifest::from_json(&json).expect("a valid manifest")
}

#[test]
fn a_download_that_breaks_goes_on_where_it_ended_and_the_manifest_tells_the_commit() {
    let scratch = Scratch::new();
    let files = files();
    let weights = &files[&format!("{TINY_CLIP}/{WEIGHTS}")];
    let (half, entry) = (weights.len() / 2, file_entry(WEIGHTS, weights));
    let hub = Hub::new(files, None);
    let output = hub.import(&scratch);
    succeeded(&output);
    let expected = [0..1, 0..usize::MAX, half..usize::MAX];
    assert_eq!(
        hub.asked(WEIGHTS),
        expected,
        "size, first half, second half"
    );
    let origin = manifest(&scratch.path("out")).provenance.origin;
    let origin = origin.expect("the hub");
    assert_eq!(origin.source, TINY_CLIP, "the id");
    assert_eq!(
        origin.revision.as_deref(),
        Some(COMMIT),
        "the commit, not the branch"
    );
    assert_eq!(origin.checkpoint, entry, "the file");
    let small: Vec<_> = origin.beside.iter().map(|entry| &*entry.file).collect();
    assert_eq!(small, ["config.json", "tokenizer.json"], "hashed, too");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(&format!("taken at commit {COMMIT}")),
        "{said}"
    );
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("no golden known"), "{printed}");
}

#[test]
fn a_model_without_adapters_is_scored_by_its_cosines() {
    let scratch = Scratch::new();
    succeeded(&Hub::new(files(), None).import(&scratch));
    let out = scratch.path("out");
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/gallery/lone-red-star.png");
    let score = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        command.args(["score", "--caption", "a star", "--model"]);
        command
            .arg(&out)
            .args(more)
            .output()
            .expect("the program starts")
    };
    let shown = picture.display().to_string();
    let output = score(&["--image", &shown, "--json"]);
    succeeded(&output);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let session = bundle::open(&out, &cpu()).expect("the model");
    let text = pollster::block_on(session.encode_text(&["a star".to_owned()]));
    let rgb = decode(&std::fs::read(&picture).expect("a picture"))
        .expect("a picture")
        .rgb;
    let image = pollster::block_on(session.encode_image(&rgb)).expect("an embedding");
    let cosine = text.expect("an embedding")[0].compare(&image).cosine;
    let expected = serde_json::json!({
        "captions": [{ "caption": "a star", "is_unread": false }],
        "pairs": [{ "caption": "a star", "image": shown, "cosine": cosine }],
    });
    assert_eq!(json, expected, "no number that only adapters have");
    let output = score(&["--image", &shown]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("by cosine alone"), "{table}");
    assert!(
        table.contains(&format!("{cosine:>10.4}  {shown} | a star")),
        "{table}"
    );
    let output = score(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--image"), "nothing to compare with: {said}");
}

#[test]
fn a_file_that_is_not_the_hubs_is_refused_and_forgotten() {
    let scratch = Scratch::new();
    let hub = Hub::new(files(), Some("0".repeat(64)));
    let output = hub.import(&scratch);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{message}");
    assert!(message.contains("the hub says 0000"), "{message}");
    assert_eq!(scratch.names("."), ["cache"], "no model was written");
    let blobs = "cache/hub/models--someone--tiny-clip/blobs";
    assert!(
        !scratch.names(blobs).contains(&"0".repeat(64)),
        "it will be downloaded again"
    );
}

#[test]
fn a_file_of_a_pinned_model_that_is_another_is_refused_and_forgotten() {
    let scratch = Scratch::new();
    let pinned = "openai/clip-vit-base-patch32";
    let mut files = files_of(pinned, &fixture("."), &[WEIGHTS, "config.json"]);
    let tokenizer = byte_level_json(512).into_bytes();
    files.insert(format!("{pinned}/tokenizer.json"), tokenizer);
    let hub = Hub::new(files, None);
    let output = hub.train(&scratch, &["import", pinned]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("config.json: sha256 is"), "{message}");
    assert!(
        message.contains("this program expects b575ef3c"),
        "{message}"
    );
    assert_eq!(scratch.names("."), ["cache"], "no model was written");
    let commit = "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268";
    let snapshot = format!("cache/hub/models--openai--clip-vit-base-patch32/snapshots/{commit}");
    let left = scratch.names(&snapshot);
    assert!(
        !left.contains(&"config.json".to_owned()),
        "it will be downloaded again: {left:?}"
    );
}

#[test]
fn a_pinned_model_without_one_of_its_small_files_is_refused() {
    let scratch = Scratch::new();
    let pinned = "openai/clip-vit-base-patch32";
    let hub = Hub::new(files_of(pinned, &fixture("."), &[WEIGHTS]), None);
    let output = hub.train(&scratch, &["import", pinned]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("config.json: is missing"), "{message}");
    assert!(message.contains("b575ef3c"), "what is expected: {message}");
    assert_eq!(scratch.names("."), ["cache"], "no model was written");
}

#[test]
fn two_towers_are_asked_for_by_their_own_ids() {
    let scratch = Scratch::new();
    let text = "sentence-transformers/all-MiniLM-L6-v2";
    let image = "timm/tf_efficientnet_lite0.in1k";
    let photos = fixture("../photos");
    let names = [WEIGHTS, "config.json", "tokenizer.json"];
    let mut files = files_of(text, &photos.join("text"), &names);
    files.extend(files_of(image, &photos.join("image"), &names[..2]));
    let hub = Hub::new(files, None);
    let words = ["import", text, "--image-tower", image];
    succeeded(&hub.train(&scratch, &words));
    let provenance = manifest(&scratch.path("out")).provenance;
    for (id, origin) in [(text, provenance.origin), (image, provenance.image_origin)] {
        let origin = origin.expect("the hub");
        let found = (&*origin.source, origin.revision.as_deref());
        assert_eq!(found, (id, Some(COMMIT)), "id and commit");
        let asked = hub.asked(&format!("/{id}/resolve/main/{WEIGHTS}"));
        assert!(!asked.is_empty(), "the weights of {id}");
    }
}

#[test]
fn a_model_of_the_hub_is_adapted_at_the_commit_that_was_taken() {
    let scratch = Scratch::new();
    let hub = Hub::new(files(), None);
    let data = scratch.path("data");
    let mut captions = "image,caption,split\n".to_owned();
    for i in 0..20_u8 {
        let picture = png(&[i, 255 - i, 7 * i].repeat(64), 8).expect("a picture");
        put(&data, &format!("{i}.png"), &picture);
        let split = if i < 10 { "train" } else { "test" };
        captions += &format!("{i}.png,caption {i},{split}\n");
    }
    put(&data, "captions.csv", captions.as_bytes());
    let data = data.display().to_string();
    let words = ["adapt", TINY_CLIP, "--data", "captions", "--root", &data];
    let words = [&words[..], &["--batch", "32", "--epochs", "1"]].concat();
    succeeded(&hub.train(&scratch, &words));
    let adapted = manifest(&scratch.path("out/model/tiny-clip"));
    assert!(adapted.adapters.is_some(), "beside the encoder");
    let origin = adapted.provenance.origin.expect("the hub");
    let found = (&*origin.source, origin.revision.as_deref());
    assert_eq!(found, (TINY_CLIP, Some(COMMIT)), "id and commit");
    let n_asked = hub.n_asked();
    succeeded(&hub.train(&scratch, &[&words[..], &["--force"]].concat()));
    assert_eq!(hub.n_asked(), n_asked, "the hub is not asked again");
}
