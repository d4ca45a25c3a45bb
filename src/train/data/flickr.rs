//! Flickr8k and Flickr30k: a token file with five captions a picture, and lists of pictures for the splits.
//!
//! A line of the token file is `1000092795.jpg#0<tab>Two young guys …`. Flickr8k brings its lists with it
//! (`Flickr_8k.trainImages.txt`); Flickr30k has none of its own.

use std::collections::HashSet;
use std::io::BufRead as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::listing::ListingBuilder;
use super::place::{below, first_of, folder_of, open};
use super::{ItemCaption, Listing, Picture, Skipped, Splits, hold_out, karpathy};

/// One of the two data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlickrDataset {
    /// Flickr8k: 8,000 pictures, with lists of the splits.
    Flickr8k,
    /// Flickr30k: 31,783 pictures, without lists of its own.
    Flickr30k,
}

/// Division of Flickr30k or Flickr8k into pictures to train and to measure on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// The lists that lie beside the captions; 1,000 pictures to measure on, as in the literature.
    Lists,
    /// A share of the pictures is held out by a seed, which comes closest to the paper's numbers.
    HoldOut {
        /// Seed by which 10 % of all pictures are held out.
        seed: u64,
    },
}

/// Share that is held out.
const HELD_OUT: f64 = 0.1;

impl FlickrDataset {
    const fn tokens(self) -> &'static [&'static str] {
        match self {
            Self::Flickr8k => &["Flickr8k.token.txt", "Flickr8k_text/Flickr8k.token.txt"],
            Self::Flickr30k => &["results_20130124.token", "flickr30k/results_20130124.token"],
        }
    }

    const fn pictures(self) -> &'static [&'static str] {
        match self {
            Self::Flickr8k => &["Flicker8k_Dataset", "Flickr8k_Dataset", "Images", "images"],
            Self::Flickr30k => &["flickr30k-images", "flickr30k_images", "images"],
        }
    }

    const fn karpathy(self) -> &'static str {
        match self {
            Self::Flickr8k => "dataset_flickr8k.json",
            Self::Flickr30k => "dataset_flickr30k.json",
        }
    }

    /// Lists of pictures to train and to measure on.
    const fn lists(self) -> [&'static [&'static str]; 2] {
        match self {
            Self::Flickr8k => [
                &[
                    "Flickr_8k.trainImages.txt",
                    "Flickr8k_text/Flickr_8k.trainImages.txt",
                ],
                &[
                    "Flickr_8k.testImages.txt",
                    "Flickr8k_text/Flickr_8k.testImages.txt",
                ],
            ],
            Self::Flickr30k => [
                &["train.txt", "flickr30k_train.txt"],
                &["test.txt", "flickr30k_test.txt"],
            ],
        }
    }
}

/// Both splits: by Karpathy's file where it lies in the folder, by the lists otherwise, or by a seed.
///
/// # Errors
///
/// A file is missing or broken, or none of the pictures is there.
pub fn splits(root: &Path, which: FlickrDataset, division: Division) -> Result<Splits> {
    let pictures = folder_of(root, which.pictures());
    let karpathys = root.join(which.karpathy());
    let tokens = || first_of(root, which.tokens(), "file of captions");
    let listing = || captions_of(&tokens()?, &pictures);
    match division {
        Division::HoldOut { seed } => Ok(hold_out(listing()?, HELD_OUT, seed)),
        Division::Lists if karpathys.exists() => karpathy::splits(&karpathys, &pictures),
        Division::Lists => {
            let [train, test] = which.lists();
            let train = names_of(&first_of(root, train, "list of training pictures")?)?;
            let test = names_of(&first_of(root, test, "list of test pictures")?)?;
            divided(listing()?, &train, &test)
        }
    }
}

/// Flickr8k by the lists that come with it: to train on, to choose by, to measure on.
///
/// # Errors
///
/// As [`splits`].
pub fn official_splits(root: &Path) -> Result<[Listing; 3]> {
    let which = FlickrDataset::Flickr8k;
    let tokens = first_of(root, which.tokens(), "file of captions")?;
    let listing = captions_of(&tokens, &folder_of(root, which.pictures()))?;
    let [train, test] = which.lists();
    let dev = [
        "Flickr_8k.devImages.txt",
        "Flickr8k_text/Flickr_8k.devImages.txt",
    ];
    let of = |names: &[&str], what| -> Result<Listing> {
        let names = names_of(&first_of(root, names, what)?)?;
        let items = listing.items.iter();
        let items = items.filter(|item| names.contains(&stem(&item.id)));
        Ok(Listing {
            items: items.cloned().collect(),
            skipped: Vec::new(),
        })
    };
    Ok([
        of(train, "list of training pictures")?,
        of(&dev, "list of development pictures")?,
        of(test, "list of test pictures")?,
    ])
}

