//! Captions with slips.

use std::fmt;

use anyhow::Result;
use clap::ValueEnum;
use rand::{Rng, RngExt as _};

use super::{kind_and_level, name_of, rng_of};

/// The greatest level of captions; the least is 1.
pub const LEVELS: u8 = 7;
/// Share of the words that a level touches, for each level.
const WORDS_PER_LEVEL: f64 = 0.05;
/// Share of the letters of a touched word whose neighbour is hit; at least one.
const LETTERS: f64 = 0.3;
/// How often letters are exchanged for another, put in, left out, swapped: the mistakes of native writers.
const MISTAKES: [f64; 4] = [0.067, 0.044, 0.057, 0.015];
/// The letters of the keyboard, row by row.
const KEYBOARD: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// What happens to a caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MisspellingKind {
    /// Keys beside the ones that were meant.
    Keyboard,
    /// A letter wrong, too many, too few, or two swapped.
    Spelling,
}

/// What happens to a caption, and to how many of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misspelling {
    kind: MisspellingKind,
    /// From 1 to 7: so many twentieths of the words.
    level: u8,
}

impl Misspelling {
    /// Reads `keyboard:3`.
    ///
    /// # Errors
    ///
    /// An unknown kind, or a level that is not from 1 to 7.
    pub fn parse(text: &str) -> Result<Self> {
        let (kind, level) = kind_and_level(text, "keyboard:3", LEVELS)?;
        Ok(Self { kind, level })
    }

    /// Every kind of slips at a level, which is brought between 1 and 7.
    pub fn every(level: u8) -> impl Iterator<Item = Self> {
        let level = level.clamp(1, LEVELS);
        let kinds = MisspellingKind::value_variants().iter();
        kinds.map(move |&kind| Self { kind, level })
    }

    /// Its name and its level.
    #[must_use]
    pub fn kind_and_level(self) -> (String, u8) {
        (name_of(self.kind), self.level)
    }

    /// A caption with slips; the same caption of the same `id` gets the same ones.
    #[must_use]
    pub fn apply(self, caption: &str, id: &str) -> String {
        let rng = &mut rng_of(&format!("{id} {caption}"));
        let share = WORDS_PER_LEVEL * f64::from(self.level);
        let words = caption.split(' ').map(|word| {
            let is_word = word.chars().any(|c| c.is_ascii_alphabetic());
            if !is_word || rng.random::<f64>() >= share {
                return word.to_owned();
            }
            match self.kind {
                MisspellingKind::Keyboard => slipped(word, rng),
                MisspellingKind::Spelling => mistaken(word, rng),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Misspelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", name_of(self.kind), self.level)
    }
}

/// Places of letters.
fn letters(word: &[char]) -> Vec<usize> {
    let places = word.iter().enumerate();
    places
        .filter(|(_, letter)| letter.is_ascii_alphabetic())
        .map(|(at, _)| at)
        .collect()
}

fn slipped<R: Rng>(word: &str, rng: &mut R) -> String {
    let mut word: Vec<char> = word.chars().collect();
    let places = letters(&word);
    let must = places[rng.random_range(0..places.len())];
    for at in places {
        if at == must || rng.random::<f64>() < LETTERS {
            word[at] = beside(word[at], rng);
        }
    }
    word.into_iter().collect()
}

/// A key beside a letter's, in its case.
fn beside<R: Rng>(letter: char, rng: &mut R) -> char {
    let lower = letter.to_ascii_lowercase();
    let rows = KEYBOARD.iter().enumerate();
    let found = rows
        .filter_map(|(row, keys)| Some((row, keys.find(lower)?)))
        .next();
    let Some((row, column)) = found else {
        return letter;
    };
    let near = |r: usize, c: usize| {
        KEYBOARD
            .get(r)
            .and_then(|keys| keys[c.min(keys.len())..].chars().next())
    };
    let keys = [
        column.checked_sub(1).and_then(|left| near(row, left)),
        near(row, column + 1),
        row.checked_sub(1).and_then(|above| near(above, column)),
        near(row + 1, column),
    ];
    let keys: Vec<char> = keys.into_iter().flatten().collect();
    let key = keys[rng.random_range(0..keys.len())];
    if letter.is_ascii_uppercase() {
        key.to_ascii_uppercase()
    } else {
        key
    }
}

fn mistaken<R: Rng>(word: &str, rng: &mut R) -> String {
    let mut word: Vec<char> = word.chars().collect();
    let places = letters(&word);
    let at = places[rng.random_range(0..places.len())];
    let any = |rng: &mut R| char::from(b'a' + rng.random_range(0..26_u8));
    let mut dice = rng.random::<f64>() * MISTAKES.iter().sum::<f64>();
    let mistake = MISTAKES.iter().position(|weight| {
        dice -= weight;
        dice < 0.0
    });
    match mistake {
        Some(1) => word.insert(at, any(rng)),
        Some(2) if places.len() > 1 => {
            word.remove(at);
        }
        Some(3) if at + 1 < word.len() => word.swap(at, at + 1),
        _ => word[at] = any(rng),
    }
    word.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTION: &str =
        "A small red striped star above a large blue circle, on a grey ground 7 times over";

    #[test]
    fn a_level_touches_its_share_of_the_words() {
        for kind in MisspellingKind::value_variants() {
            for level in [1, 4, 7] {
                let misspelling = Misspelling { kind: *kind, level };
                let (mut n_touched, mut n_words) = (0.0, 0.0);
                for i in 0..300 {
                    let found = misspelling.apply(CAPTION, &i.to_string());
                    for (before, after) in CAPTION.split(' ').zip(found.split(' ')) {
                        n_words += 1.0;
                        n_touched += f64::from(u8::from(before != after));
                    }
                }
                // One word of seventeen is a number, and a letter may be exchanged for itself.
                let (share, expected) =
                    (n_touched / n_words, 0.05 * f64::from(level) * 16.0 / 17.0);
                assert!(
                    (share / expected - 1.0).abs() < 0.15,
                    "{kind:?} {level}: {share}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn keys_lie_beside_each_other() {
        let rng = &mut rng_of("keys");
        for _ in 0..100 {
            assert!("qes".contains(beside('w', rng)), "by w");
            assert!("NJ".contains(beside('M', rng)), "by M, in its case");
            assert_eq!(beside('P', rng), 'O', "at the edge");
        }
    }

    #[test]
    fn a_caption_is_misspelt_the_same_way_again() {
        let misspelling = Misspelling::parse("spelling:7").expect("known");
        assert_eq!(misspelling.to_string(), "spelling 7", "its name");
        assert_eq!(
            misspelling.apply(CAPTION, "1"),
            misspelling.apply(CAPTION, "1"),
            "the same"
        );
    }
}
