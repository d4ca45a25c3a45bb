//! The words of the world and what each leaves open.

use super::description::{CountRange, Mask, Relation};

/// Attribute of a scene that a word speaks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// Shape nouns and the adjectives that go with "thing".
    Shape,
    /// Colour adjectives, such as "red" or "warm".
    Colour,
    /// Size adjectives, such as "small" or "sizeable".
    Size,
    /// Texture adjectives, such as "striped" or "patterned".
    Texture,
    /// Places as whole phrases, such as "at the top left".
    Cell,
    /// Adjectives of the ground, such as "white" or "pale".
    Ground,
    /// Phrases of the light, such as "in the dark".
    Light,
}

/// A meaning with the words for it.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// Attribute that it speaks about.
    pub attribute: Attribute,
    /// The values it leaves open.
    pub mask: Mask,
    /// Interchangeable words, the plainest first; nouns in the singular, places as whole phrases.
    pub words: &'static [&'static str],
}

const fn term(attribute: Attribute, mask: Mask, words: &'static [&'static str]) -> Term {
    Term {
        attribute,
        mask,
        words,
    }
}

use Attribute::{Cell, Colour, Ground, Light, Shape, Size, Texture};

/// Every term. Bits follow the order of the values in `scene`.
pub const TERMS: &[Term] = &[
    // shapes: circle square triangle star cross ring
    term(Shape, 0b00_0001, &["circle", "disc"]),
    term(Shape, 0b00_0010, &["square", "box"]),
    term(Shape, 0b00_0100, &["triangle"]),
    term(Shape, 0b00_1000, &["star"]),
    term(Shape, 0b01_0000, &["cross", "plus"]),
    term(Shape, 0b10_0000, &["ring", "hoop"]),
    term(Shape, 0b10_0001, &["round"]),
    term(Shape, 0b01_1110, &["angular"]),
    term(Shape, 0b00_1100, &["pointed"]),
    // colours: red orange yellow green blue purple pink black
    term(Colour, 0b0000_0001, &["red", "crimson"]),
    term(Colour, 0b0000_0010, &["orange"]),
    term(Colour, 0b0000_0100, &["yellow"]),
    term(Colour, 0b0000_1000, &["green"]),
    term(Colour, 0b0001_0000, &["blue"]),
    term(Colour, 0b0010_0000, &["purple", "violet"]),
    term(Colour, 0b0100_0000, &["pink"]),
    term(Colour, 0b1000_0000, &["black"]),
    term(Colour, 0b0100_0111, &["warm"]),
    term(Colour, 0b0011_1000, &["cool"]),
    term(Colour, 0b0111_1111, &["colourful"]),
    // sizes: small medium large
    term(Size, 0b001, &["small", "little", "tiny"]),
    term(Size, 0b010, &["medium"]),
    term(Size, 0b100, &["large", "big"]),
    term(Size, 0b110, &["sizeable"]),
    // textures: solid striped dotted
    term(Texture, 0b001, &["solid", "plain"]),
    term(Texture, 0b010, &["striped", "stripy"]),
    term(Texture, 0b100, &["dotted", "spotted"]),
    term(Texture, 0b110, &["patterned"]),
    // places: rows from the top, columns from the left
    term(Cell, 0b001_001_001, &["on the left"]),
    term(Cell, 0b100_100_100, &["on the right"]),
    term(Cell, 0b000_000_111, &["at the top"]),
    term(Cell, 0b111_000_000, &["at the bottom"]),
    term(Cell, 0b000_010_000, &["in the middle", "in the centre"]),
    term(Cell, 0b000_000_001, &["at the top left"]),
    term(Cell, 0b000_000_100, &["at the top right"]),
    term(Cell, 0b001_000_000, &["at the bottom left"]),
    term(Cell, 0b100_000_000, &["at the bottom right"]),
    term(Cell, 0b000_000_010, &["at the top centre"]),
    term(Cell, 0b010_000_000, &["at the bottom centre"]),
    term(Cell, 0b000_001_000, &["at the left centre"]),
    term(Cell, 0b000_100_000, &["at the right centre"]),
    term(Cell, 0b101_000_101, &["in a corner"]),
    term(Cell, 0b111_101_111, &["near the edge"]),
    // grounds: white grey beige mint
    term(Ground, 0b0001, &["white"]),
    term(Ground, 0b0010, &["grey", "gray"]),
    term(Ground, 0b0100, &["beige"]),
    term(Ground, 0b1000, &["mint"]),
    term(Ground, 0b1101, &["pale"]),
    // lights: bright dim
    term(Light, 0b01, &["in bright light", "in the light"]),
    term(Light, 0b10, &["in dim light", "in the dark"]),
];

