//! The lock of a run's folder: two runs that wrote into one folder would both end well with the files of neither.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow, bail};

use super::files::make_folder;

/// Name of the file that is locked; it holds the number of the process.
const FILE: &str = "run.lock";
/// Beginning of the names of the files that are locked by runs which share the work.
const PART: &str = "part-";
/// Ending of the names of all files that are locked.
const ENDING: &str = ".lock";
/// Times that a lock is taken of a file that another process deletes meanwhile.
const MAX_TRIES: usize = 10;

/// A folder in which no other run works, for as long as this lives.
///
/// The system takes the lock back when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    /// Path of the file that is locked.
    path: PathBuf,
    /// Folder of that file, if nothing but locks of parts was there before.
    new_folder: Option<PathBuf>,
    /// Open file whose lock ends with it.
    _file: File,
}

impl RunLock {
    /// Locks a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Another run works in the folder, or the folder cannot be written.
    pub fn take(folder: &Path) -> Result<Self> {
        let lock = Self::of(folder, folder.join(FILE))?;
        let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PART) && name.ends_with(ENDING) {
                refuse_if_locked(folder, &path)?;
            }
        }
        Ok(lock)
    }

    /// Locks a part of the work in a folder, named such as `3-of-8`: runs of other parts may work beside it.
    ///
    /// # Errors
    ///
    /// As [`Self::take`], or another run works on this part.
    pub fn take_part(folder: &Path, part: &str) -> Result<Self> {
        let lock = Self::of(folder, folder.join(format!("{PART}{part}{ENDING}")))?;
        refuse_if_locked(folder, &folder.join(FILE))?;
        Ok(lock)
    }

    /// Locks a file or folder that is to be made, by a file beside it.
    ///
    /// # Errors
    ///
    /// Another run makes it, or the folder that it lies in cannot be written.
    pub fn take_beside(out: &Path) -> Result<Self> {
        let mut path = out.as_os_str().to_owned();
        path.push(ENDING);
        Self::of(out, path.into())
    }

    /// Locks the file `path`; messages name what it stands for.
    fn of(what: &Path, path: PathBuf) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let new_folder = (!folder.as_os_str().is_empty() && is_new(&folder)).then_some(folder);
        new_folder.as_deref().map_or(Ok(()), make_folder)?;
        let locking = || format!("locking {}", path.display());
        let mine = std::process::id().to_string();
        for _ in 0..MAX_TRIES {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).with_context(locking)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(in_use(what, &path)),
                // Some file systems of clusters have no locks; a run there goes on without one.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    let path = path.display();
                    eprintln!("{path}: no locks here, so see that no other run writes there");
                }
                Err(TryLockError::Error(error)) => return Err(error).with_context(locking),
            }
            file.set_len(0).with_context(locking)?;
            file.write_all(mine.as_bytes()).with_context(locking)?;
            // The earlier run may have deleted the file after it was opened here: then the lock is on a file that has
            // no name any more.
            if std::fs::read_to_string(&path).is_ok_and(|there| there == mine) {
                return Ok(Self {
                    path,
                    new_folder,
                    _file: file,
                });
            }
        }
        bail!("{}: the lock changes hands too often", path.display())
    }
}

/// Whether a folder is not there, or holds nothing but the locks of parts so far, whose runs made it.
fn is_new(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return !folder.exists();
    };
    let mut n_parts = 0;
    for entry in entries {
        let is_part =
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(PART));
        if !is_part {
            return false;
        }
        n_parts += 1;
    }
    n_parts > 0
}

/// Refuses the lock of another run; a file that nobody locks was left by one that was killed.
fn refuse_if_locked(what: &Path, path: &Path) -> Result<()> {
    let is_locked = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    if File::open(path).is_ok_and(is_locked) {
        return Err(in_use(what, path));
    }
    Ok(())
}

fn in_use(what: &Path, path: &Path) -> Error {
    anyhow!(
        "{} is in use by another run, process {}; wait until it ends, or choose another folder",
        what.display(),
        std::fs::read_to_string(path).unwrap_or_default()
    )
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A lock file that stays is taken over by the next run.
        std::fs::remove_file(&self.path).ok();
        if let Some(folder) = &self.new_folder {
            // Only a folder that nothing was written into goes away.
            std::fs::remove_dir(folder).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_until_its_run_ends() {
        let scratch = tempfile::tempdir().expect("a folder for the test");
        let folder = scratch.path().join("runs/one");
        let first = RunLock::take(&folder).expect("nobody is there");
        let error = RunLock::take(&folder).expect_err("somebody is there");
        let number = format!("process {};", std::process::id());
        assert!(error.to_string().contains(&number), "{error}");
        drop(first);
        assert!(!folder.exists(), "an empty folder is not left behind");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(FILE), "1").expect("what a killed run left");
        drop(RunLock::take(&folder).expect("its process is gone"));
        let left = std::fs::read_dir(&folder)
            .expect("it was there before")
            .count();
        assert_eq!(left, 0, "the lock file is gone");
    }

    #[test]
    fn runs_that_share_the_work_exclude_their_like_and_what_ends_it() {
        let scratch = tempfile::tempdir().expect("a folder for the test");
        let folder = scratch.path().join("runs/shared");
        let first = RunLock::take_part(&folder, "0-of-2").expect("nobody is there");
        let second = RunLock::take_part(&folder, "1-of-2").expect("another part");
        RunLock::take_part(&folder, "0-of-2").expect_err("the same part");
        RunLock::take(&folder).expect_err("parts are under way");
        drop((first, second));
        let whole = RunLock::take(&folder).expect("nobody is there any more");
        RunLock::take_part(&folder, "0-of-2").expect_err("the whole is under way");
        drop(whole);
        assert!(!folder.exists(), "an empty folder is not left behind");
    }

    #[test]
    fn what_is_to_be_made_is_locked_from_outside() {
        let scratch = tempfile::tempdir().expect("a folder for the test");
        let out = scratch.path().join("model");
        let first = RunLock::take_beside(&out).expect("nobody makes it");
        let error = RunLock::take_beside(&out).expect_err("somebody makes it");
        let named = format!("{} is in use", out.display());
        assert!(error.to_string().contains(&named), "{error}");
        assert!(!out.exists(), "it is not made yet");
        drop(first);
        let left = std::fs::read_dir(scratch.path()).expect("a folder").count();
        assert_eq!(left, 0, "the lock file is gone");
    }
}
