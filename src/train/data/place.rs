//! Search for the files of a data set under its folder; errors name the files that were expected.

use std::fs::File;
use std::io::BufReader;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The first of these that is there under `root`.
///
/// # Errors
///
/// None is.
pub fn first_of(root: &Path, names: &[&str], what: &str) -> Result<PathBuf> {
    let candidates: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    if let Some(found) = candidates.iter().find(|path| path.exists()) {
        return Ok(found.clone());
    }
    let looked: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
    let (root, looked) = (root.display(), looked.join(", "));
    bail!("{root}: no {what}; looked for {looked}");
}

/// The first folder of these that is there under `root`, or `root` itself.
pub(super) fn folder_of(root: &Path, names: &[&str]) -> PathBuf {
    let mut candidates = names.iter().map(|name| root.join(name));
    let found = candidates.find(|path| path.is_dir());
    found.unwrap_or_else(|| root.to_owned())
}

/// The place of a file that a data set names, which lies below `folder`.
///
/// Only the name is looked at: a symbolic link below the folder is followed, since people link data sets on purpose.
///
/// # Errors
///
/// The name is not a path below the folder: it is absolute, or leads upwards.
pub(super) fn below(folder: &Path, name: impl AsRef<Path>) -> Result<PathBuf> {
    let name = name.as_ref();
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.components().all(is_plain) {
        return Ok(folder.join(name));
    }
    let (name, folder) = (name.display(), folder.display());
    bail!("a picture is called {name}, expected a path below {folder}");
}

/// A file to be read piece by piece.
pub(super) fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// The names in a folder, in order.
pub(super) fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| folder.display().to_string())?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Whether a file is named like a picture.
pub(super) fn is_picture(name: &str) -> bool {
    const KNOWN: [&str; 6] = ["jpg", "jpeg", "png", "webp", "gif", "bmp"];
    let extension = Path::new(name).extension();
    extension.is_some_and(|e| KNOWN.iter().any(|known| e.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A folder of a test's own, which is deleted at the end.
    pub(in crate::train::data) struct Folder(tempfile::TempDir);

    impl Folder {
        pub(in crate::train::data) fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder for the test"))
        }

        pub(in crate::train::data) fn path(&self) -> &Path {
            self.0.path()
        }

        pub(in crate::train::data) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.path().join(name);
            let parent = path.parent().expect("a file lies in a folder");
            std::fs::create_dir_all(parent).expect("a folder for the test");
            std::fs::write(&path, bytes).expect("the folder is the test's own");
            path
        }
    }

    /// Two by two pixels of one colour, as a PNG file.
    pub(in crate::train::data) fn png(colour: [u8; 3]) -> Vec<u8> {
        crate::train::gallery::png::png(&colour.repeat(4), 2).expect("a small picture")
    }

    /// The message of an error, which says this.
    pub(in crate::train::data) fn refused<T: std::fmt::Debug>(
        found: Result<T>,
        part: &str,
    ) -> String {
        let error = format!("{:#}", found.expect_err("it is not as it should be"));
        assert!(error.contains(part), "{part} in {error}");
        error
    }

    #[test]
    fn a_name_that_leads_out_of_its_folder_is_refused() {
        let folder = Path::new("data");
        for name in ["a.jpg", "train/a.jpg", "./a..b.jpg", "..jpg"] {
            let found = below(folder, name).expect("a path below the folder");
            assert_eq!(found, folder.join(name), "{name}");
        }
        for name in ["/etc/passwd", "../a.jpg", "a/../../b.jpg", ".."] {
            refused(below(folder, name), "expected a path below data");
        }
    }

    #[test]
    fn what_was_looked_for_is_said() {
        let found = first_of(Path::new("nowhere"), &["a.json", "b.json"], "captions");
        refused(
            found,
            "nowhere: no captions; looked for nowhere/a.json, nowhere/b.json",
        );
    }
}
