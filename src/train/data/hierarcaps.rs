//! `HierarCaps`: four captions a picture, from vague to full, `table => table with plates => …`.
//!
//! Two files have pictures: `hierarcaps_test.csv` (`id, captions, image_url`) and `hierarcaps_test_expanded.csv`
//! (`positive, negative, image_url`; several hierarchies a picture, of which the positive ones are read). Pictures are
//! COCO's, found by the name at the end of the address, also without `COCO_val2014_`, so that a folder `val2017` leaves
//! out what a model trained on `train2017` may have seen.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::place::{below, folder_of, open};
use super::{Item, ItemCaption, Listing, Picture, Splits};

/// Separator of two levels.
const ARROW: &str = "=>";

/// All hierarchies of captions in a CSV file with their pictures, as a test split.
///
/// # Errors
///
/// The file is missing, has not the columns, or none of its pictures is there.
pub fn splits(csv: &Path, root: &Path) -> Result<Splits> {
    let pictures = folder_of(root, &["val2014", "val2017", "test_imgs", "images"]);
    Ok(Splits {
        train: Listing::default(),
        test: hierarchies(csv, &pictures)?,
        notes: Vec::new(),
    })
}

fn hierarchies(path: &Path, pictures: &Path) -> Result<Listing> {
    let mut reader = csv::Reader::from_reader(open(path)?);
    let headers = reader
        .headers()
        .with_context(|| path.display().to_string())?;
    let find = |name: &str| headers.iter().position(|head| head.trim() == name);
    let (captions, address) = (find("captions").or(find("positive")), find("image_url"));
    let (Some(captions), Some(address)) = (captions, address) else {
        let heads: Vec<&str> = headers.iter().collect();
        anyhow::bail!(
            "{}: columns {heads:?}; `captions` or `positive`, and `image_url`, were expected",
            path.display()
        );
    };
    let mut listing = Listing::default();
    let mut depth = None;
    for (i, row) in reader.records().enumerate() {
        let row = row.with_context(|| path.display().to_string())?;
        let (what, name) = (format!("row {}", i + 2), file_name(&row[address]));
        let levels: Vec<&str> = row[captions].split(ARROW).map(str::trim).collect();
        let expected = *depth.get_or_insert(levels.len());
        if levels.len() != expected || levels.iter().any(|level| level.is_empty()) {
            let why = format!("its hierarchy has not {expected} levels");
            listing.skip(what, why);
            continue;
        }
        // A picture may have several hierarchies; each is an item of its own.
        let (id, picture) = (
            format!("{i} {name}"),
            Picture::File(place_of(pictures, name).with_context(|| path.display().to_string())?),
        );
        let captions = levels.into_iter().enumerate();
        let captions = captions.map(|(level, text)| ItemCaption::at(Some(level), text));
        listing
            .items
            .push(Item::new(id, picture, captions.collect()));
    }
    ensure!(
        !listing.items.is_empty(),
        "{}: no hierarchy `vague {ARROW} … {ARROW} full`",
        path.display()
    );
    listing.checked(path)
}

fn file_name(address: &str) -> &str {
    let name = address.rsplit_once('/').map_or(address, |(_, name)| name);
    name.trim()
}

/// The picture of a name, or of its number alone, as COCO 2017 calls it.
fn place_of(pictures: &Path, name: &str) -> Result<PathBuf> {
    let number = name
        .rsplit_once('_')
        .map(|(_, number)| below(pictures, number));
    let (number, whole) = (number.transpose()?, below(pictures, name)?);
    Ok(match number {
        Some(number) if !whole.exists() && number.exists() => number,
        _ => whole,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    const ADDRESS: &str = "http://images.cocodataset.org/val2014/COCO_val2014_00000000000";

    #[test]
    fn each_hierarchy_is_an_item_with_levels() {
        let folder = Folder::new();
        let csv = folder.put(
            "hierarcaps_test.csv",
            format!(
                "id,captions,image_url\n0,\"table => table with plates => a table, set => A table.\",{ADDRESS}1.jpg\n\
                 1,bird => blue bird,{ADDRESS}1.jpg\n2,a => b => c => d,{ADDRESS}2.jpg\n"
            ),
        );
        folder.put("val2017/000000000001.jpg", png([0; 3]));
        let found = splits(&csv, folder.path()).expect("one row is whole").test;
        let [table] = found.items.as_slice() else {
            panic!("one item: {found:?}");
        };
        let levels: Vec<_> = table.captions.iter().map(|c| c.level).collect();
        assert_eq!(levels, [Some(0), Some(1), Some(2), Some(3)], "levels");
        assert_eq!(table.captions[2].text, "a table, set", "third level");
        assert_eq!(found.skipped.len(), 2, "two levels; no picture: {found:?}");
    }

    #[test]
    fn a_picture_outside_of_the_folder_is_refused() {
        let folder = Folder::new();
        let csv = folder.put("h.csv", "captions,image_url\na => b,http://a/..\n");
        refused(splits(&csv, folder.path()), "a picture is called ..");
    }

    #[test]
    fn the_positive_hierarchies_of_the_expanded_file_are_read() {
        let folder = Folder::new();
        let csv = folder.put(
            "expanded.csv",
            format!("positive,negative,image_url\na => b,x => y,{ADDRESS}1.jpg\nc => d,z => w,{ADDRESS}1.jpg\n"),
        );
        folder.put("COCO_val2014_000000000001.jpg", png([0; 3]));
        let found = splits(&csv, folder.path()).expect("whole").test;
        let captions = found.items.iter().flat_map(|item| &item.captions);
        let texts: Vec<&str> = captions.map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["a", "b", "c", "d"], "two items of one picture");
    }
}
