//! A folder of classes, each a folder of pictures, as `ImageNet`'s validation pictures are usually laid out.
//!
//! Folders are classes in order of their names. `classes.txt` or `LOC_synset_mapping.txt` beside them says what they
//! are called: `n01440764 tench, Tinca tinca` a line, of which the first name is taken.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::place::{is_picture, names_in};
use super::{Item, Labelled, Listing, Picture};

/// Names of the files that may list the classes' names.
const NAME_FILES: [&str; 2] = ["classes.txt", "LOC_synset_mapping.txt"];

/// All pictures of a folder that holds one folder for each class.
///
/// # Errors
///
/// The folder is missing or holds no folder with pictures, or names are missing for some of its classes.
pub fn labelled(root: &Path) -> Result<Labelled> {
    let names = names_in(root)?;
    let folders: Vec<&String> = names.iter().filter(|n| root.join(n).is_dir()).collect();
    let given = given_names(root)?;
    let (mut listing, mut labels, mut classes) = (Listing::default(), Vec::new(), Vec::new());
    for folder in folders {
        let path = root.join(folder);
        let (pictures, others): (Vec<String>, Vec<String>) =
            names_in(&path)?.into_iter().partition(|n| is_picture(n));
        for other in others {
            listing.skip(format!("{folder}/{other}"), "not named like a picture");
        }
        if pictures.is_empty() {
            listing.skip(folder, "no pictures in it");
            continue;
        }
        for name in pictures {
            labels.push(classes.len());
            let picture = Picture::File(path.join(&name));
            listing
                .items
                .push(Item::new(format!("{folder}/{name}"), picture, Vec::new()));
        }
        classes.push(match &given {
            None => folder.replace('_', " "),
            Some(given) => given.get(folder.as_str()).cloned().with_context(|| {
                let (root, file) = (root.display(), NAME_FILES[0]);
                format!("{root}: {folder} has no name in {file}")
            })?,
        });
    }
    ensure!(
        classes.len() > 1,
        "{}: {} folders with pictures, one for each of two or more classes was expected",
        root.display(),
        classes.len()
    );
    let name = root
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok(Labelled {
        name: name.unwrap_or_else(|| "folder".to_owned()),
        classes,
        listing,
        labels,
    })
}

/// Name of the class of each folder, if a file lists them.
fn given_names(root: &Path) -> Result<Option<HashMap<String, String>>> {
    let Some(path) = NAME_FILES.iter().map(|n| root.join(n)).find(|p| p.exists()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let pairs = text.lines().filter_map(|line| {
        let (folder, names) = line.trim().split_once([' ', '\t', ','])?;
        let first = names.split(',').next().unwrap_or(names);
        Some((folder.to_owned(), first.trim().to_owned()))
    });
    Ok(Some(pairs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    #[test]
    fn folders_are_classes_with_the_names_that_are_given() {
        let folder = Folder::new();
        folder.put("n01440764/a.JPEG", png([0; 3]));
        folder.put("n01440764/notes.txt", "");
        folder.put("n01443537/b.png", png([1; 3]));
        folder.put("n01443537/c.png", png([2; 3]));
        folder.put("n99999999/readme.md", "");
        let plain = labelled(folder.path()).expect("two classes");
        assert_eq!(plain.classes, ["n01440764", "n01443537"], "folders' names");
        assert_eq!(plain.labels, [0, 1, 1], "in order");
        let skipped = &plain.listing.skipped;
        assert_eq!(skipped.len(), 3, "{skipped:?}");
        let names = "n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\n";
        folder.put("LOC_synset_mapping.txt", names);
        let named = labelled(folder.path()).expect("two classes");
        assert_eq!(named.classes, ["tench", "goldfish"], "first names");
    }

    #[test]
    fn a_folder_of_pictures_is_no_folder_of_classes() {
        let folder = Folder::new();
        folder.put("a.png", png([0; 3]));
        refused(labelled(folder.path()), "0 folders");
    }
}
