//! A file of the release, and reading files with errors that name them.

use std::fs;
use std::path::{Path, PathBuf};

/// The script that keeps the page for use without a network.
pub(super) const REGISTRATION: &str = "registration.js";

/// A file of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// Path in the built page.
    pub(super) built: String,
    /// Path in the release.
    pub(super) path: String,
    /// SHA-256 of the content, in Base64.
    pub(super) hash: String,
}

impl Listed {
    /// Address at which the page asks for it, by which no cache answers with other content, even where the name is the
    /// same.
    pub(super) fn address(&self) -> String {
        let is_named_by_content = self.path != self.built;
        let query: String = self
            .hash
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(16)
            .collect();
        match is_named_by_content {
            true => self.path.clone(),
            false => format!("{}?v={query}", self.path),
        }
    }
}

/// Every file below a folder, by its path from there, in order.
pub(in crate::xtask) fn paths_in(folder: &Path) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let at = folder.join(&below);
        for entry in fs::read_dir(&at).map_err(|e| path_error(&at, &e))? {
            let entry = entry.map_err(|e| path_error(&at, &e))?;
            let path = below.join(entry.file_name());
            match entry.path().is_dir() {
                true => folders.push(path),
                false => paths.push(path.to_string_lossy().replace('\\', "/")),
            }
        }
    }
    paths.sort();
    Ok(paths)
}

pub(in crate::xtask) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|e| path_error(path, &e))
}

pub(in crate::xtask) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| path_error(path, &e))
}

pub(in crate::xtask) fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| path_error(path, &e))
}

pub(in crate::xtask) fn path_error(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
