//! The bytes of a file of the browser: a small one is taken out once, a large one slice by slice; and the hash of
//! either.

use std::ops::Range;

use js_sys::{ArrayBuffer, Uint8Array};
use sha2::{Digest as _, Sha256};
use wasm_bindgen::prelude::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use super::store::{read, release, whole};
use super::worker_scope::{is_short_of_memory, scope};
use crate::wire::reason;

/// A file of up to this many bytes is in the browser's memory once while it is loaded.
const SMALL_BYTES: u64 = 32 << 20;
/// A file of up to this many bytes is read while the one before it is loaded.
const AHEAD_BYTES: u64 = 16 << 20;
/// Size of the largest file that the browser hashes, in bytes. It needs the whole file in memory, so where memory is
/// short this program hashes slices.
const HASHED_WHOLE_BYTES: u64 = 256 << 20;
/// Bytes that are hashed at once by this program.
const HASHED_SLICE_BYTES: u64 = 4 << 20;

/// A file that will be loaded soon.
#[derive(Debug)]
pub(super) enum OpenedFile {
    /// The browser brings its bytes while something else is done.
    Coming(JsFuture),
    /// It stays on the disk until it is its turn.
    Kept(Blob),
}

impl OpenedFile {
    /// Asks for the bytes of a file of up to [`AHEAD_BYTES`].
    pub(super) fn new(blob: Blob) -> Self {
        if whole(blob.size()) > AHEAD_BYTES {
            return Self::Kept(blob);
        }
        Self::Coming(JsFuture::from(blob.array_buffer()))
    }
}

/// Place of a file's bytes while it is loaded.
#[derive(Debug)]
pub(super) enum FileBytes {
    /// Bytes in the browser's memory, outside of this program's.
    Small(ArrayBuffer),
    /// Bytes on the disk, from which slices are read as they are asked for.
    Large(Blob),
}

impl Drop for FileBytes {
    fn drop(&mut self) {
        if let Self::Small(buffer) = self {
            release(buffer);
        }
    }
}

impl FileBytes {
    /// The bytes of a file of the browser, which is asked for them now.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(super) async fn open(blob: Blob) -> Result<Self, String> {
        Self::of(OpenedFile::new(blob)).await
    }

    /// The bytes of a file: up to [`SMALL_BYTES`] are read into memory, a larger one stays on the disk.
    ///
    /// # Errors
    ///
    /// Message of the browser, such as that a file was removed since it was picked.
    pub(super) async fn of(file: OpenedFile) -> Result<Self, String> {
        match file {
            OpenedFile::Coming(bytes) => Ok(Self::Small(taken(bytes).await?)),
            OpenedFile::Kept(blob) if whole(blob.size()) > SMALL_BYTES => Ok(Self::Large(blob)),
            OpenedFile::Kept(blob) => Ok(Self::Small(all_of(&blob).await?)),
        }
    }

    /// The size of the file in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        match self {
            Self::Small(buffer) => u64::from(buffer.byte_length()),
            Self::Large(blob) => whole(blob.size()),
        }
    }

    /// The bytes of a range of the file.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of), and a range that the file does not have.
    pub(super) async fn read(&self, range: Range<u64>) -> Result<Vec<u8>, String> {
        match self {
            Self::Large(blob) => read(blob, range).await,
            Self::Small(buffer) => {
                let place = |at| {
                    u32::try_from(at)
                        .ok()
                        .filter(|at| *at <= buffer.byte_length())
                };
                match (place(range.start), place(range.end)) {
                    (Some(start), Some(end)) if start <= end => {
                        Ok(Uint8Array::new(buffer).subarray(start, end).to_vec())
                    }
                    _ => Err(format!(
                        "bytes {}..{} were asked for, it has {}",
                        range.start,
                        range.end,
                        self.n_bytes()
                    )),
                }
            }
        }
    }

    /// SHA-256 of the file as 64 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(super) async fn sha256(&self) -> Result<String, String> {
        match self {
            Self::Small(buffer) => match digest(buffer).await {
                Some(digest) => Ok(hex(&digest)),
                None => self.slices_sha256().await,
            },
            Self::Large(blob) if self.n_bytes() <= HASHED_WHOLE_BYTES && !is_short_of_memory() => {
                let buffer = all_of(blob).await?;
                let digest = digest(&buffer).await;
                release(&buffer);
                match digest {
                    Some(digest) => Ok(hex(&digest)),
                    None => self.slices_sha256().await,
                }
            }
            Self::Large(_) => self.slices_sha256().await,
        }
    }

    /// The hash by this program, which never has more than a slice of the file.
    async fn slices_sha256(&self) -> Result<String, String> {
        let (mut hash, mut from, end) = (Sha256::new(), 0, self.n_bytes());
        while from < end {
            let to = end.min(from + HASHED_SLICE_BYTES);
            hash.update(&self.read(from..to).await?);
            from = to;
        }
        Ok(hex(&hash.finalize()))
    }
}

/// SHA-256 of bytes that are here, by the browser where it has one: so no program is compiled for it.
pub(super) async fn sha256(bytes: &[u8]) -> Vec<u8> {
    let digest = digest(&Uint8Array::from(bytes).buffer()).await;
    digest.unwrap_or_else(|| Sha256::digest(bytes).to_vec())
}

/// A hash as 64 hexadecimal digits.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 by the browser, several times as fast as by this program; none outside of secure contexts.
async fn digest(buffer: &ArrayBuffer) -> Option<Vec<u8>> {
    let subtle = scope().crypto().ok()?.subtle();
    let digest = subtle.digest_with_str_and_buffer_source("SHA-256", buffer);
    let digest = JsFuture::from(digest.ok()?).await.ok()?;
    Some(Uint8Array::new(&digest).to_vec())
}

async fn all_of(blob: &Blob) -> Result<ArrayBuffer, String> {
    taken(JsFuture::from(blob.array_buffer())).await
}

async fn taken(bytes: JsFuture) -> Result<ArrayBuffer, String> {
    let buffer = bytes.await;
    Ok(buffer.map_err(|error| reason(&error))?.unchecked_into())
}
