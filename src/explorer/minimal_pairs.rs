//! Captions that differ from one in a single word: another of its kind, a broader one, or none.
//!
//! The words are a small table, and no model takes part; what a change does to κ is for the model to say.

use super::legibility::pieces;
use super::respelling::MAX_ASKED;
use super::state::ExplorerState;
use super::views::View;
use crate::protocol::Respelling;
use crate::scenes::vocabulary::plural;

/// Drawings of the gallery of which each differs from three others in one word: its size, its colour or its shape.
pub const MINIMAL_PAIRS: [&str; 8] = [
    "small-red-star",
    "large-red-star",
    "small-blue-star",
    "large-blue-star",
    "small-red-circle",
    "large-red-circle",
    "small-blue-circle",
    "large-blue-circle",
];
/// Captions beside them, each of which fits half as many as the one before.
const CAPTIONS: [&str; 3] = ["a star", "a red star", "a small red star"];

/// Changes that are offered at most.
pub const MAX_CHANGES: usize = 3;
/// Changes to another word of the kind that are offered while there are changes to less.
const MAX_SWAPS: usize = 2;

/// Words of one kind, each of which stands for the other; of a word in several rows the first counts.
const SWAPS: &[[&str; 2]] = &[
    ["red", "blue"],
    ["yellow", "green"],
    ["orange", "purple"],
    ["black", "white"],
    ["brown", "black"],
    ["pink", "green"],
    ["star", "circle"],
    ["square", "triangle"],
    ["ring", "cross"],
    ["small", "large"],
    ["little", "big"],
    ["striped", "dotted"],
    ["warm", "cool"],
    ["left", "right"],
    ["above", "below"],
    ["top", "bottom"],
    ["two", "three"],
    ["dog", "cat"],
    ["puppy", "kitten"],
    ["horse", "elephant"],
    ["man", "woman"],
    ["men", "women"],
    ["boy", "girl"],
    ["couch", "bed"],
    ["beach", "street"],
    ["grass", "snow"],
    ["garden", "kitchen"],
    ["frisbee", "ball"],
    ["running", "sleeping"],
    ["bicycle", "horse"],
    ["pizza", "salad"],
    ["car", "boat"],
    ["day", "night"],
];
/// Words, and what says less in their place.
const BROADER: &[[&str; 2]] = &[
    ["an animal", "something"],
    ["a person", "someone"],
    ["a shape", "something"],
    ["dog", "animal"],
    ["cat", "animal"],
    ["horse", "animal"],
    ["elephant", "animal"],
    ["puppy", "dog"],
    ["kitten", "cat"],
    ["man", "person"],
    ["woman", "person"],
    ["men", "people"],
    ["women", "people"],
    ["children", "people"],
    ["boy", "child"],
    ["girl", "child"],
    ["child", "person"],
    ["car", "vehicle"],
    ["bicycle", "vehicle"],
    ["pizza", "dish"],
    ["salad", "dish"],
    ["kitchen", "room"],
    ["star", "shape"],
    ["circle", "shape"],
    ["square", "shape"],
    ["triangle", "shape"],
    ["ring", "shape"],
    ["cross", "shape"],
];
/// Words that may be left out where a noun follows.
const ADJECTIVES: &[&str] = &[
    "red", "blue", "yellow", "green", "orange", "purple", "pink", "black", "white", "brown",
    "golden", "small", "large", "little", "big", "tiny", "striped", "dotted", "solid", "warm",
    "cool", "young", "old", "wet", "wooden", "snowy", "two", "three",
];
/// Words with which a part begins that may be left out at the end.
const PREPOSITIONS: &[&str] = &[
    "above", "at", "behind", "below", "beside", "in", "inside", "near", "on", "over", "through",
    "under", "with",
];
/// Words of such a part at most; a longer one says too much to be one change.
const MAX_PART: usize = 4;

/// A caption with one change, and how the change is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordChange {
    /// The caption after it.
    pub caption: String,
    /// The change in short, such as `red → blue` or `− small`.
    pub label: String,
}

