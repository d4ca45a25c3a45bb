//! An HTTP server in a few lines: files in parts, and connections that break or crawl.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Between two pieces of a slow answer.
const PIECE_PAUSE: Duration = Duration::from_millis(100);

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The path without its query.
    pub(crate) path: String,
    /// The part of the file; its end is `usize::MAX` where the client names none.
    pub(crate) range: Option<Range<usize>>,
}

/// An answer, and how it is sent.
#[derive(Debug)]
pub(crate) struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    content: Vec<u8>,
    /// The connection breaks after so many bytes of the content.
    pub(crate) breaks_after: Option<usize>,
    /// The content comes in pieces of so many bytes, ten in a second.
    pub(crate) piece_bytes: Option<usize>,
}

impl Answer {
    /// A file, or the part of it that was asked for.
    pub(crate) fn file(mut content: Vec<u8>, range: Option<Range<usize>>) -> Self {
        let (mut status, mut headers) = ("200 OK", Vec::new());
        if let Some(range) = range {
            let (whole, end) = (content.len(), range.end.min(content.len()));
            status = "206 Partial Content";
            content.truncate(end);
            content.drain(..range.start.min(end));
            let part = format!("bytes {}-{}/{whole}", range.start, end.saturating_sub(1));
            headers.push(("Content-Range", part));
        }
        Self {
            status,
            headers,
            content,
            breaks_after: None,
            piece_bytes: None,
        }
    }

    /// There is no such file.
    pub(crate) fn missing() -> Self {
        Self {
            status: "404 Not Found",
            ..Self::file(Vec::new(), None)
        }
    }

    /// The answer with one more header.
    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Bytes of the content.
    pub(crate) fn n_bytes(&self) -> usize {
        self.content.len()
    }
}

/// Serves until the process ends; `None` closes the connection without an answer.
pub(crate) fn serve(
    answer: impl Fn(Request) -> Option<Answer> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A client that closes early, as at the end of a test, is not a failure of the server.
            thread::spawn(move || respond(stream, &*answer).ok());
        }
    });
    address
}

/// Answers one request and closes the connection, so that a client's idle connections bind nothing.
fn respond(mut stream: TcpStream, answer: &dyn Fn(Request) -> Option<Answer>) -> io::Result<()> {
    let Some(answer) = answer(read_request(&stream)?) else {
        return stream.shutdown(Shutdown::Both);
    };
    let n_bytes = answer.n_bytes();
    write!(
        stream,
        "HTTP/1.1 {}\r\nContent-Length: {n_bytes}\r\n",
        answer.status
    )?;
    for (name, value) in &answer.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "Connection: close\r\n\r\n")?;
    let sent = &answer.content[..answer.breaks_after.unwrap_or(n_bytes).min(n_bytes)];
    let Some(piece_bytes) = answer.piece_bytes else {
        return stream.write_all(sent);
    };
    sent.chunks(piece_bytes).try_for_each(|piece| {
        thread::sleep(PIECE_PAUSE);
        stream.write_all(piece)
    })
}

fn read_request(stream: &TcpStream) -> io::Result<Request> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split([' ', '?']).nth(1).unwrap_or("/").to_owned();
    let mut range = None;
    while let Some(header) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        range = range.or_else(|| wanted_range(&header));
    }
    Ok(Request { path, range })
}

/// `Range: bytes=3-7`, whose last byte is included, or `Range: bytes=3-`.
fn wanted_range(header: &str) -> Option<Range<usize>> {
    let (name, value) = header.split_once(':')?;
    let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
    let last = last.parse::<usize>();
    let end = last.map_or(usize::MAX, |last| last + 1);
    name.eq_ignore_ascii_case("range")
        .then_some(first.parse().ok()?..end)
}
