//! Any folder of pictures with a `captions.csv`: columns `image` and `caption`, and `split` and `level` if one likes.
//!
//! A picture with several captions has several rows. The names that other programs give the columns are known too:
//! `filepath` or `file_name` for `image`, `title` or `text` for `caption`.

use std::path::Path;

use anyhow::{Context as _, Result};
use csv::StringRecord;

use super::listing::ListingBuilder;
use super::place::{below, open};
use super::{ItemCaption, Picture, Skipped, Splits, hold_out};

/// Indices of the columns in a row.
struct Columns {
    image: usize,
    caption: usize,
    split: Option<usize>,
    level: Option<usize>,
}

impl Columns {
    fn of(headers: &StringRecord, path: &Path) -> Result<Self> {
        let is_of =
            |names: &[&str], head: &str| names.contains(&head.trim().to_lowercase().as_str());
        let find = |names: &[&str]| headers.iter().position(|head| is_of(names, head));
        let expected = || {
            let (path, heads): (_, Vec<&str>) = (path.display(), headers.iter().collect());
            format!("{path}: columns {heads:?}; `image` and `caption` were expected")
        };
        Ok(Self {
            image: find(&["image", "filepath", "file_name"]).with_context(expected)?,
            caption: find(&["caption", "title", "text"]).with_context(expected)?,
            split: find(&["split"]),
            level: find(&["level"]),
        })
    }

    /// The picture's name and its caption, or why there are none.
    fn read<'a>(&self, row: &'a StringRecord) -> Result<(&'a str, ItemCaption), &'static str> {
        let (Some(name), Some(text)) = (row.get(self.image), row.get(self.caption)) else {
            return Err("too few columns");
        };
        let level = self.level.and_then(|column| row.get(column));
        let level = level.map(str::trim).filter(|level| !level.is_empty());
        let level = level.map(str::parse).transpose();
        let level = level.map_err(|_| "its level is not a whole number")?;
        Ok((name.trim(), ItemCaption::at(level, text)))
    }

    fn is_to_train(&self, row: &StringRecord) -> bool {
        let split = self.split.and_then(|column| row.get(column));
        split.is_none_or(|split| split.trim() == "train")
    }
}

/// Both splits of such a file, pictures named from `root`: by the column `split` where there is one (`train`; anything
/// else is measured on), by `seed` otherwise, which holds `share` of the pictures out.
///
/// # Errors
///
/// The file is missing, has not the columns, or none of its pictures is there.
pub fn splits(path: &Path, root: &Path, share: f64, seed: u64) -> Result<Splits> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(open(path)?);
    let headers = reader
        .headers()
        .with_context(|| path.display().to_string())?;
    let columns = Columns::of(headers, path)?;
    let (mut train, mut test) = (ListingBuilder::default(), ListingBuilder::default());
    let mut skipped = Vec::new();
    for (i, row) in reader.records().enumerate() {
        let row = row.with_context(|| path.display().to_string())?;
        match columns.read(&row) {
            Ok((name, caption)) => {
                let split = if columns.is_to_train(&row) {
                    &mut train
                } else {
                    &mut test
                };
                let place = below(root, name);
                let place = place.with_context(|| path.display().to_string())?;
                split.add(name, caption, || Picture::File(place));
            }
            // The first line holds the names of the columns.
            Err(why) => skipped.push(Skipped::new(format!("row {}", i + 2), why)),
        }
    }
    let train = train.finish(skipped).checked(path)?;
    if columns.split.is_none() {
        return Ok(hold_out(train, share, seed));
    }
    Ok(Splits {
        train,
        test: test.finish(Vec::new()).checked(path)?,
        notes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    #[test]
    fn a_picture_with_several_captions_has_several_rows() {
        let folder = Folder::new();
        let csv = folder.put(
            "captions.csv",
            "image,caption,split,level\na.png,\"a dog, brown\",train,1\na.png,a dog,train,0\nb.png,a cat,test,\n\
             c.png,gone,test,\na.png,half,train,0.5\na.png\n",
        );
        folder.put("a.png", png([1, 2, 3]));
        folder.put("b.png", png([4, 5, 6]));
        let splits = splits(&csv, folder.path(), 0.1, 0).expect("both splits");
        let [dog] = splits.train.items.as_slice() else {
            panic!("one picture to train on: {splits:?}");
        };
        let expected = [(1, "a dog, brown"), (0, "a dog")]
            .map(|(level, text)| ItemCaption::at(Some(level), text));
        assert_eq!(dog.captions, expected, "in order of the rows");
        assert_eq!(splits.test.items[0].id, "b.png", "the other split");
        assert_eq!(splits.test.skipped[0].what, "c.png", "it is not there");
        let skipped = splits.train.skipped.iter();
        let whats: Vec<&str> = skipped.map(|s| s.what.as_str()).collect();
        assert_eq!(whats, ["row 6", "row 7"], "half a level, no caption");
    }

    #[test]
    fn a_picture_outside_of_the_folder_is_refused() {
        let folder = Folder::new();
        let csv = folder.put("data/captions.csv", "image,caption\n../a.png,a dog\n");
        folder.put("a.png", png([1, 2, 3]));
        let found = splits(&csv, &folder.path().join("data"), 0.1, 0);
        let error = refused(found, "a picture is called ../a.png");
        assert!(error.contains("captions.csv"), "{error}");
    }

    #[test]
    fn the_columns_that_were_expected_are_named() {
        let folder = Folder::new();
        let csv = folder.put("captions.csv", "picture,words\na.png,a dog\n");
        let found = splits(&csv, folder.path(), 0.1, 0);
        refused(found, "`image` and `caption` were expected");
    }
}
