//! The built page on a port of its own, with single files replaced where a test wants them broken.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tiny_http::{Header, Response};

/// Serves `dist/` until it is dropped.
pub struct Server {
    http: Arc<tiny_http::Server>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the page as it was built.
    pub fn start() -> Self {
        Self::replacing(HashMap::new())
    }

    /// Serves the page with other contents for some of its paths, such as `/models/scenes/text.safetensors`.
    pub fn replacing(replaced: HashMap<String, Vec<u8>>) -> Self {
        let http = Arc::new(tiny_http::Server::http("127.0.0.1:0").expect("a port is free"));
        let thread = thread::spawn({
            let http = Arc::clone(&http);
            move || {
                http.incoming_requests()
                    .for_each(|request| answer(request, &replaced));
            }
        });
        Self {
            http,
            thread: Some(thread),
        }
    }

    /// The page's address with this after the slash.
    pub fn address(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.http.server_addr())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.http.unblock();
        if let Some(thread) = self.thread.take() {
            // A panic over there failed its own request already.
            thread.join().ok();
        }
    }
}

/// The folder of the built page.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

fn answer(request: tiny_http::Request, replaced: &HashMap<String, Vec<u8>>) {
    let path = request.url().split('?').next().unwrap_or("/");
    let path = if path.ends_with('/') {
        format!("{path}index.html")
    } else {
        path.to_owned()
    };
    let content = replaced
        .get(&path)
        .cloned()
        .or_else(|| fs::read(dist().join(&path[1..])).ok());
    let sent = match content {
        Some(content) => {
            request.respond(Response::from_data(content).with_header(content_type(&path)))
        }
        None => request.respond(Response::empty(404)),
    };
    // A browser that closes early, as at the end of a test, is no failure of the server.
    sent.ok();
}

fn content_type(path: &str) -> Header {
    let value = match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    };
    Header::from_bytes("Content-Type", value).expect("a plain header")
}
