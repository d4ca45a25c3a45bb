//! Reads a caption of the world back into its description.

use super::description::{Claim, CountRange, Description, ObjectDescription};
use super::scene::MAX_OBJECTS;
use super::vocabulary::{
    ANY_NOUNS, ANYTHING, Attribute, COUNTS, HELD_OUT_OPENINGS, OPENINGS, RELATIONS, Term,
    is_adjective, own_spelling, plural, term_of, terms,
};

/// The description that a caption means; articles may be missing, as in "red star", "stars" and "red". `None` where it
/// is not a sentence of the world's grammar.
///
/// # Examples
/// ```
/// use kappascope::scenes::parse;
/// assert!(parse("a small red star above a large blue circle").is_some());
/// assert!(parse("a golden retriever puppy").is_none(), "not of this world");
/// ```
pub fn parse(caption: &str) -> Option<Description> {
    let text = caption.to_lowercase().replace(['.', ',', '!', '?'], " ");
    let words: Vec<&str> = text.split_whitespace().map(own_spelling).collect();
    let mut rest = &words[..];
    let mut description = Description::anything();
    while let Some(shorter) = strip_ending(rest, &mut description) {
        rest = shorter;
    }
    description.claim = claim(rest).or_else(|| claim(strip_opening(rest)?))?;
    Some(description)
}

/// Takes "on a grey ground" or "in dim light" off the end and narrows the description; "in the picture" narrows
/// nothing.
fn strip_ending<'w, 't>(
    words: &'w [&'t str],
    description: &mut Description,
) -> Option<&'w [&'t str]> {
    if let [rest @ .., "on", "a" | "an", ground, "ground" | "background"] = words {
        description.grounds &= term_of(Attribute::Ground, ground)?.mask;
        return Some(rest);
    }
    if let [
        rest @ ..,
        "in",
        "the",
        "picture" | "image" | "drawing" | "scene",
    ] = words
    {
        return Some(rest);
    }
    terms(Attribute::Light).find_map(|term| {
        let phrase = term
            .words
            .iter()
            .find_map(|phrase| strip_suffix(words, phrase))?;
        description.lights &= term.mask;
        Some(phrase)
    })
}

fn strip_suffix<'w, 't>(words: &'w [&'t str], phrase: &str) -> Option<&'w [&'t str]> {
    let n = words.len().checked_sub(phrase.split(' ').count())?;
    words[n..]
        .iter()
        .copied()
        .eq(phrase.split(' '))
        .then_some(&words[..n])
}

fn strip_prefix<'w, 't>(words: &'w [&'t str], phrase: &str) -> Option<&'w [&'t str]> {
    let n = phrase.split(' ').count();
    (words.len() >= n && words[..n].iter().copied().eq(phrase.split(' '))).then(|| &words[n..])
}

fn strip_opening<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let openings = OPENINGS
        .iter()
        .chain(HELD_OUT_OPENINGS)
        .filter(|opening| !opening.is_empty());
    openings
        .filter_map(|opening| strip_prefix(words, opening))
        .next()
}

fn claim(words: &[&str]) -> Option<Claim> {
    if ANYTHING.contains(&words.join(" ").as_str()) {
        return Some(Claim::Exists(Vec::new()));
    }
    count(words)
        .or_else(|| related(words))
        .or_else(|| exists(words))
        .or_else(|| bare(words))
}

/// Claim without an article or a count: "red" is something red, and "stars" are two at least.
fn bare(words: &[&str]) -> Option<Claim> {
    if adjective(words.first()?).is_some()
        && let Some(object) = qualities(words, ObjectDescription::ANY)
    {
        return Some(Claim::Exists(vec![object]));
    }
    Some(Claim::Count(noun_phrase(words, Number::Plural)?, PLURAL))
}

fn count(words: &[&str]) -> Option<Claim> {
    let (range, rest) = COUNTS.iter().find_map(|(range, phrases)| {
        phrases
            .iter()
            .find_map(|phrase| Some((*range, strip_prefix(words, phrase)?)))
    })?;
    let number = if range.most == 1 {
        Number::Singular
    } else {
        Number::Plural
    };
    Some(Claim::Count(noun_phrase(rest, number)?, range))
}

