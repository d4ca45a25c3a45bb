//! The hub, played by a few lines of HTTP: what is downloaded, what happens when the connection breaks, and what when
//! a file is not what the hub says.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::shard::file_entry;

use crate::checkpoints::{Scratch, fixture};
use crate::http::{Answer, Request, serve};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const WEIGHTS: &str = "model.safetensors";

/// Files of one model, and what was asked of them.
struct Hub {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Hub {
    /// Serves `files`; the first download of the weights breaks half way. `etag` is what the hub says of the weights.
    fn new(files: HashMap<String, Vec<u8>>, etag: String) -> Self {
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let requests = Arc::clone(&asked);
        let address = serve(move |request| {
            requests.lock().expect("no panic").push(request.clone());
            Some(answer(&files, &etag, request))
        });
        Self { address, asked }
    }

    fn import(&self, scratch: &Scratch) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        command
            .args(["import", "someone/tiny-clip", "--dtype", "f32", "--out"])
            .arg(scratch.path("out"))
            .env("HF_ENDPOINT", format!("http://{}", self.address))
            .env("HF_HOME", scratch.path("cache"))
            .output()
            .expect("the program starts")
    }

    fn asked(&self, file: &str) -> Vec<Range<usize>> {
        let asked = self.asked.lock().expect("no panic");
        let of_file = asked.iter().filter(|request| request.path.ends_with(file));
        of_file
            .filter_map(|request| request.range.clone())
            .collect()
    }
}

fn answer(files: &HashMap<String, Vec<u8>>, etag: &str, request: Request) -> Answer {
    let file = request.path.rsplit('/').next().unwrap_or_default();
    let Some(content) = files.get(file) else {
        return Answer::missing();
    };
    let etag = if file == WEIGHTS { etag } else { file };
    let mut answer = Answer::file(content.clone(), request.range)
        .with_header("ETag", format!("\"{etag}\""))
        .with_header("x-repo-commit", COMMIT);
    if file == WEIGHTS && answer.n_bytes() == content.len() {
        answer.breaks_after = Some(content.len() / 2);
    }
    answer
}

fn files() -> HashMap<String, Vec<u8>> {
    let mut files: HashMap<_, _> = [WEIGHTS, "config.json"]
        .into_iter()
        .map(|name| {
            (
                name.to_owned(),
                std::fs::read(fixture(name)).expect("the fixture"),
            )
        })
        .collect();
    files.insert(
        "tokenizer.json".to_owned(),
        byte_level_json(512).into_bytes(),
    );
    files
}

#[test]
fn a_download_that_breaks_goes_on_where_it_ended_and_the_manifest_tells_the_commit() {
    let scratch = Scratch::new();
    let files = files();
    let weights = &files[WEIGHTS];
    let (half, entry) = (weights.len() / 2, file_entry(WEIGHTS, weights));
    let hub = Hub::new(files, entry.sha256.clone());
    let output = hub.import(&scratch);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let expected = [0..1, 0..usize::MAX, half..usize::MAX];
    assert_eq!(
        hub.asked(WEIGHTS),
        expected,
        "size, first half, second half"
    );
    let json = std::fs::read(scratch.path("out/manifest.json")).expect("a manifest");
    let manifest = Manifest::from_json(&json).expect("a valid manifest");
    let origin = manifest.provenance.origin.expect("the hub");
    assert_eq!(origin.source, "someone/tiny-clip", "the id");
    assert_eq!(
        origin.revision.as_deref(),
        Some(COMMIT),
        "the commit, not the branch"
    );
    assert_eq!(origin.checkpoint, entry, "the file");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("no golden known"), "{printed}");
}

#[test]
fn a_file_that_is_not_the_hubs_is_refused_and_forgotten() {
    let scratch = Scratch::new();
    let hub = Hub::new(files(), "0".repeat(64));
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
