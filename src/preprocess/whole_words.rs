//! The vocabulary's own words, and the one that a word was probably meant to be.

/// Letters of a word at least for which another is proposed; shorter ones have too many neighbours.
const MIN_LETTERS: usize = 4;

/// Letters of a word in two pieces at least for which one with a letter more is proposed.
const MANY_LETTERS: usize = 8;

/// Words that people use of pictures and that small vocabularies of pieces lack: they are meant, and not misspelt.
const PICTURE_WORDS: &[&str] = &[
    "appliances",
    "avocado",
    "backpack",
    "barbecue",
    "binoculars",
    "broccoli",
    "burrito",
    "cauliflower",
    "chandelier",
    "cheesy",
    "chihuahua",
    "chinchilla",
    "cobblestone",
    "collie",
    "croissant",
    "cupcake",
    "cyclist",
    "dachshund",
    "dalmatian",
    "dishwasher",
    "donut",
    "doughnut",
    "faucet",
    "flamingo",
    "frisbee",
    "giraffe",
    "graffiti",
    "greyhound",
    "guitarist",
    "hamster",
    "hedgehog",
    "hydrant",
    "kayaker",
    "kayaking",
    "labrador",
    "lemonade",
    "meringue",
    "microwave",
    "motorbike",
    "motorcyclist",
    "octopus",
    "ostrich",
    "pancakes",
    "parasailing",
    "pelican",
    "poodle",
    "pouncing",
    "pretzel",
    "raspberry",
    "retriever",
    "rollerblading",
    "sandcastle",
    "scooter",
    "seagull",
    "seashell",
    "skateboard",
    "skateboarder",
    "skateboarding",
    "snorkeling",
    "snowball",
    "snowboard",
    "snowboarder",
    "snowboarding",
    "snowman",
    "spaniel",
    "sprinkler",
    "stroller",
    "sunflower",
    "surfboard",
    "tangerine",
    "terrier",
    "toddler",
    "toothbrush",
    "trampoline",
    "tricycle",
    "tuxedo",
    "unicycle",
    "wakeboard",
    "wakeboarding",
    "wetsuit",
    "wheelbarrow",
    "zucchini",
];

/// Words that a tokenizer holds whole.
#[derive(Debug, Clone)]
pub(super) struct WholeWords {
    /// In the order of their ids, in which most tokenizers put frequent words first; then [`PICTURE_WORDS`].
    words: Vec<String>,
}

impl WholeWords {
    /// Picks the whole words of four or more ASCII letters out of a tokenizer's tokens and their ids: `WordPiece`'s
    /// tokens without `##`, CLIP's with `</w>`, and all of a tokenizer of words, which reads no others.
    pub(super) fn new<'a>(ids: impl Iterator<Item = (&'a str, u32)> + Clone) -> Self {
        let marks_ends = ids.clone().any(|(token, _)| token == "a</w>");
        let has_pieces = marks_ends || ids.clone().any(|(token, _)| token.starts_with("##"));
        let further = if has_pieces { PICTURE_WORDS } else { &[] };
        let whole = |(token, id): (&'a str, u32)| {
            let word = match marks_ends {
                true => token.strip_suffix("</w>")?,
                false => token,
            };
            (word.len() >= MIN_LETTERS && is_plain(word)).then_some((id, word))
        };
        let mut words: Vec<(u32, &str)> = ids.filter_map(whole).collect();
        words.sort_unstable();
        let words = words.into_iter().map(|(_, word)| word);
        let further = further.iter().copied();
        Self {
            words: words.chain(further).map(str::to_owned).collect(),
        }
    }

    /// The most frequent word that has the same first letter and is one [`Edit`] away, such as errors in writing make
    /// of it; `None` where there is none.
    ///
    /// A word that begins another may still be being typed, and one that begins with another is a form of it. Rare
    /// words are read in two pieces, too; of those fewer edits are taken for errors.
    pub(super) fn nearest(&self, word: &str, n_pieces: usize) -> Option<&str> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let begins_another = || self.words.iter().any(|known| known.starts_with(word));
        let is_misspelt = word.len() >= MIN_LETTERS
            && is_plain(word)
            && !PICTURE_WORDS.contains(&singular)
            && !begins_another();
        let is_error = |edit| match edit {
            Edit::Swapped => true,
            Edit::Missing => n_pieces != 2 || word.len() >= MANY_LETTERS,
            Edit::Wrong | Edit::Superfluous => n_pieces != 2,
        };
        let is_meant = |known: &&String| {
            known.as_bytes()[0] == word.as_bytes()[0]
                && !word.starts_with(known.as_str())
                && Edit::between(word.as_bytes(), known.as_bytes()).is_some_and(is_error)
        };
        let meant = || self.words.iter().find(is_meant);
        is_misspelt.then(meant).flatten().map(String::as_str)
    }
}

