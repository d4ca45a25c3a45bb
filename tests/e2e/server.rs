//! The built page on a port of its own, with single files replaced where a test wants them broken.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Between two pieces of a slow answer.
const PIECE_PAUSE: Duration = Duration::from_millis(100);

/// Serves `dist/` for as long as the tests run.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What the server does beside serving files as they are.
#[derive(Default)]
struct Shared {
    replaced: HashMap<String, Vec<u8>>,
    /// The next answer for a path with this ending stops after so many bytes.
    stop: Mutex<Option<(String, usize)>>,
    /// Answers for paths with this ending come in pieces of so many bytes, ten in a second.
    slow: Mutex<Option<(String, usize)>>,
    /// Paths that begin so are refused.
    refused: Mutex<Option<String>>,
    /// Paths and ranges that were asked for.
    asked: Mutex<Vec<(String, Option<Range<usize>>)>>,
}

impl Server {
    /// Serves the page as it was built.
    pub fn start() -> Self {
        Self::replacing(HashMap::new())
    }

    /// Serves the page with other contents for some of its paths, such as `/models/scenes/text.safetensors`.
    pub fn replacing(replaced: HashMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let shared = Arc::new(Shared {
            replaced,
            ..Shared::default()
        });
        let answers = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&answers);
                // A browser that closes early, as at the end of a test, is no failure of the server.
                thread::spawn(move || answer(stream, &shared).ok());
            }
        });
        Self { address, shared }
    }

    /// Has the next answer for a path with this ending stop after so many bytes.
    pub fn stop_once(&self, ending: &str, n_bytes: usize) {
        *self.shared.stop.lock().expect("no panic") = Some((ending.to_owned(), n_bytes));
    }

    /// Has answers for paths with this ending come in pieces of so many bytes, ten in a second.
    pub fn slow_down(&self, ending: &str, piece_bytes: usize) {
        *self.shared.slow.lock().expect("no panic") = Some((ending.to_owned(), piece_bytes));
    }

    /// Has answers come as fast as they can.
    pub fn hurry(&self) {
        *self.shared.slow.lock().expect("no panic") = None;
    }

    /// Refuses every path that begins so from now on.
    pub fn refuse(&self, beginning: &str) {
        *self.shared.refused.lock().expect("no panic") = Some(beginning.to_owned());
    }

    /// The ranges of a file that were asked for so far; `None` for all of it.
    pub fn asked(&self, ending: &str) -> Vec<Option<Range<usize>>> {
        let asked = self.shared.asked.lock().expect("no panic");
        let of_file = asked.iter().filter(|(path, _)| path.ends_with(ending));
        of_file.map(|(_, range)| range.clone()).collect()
    }

    /// The page's address with this after the slash.
    pub fn address(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.address)
    }
}

/// The folder of the built page.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

/// Answers one request and closes the connection, so that a browser's idle connections bind nothing.
fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut range = None;
    while let Some(header) = lines.next().transpose()? {
        if header.is_empty() {
            break;
        }
        range = range.or_else(|| wanted_range(&header));
    }
    let path = request
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .split('?')
        .next()
        .unwrap_or("/");
    let path = if path == "/" { "/index.html" } else { path };
    let file = dist().join(path.trim_start_matches('/'));
    let asked = (path.to_owned(), range.clone());
    shared.asked.lock().expect("no panic").push(asked);
    let refused = shared.refused.lock().expect("no panic").clone();
    if refused.is_some_and(|beginning| path.starts_with(&beginning)) {
        return stream.shutdown(Shutdown::Both);
    }
    let whole = shared
        .replaced
        .get(path)
        .cloned()
        .or_else(|| fs::read(file).ok());
    let (status, mut content) = match (whole, range) {
        (Some(content), Some(range)) => {
            let end = range.end.min(content.len());
            ("206 Partial Content", content[range.start..end].to_vec())
        }
        (Some(content), None) => ("200 OK", content),
        (None, _) => ("404 Not Found", Vec::new()),
    };
    let (kind, n_bytes) = (content_type(path), content.len());
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n_bytes}\r\nConnection: close\r\n\r\n"
    )?;
    let stop = shared
        .stop
        .lock()
        .expect("no panic")
        .take_if(|(ending, _)| path.ends_with(&*ending));
    if let Some((_, n_bytes)) = stop {
        content.truncate(n_bytes);
    }
    let slow = shared.slow.lock().expect("no panic").clone();
    match slow.filter(|(ending, _)| path.ends_with(&**ending)) {
        Some((_, piece_bytes)) => content.chunks(piece_bytes).try_for_each(|piece| {
            thread::sleep(PIECE_PAUSE);
            stream.write_all(piece)
        }),
        None => stream.write_all(&content),
    }
}

/// `Range: bytes=3-7`, whose last byte is included.
fn wanted_range(header: &str) -> Option<Range<usize>> {
    let (name, value) = header.split_once(':')?;
    let range = value.trim().strip_prefix("bytes=")?;
    let (first, last) = range.split_once('-')?;
    let is_range = name.eq_ignore_ascii_case("range");
    is_range.then_some(first.parse().ok()?..last.parse::<usize>().ok()? + 1)
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
