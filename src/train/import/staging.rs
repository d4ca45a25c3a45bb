//! A folder that is either there as a whole or not at all.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::train::files::sync_folder;

/// Treatment of a folder that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Refuse,
    Replace,
}

/// A folder beside the one that is to be made; deleted unless it is finished.
#[derive(Debug)]
pub(super) struct Staging {
    folder: PathBuf,
    out: PathBuf,
}

/// Refuses a folder that is there and must not be replaced.
pub(super) fn check(out: &Path, existing: Existing) -> Result<()> {
    let may_be_made = existing == Existing::Replace || !out.exists();
    ensure!(
        may_be_made,
        "{}: is there already; --force replaces it",
        out.display()
    );
    Ok(())
}

impl Staging {
    /// Makes an empty folder beside `out`, to be renamed to it once it is complete.
    ///
    /// # Errors
    ///
    /// As [`check`], or the parent of `out` cannot be written.
    pub(super) fn new(out: &Path, existing: Existing) -> Result<Self> {
        check(out, existing)?;
        let name = out.file_name();
        let name = name.with_context(|| format!("{}: no name for a folder", out.display()))?;
        let name = format!(".{}.{}", name.to_string_lossy(), std::process::id());
        let folder = out.with_file_name(name);
        let creating = || format!("creating {}", folder.display());
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).with_context(creating)?;
        }
        std::fs::create_dir(&folder).with_context(creating)?;
        let out = out.to_owned();
        Ok(Self { folder, out })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts the folder in its place, and that on the disk. Its files are there already: all are written by
    /// [`put`](crate::train::files::put).
    pub(super) fn finish(self) -> Result<()> {
        let out = &self.out;
        let parent = out.parent().unwrap_or(Path::new(""));
        sync_folder(&self.folder)?;
        if out.exists() {
            // The old model is renamed before it is deleted, so that it is there until the new one is.
            let mut old = self.folder.clone().into_os_string();
            old.push(".old");
            std::fs::rename(out, &old).with_context(|| format!("replacing {}", out.display()))?;
            if let Err(error) = std::fs::rename(&self.folder, out) {
                std::fs::rename(&old, out)?;
                return Err(error).with_context(|| format!("replacing {}", out.display()));
            }
            sync_folder(parent)?;
            return std::fs::remove_dir_all(&old)
                .with_context(|| format!("deleting {}", old.display()));
        }
        std::fs::rename(&self.folder, out)
            .with_context(|| format!("creating {}", out.display()))?;
        sync_folder(parent)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After `finish` there is nothing to delete; after an error, that error must be reported and not this one.
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder for the test")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn an_unfinished_folder_leaves_nothing() {
        let scratch = scratch();
        let out = scratch.path().join("model");
        let staging = Staging::new(&out, Existing::Refuse).expect("a new folder");
        std::fs::write(staging.folder().join("half"), "x").expect("a file");
        drop(staging);
        assert_eq!(names(scratch.path()), Vec::<String>::new(), "nothing stays");
    }

    #[test]
    fn an_existing_folder_is_replaced_only_when_asked() {
        let scratch = scratch();
        let out = scratch.path().join("model");
        std::fs::create_dir(&out).expect("a folder");
        std::fs::write(out.join("old"), "x").expect("a file");
        let refused = Staging::new(&out, Existing::Refuse).expect_err("it is there");
        assert!(refused.to_string().contains("--force"), "{refused}");
        let staging = Staging::new(&out, Existing::Replace).expect("asked to");
        std::fs::write(staging.folder().join("new"), "x").expect("a file");
        staging.finish().expect("replaced");
        assert_eq!(names(&out), ["new"], "the new files alone");
        assert_eq!(names(scratch.path()), ["model"], "nothing beside it");
    }
}
