//! Conceptual Captions: a TSV file of captions and addresses, and a folder of the pictures that were downloaded.
//!
//! Google's file (`Train_GCC-training.tsv`) has no heads: a line is `caption<tab>address`. A picture is the file whose
//! name is the number of its line, counted from 0, as `img2dataset` calls it (`00012/000120034.jpg` is line 120,034).
//! Many addresses are dead by now; a line without a picture is listed as left out.

use std::collections::HashMap;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::place::{folder_of, is_picture, names_in, open};
use super::{Item, ItemCaption, Listing, Picture};

/// The captions whose pictures are there.
///
/// # Errors
///
/// The file is missing or no TSV, or none of its pictures is there.
pub fn captions_of(tsv: &Path, root: &Path) -> Result<Listing> {
    let folder = folder_of(root, &["images", "train", "training"]);
    let pictures = numbered_pictures(&folder)?;
    ensure!(
        !pictures.is_empty(),
        "{}: no picture whose name is the number of a line, such as 00012/000120034.jpg",
        folder.display()
    );
    let mut listing = Listing::default();
    for (i, line) in open(tsv)?.lines().enumerate() {
        let line = line.with_context(|| format!("{}: line {i}", tsv.display()))?;
        match (line.split_once('\t'), pictures.get(&(i as u64))) {
            (None, _) => listing.skip(format!("line {i}"), "not CAPTION<tab>ADDRESS"),
            (_, None) => listing.skip(format!("line {i}"), "no picture of this number"),
            (Some((caption, _)), Some(path)) => {
                let captions = vec![ItemCaption::plain(caption)];
                listing
                    .items
                    .push(Item::new(i, Picture::File(path.clone()), captions));
            }
        }
    }
    ensure!(
        !listing.items.is_empty(),
        "{}: no line is CAPTION<tab>ADDRESS with a picture in {}",
        tsv.display(),
        folder.display()
    );
    listing.checked(tsv)
}

/// Pictures by the number that is their name, in the folder and in folders of it.
fn numbered_pictures(folder: &Path) -> Result<HashMap<u64, PathBuf>> {
    let mut found = HashMap::new();
    for name in names_in(folder)? {
        let path = folder.join(&name);
        let inner: Vec<PathBuf> = if path.is_dir() {
            names_in(&path)?
                .into_iter()
                .map(|inner| path.join(inner))
                .collect()
        } else {
            vec![path]
        };
        for path in inner
            .into_iter()
            .filter(|path| is_picture(&path.to_string_lossy()))
        {
            let number = path
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse().ok());
            found.extend(number.map(|number: u64| (number, path)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    #[test]
    fn a_line_finds_the_picture_of_its_number() {
        let folder = Folder::new();
        let tsv = folder.put(
            "Train_GCC-training.tsv",
            "a very typical bus station\thttp://a/1\nno address\nsierra looked stunning\thttp://a/2\ngone\thttp://a/3\n",
        );
        folder.put("images/00000/000000000.jpg", png([1; 3]));
        folder.put("images/00000/000000002.jpg", png([2; 3]));
        folder.put("images/00000/000000002.json", "{}");
        folder.put("images/00000_stats.json", "{}");
        let found = captions_of(&tsv, folder.path()).expect("two are whole");
        let items = found.items.iter();
        let pairs = items.map(|item| (item.id.as_str(), item.captions[0].text.as_str()));
        let expected = [
            ("0", "a very typical bus station"),
            ("2", "sierra looked stunning"),
        ];
        assert_eq!(pairs.collect::<Vec<_>>(), expected, "lines with a picture");
        let reasons = ["no picture of this number", "not CAPTION<tab>ADDRESS"];
        let reasons = reasons.map(|why| (why.to_owned(), 1));
        assert_eq!(found.reasons(), reasons, "{:?}", found.skipped);
    }

    #[test]
    fn a_folder_without_numbered_pictures_is_refused() {
        let folder = Folder::new();
        let tsv = folder.put("list.tsv", "a caption\thttp://a/1\n");
        folder.put("images/bus.jpg", png([1; 3]));
        refused(captions_of(&tsv, folder.path()), "number of a line");
    }
}
