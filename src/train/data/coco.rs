//! COCO captions: one JSON file a split, pictures in a folder of the split's name.
//!
//! <https://cocodataset.org/#format-data>. Pictures are sorted by their number, captions of a picture by theirs.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::place::{below, first_of, folder_of, open};
use super::{Item, ItemCaption, Listing, Picture, Skipped, Splits};

/// COCO's division into pictures to train and to measure on, by year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Year {
    /// 82,783 pictures to train on, 40,504 to measure on.
    Year2014,
    /// 118,287 pictures to train on, 5,000 to measure on.
    Year2017,
}

impl Year {
    const fn number(self) -> u16 {
        match self {
            Self::Year2014 => 2014,
            Self::Year2017 => 2017,
        }
    }
}

#[derive(Deserialize)]
struct CocoFile {
    images: Vec<CocoImage>,
    annotations: Vec<Annotation>,
}

#[derive(Deserialize)]
struct CocoImage {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct Annotation {
    id: u64,
    image_id: u64,
    caption: String,
}

/// Both splits of a folder laid out as COCO's archives unpack: `annotations/captions_train2017.json`, `train2017/`, and
/// the same for `val2017`.
///
/// # Errors
///
/// A file is missing or broken, or none of its pictures is there.
pub fn splits(root: &Path, year: Year) -> Result<Splits> {
    let split = |name: &str| {
        let name = format!("{name}{}", year.number());
        let captions = format!("captions_{name}.json");
        let names = [&format!("annotations/{captions}"), &captions[..]];
        let annotations = first_of(root, &names, "captions")?;
        let pictures = folder_of(root, &[&name, &format!("images/{name}")]);
        captions_of(&annotations, &pictures)
    };
    Ok(Splits {
        train: split("train")?,
        test: split("val")?,
        notes: Vec::new(),
    })
}

/// One file of captions with its folder of pictures.
///
/// # Errors
///
/// The file is missing or broken, or none of its pictures is there.
pub fn captions_of(annotations: &Path, pictures: &Path) -> Result<Listing> {
    // Parsed as it is read, so that fields which are not needed are never held in memory.
    let file: CocoFile = serde_json::from_reader(open(annotations)?).with_context(|| {
        let path = annotations.display();
        format!("{path}: COCO captions, an object with `images` and `annotations`, were expected")
    })?;
    let mut skipped = Vec::new();
    let mut items: BTreeMap<u64, (Item, Vec<(u64, ItemCaption)>)> = BTreeMap::new();
    for image in file.images {
        let place = below(pictures, &image.file_name);
        let picture = Picture::File(place.with_context(|| annotations.display().to_string())?);
        let item = Item::new(image.id, picture, Vec::new());
        if items.insert(image.id, (item, Vec::new())).is_some() {
            let what = format!("picture {}", image.id);
            skipped.push(Skipped::new(what, "named twice"));
        }
    }
    for annotation in file.annotations {
        let caption = ItemCaption::plain(&annotation.caption);
        match items.get_mut(&annotation.image_id) {
            Some((_, captions)) => captions.push((annotation.id, caption)),
            None => {
                let what = format!(
                    "caption {} of picture {}",
                    annotation.id, annotation.image_id
                );
                skipped.push(Skipped::new(what, "its picture is not listed"));
            }
        }
    }
    let items = items.into_values().map(|(mut item, mut captions)| {
        captions.sort_by_key(|(id, _)| *id);
        item.captions = captions.into_iter().map(|(_, caption)| caption).collect();
        item
    });
    let items = items.collect();
    Listing { items, skipped }.checked(annotations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    const CAPTIONS: &str = r#"{
        "info": {"year": 2017}, "licenses": [],
        "images": [
            {"id": 9, "file_name": "000000000009.jpg", "height": 2, "width": 2, "license": 3},
            {"id": 4, "file_name": "000000000004.jpg"},
            {"id": 5, "file_name": "000000000005.jpg"}
        ],
        "annotations": [
            {"id": 30, "image_id": 9, "caption": "third\n"},
            {"id": 10, "image_id": 9, "caption": "first"},
            {"id": 20, "image_id": 4, "caption": "second"},
            {"id": 21, "image_id": 77, "caption": "of no picture"}
        ]
    }"#;

    #[test]
    fn pictures_and_captions_are_in_the_order_of_their_numbers() {
        let folder = Folder::new();
        for split in ["train2017", "val2017"] {
            folder.put(&format!("annotations/captions_{split}.json"), CAPTIONS);
            folder.put(&format!("{split}/000000000004.jpg"), png([1, 2, 3]));
            folder.put(&format!("{split}/000000000009.jpg"), png([4, 5, 6]));
        }
        let splits = splits(folder.path(), Year::Year2017).expect("both splits");
        assert_eq!(splits.train.items.len(), 2, "of three");
        let found = &splits.test;
        let ids: Vec<&str> = found.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["4", "9"], "the third has no caption");
        let captions = found.items[1].captions.iter();
        let texts: Vec<&str> = captions.map(|caption| caption.text.as_str()).collect();
        assert_eq!(texts, ["first", "third"], "by number, without the line end");
        let picture = found.items[1].picture.read().expect("a picture");
        assert_eq!(picture.pixels[..3], [4, 5, 6], "its own");
        let reasons = [
            ("its picture is not listed".to_owned(), 1),
            ("no caption".to_owned(), 1),
        ];
        assert_eq!(found.reasons(), reasons, "{:?}", found.skipped);
    }

    #[test]
    fn a_file_that_is_missing_or_broken_is_named_with_the_place_of_the_fault() {
        let folder = Folder::new();
        let name = "annotations/captions_train2014.json";
        refused(splits(folder.path(), Year::Year2014), name);
        folder.put(name, "{\"images\": [],\n \"annotations\": 7}");
        let error = refused(splits(folder.path(), Year::Year2014), name);
        assert!(error.contains("line 2"), "{error}");
        let outside = r#"{"images": [{"id": 1, "file_name": "/a.jpg"}], "annotations": []}"#;
        folder.put(name, outside);
        let error = refused(splits(folder.path(), Year::Year2014), name);
        assert!(error.contains("a picture is called /a.jpg"), "{error}");
    }
}
