//! Says a description in words.

use rand::{Rng, RngExt as _};

use super::description::{Claim, Description, ObjectDescription};
use super::vocabulary::{
    ANY_NOUNS, ANYTHING, Attribute, COUNTS, HELD_OUT_OPENINGS, OPENINGS, RELATIONS, Term,
    is_adjective, plural, term_for,
};

/// Freedom with which a description is put into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// The plainest word for everything, in the usual order.
    Plain,
    /// Random synonyms, orders and openings, as in training.
    Varied,
    /// Openings and orders that training never showed, made of words that it did.
    HeldOut,
}

/// Puts a description into words.
///
/// A mask for which the world has no word is passed over, so the text may say less than the description; descriptions
/// made by the grammar have words for everything.
///
/// # Examples
/// ```
/// use kappascope::scenes::{Wording, information, parse, say};
/// use rand::{SeedableRng as _, rngs::ChaCha8Rng};
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let description = parse("a red star").unwrap();
/// // However it is said, it says as much.
/// let said = parse(&say(&description, Wording::Varied, &mut rng)).unwrap();
/// assert_eq!(information(&said).bits, information(&description).bits);
/// ```
pub fn say<R: Rng + ?Sized>(description: &Description, wording: Wording, rng: &mut R) -> String {
    let mut writer = CaptionWriter { wording, rng };
    let claim = writer.claim(&description.claim);
    let mut text = writer.opening(&claim) + &claim;
    let ground = term_for(Attribute::Ground, description.grounds).map(|term| writer.ground(term));
    let light = term_for(Attribute::Light, description.lights)
        .map(|term| format!(" {}", writer.word(term.words)));
    let mut endings = [ground, light];
    if writer.chance(0.3) {
        endings.reverse();
    }
    text.extend(endings.into_iter().flatten());
    text
}

/// Chooses the words of a caption at random, as far as its wording allows.
struct CaptionWriter<'a, R: Rng + ?Sized> {
    wording: Wording,
    rng: &'a mut R,
}

impl<R: Rng + ?Sized> CaptionWriter<'_, R> {
    /// True with this probability, never in plain wording.
    fn chance(&mut self, probability: f64) -> bool {
        self.wording != Wording::Plain && self.rng.random_bool(probability)
    }

    /// One of the words: the plainest half of the time.
    fn word<'w>(&mut self, words: &[&'w str]) -> &'w str {
        if self.chance(0.5) {
            words[self.rng.random_range(0..words.len())]
        } else {
            words[0]
        }
    }

    fn opening(&mut self, claim: &str) -> String {
        if ANYTHING.contains(&claim) {
            return String::new();
        }
        let openings = if self.wording == Wording::HeldOut {
            HELD_OUT_OPENINGS
        } else {
            OPENINGS
        };
        let opening = if self.wording == Wording::HeldOut || self.chance(0.3) {
            openings[self.rng.random_range(0..openings.len())]
        } else {
            ""
        };
        if opening.is_empty() {
            String::new()
        } else {
            format!("{opening} ")
        }
    }

    fn ground(&mut self, term: &Term) -> String {
        let (word, noun) = (self.word(term.words), self.word(&["ground", "background"]));
        format!(" on {} {noun}", with_article(word))
    }

    fn claim(&mut self, claim: &Claim) -> String {
        match claim {
            Claim::Exists(objects) if objects.is_empty() => self.word(ANYTHING).to_owned(),
            Claim::Exists(objects) => {
                let phrases: Vec<String> =
                    objects.iter().map(|object| self.object(object)).collect();
                phrases.join(" and ")
            }
            Claim::Related(a, relation, b) => {
                let (a, b) = (self.object(a), self.object(b));
                let words = RELATIONS
                    .iter()
                    .find(|r| r.0 == *relation)
                    .map_or(&[][..], |r| r.1);
                format!("{a} {} {b}", self.word(words))
            }
            Claim::Count(object, range) => {
                let words = COUNTS
                    .iter()
                    .find(|c| c.0 == *range)
                    .map_or(&["some"][..], |c| c.1);
                let (count, place) = (self.word(words), self.place(object));
                let (adjectives, noun) = (self.adjectives(object), self.noun(object));
                let noun = if range.most == 1 {
                    noun.to_owned()
                } else {
                    plural(noun)
                };
                join([count.to_owned(), adjectives.join(" "), noun, place])
            }
        }
    }

    fn object(&mut self, object: &ObjectDescription) -> String {
        let (adjectives, place) = (self.adjectives(object), self.place(object));
        if noun_term(object).is_none() && !adjectives.is_empty() && self.chance(0.35) {
            return join(["something".to_owned(), adjectives.join(" and "), place]);
        }
        let noun = self.noun(object);
        if !adjectives.is_empty() && self.chance(0.12) {
            return join([
                with_article(noun),
                "that is".to_owned(),
                adjectives.join(" and "),
                place,
            ]);
        }
        join([
            with_article(&join([adjectives.join(" "), noun.to_owned()])),
            place,
        ])
    }

    fn noun(&mut self, object: &ObjectDescription) -> &'static str {
        let words = noun_term(object).map_or(ANY_NOUNS, |term| term.words);
        self.word(words)
    }

    fn place(&mut self, object: &ObjectDescription) -> String {
        term_for(Attribute::Cell, object.cells)
            .map(|term| self.word(term.words).to_owned())
            .unwrap_or_default()
    }

    /// Adjectives in an order that English allows; held-out wording puts size last.
    fn adjectives(&mut self, object: &ObjectDescription) -> Vec<&'static str> {
        let size = term_for(Attribute::Size, object.sizes);
        let texture = term_for(Attribute::Texture, object.textures);
        let colour = term_for(Attribute::Colour, object.colours);
        let shape = term_for(Attribute::Shape, object.shapes).filter(|term| is_adjective(term));
        let order = if self.wording == Wording::HeldOut {
            [colour, texture, size, shape]
        } else if self.chance(0.4) {
            [size, colour, texture, shape]
        } else {
            [size, texture, colour, shape]
        };
        order
            .into_iter()
            .flatten()
            .map(|term| self.word(term.words))
            .collect()
    }
}

fn noun_term(object: &ObjectDescription) -> Option<&'static Term> {
    term_for(Attribute::Shape, object.shapes).filter(|term| !is_adjective(term))
}

fn with_article(phrase: &str) -> String {
    let article = if phrase.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {phrase}")
}

fn join<const N: usize>(parts: [String; N]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}