/// Difference of a word from the one that was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// Two neighbours that changed places.
    Swapped,
    /// A letter too few.
    Missing,
    /// A letter too many.
    Superfluous,
    /// One letter in place of another.
    Wrong,
}

impl Edit {
    /// The one edit between a word and the one that was meant; `None` where they are alike or further apart.
    fn between(word: &[u8], meant: &[u8]) -> Option<Self> {
        let same = word.iter().zip(meant).take_while(|(a, b)| a == b).count();
        match (&word[same..], &meant[same..]) {
            ([a, b, word @ ..], [c, d, meant @ ..]) if a == d && b == c && word == meant => {
                Some(Self::Swapped)
            }
            ([_, word @ ..], [_, meant @ ..]) if word == meant => Some(Self::Wrong),
            (word, [_, meant @ ..]) if word == meant => Some(Self::Missing),
            ([_, word @ ..], meant) if word == meant => Some(Self::Superfluous),
            _ => None,
        }
    }
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a word in three pieces.
    fn nearest(tokens: &[&str], word: &str) -> Option<String> {
        let words = WholeWords::new(tokens.iter().copied().zip(0..));
        words.nearest(word, 3).map(str::to_owned)
    }

    #[test]
    fn one_letter_or_two_neighbours_apart_is_meant() {
        for word in ["cirle", "cirrcle", "cirkle", "cirlce"] {
            let found = nearest(&["square", "circle"], word);
            assert_eq!(found.as_deref(), Some("circle"), "{word}");
        }
        let found = nearest(&["square", "circle"], "ciclre");
        assert_eq!(found, None, "two edits");
    }

    #[test]
    fn endings_beginnings_and_short_words_mean_nothing_else() {
        for word in [
            "circles", "circl", "sqare", "sta", "kircle", "círcle", "Circe",
        ] {
            assert_eq!(nearest(&["circle", "star"], word), None, "{word}");
        }
    }

    #[test]
    fn of_several_words_the_first_of_the_vocabulary_is_meant() {
        let found = nearest(&["hat", "horse", "house"], "hoxse");
        assert_eq!(found.as_deref(), Some("horse"), "its id is lower");
    }

    #[test]
    fn pieces_are_no_words() {
        assert_eq!(nearest(&["##circle"], "cirlce"), None, "the end of a word");
        let clip = ["a</w>", "circle", "star</w>"];
        assert_eq!(nearest(&clip, "cirlce"), None, "the beginning of a word");
        assert_eq!(nearest(&clip, "sttar").as_deref(), Some("star"), "a word");
    }

    #[test]
    fn words_of_pictures_are_meant_where_a_word_is_read_in_pieces() {
        for word in ["frisbee", "frisbees", "scooters"] {
            assert_eq!(
                nearest(&["##s", "shooter", "shooters"], word),
                None,
                "{word}"
            );
        }
        let found = nearest(&["##s", "retire"], "retreiver");
        assert_eq!(found.as_deref(), Some("retriever"), "in two pieces itself");
        assert_eq!(
            nearest(&["red"], "retreiver"),
            None,
            "a tokenizer of words has no such word"
        );
    }

    #[test]
    fn of_a_word_in_two_pieces_fewer_edits_are_errors() {
        let tokens = ["##s", "people", "beautiful", "actions"];
        let words = WholeWords::new(tokens.into_iter().zip(0..));
        for (word, expected) in [
            ("poeple", Some("people")),
            ("beatiful", Some("beautiful")),
            ("peple", None),
            ("auctions", None),
            ("beautoful", None),
        ] {
            assert_eq!(words.nearest(word, 2), expected, "{word} in two pieces");
        }
    }

    #[test]
    fn an_edit_is_one_of_four() {
        let between = |word: &str, meant: &str| Edit::between(word.as_bytes(), meant.as_bytes());
        for (word, meant, expected) in [
            ("tsar", "star", Some(Edit::Swapped)),
            ("str", "star", Some(Edit::Missing)),
            ("sta", "star", Some(Edit::Missing)),
            ("stair", "star", Some(Edit::Superfluous)),
            ("stars", "star", Some(Edit::Superfluous)),
            ("stir", "star", Some(Edit::Wrong)),
            ("stat", "star", Some(Edit::Wrong)),
            ("star", "star", None),
            ("rats", "star", None),
            ("moon", "star", None),
            ("", "star", None),
        ] {
            assert_eq!(between(word, meant), expected, "{word} for {meant}");
        }
    }
}
