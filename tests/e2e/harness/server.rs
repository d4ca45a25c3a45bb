//! The built page on a port of its own, with single files replaced where a test wants them broken.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::http::{Answer, Request, serve};

/// Serves a built page for as long as the tests run.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What the server does beside serving files as they are.
#[derive(Default)]
struct Shared {
    folder: PathBuf,
    /// Path under which the folder is served; the server has nothing else.
    below: &'static str,
    /// Other contents for some paths; `None` where there is no such file.
    replaced: Mutex<HashMap<String, Option<Vec<u8>>>>,
    /// The next answer for a path with this ending stops after so many bytes.
    stop: Mutex<Option<(String, usize)>>,
    /// Answers for paths with this ending come in pieces of so many bytes, ten in a second.
    slow: Mutex<Option<(String, usize)>>,
    /// Paths that begin so are refused.
    refused: Mutex<Option<String>>,
    /// Paths that begin so are answered with a web page of this type, as by a block screen.
    screened: Mutex<Option<(String, &'static str)>>,
    /// What was asked for, and when.
    asked: Mutex<Vec<(Request, SystemTime)>>,
}

impl Server {
    /// Serves the page as it was built.
    pub fn start() -> Self {
        Self::replacing(HashMap::new())
    }

    /// Serves the page with other contents for some of its paths, such as `/models/scenes/text.safetensors`.
    pub fn replacing(replaced: HashMap<String, Vec<u8>>) -> Self {
        let replaced = replaced.into_iter();
        Self::serving(Shared {
            folder: dist(),
            replaced: Mutex::new(
                replaced
                    .map(|(path, content)| (path, Some(content)))
                    .collect(),
            ),
            ..Shared::default()
        })
    }

    /// Serves the release under a path such as `/sub/path`, or as a site of its own.
    pub fn release(below: &'static str) -> Self {
        Self::serving(Shared {
            folder: dist_release(),
            below,
            ..Shared::default()
        })
    }

    /// Serves a folder that holds no page of ours.
    pub fn of(folder: PathBuf) -> Self {
        Self::serving(Shared {
            folder,
            ..Shared::default()
        })
    }

    fn serving(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        let answers = Arc::clone(&shared);
        let address = serve(move |request| answers.answer(request));
        Self { address, shared }
    }

    /// Has a path of the page answer with this from now on, or with nothing.
    pub fn publish(&self, path: &str, content: Option<Vec<u8>>) {
        let mut replaced = self.shared.replaced.lock().expect("no panic");
        replaced.insert(path.to_owned(), content);
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

    /// Answers every path that begins so with a web page that is sent as this type, as a block screen does; `None` shows
    /// the files again.
    pub fn screen(&self, screen: Option<(&str, &'static str)>) {
        let screen = screen.map(|(beginning, content_type)| (beginning.to_owned(), content_type));
        *self.shared.screened.lock().expect("no panic") = screen;
    }

    /// The ranges of a file that were asked for so far; `None` for all of it.
    pub fn asked(&self, ending: &str) -> Vec<Option<Range<usize>>> {
        let asked = self.shared.asked.lock().expect("no panic");
        let of_file = asked
            .iter()
            .filter(|(request, _)| request.path.ends_with(ending));
        of_file.map(|(request, _)| request.range.clone()).collect()
    }

    /// The time at which any of some files was asked for last, in milliseconds since 1970, as browsers count; `None`
    /// where none was.
    pub fn last_asked(&self, beginnings: &[&str]) -> Option<f64> {
        let asked = self.shared.asked.lock().expect("no panic");
        let is_of_them = |request: &Request| {
            let path = request.path.rsplit('/').next().unwrap_or_default();
            beginnings
                .iter()
                .any(|beginning| path.starts_with(beginning))
        };
        let mut times = asked
            .iter()
            .rev()
            .filter(|(request, _)| is_of_them(request));
        let since = times.next()?.1.duration_since(SystemTime::UNIX_EPOCH);
        Some(1e3 * since.expect("after 1970").as_secs_f64())
    }

    /// The paths that were asked for since this was asked last.
    pub fn take_paths(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.shared.asked.lock().expect("no panic"));
        asked.into_iter().map(|(request, _)| request.path).collect()
    }

    /// The address with this after the slash; of the page, where its query names no world, the one with the scenes.
    pub fn address(&self, rest: &str) -> String {
        let rest = match rest.strip_prefix('?') {
            Some(query) if !query.contains("world=") => format!("?world=scenes&{query}"),
            _ => rest.to_owned(),
        };
        format!("http://{}{}/{rest}", self.address, self.shared.below)
    }
}

impl Shared {
    fn answer(&self, request: Request) -> Option<Answer> {
        let now = SystemTime::now();
        self.asked
            .lock()
            .expect("no panic")
            .push((request.clone(), now));
        let Some(path) = request.path.strip_prefix(self.below) else {
            return Some(Answer::missing());
        };
        let path = match path {
            "/" => "/index.html",
            path => path,
        };
        let refused = self.refused.lock().expect("no panic").clone();
        if refused.is_some_and(|beginning| path.starts_with(&beginning)) {
            return None;
        }
        let screened = self.screened.lock().expect("no panic").clone();
        if let Some((_, content_type)) =
            screened.filter(|(beginning, _)| path.starts_with(beginning))
        {
            let page = Answer::file(b"<!doctype html><title>Blocked</title>".to_vec(), None);
            return Some(page.with_header("Content-Type", content_type));
        }
        let replaced = self.replaced.lock().expect("no panic").get(path).cloned();
        let on_disk = || fs::read(self.folder.join(path.trim_start_matches('/'))).ok();
        let Some(content) = replaced.unwrap_or_else(on_disk) else {
            return Some(Answer::missing());
        };
        let is_it = |(ending, _): &(String, usize)| path.ends_with(ending);
        let bytes = |(_, n_bytes): (String, usize)| n_bytes;
        let mut answer =
            Answer::file(content, request.range).with_header("Content-Type", content_type(path));
        let stop = self
            .stop
            .lock()
            .expect("no panic")
            .take_if(|stop| is_it(stop));
        answer.breaks_after = stop.map(bytes);
        let slow = self.slow.lock().expect("no panic").clone();
        answer.piece_bytes = slow.filter(is_it).map(bytes);
        Some(answer)
    }
}

/// The folder of the built page.
pub fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

/// The folder of the release.
pub fn dist_release() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist-release")
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript",
        "css" => "text/css",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "jpg" => "image/jpeg",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
