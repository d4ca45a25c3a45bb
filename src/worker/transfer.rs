//! Bytes over HTTP into the store: they can stop anywhere and go on there, in this visit or the next.

use std::ops::Range;

use gloo_net::http::{Request, Response};
use gloo_timers::future::TimeoutFuture;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Blob, ReadableStreamDefaultReader, ReadableStreamReadResult};

use super::control::Control;
use super::store::{Store, Writer, blob_of, whole};
use crate::error::{Error, Result};
use crate::weights::f16_stream::{F16Stream, StoragePrecision};
use crate::weights::http_answer::{AnswerFault, AnswerHead};
use crate::weights::plan::Plan;
use crate::wire::reason;

/// Times that a broken connection is tried again before any byte arrived.
const MAX_TRIES: u32 = 4;
/// Milliseconds before the second try; before each further one twice as many.
const FIRST_WAIT_MILLIS: u32 = 250;
/// Bytes that are read and thrown away when a server does not serve a part of a file.
const MAX_SKIPPED_BYTES: u64 = 100_000_000;
/// Greatest size of a small file in bytes; no manifest and no configuration is as long.
const MAX_SMALL_BYTES: usize = 16 << 20;
/// Bytes between two messages about progress.
const PROGRESS_STEP: u64 = 1 << 18;

/// One file to be fetched, or parts of it.
#[derive(Debug)]
pub struct Transfer<'a> {
    /// Address (URL) from which the file is fetched.
    pub address: &'a str,
    /// Name in the store.
    pub name: &'a str,
    /// The bytes that are needed.
    pub plan: &'a Plan,
    /// Precision in which floats of the file are kept.
    pub kept: StoragePrecision,
    /// Store that keeps it.
    pub store: &'a Store,
    /// The visitor's command: to run, to pause or to cancel.
    pub control: &'a Control,
}

/// Outcome of a transfer: the bytes, and how many of them were there before.
#[derive(Debug)]
pub struct Fetched {
    /// Bytes of the plan, in the precision in which they are kept.
    pub blob: Blob,
    /// Bytes of the plan that were in the store before.
    pub stored_bytes: u64,
}

