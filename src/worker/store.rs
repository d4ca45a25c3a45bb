//! The browser's own disk for weights (the origin private file system): an optimisation whose every failure means "not
//! kept".
//!
//! A file is only ever appended to, so its size is the progress of its download, also after a reload.

use std::ops::Range;

use js_sys::{Array, ArrayBuffer, AsyncIterator, IteratorNext, Uint8Array};
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions,
    FileSystemGetFileOptions, FileSystemReadWriteOptions, FileSystemSyncAccessHandle,
    StorageEstimate, StorageManager,
};

use super::worker_scope::scope;
use crate::wire::reason;

const FOLDER: &str = "kappascope-weights";

/// Bytes that are read at once, so that the browser holds no second copy of a large file.
const READ_BYTES: u64 = 4 << 20;

/// Files by name, in a folder of the browser's own disk.
#[derive(Debug)]
pub struct Store {
    /// `None` where the browser has none, as on insecure origins and in some private windows.
    folder: Option<FileSystemDirectoryHandle>,
}

/// A file and its size in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Name of the file in the store.
    pub name: String,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// A file open for appending; no other engine can write to it meanwhile.
#[derive(Debug)]
pub struct Writer {
    handle: FileSystemSyncAccessHandle,
    n_bytes: u64,
}

impl Store {
    /// The store of this origin, or one that keeps nothing.
    pub async fn open() -> Self {
        Self {
            folder: open().await,
        }
    }

    /// Whether the browser has a folder to keep files in.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.folder.is_some()
    }

    /// A store without a folder, which keeps nothing.
    #[must_use]
    pub fn refused() -> Self {
        Self { folder: None }
    }

    /// Content of the file of this name, as far as it was written.
    pub async fn find(&self, name: &str) -> Option<Blob> {
        let handle = JsFuture::from(self.folder.as_ref()?.get_file_handle(name));
        let handle: FileSystemFileHandle = handle.await.ok()?.dyn_into().ok()?;
        let file = JsFuture::from(handle.get_file()).await.ok()?;
        file.dyn_into().ok()
    }

    /// A file to append to, which is made if it is not there; `None` while another engine writes it.
    pub async fn append(&self, name: &str) -> Option<Writer> {
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let folder = self.folder.as_ref()?;
        let handle = JsFuture::from(folder.get_file_handle_with_options(name, &options));
        let handle: FileSystemFileHandle = handle.await.ok()?.dyn_into().ok()?;
        let access = JsFuture::from(handle.create_sync_access_handle());
        let handle: FileSystemSyncAccessHandle = access.await.ok()?.dyn_into().ok()?;
        let n_bytes = whole(handle.get_size().ok()?);
        Some(Writer { handle, n_bytes })
    }

    /// Writes a small file, over one that is there.
    ///
    /// # Errors
    ///
    /// As [`Writer::write`].
    pub async fn put(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let Some(mut writer) = self.append(name).await else {
            return Ok(());
        };
        writer.clear()?;
        writer.write(&Uint8Array::from(bytes))
    }

    /// Deletes the file of this name, if it is there and no engine writes it.
    pub async fn remove(&self, name: &str) {
        if let Some(folder) = &self.folder {
            // It may not be there, or another engine may still write it.
            JsFuture::from(folder.remove_entry(name)).await.ok();
        }
    }

    /// All files of the store with their sizes; none where the browser has no store.
    pub async fn list(&self) -> Vec<StoredFile> {
        let Some(folder) = &self.folder else {
            return Vec::new();
        };
        let mut files = Vec::new();
        for name in names(&folder.keys()).await {
            if let Some(blob) = self.find(&name).await {
                let bytes = whole(blob.size());
                files.push(StoredFile { name, bytes });
            }
        }
        files
    }

    /// Bytes that this origin may still keep; `None` where the browser does not say.
    pub async fn room(&self) -> Option<u64> {
        self.folder.as_ref()?;
        let estimate = JsFuture::from(storage()?.estimate().ok()?).await.ok()?;
        let estimate: StorageEstimate = estimate.unchecked_into();
        Some(whole(estimate.get_quota()? - estimate.get_usage()?))
    }
}

