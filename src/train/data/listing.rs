//! Lists of pictures with captions, which every format is read into.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::Picture;
use crate::protocol::{MAX_CAPTION_CHARACTERS, shortened};

/// A caption of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemCaption {
    /// The caption, without the space around it.
    pub text: String,
    /// Level in a hierarchy, the vaguest 0.
    pub level: Option<usize>,
}

impl ItemCaption {
    /// A caption that belongs to no hierarchy.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::at(None, text)
    }

    /// A caption at a level of a hierarchy, if any, without the space around it.
    #[must_use]
    pub fn at(level: Option<usize>, text: &str) -> Self {
        let text = text.trim().to_owned();
        Self { text, level }
    }
}

/// A picture with its captions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Name in its data set.
    pub id: String,
    /// Place of the picture, from which it is read later.
    pub picture: Picture,
    /// Captions of the picture; none for a picture that is to be classified.
    pub captions: Vec<ItemCaption>,
}

impl Item {
    /// A picture by its name in the data set, with its captions.
    pub(super) fn new(id: impl ToString, picture: Picture, captions: Vec<ItemCaption>) -> Self {
        let id = id.to_string();
        Self {
            id,
            picture,
            captions,
        }
    }
}

/// An entry of a data set that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Name of the entry in the data set.
    pub what: String,
    /// Reason for which it was left out.
    pub why: String,
}

impl Skipped {
    /// An entry that was left out, and the reason.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        let (what, why) = (what.into(), why.into());
        Self { what, why }
    }
}

/// The pictures of a split, in a fixed order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The pictures that are there.
    pub items: Vec<Item>,
    /// The entries that were left out.
    pub skipped: Vec<Skipped>,
}

/// Pictures to train on and pictures to measure on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Splits {
    /// Pictures and captions to train on.
    pub train: Listing,
    /// Pictures and captions to measure on.
    pub test: Listing,
    /// Notes to the user about how the splits were chosen.
    pub notes: Vec<String>,
}

/// Pictures of one class each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Name of the data set.
    pub name: String,
    /// Name of each class.
    pub classes: Vec<String>,
    /// The pictures, without captions.
    pub listing: Listing,
    /// Index of each picture's class.
    pub labels: Vec<usize>,
}

impl From<Vec<Item>> for Listing {
    fn from(items: Vec<Item>) -> Self {
        let skipped = Vec::new();
        Self { items, skipped }
    }
}

impl Listing {
    /// Notes an entry that is left out, and why.
    pub(super) fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push(Skipped::new(what, why));
    }

    /// Leaves out captions without words, the ends of captions that are too long, pictures without captions and
    /// pictures that are not where they should be.
    ///
    /// # Errors
    ///
    /// None of the pictures is there: the folder is the wrong one.
    pub fn checked(mut self, of: &Path) -> Result<Self> {
        let items = std::mem::take(&mut self.items);
        let n_items = items.len();
        let mut missing = None;
        for mut item in items {
            self.shorten(&mut item);
            item.captions.retain(|caption| !caption.text.is_empty());
            if item.captions.is_empty() {
                self.skip(format!("picture {}", item.id), "no caption");
            } else if let Some(path) = item.picture.missing_file() {
                let why = format!("{} is not there", path.display());
                self.skip(&item.id, why);
                missing.get_or_insert_with(|| path.display().to_string());
            } else {
                self.items.push(item);
            }
        }
        if let (true, Some(example)) = (self.items.is_empty(), missing) {
            bail!(
                "{}: none of its {n_items} pictures is there; {example} was expected",
                of.display()
            );
        }
        Ok(self)
    }

    /// Cuts captions that are too long, each with a note: nothing is moved, for a caption's place may be its meaning.
    fn shorten(&mut self, item: &mut Item) {
        for caption in &mut item.captions {
            let kept = shortened(&caption.text).len();
            if kept < caption.text.len() {
                caption.text.truncate(kept);
                let why =
                    format!("the end of a caption, after {MAX_CAPTION_CHARACTERS} characters");
                self.skip(format!("picture {}", item.id), why);
            }
        }
    }

    /// Number of entries left out for each reason, the most frequent first; numbers and names in reasons are not
    /// told apart.
    #[must_use]
    pub fn reasons(&self) -> Vec<(String, usize)> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for skipped in &self.skipped {
            *counts.entry(kind_of(&skipped.why)).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }
}

/// A reason without the name of the file it is about.
fn kind_of(why: &str) -> String {
    let words = why.split_whitespace();
    let words = words.map(|word| if word.contains('/') { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Gathers captions by picture, pictures in the order in which they are first named.
#[derive(Debug, Default)]
pub(super) struct ListingBuilder {
    items: Vec<Item>,
    of_id: HashMap<String, usize>,
}

impl ListingBuilder {
    /// Adds a caption to a picture, which lies where `picture` says if it is named for the first time.
    pub(super) fn add(
        &mut self,
        id: &str,
        caption: ItemCaption,
        picture: impl FnOnce() -> Picture,
    ) {
        let at = *self.of_id.entry(id.to_owned()).or_insert_with(|| {
            self.items.push(Item::new(id, picture(), Vec::new()));
            self.items.len() - 1
        });
        self.items[at].captions.push(caption);
    }

    pub(super) fn finish(self, skipped: Vec<Skipped>) -> Listing {
        let items = self.items;
        Listing { items, skipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn item(id: &str, path: &str, text: &str) -> Item {
        Item::new(
            id,
            Picture::File(path.into()),
            vec![ItemCaption::plain(text)],
        )
    }

    #[test]
    fn what_is_left_out_is_listed_with_its_reason() {
        let here = file!();
        let listing = Listing::from(vec![
            item("good", here, " a caption "),
            item("silent", here, "  "),
            item("gone", "nowhere/1.jpg", "a caption"),
            item("gone too", "nowhere/2.jpg", "a caption"),
        ]);
        let checked = listing.checked(Path::new("list")).expect("one is there");
        assert_eq!(checked.items.len(), 1, "one is whole: {checked:?}");
        assert_eq!(checked.items[0].captions[0].text, "a caption", "trimmed");
        let reasons = [
            ("… is not there".to_owned(), 2),
            ("no caption".to_owned(), 1),
        ];
        assert_eq!(checked.reasons(), reasons, "{:?}", checked.skipped);
    }

    #[test]
    fn a_caption_that_is_too_long_loses_its_end_and_that_is_said() {
        let full = "ä".repeat(MAX_CAPTION_CHARACTERS);
        let (long, here) = (format!("{full}b"), file!());
        let listing = Listing::from(vec![item("full", here, &full), item("long", here, &long)]);
        let checked = listing.checked(Path::new("list")).expect("both are there");
        let texts: Vec<_> = checked.items.iter().map(|i| &i.captions[0].text).collect();
        assert_eq!(texts, [&full, &full], "what fits is kept");
        let why = "the end of a caption, after 2000 characters";
        assert_eq!(checked.skipped, [Skipped::new("picture long", why)], "one");
    }

    #[test]
    fn a_folder_without_any_of_the_pictures_is_an_error() {
        let listing = Listing::from(vec![item("gone", "nowhere/1.jpg", "a caption")]);
        let error = listing
            .checked(Path::new("captions.json"))
            .expect_err("nothing is there");
        let expected = "captions.json: none of its 1 pictures is there; nowhere/1.jpg was expected";
        assert_eq!(error.to_string(), expected, "the message");
    }
}
