//! Karpathy's splits of COCO, Flickr30k and Flickr8k: one JSON file with pictures, sentences and splits.
//!
//! `dataset_coco.json`, `dataset_flickr30k.json`, `dataset_flickr8k.json`. COCO's `restval` is trained on, as is usual.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::place::{below, open};
use super::{Item, ItemCaption, Listing, Picture, Splits};

#[derive(Deserialize)]
struct KarpathyFile {
    images: Vec<KarpathyImage>,
}

#[derive(Deserialize)]
struct KarpathyImage {
    #[serde(default)]
    filepath: PathBuf,
    filename: String,
    split: String,
    sentences: Vec<Sentence>,
}

#[derive(Deserialize)]
struct Sentence {
    raw: String,
}

/// Reads the file; `pictures` holds the pictures, or for COCO the folders `train2014` and `val2014`.
///
/// # Errors
///
/// The file is missing or broken, names an unknown split, or none of its pictures is there.
pub fn splits(json: &Path, pictures: &Path) -> Result<Splits> {
    let file: KarpathyFile = serde_json::from_reader(open(json)?).with_context(|| {
        let path = json.display();
        format!("{path}: Karpathy's splits, an object with `images`, were expected")
    })?;
    let (mut train, mut test) = (Listing::default(), Listing::default());
    let mut n_validation = 0;
    for image in file.images {
        let listing = match image.split.as_str() {
            "train" | "restval" => &mut train,
            "test" => &mut test,
            "val" => {
                n_validation += 1;
                continue;
            }
            other => bail!(
                "{}: {} belongs to split {other:?}; train, restval, val or test was expected",
                json.display(),
                image.filename
            ),
        };
        let path = below(pictures, image.filepath.join(&image.filename));
        let path = path.with_context(|| json.display().to_string())?;
        let captions = image.sentences.iter().map(|s| ItemCaption::plain(&s.raw));
        listing.items.push(Item::new(
            image.filename,
            Picture::File(path),
            captions.collect(),
        ));
    }
    Ok(Splits {
        train: train.checked(json)?,
        test: test.checked(json)?,
        notes: vec![format!(
            "{n_validation} pictures of the split `val` are not used"
        )],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    #[test]
    fn rest_of_validation_is_trained_on_and_validation_left_out() {
        let folder = Folder::new();
        let image = |path: &str, name: &str, split: &str| {
            folder.put(&format!("{path}/{name}"), png([0; 3]));
            format!(
                r#"{{"filepath": "{path}", "filename": "{name}", "split": "{split}", "imgid": 0, "sentids": [0, 1],
                "sentences": [{{"raw": "{name}.", "tokens": []}}, {{"raw": "again", "sentid": 1}}], "cocoid": 1}}"#
            )
        };
        let images = [
            image("train2014", "a.jpg", "train"),
            image("val2014", "b.jpg", "restval"),
            image("val2014", "c.jpg", "val"),
            image("val2014", "d.jpg", "test"),
        ];
        let json = format!(
            r#"{{"images": [{}], "dataset": "coco"}}"#,
            images.join(", ")
        );
        let json = folder.put("dataset_coco.json", json);
        let splits = splits(&json, folder.path()).expect("whole");
        let ids = |listing: &Listing| -> Vec<String> {
            listing.items.iter().map(|item| item.id.clone()).collect()
        };
        assert_eq!(ids(&splits.train), ["a.jpg", "b.jpg"], "train and restval");
        assert_eq!(ids(&splits.test), ["d.jpg"], "test");
        assert_eq!(splits.test.items[0].captions.len(), 2, "two sentences");
        assert!(splits.notes[0].starts_with("1 pictures"), "{splits:?}");
    }

    #[test]
    fn an_unknown_split_is_named() {
        let folder = Folder::new();
        let json = folder.put(
            "dataset_flickr8k.json",
            r#"{"images": [{"filename": "a.jpg", "split": "dev", "sentences": []}]}"#,
        );
        refused(splits(&json, folder.path()), "\"dev\"");
    }

    #[test]
    fn a_picture_outside_of_the_folder_is_refused() {
        let folder = Folder::new();
        for (path, name) in [("..", "a.jpg"), ("train2014", "/a.jpg")] {
            let image = format!(
                r#"{{"filepath": "{path}", "filename": "{name}", "split": "train", "sentences": []}}"#
            );
            let json = folder.put("dataset.json", format!(r#"{{"images": [{image}]}}"#));
            refused(splits(&json, folder.path()), "a picture is called");
        }
    }
}
