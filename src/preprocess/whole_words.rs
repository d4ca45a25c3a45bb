//! The vocabulary's own words, and the one that a word was probably meant to be.

use std::collections::HashMap;

/// Letters of a word at least for which another is proposed; shorter ones have too many neighbours.
const MIN_LETTERS: usize = 4;

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
    pub(super) fn new(ids: HashMap<String, u32>) -> Self {
        let marks_ends = ids.contains_key("a</w>");
        let has_pieces = marks_ends || ids.keys().any(|token| token.starts_with("##"));
        let further = if has_pieces { PICTURE_WORDS } else { &[] };
        let whole = |(token, id): (String, u32)| {
            let word = match marks_ends {
                true => token.strip_suffix("</w>")?.to_owned(),
                false => token,
            };
            (word.len() >= MIN_LETTERS && is_plain(&word)).then_some((id, word))
        };
        let mut words: Vec<(u32, String)> = ids.into_iter().filter_map(whole).collect();
        words.sort_unstable();
        let words = words.into_iter().map(|(_, word)| word);
        let further = further.iter().map(|&word| word.to_owned());
        Self {
            words: words.chain(further).collect(),
        }
    }

    /// The most frequent word that has the same first letter and differs by one letter too many, missing or wrong, or
    /// by two neighbours that changed places; `None` where there is none.
    ///
    /// A word that begins another may still be being typed, and one that begins with another is a form of it.
    pub(super) fn nearest(&self, word: &str) -> Option<&str> {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let begins_another = || self.words.iter().any(|known| known.starts_with(word));
        let is_misspelt = word.len() >= MIN_LETTERS
            && is_plain(word)
            && !PICTURE_WORDS.contains(&singular)
            && !begins_another();
        let is_meant = |known: &&String| {
            known.as_bytes()[0] == word.as_bytes()[0]
                && !word.starts_with(known.as_str())
                && is_one_edit(word.as_bytes(), known.as_bytes())
        };
        let meant = || self.words.iter().find(is_meant);
        is_misspelt.then(meant).flatten().map(String::as_str)
    }
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether two words differ by one letter too many, missing or wrong, or by two neighbours that changed places.
fn is_one_edit(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[same..], &long[same..]);
    match (short, long) {
        ([a, b, short @ ..], [c, d, long @ ..]) if a == d && b == c && short == long => true,
        ([_, short @ ..], [_, long @ ..]) if short == long => true,
        (short, [_, long @ ..]) => short == long,
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(tokens: &[&str], word: &str) -> Option<String> {
        let ids = tokens.iter().map(|token| (*token).to_owned()).zip(0..);
        let words = WholeWords::new(ids.collect());
        words.nearest(word).map(str::to_owned)
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
    fn edits_are_symmetric() {
        let words = ["star", "tsar", "stars", "sta", "stair", "moon"].map(str::as_bytes);
        for one in words {
            for other in words {
                let there = is_one_edit(one, other);
                assert_eq!(there, is_one_edit(other, one), "{one:?} and {other:?}");
            }
        }
        assert!(!is_one_edit(b"star", b"star"), "no edit");
    }
}
