//! Files that are there whole or not at all, and errors that say which file it is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::weights::manifest::Manifest;

/// Reads a file of text; `None` where there is no such file.
///
/// # Errors
///
/// The file cannot be read.
pub fn find_text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text
            .map(Some)
            .with_context(|| format!("reading {}", path.display())),
    }
}

/// Value of a JSON file; `None` where there is no such file.
///
/// # Errors
///
/// The file cannot be read, or is not of this form.
pub fn find_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let parsed = find_text(path)?.map(|json| serde_json::from_str(&json));
    parsed
        .transpose()
        .with_context(|| path.display().to_string())
}

/// Value of a JSON file.
///
/// # Errors
///
/// There is no such file, it cannot be read, or is not of this form.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    find_json(path)?.with_context(|| format!("{}: no such file", path.display()))
}

/// Bytes of a picture, or of another file of a data set that is read as a whole, at most.
pub const MAX_FILE_BYTES: u64 = 256_000_000;

/// Bytes of a picture, or of another file of a data set that is read as a whole.
///
/// # Errors
///
/// The file cannot be read, or is longer than [`MAX_FILE_BYTES`].
pub fn read_limited(path: &Path) -> Result<Vec<u8>> {
    let read = || -> Result<Vec<u8>> {
        let file = File::open(path)?;
        let n_bytes = file.metadata()?.len();
        check_length(n_bytes)?;
        let mut bytes = Vec::with_capacity(usize::try_from(n_bytes)?);
        // A pipe says that it has no bytes, and a file can grow.
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().with_context(|| path.display().to_string())
}

/// Refuses the length of a file before memory is asked for.
///
/// # Errors
///
/// It is greater than [`MAX_FILE_BYTES`].
pub(super) fn check_length(n_bytes: u64) -> Result<()> {
    ensure!(
        n_bytes <= MAX_FILE_BYTES,
        "{n_bytes} bytes, expected at most {MAX_FILE_BYTES}"
    );
    Ok(())
}

/// SHA-256 of bytes, in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of each file in a folder and in those below it, by its path in the folder.
///
/// # Errors
///
/// A file cannot be read.
pub fn hashes(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            let below = hashes(&path)?.into_iter();
            found.extend(below.map(|(file, hash)| (format!("{name}/{file}"), hash)));
        } else {
            let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
            found.insert(name, sha256(&bytes));
        }
    }
    Ok(found)
}

/// Reads the manifest of a model folder.
///
/// # Errors
///
/// There is none, or it is broken.
pub(super) fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join("manifest.json");
    let json = std::fs::read(&path);
    let json = json.with_context(|| format!("{}: a model folder was expected", path.display()))?;
    Ok(Manifest::from_json(&json)?)
}

/// Writes a file so that it is there whole or not at all, also where several processes write it or the power fails.
///
/// # Errors
///
/// The file cannot be written; what was there before stays.
pub fn put(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    put_by(path, |new| Ok(std::fs::write(new, bytes)?))
}

/// Replaces a file as [`put`] does, with a file that another library writes.
///
/// # Errors
///
/// As [`put`].
pub fn put_by(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let new = path.with_extension(format!("new{}", std::process::id()));
    let put = || {
        write(&new)?;
        sync(&new)?;
        std::fs::rename(&new, path)?;
        sync_folder(path.parent().unwrap_or(Path::new("")))
    };
    let outcome = put();
    if outcome.is_err() {
        // Half a file is of no use, and its space may be needed.
        std::fs::remove_file(&new).ok();
    }
    outcome.with_context(|| format!("writing {}", path.display()))
}

/// Flushes a file's bytes to the disk, before anything refers to it.
///
/// # Errors
///
/// The system cannot flush it.
pub(super) fn sync(path: &Path) -> Result<()> {
    Ok(File::options().write(true).open(path)?.sync_all()?)
}

/// Flushes the names in a folder to the disk, where the system can do that.
///
/// # Errors
///
/// The system cannot flush it.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    // Some systems cannot open a folder; they write its names to the disk without that.
    File::open(path).map_or(Ok(()), |folder| Ok(folder.sync_all()?))
}

/// Writes a value as a file of JSON that people can read, whole or not at all.
///
/// # Errors
///
/// The file cannot be written.
pub fn put_json(path: &Path, value: &impl Serialize) -> Result<()> {
    put(path, serde_json::to_string_pretty(value)?)
}

/// Makes a folder, and those that it lies in, where they are not there.
///
/// # Errors
///
/// A folder cannot be made.
pub fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("creating {}", path.display()))
}

/// Refuses a file that is there already, unless it may be overwritten.
///
/// # Errors
///
/// The file is there, and `force` is not set.
pub(super) fn refuse_to_overwrite(path: &Path, force: bool) -> Result<()> {
    ensure!(
        force || !path.exists(),
        "{} is there already; choose another folder, or --force to write over it",
        path.display()
    );
    Ok(())
}

/// Deletes a folder with all that it holds, if it is there.
///
/// # Errors
///
/// It is there and cannot be deleted.
pub fn remove_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        let removed = std::fs::remove_dir_all(folder);
        removed.with_context(|| format!("deleting {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_a_length_and_else_named_with_its_length() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("1.png");
        std::fs::write(&path, "a picture").expect("a folder to write to");
        let bytes = read_limited(&path).expect("a short file");
        assert_eq!(bytes, b"a picture", "all of it");
        let file = File::options().write(true).open(&path).expect("the file");
        let sized = file.set_len(MAX_FILE_BYTES + 1);
        sized.expect("a file without blocks");
        let error = format!("{:#}", read_limited(&path).expect_err("a byte too many"));
        let expected = "1.png: 256000001 bytes, expected at most 256000000";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn what_was_put_is_read_and_what_cannot_be_read_is_not_taken_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("numbers.json");
        assert_eq!(find_json::<Vec<u8>>(&path).expect("no file"), None, "none");
        put(&path, "[1, 2]").expect("a folder to write to");
        assert_eq!(read_json::<Vec<u8>>(&path).expect("whole"), [1, 2], "read");
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "nothing half-written stays");
        put_by(&path, |_| anyhow::bail!("no room")).expect_err("nothing was written");
        assert_eq!(read_json::<Vec<u8>>(&path).expect("whole"), [1, 2], "stays");
        put(&path, "[1,").expect("a folder to write to");
        for unreadable in [path.as_path(), folder.path()] {
            let error = find_json::<Vec<u8>>(unreadable).expect_err("not a file of numbers");
            let named = unreadable.display().to_string();
            assert!(error.to_string().contains(&named), "{error}");
        }
        let error = read_json::<u8>(&folder.path().join("none")).expect_err("no such file");
        assert!(error.to_string().ends_with("none: no such file"), "{error}");
    }
}