/// The changes that are offered for a caption, those to its last words first.
#[must_use]
pub fn word_changes(caption: &str) -> Vec<WordChange> {
    let words: Vec<&str> = caption.split_whitespace().collect();
    let table = |rows: &[[&'static str; 2]]| -> Vec<WordChange> {
        let places = (0..words.len()).rev();
        let at = |i| {
            rows.iter()
                .find_map(|[word, other]| replaced(&words, i, word, other))
        };
        places.filter_map(at).collect()
    };
    let both_ways: Vec<[&str; 2]> = SWAPS
        .iter()
        .flat_map(|[a, b]| [[*a, *b], [*b, *a]])
        .collect();
    let mut swaps = table(&both_ways);
    let further = swaps.split_off(swaps.len().min(MAX_SWAPS));
    let less = shorter(&words).into_iter().chain(table(BROADER).pop());
    let all = swaps.into_iter().chain(less).chain(further);
    all.take(MAX_CHANGES).collect()
}

/// The caption with each word that was probably meant to be another in its right spelling, one change a word.
pub fn respelt_captions(caption: &str, respellings: &[Respelling]) -> Vec<WordChange> {
    let change = |Respelling { word, meant }: &Respelling| {
        let pieces = pieces(caption, std::slice::from_ref(word));
        let respelt = pieces
            .iter()
            .map(|(piece, is_word)| if *is_word { meant } else { *piece });
        let respelt: String = respelt.collect();
        (respelt != caption).then(|| WordChange {
            caption: respelt,
            label: format!("{word} → {meant}"),
        })
    };
    let asked = respellings.iter().take(MAX_ASKED);
    asked.filter_map(change).collect()
}

/// The page with the minimal pairs and captions of them in place of all others, the caption that fits one picture
/// chosen.
pub fn minimal_pairs(page: &ExplorerState) -> ExplorerState {
    let mut pairs = ExplorerState {
        view: View::Explore,
        pictures: MINIMAL_PAIRS.map(str::to_owned).to_vec(),
        picture: None,
        ..page.clone()
    };
    pairs.replace_captions(CAPTIONS);
    pairs.caption = pairs.captions.last().map(|caption| caption.key);
    pairs
}

/// The caption with other words in place of these, where they stand at a place; several of a thing stay several.
fn replaced(words: &[&str], at: usize, from: &str, to: &str) -> Option<WordChange> {
    let n = from.split_whitespace().count();
    let there = words.get(at..at + n)?.join(" ");
    let bare = there.trim_end_matches(|c: char| !c.is_alphanumeric());
    let to = match bare.to_lowercase() {
        found if found == from => to.to_owned(),
        found if found == plural(from) => plural(to),
        _ => return None,
    };
    let instead = to.clone() + &there[bare.len()..];
    let caption = [&words[..at], &[instead.as_str()], &words[at + n..]].concat();
    Some(WordChange {
        caption: with_articles(caption),
        label: format!("{bare} → {to}"),
    })
}

/// The caption without its first adjective, or else without its last part.
fn shorter(words: &[&str]) -> Option<WordChange> {
    let is_in = |list: &[&str], i: usize| words.get(i).is_some_and(|word| list.contains(word));
    let is_noun_after = |i: usize| {
        let next = words.get(i + 1);
        next.is_some_and(|word| *word != "and" && !is_in(PREPOSITIONS, i + 1))
    };
    let ends_something = |i: usize| i > 0 && words[i - 1] == "something";
    let may_go = |i: &usize| is_in(ADJECTIVES, *i) && (is_noun_after(*i) || ends_something(*i));
    let part = || {
        let begin = (2..words.len()).rfind(|i| is_in(PREPOSITIONS, *i))?;
        (words.len() - begin <= MAX_PART).then_some(begin..words.len())
    };
    let adjective = (0..words.len()).find(may_go).map(|i| i..i + 1);
    let gone = adjective.or_else(part)?;
    let without = words[gone.clone()].join(" ");
    Some(WordChange {
        caption: with_articles([&words[..gone.start], &words[gone.end..]].concat()),
        label: format!("− {without}"),
    })
}

/// The words in a line, `a` and `an` as the word after each of them asks.
fn with_articles(mut words: Vec<&str>) -> String {
    for i in 1..words.len() {
        if ["a", "an"].contains(&words[i - 1]) {
            words[i - 1] = match words[i].starts_with(['a', 'e', 'i', 'o', 'u']) {
                true => "an",
                false => "a",
            };
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explorer::link::{decode, encode};
    use crate::explorer::world::World;
    use crate::protocol::Answer;
    use crate::scenes::parse;

    fn offered(caption: &str) -> Vec<String> {
        let changes = word_changes(caption).into_iter();
        let line = changes.map(|change| format!("{}: {}", change.label, change.caption));
        line.collect()
    }

    #[test]
    fn their_page_is_answered_before_a_model_is_there() {
        let views = include_str!("../../public/examples/scenes/views.json");
        let answers: Vec<Answer> = serde_json::from_str(views).expect("recorded answers");
        let has_their_pictures = |answer: &&Answer| answer.images == MINIMAL_PAIRS;
        let answer = answers.iter().find(has_their_pictures);
        let answer = answer.expect("an answer about these drawings");
        let captions = answer.captions.iter().map(|reading| &*reading.caption);
        assert_eq!(
            captions.collect::<Vec<_>>(),
            CAPTIONS,
            "about their captions"
        );
        assert_eq!(answer.pairs.len(), CAPTIONS.len() * MINIMAL_PAIRS.len());
    }

    #[test]
    fn a_caption_is_offered_in_one_word_less_or_other() {
        let cases: [(&str, &[&str]); 6] = [
            (
                "a small red star",
                &[
                    "star → circle: a small red circle",
                    "red → blue: a small blue star",
                    "− small: a red star",
                ],
            ),
            ("a dog", &["dog → cat: a cat", "dog → animal: an animal"]),
            ("an animal", &["an animal → something: something"]),
            (
                "something red",
                &["red → blue: something blue", "− red: something"],
            ),
            (
                "a dog on a couch",
                &[
                    "couch → bed: a dog on a bed",
                    "dog → cat: a cat on a couch",
                    "− on a couch: a dog",
                ],
            ),
            (
                "two crosses, and Dogs",
                &[
                    "Dogs → cats: two crosses, and cats",
                    "crosses → rings: two rings, and Dogs",
                    "− two: crosses, and Dogs",
                ],
            ),
        ];
        for (caption, expected) in cases {
            assert_eq!(offered(caption), expected, "{caption}");
        }
    }

    #[test]
    fn the_page_of_minimal_pairs_comes_back_from_its_link() {
        let page = ExplorerState::start(World::Scenes, ["lone-red-star"]);
        let (pairs, n_own) = decode(&encode(&minimal_pairs(&page))).expect("it is a link");
        assert_eq!(pairs.pictures, MINIMAL_PAIRS, "no others");
        assert!(pairs.has_captions(&CAPTIONS), "{:?}", pairs.captions);
        let chosen = pairs.caption.and_then(|key| pairs.captions.text(key));
        assert_eq!((chosen, n_own), (Some(CAPTIONS[2]), 0), "the last one");
    }

    #[test]
    fn what_has_nothing_to_change_is_left_alone() {
        for caption in ["", "something", "a", "in the dark", "qwrt"] {
            assert_eq!(offered(caption), [""; 0], "{caption:?}");
        }
    }

    #[test]
    fn every_starting_caption_but_the_vaguest_can_be_changed_and_changed_back() {
        for world in World::ALL {
            for caption in &world.captions()[1..] {
                let changes = word_changes(caption);
                assert!(!changes.is_empty(), "{caption}");
                assert!(changes.iter().all(|change| change.caption != *caption));
            }
        }
    }

    #[test]
    fn the_world_of_drawings_understands_every_change_of_its_captions() {
        for caption in World::Scenes.captions() {
            for change in word_changes(caption) {
                assert!(parse(&change.caption).is_some(), "{change:?}");
            }
        }
    }

    fn respelling(word: &str, meant: &str) -> Respelling {
        Respelling {
            word: word.to_owned(),
            meant: meant.to_owned(),
        }
    }

    #[test]
    fn a_word_is_respelt_wherever_it_stands_and_the_rest_is_kept() {
        let changes = respelt_captions(
            "A Retreiver, two retreivers and a retreiver.",
            &[respelling("Retreiver", "retriever")],
        );
        let [change] = changes.try_into().expect("one word, one change");
        let expected = "A retriever, two retreivers and a retriever.";
        assert_eq!(change.caption, expected, "not within other words");
        assert_eq!(change.label, "Retreiver → retriever", "as it was typed");
    }

    #[test]
    fn a_caption_that_has_lost_the_word_is_offered_nothing() {
        let old = [respelling("cirlce", "circle")];
        assert_eq!(respelt_captions("a circle", &old), [], "it was mended");
    }
}
