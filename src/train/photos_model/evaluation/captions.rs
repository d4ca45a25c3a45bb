//! Captions in the order of their rows, and the pictures that each of them fits.

use std::collections::BTreeMap;

use crate::train::data::Listing;
use crate::train::photos_model::vaguer_captions::VaguerCaptions;
use crate::train::photos_model::wordnet::WordNet;

/// Captions and the pictures that each of them fits, a row each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptionList {
    /// The words.
    pub texts: Vec<String>,
    /// Rows of the pictures that each caption fits, ascending.
    pub pictures_of: Vec<Vec<usize>>,
}

impl CaptionList {
    /// The captions that people wrote, picture by picture; each fits the picture that it was written for.
    #[must_use]
    pub fn of(listing: &Listing) -> Self {
        let mut list = Self::default();
        for (i_picture, item) in listing.items.iter().enumerate() {
            for caption in &item.captions {
                list.texts.push(caption.text.clone());
                list.pictures_of.push(vec![i_picture]);
            }
        }
        list
    }

    /// Captions of all levels, each text once: those that people wrote, in the order of their words, and their vaguer
    /// truths. Each fits all pictures that it is known to be true of.
    #[must_use]
    pub fn of_all_levels(listing: &Listing, wordnet: &WordNet) -> Self {
        let items = listing.items.iter();
        let texts = items.map(|item| item.captions.iter().map(|caption| caption.text.as_str()));
        let texts: Vec<Vec<&str>> = texts.map(Iterator::collect).collect();
        let vaguer = VaguerCaptions::of(&texts, wordnet);
        let mut pictures_of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i_picture, of_one) in texts.iter().enumerate() {
            for (i_caption, text) in of_one.iter().enumerate() {
                pictures_of
                    .entry((*text).to_owned())
                    .or_default()
                    .push(i_picture);
                for vague in vaguer.of_caption(i_picture, i_caption) {
                    pictures_of
                        .entry(vague.text)
                        .or_default()
                        .extend(vague.pictures);
                }
            }
        }
        let mut list = Self::default();
        for (text, mut pictures) in pictures_of {
            pictures.sort_unstable();
            pictures.dedup();
            list.texts.push(text);
            list.pictures_of.push(pictures);
        }
        list
    }

    /// How many captions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no caption.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Rows of the captions that fit each of so many pictures, ascending.
    pub(super) fn captions_of(&self, n_pictures: usize) -> Vec<Vec<usize>> {
        let mut captions_of = vec![Vec::new(); n_pictures];
        for (i_caption, pictures) in self.pictures_of.iter().enumerate() {
            for &i_picture in pictures {
                captions_of[i_picture].push(i_caption);
            }
        }
        captions_of
    }
}

/// Words of a caption, as people count them: what stands between spaces and holds a letter or a digit.
///
/// Flickr8k separates punctuation from words by spaces.
pub(super) fn word_count(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::train::data::{Item, ItemCaption, Picture};
    use crate::train::photos_model::wordnet::tests::excerpt;

    /// Pictures `0.jpg`, `1.jpg` … with these captions.
    pub(in super::super) fn listing(captions: &[&[&str]]) -> Listing {
        let items = captions.iter().enumerate().map(|(i, captions)| Item {
            id: format!("{i}.jpg"),
            picture: Picture::File(PathBuf::from(format!("{i}.jpg"))),
            captions: captions
                .iter()
                .map(|text| ItemCaption::plain(text))
                .collect(),
        });
        Listing {
            items: items.collect(),
            skipped: Vec::new(),
        }
    }

    #[test]
    fn written_captions_keep_their_order_and_their_picture() {
        let list = CaptionList::of(&listing(&[&["a dog", "a brown dog"], &["a dog"]]));
        assert_eq!(list.texts, ["a dog", "a brown dog", "a dog"], "in order");
        assert_eq!(list.pictures_of, [[0], [0], [1]], "own picture alone");
        let expected = [vec![0, 1], vec![2]];
        assert_eq!(list.captions_of(2), expected, "captions of each picture");
    }

    #[test]
    fn captions_of_all_levels_stand_once_with_all_pictures_that_they_fit() {
        let captions: &[&[&str]] = &[&["A dog runs ."], &["A dog sits ."], &["Two men ."]];
        let list = CaptionList::of_all_levels(&listing(captions), &excerpt());
        let pictures_of = |text: &str| {
            let rows = (0..list.len()).filter(|&i| list.texts[i] == text);
            rows.map(|i| list.pictures_of[i].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(pictures_of("A dog runs ."), [[0]], "as it was written");
        assert_eq!(pictures_of("a dog"), [[0, 1]], "two dogs");
        assert_eq!(pictures_of("something"), [[0, 1, 2]], "everything");
    }

    #[test]
    fn punctuation_is_no_word() {
        assert_eq!(word_count("A man , 2 dogs and a T-shirt ."), 7, "words");
        assert_eq!(word_count(" . "), 0, "words of a full stop");
    }
}
