//! Captions with errors in writing.

use rand::{Rng, RngExt as _};

use super::kind::{Corruption, CorruptionKind, rng_of};

/// Share of the words that are hit, for each step of severity.
const WORDS_PER_SEVERITY: f64 = 0.05;
/// Share of the letters of a word with wrong keys that are hit; at least one letter is.
const LETTERS: f64 = 0.3;
/// Relative frequency of the mistakes of native writers: substitution, insertion, deletion, transposition.
const MISTAKES: [f64; 4] = [0.067, 0.044, 0.057, 0.015];
/// The letters of the keyboard, row by row.
const KEYBOARD: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// A way to misspell a caption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Misspelling {
    /// Keys beside the right ones.
    #[default]
    Keyboard,
    /// A letter wrong, too many, too few, or two swapped.
    Spelling,
}

impl CorruptionKind for Misspelling {
    const ALL: &'static [Self] = &[Self::Keyboard, Self::Spelling];
    const MAX_SEVERITY: u8 = 7;

    fn name(self) -> &'static str {
        match self {
            Self::Keyboard => "keyboard",
            Self::Spelling => "spelling",
        }
    }
}

impl Misspelling {
    /// A caption without errors, then at each severity; each keeps the errors of those before.
    #[must_use]
    pub fn ladder(self, caption: &str) -> Vec<String> {
        // Word by word, so that a word's errors do not depend on how many words before it are hit.
        let misspelt = |severity| {
            let misspelling = Corruption::new(self, severity);
            let words = caption.split(' ').enumerate();
            let misspelt = words.map(|(i, word)| misspelling.apply(word, &i.to_string()));
            misspelt.collect::<Vec<_>>().join(" ")
        };
        let misspelt = (1..=Self::MAX_SEVERITY).map(misspelt);
        std::iter::once(caption.to_owned())
            .chain(misspelt)
            .collect()
    }
}

impl Corruption<Misspelling> {
    /// Share of the words that are hit in the mean.
    #[must_use]
    pub fn share(self) -> f64 {
        WORDS_PER_SEVERITY * f64::from(self.severity())
    }

    /// A misspelt caption; the same caption of the same `id` gets the same errors.
    #[must_use]
    pub fn apply(self, caption: &str, id: &str) -> String {
        let rng = &mut rng_of(&format!("{id} {caption}"));
        let words = caption.split(' ').map(|word| {
            let is_word = word.chars().any(|c| c.is_ascii_alphabetic());
            if !is_word || rng.random::<f64>() >= self.share() {
                return word.to_owned();
            }
            match self.kind() {
                Misspelling::Keyboard => mistyped(word, rng),
                Misspelling::Spelling => mistaken(word, rng),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn letters(word: &[char]) -> Vec<usize> {
    let places = 0..word.len();
    places
        .filter(|at| word[*at].is_ascii_alphabetic())
        .collect()
}

fn mistyped<R: Rng>(word: &str, rng: &mut R) -> String {
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
    let mut found = rows.filter_map(|(row, keys)| Some((row, keys.find(lower)?)));
    let Some((row, column)) = found.next() else {
        return letter;
    };
    let near = |r: usize, c: usize| KEYBOARD.get(r)?.chars().nth(c);
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
    fn a_severity_touches_its_share_of_the_words() {
        for &kind in Misspelling::ALL {
            for severity in [1, 4, 7] {
                let misspelling = Corruption::new(kind, severity);
                let (mut n_touched, mut n_words) = (0.0, 0.0);
                for i in 0..300 {
                    let found = misspelling.apply(CAPTION, &i.to_string());
                    for (before, after) in CAPTION.split(' ').zip(found.split(' ')) {
                        n_words += 1.0;
                        n_touched += f64::from(u8::from(before != after));
                    }
                }
                // One word of seventeen is a number, and a letter may be exchanged for itself.
                let expected = 0.05 * f64::from(severity) * 16.0 / 17.0;
                let (share, what) = (n_touched / n_words, format!("{kind:?} {severity}"));
                let error = (share / expected - 1.0).abs();
                assert!(error < 0.15, "{what}: {share}, expected {expected}");
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
        let misspelling = Corruption::new(Misspelling::Spelling, 7);
        let found = [(); 2].map(|()| misspelling.apply(CAPTION, "1"));
        assert_eq!(found[0], found[1], "the same");
    }

    #[test]
    fn each_rung_of_a_ladder_keeps_the_errors_of_those_before() {
        for kind in Misspelling::ALL {
            let ladder = kind.ladder(CAPTION);
            assert_eq!(ladder.len(), 8, "none and seven severities");
            assert_eq!(ladder[0], CAPTION, "no errors");
            assert_ne!(ladder[7], CAPTION, "a third of the words");
            for (fewer, more) in ladder.iter().zip(&ladder[1..]) {
                let words = fewer.split(' ').zip(more.split(' '));
                for (word, (before, after)) in CAPTION.split(' ').zip(words) {
                    let is_kept = before == word || before == after;
                    assert!(is_kept, "{fewer:?}, then {more:?}");
                }
            }
        }
    }
}