/// Nouns for an object of any shape.
pub const ANY_NOUNS: &[&str] = &["shape", "thing", "object"];
/// Captions that fit every scene.
pub const ANYTHING: &[&str] = &["a picture", "an image", "a scene", "a drawing", "something"];
/// Openings that add nothing.
pub const OPENINGS: &[&str] = &["", "a picture of", "there is", "this shows", "an image of"];
/// An opening of known words that only test captions use.
pub const HELD_OUT_OPENINGS: &[&str] = &["a drawing of", "this is"];

/// American spellings that are read as this world's own.
pub const SPELLINGS: &[(&str, &str)] = &[
    ("center", "centre"),
    ("color", "colour"),
    ("colored", "coloured"),
    ("colorful", "colourful"),
];

/// A word as this world spells it.
pub fn own_spelling(word: &str) -> &str {
    let mut all = SPELLINGS.iter();
    let known = all.find(|(american, _)| *american == word);
    known.map_or(word, |(_, own)| own)
}

/// Terms that speak about an attribute.
pub fn terms(attribute: Attribute) -> impl Iterator<Item = &'static Term> {
    TERMS.iter().filter(move |term| term.attribute == attribute)
}

/// The term with exactly this mask.
pub fn term_for(attribute: Attribute, mask: Mask) -> Option<&'static Term> {
    terms(attribute).find(|term| term.mask == mask)
}

/// The term that holds a word or phrase.
pub fn term_of(attribute: Attribute, word: &str) -> Option<&'static Term> {
    terms(attribute).find(|term| term.words.contains(&word))
}

/// Whether a shape term is an adjective ("round") that needs a noun, and not a noun itself.
pub fn is_adjective(term: &Term) -> bool {
    term.attribute != Shape || term.mask.count_ones() > 1
}

/// Ways to say a relation, the plainest first.
pub const RELATIONS: &[(Relation, &[&str])] = &[
    (Relation::LeftOf, &["left of", "to the left of"]),
    (Relation::RightOf, &["right of", "to the right of"]),
    (Relation::Above, &["above", "over"]),
    (Relation::Below, &["below", "under"]),
];

/// Ways to say a number of objects, the plainest first.
pub const COUNTS: &[(CountRange, &[&str])] = &[
    (CountRange { least: 1, most: 1 }, &["one", "a single"]),
    (CountRange { least: 2, most: 2 }, &["two", "a pair of"]),
    (CountRange { least: 3, most: 3 }, &["three"]),
    (CountRange { least: 4, most: 4 }, &["four"]),
    (CountRange { least: 3, most: 4 }, &["several", "many"]),
];

/// Words that hold the others together.
const GLUE: &[&str] = &[
    "a",
    "an",
    "and",
    "something",
    "that",
    "is",
    "are",
    "ground",
    "background",
];

/// The plural of a noun.
///
/// # Examples
/// ```
/// use kappascope::scenes::vocabulary::plural;
/// assert_eq!(plural("star"), "stars");
/// assert_eq!(plural("cross"), "crosses");
/// ```
pub fn plural(noun: &str) -> String {
    let ending = if noun.ends_with(['s', 'x']) {
        "es"
    } else {
        "s"
    };
    format!("{noun}{ending}")
}

/// Every single word of the world, sorted: the vocabulary of its tokenizer.
pub fn words() -> Vec<String> {
    let phrases = TERMS
        .iter()
        .flat_map(|term| term.words)
        .chain(ANYTHING)
        .chain(OPENINGS)
        .chain(HELD_OUT_OPENINGS);
    let phrases = phrases
        .chain(RELATIONS.iter().flat_map(|r| r.1))
        .chain(COUNTS.iter().flat_map(|c| c.1))
        .chain(GLUE);
    let mut words: Vec<String> = phrases
        .flat_map(|phrase| phrase.split(' '))
        .map(str::to_owned)
        .collect();
    let nouns = terms(Shape)
        .filter(|term| !is_adjective(term))
        .flat_map(|term| term.words)
        .chain(ANY_NOUNS);
    words.extend(nouns.flat_map(|&noun| [noun.to_owned(), plural(noun)]));
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}
