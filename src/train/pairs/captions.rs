//! Captions in the order of their rows, and the pictures that each of them fits.

use crate::train::data::Listing;

/// Captions and the pictures that each of them fits, a row each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetrievalCaptions {
    /// Text of each caption, in the order of the rows.
    pub texts: Vec<String>,
    /// Rows of the pictures that each caption fits, ascending.
    pub pictures_of: Vec<Vec<usize>>,
}

impl RetrievalCaptions {
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

    /// Number of captions in the list, repeated ones counted each time.
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
    pub(in crate::train) fn captions_of(&self, n_pictures: usize) -> Vec<Vec<usize>> {
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
pub(in crate::train) fn word_count(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

#[cfg(test)]
pub(in crate::train) mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::train::data::{Item, ItemCaption, Picture};

    /// Pictures `0.jpg`, `1.jpg` … with these captions.
    pub(in crate::train) fn listing(captions: &[&[&str]]) -> Listing {
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
        let list = RetrievalCaptions::of(&listing(&[&["a dog", "a brown dog"], &["a dog"]]));
        assert_eq!(list.texts, ["a dog", "a brown dog", "a dog"], "in order");
        assert_eq!(list.pictures_of, [[0], [0], [1]], "own picture alone");
        let expected = [vec![0, 1], vec![2]];
        assert_eq!(list.captions_of(2), expected, "captions of each picture");
    }

    #[test]
    fn punctuation_is_no_word() {
        assert_eq!(word_count("A man , 2 dogs and a T-shirt ."), 7, "words");
        assert_eq!(word_count(" . "), 0, "words of a full stop");
    }
}
