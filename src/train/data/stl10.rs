//! STL-10 in its binary version: 96 × 96 pixels in three planes, column by column, and labels from 1 in a file of their
//! own.
//!
//! <https://cs.stanford.edu/~acoates/stl10/>. The test files are read: `test_X.bin`, `test_y.bin`, `class_names.txt`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};

use super::cifar::class_names;
use super::place::first_of;
use super::{Item, Labelled, Listing, Picture, PlaneOrder};

/// Pixels in a row.
const SIDE: usize = 96;
/// Bytes of a picture.
const N_BYTES: usize = 3 * SIDE * SIDE;
const N_CLASSES: usize = 10;

/// The test pictures.
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
    let labels = std::fs::read(&labels_file).with_context(|| labels_file.display().to_string())?;
    let n_bytes = std::fs::metadata(&file)
        .with_context(|| file.display().to_string())?
        .len();
    ensure!(
        n_bytes == (labels.len() * N_BYTES) as u64 && n_bytes > 0,
        "{}: {n_bytes} bytes, {} of {N_BYTES} for each label of {} were expected",
        file.display(),
        labels.len(),
        labels_file.display()
    );
    let labels: Result<Vec<usize>> = labels
        .into_iter()
        .map(|label| {
            let label = usize::from(label);
            ensure!(
                (1..=N_CLASSES).contains(&label),
                "{}: label {label}, 1 to {N_CLASSES} was expected",
                labels_file.display()
            );
            Ok(label - 1)
        })
        .collect();
    let labels = labels?;
    let name: Arc<Path> = file.as_path().into();
    let item = |i: usize| Item {
        id: i.to_string(),
        picture: Picture::Planes {
            file: name.clone(),
            offset: (i * N_BYTES) as u64,
            side: SIDE,
            order: PlaneOrder::Columns,
        },
        captions: Vec::new(),
    };
    Ok(Labelled {
        name: "stl10".to_owned(),
        classes,
        listing: Listing {
            items: (0..labels.len()).map(item).collect(),
            skipped: Vec::new(),
        },
        labels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::Folder;

    fn folder(labels: &[u8]) -> Folder {
        let folder = Folder::new();
        let names: String = (0..10).map(|i| format!("class{i}\n")).collect();
        folder.put("class_names.txt", names);
        // Two pictures whose red plane counts its columns.
        let plane: Vec<u8> = (0..96 * 96)
            .map(|at| u8::try_from(at / 96).expect("fewer than 256 columns"))
            .collect();
        let picture = [plane.clone(), plane.clone(), plane].concat();
        folder.put("test_X.bin", picture.repeat(2));
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
        let few = labelled(folder(&[1]).path()).expect_err("one label");
        assert!(few.to_string().contains("1 of 27648"), "{few}");
        let wrong = labelled(folder(&[1, 11]).path()).expect_err("11");
        assert!(wrong.to_string().contains("label 11"), "{wrong}");
    }
}
