//! Whether the model can read a caption: the one judgement that all views go by.

use crate::protocol::Familiarity;

/// Words that say nothing of a picture alone: what is left of an unread caption. Sorted.
const EMPTY_WORDS: [&str; 64] = [
    "a",
    "above",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "below",
    "beside",
    "between",
    "by",
    "drawing",
    "for",
    "from",
    "has",
    "have",
    "image",
    "in",
    "inside",
    "into",
    "is",
    "it",
    "its",
    "near",
    "next",
    "no",
    "not",
    "object",
    "of",
    "off",
    "on",
    "one",
    "or",
    "over",
    "photo",
    "photograph",
    "picture",
    "shape",
    "shapes",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "that",
    "the",
    "their",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "to",
    "under",
    "was",
    "were",
    "which",
    "with",
    "without",
    "you",
];

/// Share of a caption that the model can read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Legibility {
    /// The whole caption, punctuation apart.
    #[default]
    Whole,
    /// Some of the words; the others are passed over.
    InPart,
    /// None of the words that say something.
    UnknownWords,
    /// Every word, but the caption as a whole is out of distribution: unlike the captions of the training.
    OutOfDistribution,
}

impl Legibility {
    /// Judges a caption by its words that the vocabulary lacks, and by how like the captions of the training it is.
    #[must_use]
    pub fn of(caption: &str, unknown: &[String], familiarity: Option<Familiarity>) -> Self {
        let lacks_word = unknown.iter().any(|word| !is_punctuation(word));
        let says_more = |(piece, is_unknown): &(&str, bool)| {
            let mut words = piece.split(|c| !is_letter(c));
            !is_unknown && words.any(|word| !is_empty_word(word))
        };
        if lacks_word && !pieces(caption, unknown).iter().any(says_more) {
            Self::UnknownWords
        } else if familiarity.is_some_and(|familiarity| familiarity.is_out_of_distribution) {
            Self::OutOfDistribution
        } else if lacks_word {
            Self::InPart
        } else {
            Self::Whole
        }
    }

    /// Whether the model's numbers for the caption mean nothing.
    #[must_use]
    pub fn is_unread(self) -> bool {
        matches!(self, Self::UnknownWords | Self::OutOfDistribution)
    }
}

/// A caption in pieces, each with whether it is one of these unknown words.
#[must_use]
pub(super) fn pieces<'a>(caption: &'a str, unknown: &[String]) -> Vec<(&'a str, bool)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = caption[at..].chars().next() {
        let Some(end) = unknown.iter().find_map(|word| end_of(caption, at, word)) else {
            at += next.len_utf8();
            continue;
        };
        if from < at {
            pieces.push((&caption[from..at], false));
        }
        pieces.push((&caption[at..end], true));
        (from, at) = (end, end);
    }
    if from < caption.len() {
        pieces.push((&caption[from..], false));
    }
    pieces
}

/// End, in bytes, of an unknown word that begins at `at` of the caption; `None` if another word begins there.
fn end_of(caption: &str, at: usize, word: &str) -> Option<usize> {
    let mut rest = caption[at..].char_indices();
    let mut end = at;
    for c in word.chars() {
        let (i, found) = rest.next()?;
        if !found.to_lowercase().eq(c.to_lowercase()) {
            return None;
        }
        end = at + i + found.len_utf8();
    }
    let touches = |c: Option<char>| c.is_some_and(is_letter);
    // Scripts without spaces have words of one character.
    let is_sign = word.chars().nth(1).is_none() && !word.is_ascii();
    let is_apart =
        !touches(caption[..at].chars().next_back()) && !touches(caption[end..].chars().next());
    (end > at && (is_sign || is_apart)).then_some(end)
}

/// Whether a token is punctuation, which says nothing.
pub(super) fn is_punctuation(word: &str) -> bool {
    !word.contains(is_letter)
}

/// Whether a sign makes words: letters and digits of all scripts do, and so do emoji; Unicode's own tables would weigh
/// more than all else here.
pub(super) fn is_letter(c: char) -> bool {
    let is_punctuation = matches!(c, '\u{2000}'..'\u{2190}' | '\u{3000}'..'\u{3020}');
    c.is_ascii_alphanumeric() || (c >= '\u{c0}' && !is_punctuation)
}

pub(super) fn is_empty_word(word: &str) -> bool {
    word.is_empty()
        || EMPTY_WORDS
            .binary_search(&word.to_lowercase().as_str())
            .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_list_of_empty_words_is_sorted() {
        assert!(EMPTY_WORDS.is_sorted(), "it is searched by halves");
    }

    #[test]
    fn a_caption_is_unread_where_no_word_is_left_that_says_something() {
        for (caption, lacking, expected) in [
            ("a red star", &[][..], Legibility::Whole),
            ("a puppy", &["puppy"], Legibility::UnknownWords),
            ("something bird", &["bird"], Legibility::UnknownWords),
            ("a photo of a Puppy.", &["puppy"], Legibility::UnknownWords),
            ("a red puppy", &["puppy"], Legibility::InPart),
            (
                "ein roter Stern",
                &["ein", "roter", "stern"],
                Legibility::UnknownWords,
            ),
            (
                "茶色の犬",
                &["茶", "色", "の", "犬"],
                Legibility::UnknownWords,
            ),
            ("a dog’s bone", &["’"], Legibility::Whole),
            ("a red 🐶", &["🐶"], Legibility::InPart),
            ("a 🐶", &["🐶"], Legibility::UnknownWords),
        ] {
            let found = Legibility::of(caption, &unknown(lacking), None);
            assert_eq!(found, expected, "{caption} without {lacking:?}");
        }
    }

    #[test]
    fn a_caption_of_known_words_is_unread_where_it_is_out_of_distribution() {
        for (score, expected) in [
            (0.1, Legibility::OutOfDistribution),
            (0.9, Legibility::Whole),
        ] {
            let familiarity = Familiarity::new(score, 0.5);
            let found = Legibility::of("ein Hund", &[], Some(familiarity));
            assert_eq!(found, expected, "at {score}");
        }
    }

    #[test]
    fn unknown_words_are_found_in_place_and_not_within_others() {
        let found = pieces("An old Cat, catch 犬", &unknown(&["cat", "犬"]));
        let expected = [
            ("An old ", false),
            ("Cat", true),
            (", catch ", false),
            ("犬", true),
        ];
        assert_eq!(found, expected, "in order");
        let whole: String = found.iter().map(|(piece, _)| *piece).collect();
        assert_eq!(whole, "An old Cat, catch 犬", "nothing is lost");
    }
}
