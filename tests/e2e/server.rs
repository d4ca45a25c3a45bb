//! The built page on a port of its own, with single files replaced where a test wants them broken.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// Serves `dist/` for as long as the tests run.
pub struct Server(SocketAddr);

impl Server {
    /// Serves the page as it was built.
    pub fn start() -> Self {
        Self::replacing(HashMap::new())
    }

    /// Serves the page with other contents for some of its paths, such as `/models/scenes/text.safetensors`.
    pub fn replacing(replaced: HashMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let replaced = Arc::new(replaced);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let replaced = Arc::clone(&replaced);
                // A browser that closes early, as at the end of a test, is no failure of the server.
                thread::spawn(move || answer(stream, &replaced).ok());
            }
        });
        Self(address)
    }

    /// The page's address with this after the slash.
    pub fn address(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.0)
    }
}

/// The folder of the built page.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

/// Answers one request and closes the connection, so that a browser's idle connections bind nothing.
fn answer(mut stream: TcpStream, replaced: &HashMap<String, Vec<u8>>) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|header| !header.is_empty())
    {}
    let path = request
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .split('?')
        .next()
        .unwrap_or("/");
    let path = if path == "/" { "/index.html" } else { path };
    let file = dist().join(path.trim_start_matches('/'));
    let (status, content) = match replaced.get(path).cloned().or_else(|| fs::read(file).ok()) {
        Some(content) => ("200 OK", content),
        None => ("404 Not Found", Vec::new()),
    };
    let (kind, n_bytes) = (content_type(path), content.len());
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {n_bytes}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&content)
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