impl Transfer<'_> {
    /// Fetches the bytes that are not in the store; `on_bytes` gets the number of bytes of the stream that are there.
    ///
    /// # Errors
    ///
    /// A server that refuses, a connection that stays broken, or a visitor who cancels. What arrived until then stays
    /// in the store.
    pub async fn run(&self, mut on_bytes: impl FnMut(u64)) -> Result<Fetched> {
        if let Some(blob) = self.store.find(self.name).await
            && whole(blob.size()) == self.kept.bytes(self.plan.bytes())
        {
            let stored_bytes = self.plan.bytes();
            on_bytes(stored_bytes);
            return Ok(Fetched { blob, stored_bytes });
        }
        let mut sink = SinkWriter {
            sink: self.open_sink().await,
            f16_stream: (self.kept == StoragePrecision::F16).then(F16Stream::default),
        };
        let stored_bytes = sink.n_bytes();
        let mut n_tries = 0;
        while let Some(range) = self.plan.next(sink.n_bytes()) {
            self.control.may_fetch().await?;
            let before = sink.n_bytes();
            on_bytes(before);
            let end = before + (range.end - range.start);
            let outcome = self
                .stream(range.start, end, &mut sink, &mut on_bytes)
                .await;
            let has_more = sink.n_bytes() > before;
            n_tries = if has_more || !self.control.is_running() {
                0
            } else {
                n_tries + 1
            };
            match outcome {
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Broken(error)) if n_tries >= MAX_TRIES => return Err(error),
                Ok(()) if n_tries >= MAX_TRIES => {
                    return Err(self.failed("the server stops before the end".to_owned()));
                }
                Err(Failure::Broken(_)) => wait(n_tries).await,
                Ok(()) if n_tries > 0 => wait(n_tries).await,
                Ok(()) => {}
            }
        }
        on_bytes(sink.n_bytes());
        let blob = sink
            .sink
            .finish(self)
            .await
            .map_err(|reason| self.failed(reason))?;
        Ok(Fetched { blob, stored_bytes })
    }

    /// The store, where it may write and the rest will fit.
    async fn open_sink(&self) -> Sink {
        let Some(mut writer) = self.store.append(self.name).await else {
            return Sink::memory();
        };
        let all = self.kept.bytes(self.plan.bytes());
        // A longer file is of another plan; if it cannot be cleared, it is not used.
        if writer.n_bytes() > all && writer.clear().is_err() {
            return Sink::memory();
        }
        // A float that was cut is written over.
        writer.go_back_to(self.kept.bytes(self.kept.streamed(writer.n_bytes())));
        let rest = all - writer.n_bytes();
        match self.store.room().await {
            Some(room) if room < rest => {
                let n_bytes = writer.n_bytes();
                drop(writer);
                Sink::after(self, n_bytes).await
            }
            _ => Sink::Stored(writer),
        }
    }

    /// Takes bytes of the file from `start` on, until the stream holds `end` bytes or the visitor pauses or cancels it.
    async fn stream(
        &self,
        start: u64,
        end: u64,
        sink: &mut SinkWriter,
        on_bytes: &mut impl FnMut(u64),
    ) -> Result<(), Failure> {
        let broken = |reason: String| Failure::Broken(self.failed(reason));
        let lasting = |reason: String| Failure::Final(self.failed(reason));
        let abort = AbortController::new().map_err(|error| lasting(reason(&error)))?;
        let n_bytes = end - sink.n_bytes();
        let (response, mut n_skipped) = self.ask(start..start + n_bytes, &abort).await?;
        let body = response.body();
        let body = body.ok_or_else(|| broken("the answer is empty".to_owned()))?;
        let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
        let mut reported = sink.n_bytes();
        while sink.n_bytes() < end && self.control.is_running() {
            let chunk = next_chunk(&reader).await;
            let Some(chunk) = chunk.map_err(|error| broken(reason(&error)))? else {
                return Ok(());
            };
            let length = u64::from(chunk.length());
            let from = n_skipped.min(length);
            n_skipped -= from;
            let to = length.min(from + (end - sink.n_bytes()));
            let chunk = chunk.subarray(narrow(from), narrow(to));
            sink.put(self, &chunk).await.map_err(lasting)?;
            if sink.n_bytes() >= reported + PROGRESS_STEP {
                reported = sink.n_bytes();
                on_bytes(reported);
            }
        }
        // The connection may still carry bytes that are no longer needed.
        abort.abort();
        Ok(())
    }

    /// The server's answer, and the bytes to throw away before the first that is wanted.
    ///
    /// Also a whole file is asked for as a range, which servers do not compress: its bytes are those of the file.
    async fn ask(
        &self,
        range: Range<u64>,
        abort: &AbortController,
    ) -> Result<(Response, u64), Failure> {
        let request = Request::get(self.address)
            .abort_signal(Some(&abort.signal()))
            .header("Range", &format!("bytes={}-{}", range.start, range.end - 1));
        let response = request.send().await;
        let response =
            response.map_err(|error| Failure::Broken(no_answer(self.address, &error)))?;
        let n_skipped = with_head(&response, |head| head.check_part(&range));
        match n_skipped {
            Ok(n_skipped) if n_skipped > MAX_SKIPPED_BYTES => Err(Failure::Final(
                self.failed("the server does not serve parts of files".to_owned()),
            )),
            Ok(n_skipped) => Ok((response, n_skipped)),
            Err(fault @ AnswerFault::Passing(_)) => Err(Failure::Broken(fault.at(self.address))),
            Err(fault) => Err(Failure::Final(fault.at(self.address))),
        }
    }

    fn failed(&self, reason: String) -> Error {
        Error::Io {
            path: self.address.to_owned(),
            reason,
        }
    }
}

/// A small file as a whole, without the store.
pub(super) async fn fetch_small(address: &str) -> Result<Vec<u8>> {
    let failed = |reason: String| Error::Io {
        path: address.to_owned(),
        reason,
    };
    let response = Request::get(address).send().await;
    let response = response.map_err(|error| no_answer(address, &error))?;
    with_head(&response, |head| head.check_whole()).map_err(|fault| fault.at(address))?;
    let body = response.body();
    let body = body.ok_or_else(|| failed("the answer is empty".to_owned()))?;
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let mut bytes = Vec::new();
    while let Some(chunk) = next_chunk(&reader)
        .await
        .map_err(|error| failed(reason(&error)))?
    {
        bytes.extend(chunk.to_vec());
        if bytes.len() > MAX_SMALL_BYTES {
            return Err(failed(format!("more than {MAX_SMALL_BYTES} bytes")));
        }
    }
    Ok(bytes)
}

/// Next bytes of an answer's body; `None` after the last.
async fn next_chunk(reader: &ReadableStreamDefaultReader) -> Result<Option<Uint8Array>, JsValue> {
    let step = JsFuture::from(reader.read()).await?;
    let step: ReadableStreamReadResult = step.unchecked_into();
    let is_done = step.get_done().unwrap_or_default();
    Ok((!is_done).then(|| step.get_value().unchecked_into()))
}

