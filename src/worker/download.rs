//! A model's files: from the browser's cache or from the network, checked against the manifest either way.

use std::cell::{Cell, RefCell};

use gloo_net::http::Request;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, ReadableStreamDefaultReader, Url};

use super::cache::Cache;
use super::scope::{post, property, reason};
use crate::error::{Error, Result};
use crate::inference::Source;
use crate::protocol::{Progress, Response};
use crate::weights::manifest::{FileEntry, Manifest};
use crate::weights::shard::verify;

/// No manifest is as long as this; what is longer is something else.
const MAX_MANIFEST_BYTES: u64 = 16 << 20;

/// Bytes between two words about progress.
const PROGRESS_STEP: u64 = 1 << 18;

/// The files of one manifest.
#[derive(Debug)]
pub(super) struct Download {
    manifest_url: String,
    cache: Cache,
    total_bytes: u64,
    /// Of the files that are there completely.
    loaded_bytes: Cell<u64>,
    stage: RefCell<String>,
    was_cached: Cell<bool>,
}

impl Download {
    /// Fetches a manifest, never from the cache: it says which files are current.
    pub(super) async fn open(manifest_url: &str) -> Result<(Manifest, Self)> {
        let bytes = read(manifest_url, MAX_MANIFEST_BYTES, |_| {}).await?;
        let manifest = Manifest::from_json(&bytes)?;
        let download = Self {
            manifest_url: manifest_url.to_owned(),
            cache: Cache::open().await,
            total_bytes: manifest.weights_bytes(),
            loaded_bytes: Cell::new(0),
            stage: RefCell::default(),
            was_cached: Cell::new(true),
        };
        Ok((manifest, download))
    }

    /// Names what is being loaded.
    pub(super) fn set_stage(&self, stage: &str) {
        *self.stage.borrow_mut() = stage.to_owned();
    }

    /// Whether no file came from the network so far.
    pub(super) fn was_cached(&self) -> bool {
        self.was_cached.get()
    }

    /// A file from the cache, or else from the network; what the cache holds is verified, the rest is left to the session.
    pub(super) async fn file(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        let address = beside(&self.manifest_url, &entry.file)?;
        if let Some(bytes) = self.cache.find(&address, &entry.sha256).await
            && verify(&bytes, entry).is_ok()
        {
            return Ok(bytes);
        }
        self.was_cached.set(false);
        let bytes = read(&address, entry.bytes, |n_bytes| self.report(n_bytes)).await?;
        self.cache.keep(&address, &entry.sha256, &bytes).await;
        Ok(bytes)
    }

    fn report(&self, n_bytes: u64) {
        post(&Response::Progress(Progress {
            stage: self.stage.borrow().clone(),
            loaded_bytes: self.loaded_bytes.get() + n_bytes,
            total_bytes: self.total_bytes,
        }));
    }
}

impl Source for Download {
    async fn read(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        let bytes = self.file(entry).await?;
        self.loaded_bytes.set(self.loaded_bytes.get() + entry.bytes);
        Ok(bytes)
    }
}

fn beside(manifest_url: &str, file: &str) -> Result<String> {
    let url = Url::new_with_base(file, manifest_url).map_err(|e| failed(file, reason(&e)))?;
    Ok(url.href())
}

async fn read(address: &str, max_bytes: u64, on_bytes: impl FnMut(u64)) -> Result<Vec<u8>> {
    let response = Request::get(address)
        .send()
        .await
        .map_err(|e| failed(address, e))?;
    if !response.ok() {
        return Err(failed(
            address,
            format!("the server answered {}", response.status()),
        ));
    }
    let body = response
        .body()
        .ok_or_else(|| failed(address, "the answer is empty"))?;
    drain(&body, max_bytes, on_bytes)
        .await
        .map_err(|e| failed(address, e))
}

/// Reads a stream to its end, or until it is longer than it may be.
async fn drain(
    stream: &ReadableStream,
    max_bytes: u64,
    mut on_bytes: impl FnMut(u64),
) -> Result<Vec<u8>, String> {
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut bytes = Vec::new();
    let mut reported = 0;
    loop {
        let step = JsFuture::from(reader.read())
            .await
            .map_err(|e| reason(&e))?;
        if property(&step, "done").is_truthy() {
            return Ok(bytes);
        }
        let part = Uint8Array::new(&property(&step, "value")).to_vec();
        bytes
            .try_reserve(part.len())
            .map_err(|_| "there is not enough memory for it")?;
        bytes.extend(part);
        let n_bytes = bytes.len() as u64;
        if n_bytes > max_bytes {
            return Err(format!("expected at most {max_bytes} bytes, more arrived"));
        }
        if n_bytes >= reported + PROGRESS_STEP {
            reported = n_bytes;
            on_bytes(n_bytes);
        }
    }
}

fn failed(path: &str, reason: impl ToString) -> Error {
    Error::Io {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
