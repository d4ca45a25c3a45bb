//! The lock of a run's folder: two runs that wrote into one folder would both end well with the files of neither.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::files::make_folder;

/// Name of the file that is locked; it holds the number of the process.
const FILE: &str = "run.lock";
/// Times that a lock is taken of a file that another process deletes meanwhile.
const MAX_TRIES: usize = 10;

/// A folder in which no other run works, for as long as this lives.
///
/// The system takes the lock back when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    folder: PathBuf,
    /// Whether the folder was not there before.
    is_new_folder: bool,
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
        let is_new_folder = !folder.exists();
        make_folder(folder)?;
        let path = folder.join(FILE);
        let locking = || format!("locking {}", path.display());
        let mine = std::process::id().to_string();
        for _ in 0..MAX_TRIES {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).with_context(locking)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => bail!(
                    "{} is in use by another run, process {}; wait until it ends, or choose another folder",
                    folder.display(),
                    std::fs::read_to_string(&path).unwrap_or_default()
                ),
                Err(TryLockError::Error(error)) => return Err(error).with_context(locking),
            }
            file.set_len(0).with_context(locking)?;
            file.write_all(mine.as_bytes()).with_context(locking)?;
            // The run before may have deleted the file between opening and locking it: then another is locked by its
            // name.
            if std::fs::read_to_string(&path).is_ok_and(|there| there == mine) {
                return Ok(Self {
                    folder: folder.to_owned(),
                    is_new_folder,
                    _file: file,
                });
            }
        }
        bail!("{}: the lock changes hands too often", path.display())
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A lock file that stays is taken over by the next run.
        std::fs::remove_file(self.folder.join(FILE)).ok();
        if self.is_new_folder {
            // Only a folder that nothing was written into goes away.
            std::fs::remove_dir(&self.folder).ok();
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
}