/// Error about an address from which the browser got no answer; a query in it says nothing to who reads it.
fn no_answer(address: &str, error: &gloo_net::Error) -> Error {
    let (file, _) = address.split_once('?').unwrap_or((address, ""));
    Error::Unreachable {
        address: file.to_owned(),
        reason: error.to_string(),
    }
}

/// Judges the beginning of an answer.
fn with_head<T>(response: &Response, judge: impl FnOnce(&AnswerHead<'_>) -> T) -> T {
    let headers = response.headers();
    let header = |name: &str| headers.get(name);
    let (content_range, content_type) = (header("content-range"), header("content-type"));
    // Bytes of a packed answer are not those of the file.
    let is_packed = header("content-encoding").is_some_and(|coding| coding != "identity");
    let bytes = header("content-length").filter(|_| !is_packed);
    judge(&AnswerHead {
        status: response.status(),
        content_range: content_range.as_deref(),
        content_bytes: bytes.and_then(|bytes| bytes.parse().ok()),
        content_type: content_type.as_deref(),
    })
}

/// Failure for which a stream ended too early.
enum Failure {
    /// Failure that another try may mend.
    Broken(Error),
    /// Failure that every other try would meet.
    Final(Error),
}

/// Input of a sink, which turns floats of four bytes into two where they are kept so.
struct SinkWriter {
    sink: Sink,
    f16_stream: Option<F16Stream>,
}

impl SinkWriter {
    /// Bytes of the stream that came.
    fn n_bytes(&self) -> u64 {
        let n_kept = self.sink.n_bytes();
        match &self.f16_stream {
            None => n_kept,
            Some(f16_stream) => StoragePrecision::F16.streamed(n_kept) + f16_stream.n_waiting(),
        }
    }

    async fn put(&mut self, transfer: &Transfer<'_>, chunk: &Uint8Array) -> Result<(), String> {
        let Some(f16_stream) = &mut self.f16_stream else {
            return self.sink.put(transfer, chunk).await;
        };
        let halves = f16_stream.put(&chunk.to_vec());
        self.sink
            .put(transfer, &Uint8Array::from(halves.as_slice()))
            .await
    }
}

/// Destination of bytes: the store, or the browser's memory where the store refuses.
enum Sink {
    Stored(Writer),
    Memory { parts: Vec<JsValue>, n_bytes: u64 },
}

impl Sink {
    fn memory() -> Self {
        Self::Memory {
            parts: Vec::new(),
            n_bytes: 0,
        }
    }

    /// A sink in memory that continues after the first `n_bytes` of the stored file.
    async fn after(transfer: &Transfer<'_>, n_bytes: u64) -> Self {
        let blob = transfer.store.find(transfer.name).await;
        let kept = blob.and_then(|blob| blob.slice_with_f64_and_f64(0.0, n_bytes as f64).ok());
        match kept {
            Some(blob) if whole(blob.size()) == n_bytes => Self::Memory {
                parts: vec![blob.into()],
                n_bytes,
            },
            _ => Self::memory(),
        }
    }

    fn n_bytes(&self) -> u64 {
        match self {
            Self::Stored(writer) => writer.n_bytes(),
            Self::Memory { n_bytes, .. } => *n_bytes,
        }
    }

    async fn put(&mut self, transfer: &Transfer<'_>, chunk: &Uint8Array) -> Result<(), String> {
        if let Self::Stored(writer) = self {
            if writer.write(chunk).is_ok() {
                return Ok(());
            }
            // The quota is used up: what is kept stays, the rest lives as long as this page.
            let n_bytes = writer.n_bytes();
            *self = Self::memory();
            *self = Self::after(transfer, n_bytes).await;
            if self.n_bytes() != n_bytes {
                return Err("the browser's storage failed".to_owned());
            }
        }
        if let Self::Memory { parts, n_bytes } = self {
            parts.push(blob_of(&[chunk.into()])?.into());
            *n_bytes += u64::from(chunk.length());
        }
        Ok(())
    }

    async fn finish(self, transfer: &Transfer<'_>) -> Result<Blob, String> {
        match self {
            Self::Stored(writer) => {
                drop(writer);
                let blob = transfer.store.find(transfer.name).await;
                blob.ok_or_else(|| "the browser's storage lost it".to_owned())
            }
            Self::Memory { parts, .. } => blob_of(&parts),
        }
    }
}

async fn wait(n_tries: u32) {
    TimeoutFuture::new(FIRST_WAIT_MILLIS << n_tries.min(MAX_TRIES)).await;
}

/// A position within a chunk.
#[expect(
    clippy::cast_possible_truncation,
    reason = "chunks are shorter than 2^32"
)]
fn narrow(position: u64) -> u32 {
    position as u32
}
