//! STL-10 in its binary version: 96 × 96 pixels in three planes, column by column, and labels from 1 in a file of their
//! own.
//!
//! <https://cs.stanford.edu/~acoates/stl10/>. The test files are read: `test_X.bin`, `test_y.bin`, `class_names.txt`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::cifar::class_names;
use super::place::first_of;
use super::{Item, Labelled, Picture, PlaneOrder};
use crate::train::files::read_limited;

/// Pixels in a row.
const SIDE: usize = 96;
/// Bytes of a picture.
const N_BYTES: usize = 3 * SIDE * SIDE;
const N_CLASSES: usize = 10;

/// The test pictures of STL-10 with their classes, read from `test_X.bin` and `test_y.bin`.
///
/// # Errors
///
/// A file is missing, the files differ in their number of pictures, or a label is wrong.
pub fn labelled(root: &Path) -> Result<Labelled> {
    let find =
        |name: &str, what: &str| first_of(root, &[name, &format!("stl10_binary/{name}")], what);
    let file = find("test_X.bin", "test pictures")?;
    let labels_file = find("test_y.bin", "labels")?;
    let classes = class_names(&find("class_names.txt", "names of the classes")?, N_CLASSES)?;
    let labels = read_limited(&labels_file)?;
    let metadata = std::fs::metadata(&file).with_context(|| file.display().to_string())?;
    let n_bytes = metadata.len();
    ensure!(
        n_bytes == (labels.len() * N_BYTES) as u64 && n_bytes > 0,
        "{}: {n_bytes} bytes, {} of {N_BYTES} for each label of {} were expected",
        file.display(),
        labels.len(),
        labels_file.display()
    );
    let class = |label: u8| {
        let (label, file) = (usize::from(label), labels_file.display());
        let is_known = (1..=N_CLASSES).contains(&label);
        ensure!(
            is_known,
            "{file}: label {label}, 1 to {N_CLASSES} was expected"
        );
        Ok(label - 1)
    };
    let labels = labels
        .into_iter()
        .map(class)
        .collect::<Result<Vec<usize>>>()?;
    let path: Arc<Path> = file.as_path().into();
    let picture =
        |i: usize| Picture::planes(&path, (i * N_BYTES) as u64, SIDE, PlaneOrder::Columns);
    let items = (0..labels.len()).map(|i| Item::new(i, picture(i), Vec::new()));
    Ok(Labelled {
        name: "stl10".to_owned(),
        classes,
        listing: items.collect::<Vec<_>>().into(),
        labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, refused};

    fn folder(labels: &[u8]) -> Folder {
        let folder = Folder::new();
        let names: String = (0..10).map(|i| format!("class{i}\n")).collect();
        folder.put("class_names.txt", names);
        // Two pictures whose red plane counts its columns.
        let plane: Vec<u8> = (0..96).flat_map(|column: u8| [column; 96]).collect();
        folder.put("test_X.bin", plane.repeat(3 * 2));
        folder.put("test_y.bin", labels);
        folder
    }

    #[test]
    fn pictures_stand_upright_and_labels_begin_at_one() {
        let folder = folder(&[1, 10]);
        let found = labelled(folder.path()).expect("two pictures");
        assert_eq!(found.labels, [0, 9], "from nought");
        let picture = found.listing.items[1].picture.read().expect("a picture");
        let reds: Vec<u8> = picture.pixels.iter().step_by(3).copied().take(96).collect();
        let columns: Vec<u8> = (0..96).collect();
        assert_eq!(reds, columns, "a row runs through the columns");
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        refused(labelled(folder(&[1]).path()), "1 of 27648");
        refused(labelled(folder(&[1, 11]).path()), "label 11");
    }
}