/// Captions in a token file, a line `PICTURE#N<tab>CAPTION` each, with the pictures of a folder.
///
/// # Errors
///
/// The file is missing, holds no caption, or none of its pictures is there.
pub fn captions_of(tokens: &Path, pictures: &Path) -> Result<Listing> {
    let (mut gatherer, mut skipped) = (ListingBuilder::default(), Vec::new());
    for (i, line) in open(tokens)?.lines().enumerate() {
        let line = line.with_context(|| format!("{}: line {}", tokens.display(), i + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let fields = line.split_once('\t');
        let fields = fields.and_then(|(key, text)| Some((key.rsplit_once('#')?.0, text)));
        let Some((name, text)) = fields else {
            let what = format!("line {}", i + 1);
            skipped.push(Skipped::new(what, "not NAME.jpg#NUMBER<tab>CAPTION"));
            continue;
        };
        let place = below(pictures, name);
        let place = place.with_context(|| format!("{}: line {}", tokens.display(), i + 1))?;
        gatherer.add(name, ItemCaption::plain(text), || Picture::File(place));
    }
    let (listing, tokens_file) = (gatherer.finish(skipped), tokens.display());
    let has_captions = !listing.items.is_empty();
    ensure!(
        has_captions,
        "{tokens_file}: no line is NAME.jpg#NUMBER<tab>CAPTION"
    );
    listing.checked(tokens)
}

/// The names of a list, with or without their ending.
fn names_of(list: &Path) -> Result<HashSet<String>> {
    let text = std::fs::read_to_string(list).with_context(|| list.display().to_string())?;
    let names: HashSet<String> = text.split_whitespace().map(stem).collect();
    ensure!(!names.is_empty(), "{}: names no picture", list.display());
    Ok(names)
}

fn stem(name: &str) -> String {
    name.strip_suffix(".jpg").unwrap_or(name).to_owned()
}

fn divided(listing: Listing, train: &HashSet<String>, test: &HashSet<String>) -> Result<Splits> {
    let mut splits = Splits::default();
    splits.train.skipped = listing.skipped;
    let mut n_left = 0;
    for item in listing.items {
        let name = stem(&item.id);
        match (train.contains(&name), test.contains(&name)) {
            (true, true) => anyhow::bail!("{} is in both lists", item.id),
            (true, false) => splits.train.items.push(item),
            (false, true) => splits.test.items.push(item),
            (false, false) => n_left += 1,
        }
    }
    splits.notes = vec![format!("{n_left} pictures of neither list are not used")];
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::data::place::tests::{Folder, png, refused};

    const TOKENS: &str = "10.jpg#0\tA dog runs .\n10.jpg#1\tA brown dog .\n11.jpg#0\tTwo men .\n\
                          12.jpg.1#0\tA picture that was never there .\nno tab here\n13.jpg#0\tA boat .\n";

    fn folder() -> Folder {
        let folder = Folder::new();
        folder.put("Flickr8k_text/Flickr8k.token.txt", TOKENS);
        for name in ["10", "11", "13"] {
            folder.put(&format!("Flicker8k_Dataset/{name}.jpg"), png([9; 3]));
        }
        folder
    }

    #[test]
    fn lists_divide_the_pictures() {
        let folder = folder();
        folder.put("Flickr_8k.trainImages.txt", "10.jpg\n");
        folder.put("Flickr_8k.testImages.txt", "11.jpg\n");
        let splits =
            splits(folder.path(), FlickrDataset::Flickr8k, Division::Lists).expect("both splits");
        assert_eq!(splits.train.items[0].captions.len(), 2, "two of picture 10");
        let own = &splits.test.items[0].captions[0].text;
        assert_eq!(own, "Two men .", "of picture 11");
        let notes = ["1 pictures of neither list are not used"];
        assert_eq!(splits.notes, notes, "picture 13");
        let (n, skipped) = (splits.train.reasons().len(), &splits.train.skipped);
        assert_eq!(
            n, 2,
            "the picture that is not there and the line without a tab: {skipped:?}"
        );
    }

    #[test]
    fn a_tenth_is_held_out_by_a_seed() {
        let folder = folder();
        let division = Division::HoldOut { seed: 0 };
        let splits = splits(folder.path(), FlickrDataset::Flickr8k, division).expect("both splits");
        assert_eq!(splits.train.items.len(), 3, "a tenth of three is none");
        assert!(splits.test.items.is_empty(), "none is held out");
    }

    #[test]
    fn a_picture_outside_of_the_folder_is_refused() {
        let folder = folder();
        folder.put(
            "Flickr8k_text/Flickr8k.token.txt",
            "../10.jpg#0\tA dog runs .\n",
        );
        let division = Division::HoldOut { seed: 0 };
        refused(
            splits(folder.path(), FlickrDataset::Flickr8k, division),
            "a picture is called ../10.jpg",
        );
    }

    #[test]
    fn another_kind_of_file_is_refused() {
        let folder = folder();
        let csv = "image,caption\n10.jpg,A dog\n";
        folder.put("Flickr8k_text/Flickr8k.token.txt", csv);
        let division = Division::HoldOut { seed: 0 };
        refused(
            splits(folder.path(), FlickrDataset::Flickr8k, division),
            "no line is",
        );
    }
}
