//! The hub, played by a few lines of HTTP: what is downloaded, what happens when the connection breaks, and what when
//! a file is not what the hub says.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use kappascope::train::import::tokenizer::byte_level_json;
use kappascope::weights::manifest::Manifest;
use kappascope::weights::shard::file_entry;

use crate::checkpoints::{Scratch, fixture};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Files of one model, and what was asked of them.
struct Hub {
    address: String,
    ranges: Arc<Mutex<Vec<(String, String)>>>,
}

impl Hub {
    /// Serves `files`; the first download of the weights breaks half way. `etag` is what the hub says of the weights.
    fn new(files: HashMap<String, Vec<u8>>, etag: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&ranges);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(&stream, &files, &etag, &asked);
            }
        });
        Self { address, ranges }
    }

    fn import(&self, scratch: &Scratch) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_train"));
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(proxy).env_remove(proxy.to_lowercase());
        }
        command
            .args(["import", "someone/tiny-clip", "--dtype", "f32", "--out"])
            .arg(scratch.path("out"))
            .env("HF_ENDPOINT", &self.address)
            .env("HF_HOME", scratch.path("cache"))
            .output()
            .expect("the program starts")
    }

    fn asked(&self, file: &str) -> Vec<String> {
        let ranges = self.ranges.lock().expect("no test panicked");
        let of_file = ranges.iter().filter(|(asked, _)| asked == file);
        of_file.map(|(_, range)| range.clone()).collect()
    }
}

fn answer(
    stream: &TcpStream,
    files: &HashMap<String, Vec<u8>>,
    etag: &str,
    asked: &Mutex<Vec<(String, String)>>,
) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    let file = request
        .split(' ')
        .nth(1)
        .and_then(|path| path.rsplit('/').next());
    let file = file.unwrap_or_default().to_owned();
    let mut start_end = (0, None);
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some(range) = line.to_lowercase().strip_prefix("range: bytes=") {
            asked
                .lock()
                .expect("no test panicked")
                .push((file.clone(), range.to_owned()));
            let (start, end) = range.split_once('-').expect("a range");
            start_end = (start.parse().expect("a number"), end.parse::<usize>().ok());
        }
    }
    let mut stream = stream;
    let Some(bytes) = files.get(&file) else {
        let missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(missing.as_bytes()).ok();
        return;
    };
    let (start, end) = start_end;
    let end = end.map_or(bytes.len(), |end| (end + 1).min(bytes.len()));
    let body = &bytes[start.min(end)..end];
    let etag = if file == "model.safetensors" {
        etag
    } else {
        file.as_str()
    };
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{}/{}\r\nETag: \"{etag}\"\r\nx-repo-commit: {COMMIT}\r\nConnection: close\r\n\r\n",
        body.len(),
        end.saturating_sub(1),
        bytes.len()
    );
    let is_first = start == 0 && body.len() == bytes.len();
    let sent = if file == "model.safetensors" && is_first {
        &body[..body.len() / 2]
    } else {
        body
    };
    // A client that has gone away is the client's affair.
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(sent).ok();
}

fn files() -> HashMap<String, Vec<u8>> {
    let mut files: HashMap<_, _> = ["model.safetensors", "config.json"]
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
    let weights = &files["model.safetensors"];
    let (half, entry) = (weights.len() / 2, file_entry("model.safetensors", weights));
    let hub = Hub::new(files, entry.sha256.clone());
    let output = hub.import(&scratch);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let expected = ["0-0".to_owned(), "0-".to_owned(), format!("{half}-")];
    assert_eq!(
        hub.asked("model.safetensors"),
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
