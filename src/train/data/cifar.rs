//! CIFAR-10 and CIFAR-100 in their binary version: records of labels and 3,072 bytes, three planes of 32 rows.
//!
//! <https://www.cs.toronto.edu/~kriz/cifar.html>. The test files are read: `test_batch.bin` with `batches.meta.txt`,
//! and `test.bin` with `fine_label_names.txt`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};

use super::place::first_of;
use super::{Item, Labelled, Picture, PlaneOrder};
use crate::protocol::too_long;
use crate::train::files::read_limited;

/// Pixels in a row.
const SIDE: usize = 32;
/// Bytes of the three planes.
const N_BYTES: usize = 3 * SIDE * SIDE;

/// Layout of a version's files and records.
struct CifarLayout {
    name: &'static str,
    file: &'static str,
    classes: &'static str,
    folder: &'static str,
    n_classes: usize,
    /// Bytes before the pixels; the last is the class that is asked for.
    n_labels: usize,
}

const CIFAR_10: CifarLayout = CifarLayout {
    name: "cifar10",
    file: "test_batch.bin",
    classes: "batches.meta.txt",
    folder: "cifar-10-batches-bin",
    n_classes: 10,
    n_labels: 1,
};
const CIFAR_100: CifarLayout = CifarLayout {
    name: "cifar100",
    file: "test.bin",
    classes: "fine_label_names.txt",
    folder: "cifar-100-binary",
    n_classes: 100,
    n_labels: 2,
};

/// The test pictures of CIFAR-10.
///
/// # Errors
///
/// A file is missing, or its size or a label is wrong.
pub fn cifar_10(root: &Path) -> Result<Labelled> {
    labelled(root, &CIFAR_10)
}

/// The test pictures of CIFAR-100, with its hundred fine classes.
///
/// # Errors
///
/// As [`cifar_10`].
pub fn cifar_100(root: &Path) -> Result<Labelled> {
    labelled(root, &CIFAR_100)
}

fn labelled(root: &Path, layout: &CifarLayout) -> Result<Labelled> {
    let find = |name: &str, what: &str| {
        first_of(root, &[name, &format!("{}/{name}", layout.folder)], what)
    };
    let file = find(layout.file, "test pictures")?;
    let names = find(layout.classes, "names of the classes")?;
    let classes = class_names(&names, layout.n_classes)?;
    let path: Arc<Path> = file.as_path().into();
    let bytes = read_limited(&file)?;
    let n_record = layout.n_labels + N_BYTES;
    ensure!(
        !bytes.is_empty() && bytes.len().is_multiple_of(n_record),
        "{}: {} bytes, a multiple of {n_record} was expected",
        file.display(),
        bytes.len()
    );
    let (mut items, mut labels) = (Vec::new(), Vec::new());
    for (i, record) in bytes.chunks_exact(n_record).enumerate() {
        let (label, n) = (usize::from(record[layout.n_labels - 1]), classes.len());
        let file = file.display();
        ensure!(
            label < n,
            "{file}: record {i} has label {label}, there are {n} classes"
        );
        labels.push(label);
        let offset = (i * n_record + layout.n_labels) as u64;
        let picture = Picture::planes(&path, offset, SIDE, PlaneOrder::Rows);
        items.push(Item::new(i, picture, Vec::new()));
    }
    Ok(Labelled {
        name: layout.name.to_owned(),
        classes,
        listing: items.into(),
        labels,
    })
}

/// A name a line; `n` of them.
pub(super) fn class_names(path: &Path, n: usize) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let names = text.lines().map(|line| line.trim().replace('_', " "));
    let names: Vec<String> = names.filter(|line| !line.is_empty()).collect();
    let (path, found) = (path.display(), names.len());
    ensure!(found == n, "{path}: {found} names, {n} were expected");
    if let Some(problem) = names.iter().find_map(|name| too_long(name)) {
        bail!("{path}: {problem}");
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, refused};

    fn names(n: usize) -> String {
        (0..n).map(|i| format!("class_{i}\n")).collect()
    }

    #[test]
    fn both_versions_are_read_by_their_labels_and_planes() {
        let folder = Folder::new();
        let pixels = |value: u8| -> Vec<u8> { (0..N_BYTES).map(|_| value).collect() };
        folder.put("cifar-10-batches-bin/batches.meta.txt", names(10) + "\n");
        let records = [vec![3], pixels(7), vec![9], pixels(8)].concat();
        folder.put("cifar-10-batches-bin/test_batch.bin", records);
        folder.put("fine_label_names.txt", names(100));
        folder.put("test.bin", [vec![19, 99], pixels(5)].concat());
        let ten = cifar_10(folder.path()).expect("CIFAR-10");
        let hundred = cifar_100(folder.path()).expect("CIFAR-100");
        assert_eq!(ten.labels, [3, 9], "classes");
        assert_eq!(ten.classes[3], "class 3", "as words");
        let second = ten.listing.items[1].picture.read().expect("a picture");
        let found = (second.width, second.height, second.pixels[0]);
        assert_eq!(found, (32, 32, 8), "the second record");
        assert_eq!(hundred.labels, [99], "the fine class");
        let first = hundred.listing.items[0].picture.read().expect("a picture");
        assert!(first.pixels.iter().all(|&value| value == 5), "its planes");
    }

    #[test]
    fn a_file_of_another_size_or_with_an_unknown_label_is_refused() {
        let folder = Folder::new();
        folder.put("batches.meta.txt", names(10));
        folder.put("test_batch.bin", [0; 3072]);
        refused(cifar_10(folder.path()), "a multiple of 3073 was expected");
        folder.put("test_batch.bin", [10; 3073]);
        refused(cifar_10(folder.path()), "label 10");
    }

    #[test]
    fn a_name_that_no_caption_has_room_for_is_refused() {
        let folder = Folder::new();
        folder.put("batches.meta.txt", names(9) + &"a".repeat(2001));
        folder.put("test_batch.bin", [0; 3073]);
        refused(cifar_10(folder.path()), "a caption of 2001 characters");
    }
}