impl Writer {
    /// Size of the file in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Appends a chunk of bytes at the end of the file.
    ///
    /// # Errors
    ///
    /// Message of the browser, such as that the quota is used up.
    pub fn write(&mut self, chunk: &Uint8Array) -> Result<(), String> {
        let options = FileSystemReadWriteOptions::new();
        options.set_at(self.n_bytes as f64);
        let written = self
            .handle
            .write_with_js_u8_array_and_options(chunk, &options)
            .map_err(|error| reason(&error))?;
        if written < f64::from(chunk.length()) {
            return Err("the storage took only a part".to_owned());
        }
        self.n_bytes += u64::from(chunk.length());
        Ok(())
    }

    /// Moves the end back to `n_bytes`, so that later writes replace the bytes after it.
    pub fn go_back_to(&mut self, n_bytes: u64) {
        self.n_bytes = self.n_bytes.min(n_bytes);
    }

    /// Removes all bytes of the file.
    ///
    /// # Errors
    ///
    /// Message of the browser.
    pub fn clear(&mut self) -> Result<(), String> {
        let cleared = self.handle.truncate_with_u32(0);
        cleared.map_err(|error| reason(&error))?;
        self.n_bytes = 0;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Bytes that could not be flushed are missing at the next visit, and are fetched again then.
        self.handle.flush().ok();
        self.handle.close();
    }
}

/// The bytes of a range of a blob.
///
/// # Errors
///
/// Message of the browser, such as that a file was changed or removed since it was picked.
pub async fn read(blob: &Blob, range: Range<u64>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let n_bytes = usize::try_from(range.end - range.start).map_err(|error| error.to_string())?;
    bytes
        .try_reserve_exact(n_bytes)
        .map_err(|_| "there is not enough memory for it")?;
    let mut from = range.start;
    while from < range.end {
        let to = range.end.min(from + READ_BYTES);
        let slice = blob
            .slice_with_f64_and_f64(from as f64, to as f64)
            .map_err(|error| reason(&error))?;
        let buffer = JsFuture::from(slice.array_buffer()).await;
        let part = Uint8Array::new(&buffer.map_err(|error| reason(&error))?);
        if u64::from(part.length()) != to - from {
            return Err(format!(
                "bytes {from}..{to} were asked for, {} came",
                part.length()
            ));
        }
        let start = bytes.len();
        bytes.resize(start + part.length() as usize, 0);
        part.copy_to(&mut bytes[start..]);
        release(&part.buffer());
        from = to;
    }
    Ok(bytes)
}

/// Gives the memory of a buffer back at once, where the browser can do that; else it does so when it likes.
pub(super) fn release(buffer: &ArrayBuffer) {
    buffer.transfer_with_length(0).ok();
}

/// A blob of these parts, each a blob or a `Uint8Array`, outside of this program's memory.
pub(super) fn blob_of(parts: &[JsValue]) -> Result<Blob, String> {
    let parts: Array = parts.iter().collect();
    Blob::new_with_blob_sequence(&parts).map_err(|error| reason(&error))
}

/// A size that the browser gave as a float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are whole numbers below 2^53, and below zero means none"
)]
pub(super) fn whole(size: f64) -> u64 {
    size as u64
}

fn storage() -> Option<StorageManager> {
    let storage = scope().navigator().storage();
    // There is none on insecure origins.
    (!storage.is_undefined()).then_some(storage)
}

async fn open() -> Option<FileSystemDirectoryHandle> {
    let root = JsFuture::from(storage()?.get_directory()).await.ok()?;
    let root: FileSystemDirectoryHandle = root.dyn_into().ok()?;
    let options = FileSystemGetDirectoryOptions::new();
    options.set_create(true);
    let folder = JsFuture::from(root.get_directory_handle_with_options(FOLDER, &options));
    folder.await.ok()?.dyn_into().ok()
}

async fn names(keys: &AsyncIterator) -> Vec<String> {
    let mut names = Vec::new();
    while let Ok(next) = keys.next() {
        let Ok(step) = JsFuture::from(next).await else {
            break;
        };
        let step: IteratorNext = step.unchecked_into();
        match step.value().as_string() {
            Some(name) if !step.done() => names.push(name),
            _ => break,
        }
    }
    names
}
