//! The file of a checkpoint's weights: its usual names, and its hash.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use crate::weights::manifest::FileEntry;

/// Names of checkpoints, the ones that are preferred first.
pub(super) const WEIGHTS: [&str; 6] = [
    "model.safetensors",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "pytorch_model.bin",
    "open_clip_pytorch_model.bin",
    "ViT-B-32.pt",
];

/// Bytes that are hashed at once.
const HASH_CHUNK: usize = 1 << 20;

/// Name, size and SHA-256 of a file, which is never in memory as a whole.
pub(super) fn file_entry_of(path: &Path) -> Result<FileEntry> {
    let in_file = || path.display().to_string();
    let mut file = File::open(path).with_context(in_file)?;
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; HASH_CHUNK];
    loop {
        let n = file.read(&mut chunk).with_context(in_file)?;
        if n == 0 {
            break;
        }
        hash.update(&chunk[..n]);
        bytes += n as u64;
    }
    let name = path.file_name().unwrap_or_default();
    let hash = hash.finalize();
    Ok(FileEntry {
        file: name.to_string_lossy().into_owned(),
        bytes,
        sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}