fn related(words: &[&str]) -> Option<Claim> {
    for (i, _) in words.iter().enumerate() {
        for (relation, phrases) in RELATIONS {
            for phrase in *phrases {
                if let Some(rest) = strip_prefix(&words[i..], phrase)
                    && let (Some(a), Some(b)) = (object(&words[..i]), object(rest))
                {
                    return Some(Claim::Related(a, *relation, b));
                }
            }
        }
    }
    None
}

/// Objects joined by "and"; an "and" between adjectives does not split.
fn exists(words: &[&str]) -> Option<Claim> {
    let mut objects = Vec::new();
    let mut start = 0;
    for i in 1..=words.len() {
        let splits = i == words.len()
            || (words[i] == "and" && words.get(i + 1).is_some_and(|w| starts_object(w)));
        if splits && i > start {
            objects.push(object(&words[start..i])?);
            start = i + 1;
        }
    }
    (!objects.is_empty()).then_some(Claim::Exists(objects))
}

fn starts_object(word: &str) -> bool {
    matches!(word, "a" | "an" | "something")
}

fn object(words: &[&str]) -> Option<ObjectDescription> {
    match words {
        ["something", rest @ ..] => qualities(rest, ObjectDescription::ANY),
        ["a" | "an", rest @ ..] | rest => noun_phrase(rest, Number::Singular),
    }
}

/// Count that a plural means: two at least.
const PLURAL: CountRange = CountRange {
    least: 2,
    most: MAX_OBJECTS,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Singular,
    Plural,
}

/// Adjectives, a noun, and what follows it.
fn noun_phrase(words: &[&str], number: Number) -> Option<ObjectDescription> {
    let mut object = ObjectDescription::ANY;
    for (i, word) in words.iter().enumerate() {
        if let Some(term) = adjective(word) {
            narrow(&mut object, term);
        } else {
            object.shapes &= noun(word, number)?;
            let rest = &words[i + 1..];
            let rest = strip_prefix(rest, "that is")
                .or_else(|| strip_prefix(rest, "that are"))
                .unwrap_or(rest);
            return qualities(rest, object);
        }
    }
    None
}

/// "red and small on the left": adjectives, then perhaps a place.
fn qualities(words: &[&str], mut object: ObjectDescription) -> Option<ObjectDescription> {
    let mut rest = words;
    while let [word, tail @ ..] = rest {
        if let Some(term) = adjective(word) {
            narrow(&mut object, term);
        } else if *word != "and" || tail.is_empty() {
            break;
        }
        rest = tail;
    }
    if !rest.is_empty() {
        object.cells &= term_of(Attribute::Cell, &rest.join(" "))?.mask;
    }
    Some(object)
}

fn adjective(word: &str) -> Option<&'static Term> {
    let attributes = [
        Attribute::Colour,
        Attribute::Size,
        Attribute::Texture,
        Attribute::Shape,
    ];
    attributes
        .into_iter()
        .find_map(|attribute| term_of(attribute, word))
        .filter(|term| is_adjective(term))
}

fn noun(word: &str, number: Number) -> Option<u16> {
    let is = |noun: &str| {
        if number == Number::Plural {
            plural(noun) == word
        } else {
            noun == word
        }
    };
    if ANY_NOUNS.iter().any(|noun| is(noun)) {
        return Some(ObjectDescription::ANY.shapes);
    }
    terms(Attribute::Shape)
        .filter(|t| !is_adjective(t))
        .find(|t| t.words.iter().any(|w| is(w)))
        .map(|t| t.mask)
}

fn narrow(object: &mut ObjectDescription, term: &Term) {
    match term.attribute {
        Attribute::Shape => object.shapes &= term.mask,
        Attribute::Colour => object.colours &= term.mask,
        Attribute::Size => object.sizes &= term.mask,
        Attribute::Texture => object.textures &= term.mask,
        Attribute::Cell => object.cells &= term.mask,
        Attribute::Ground | Attribute::Light => {}
    }
}
