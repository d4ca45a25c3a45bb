//! Captions with errors of the hand: neighbouring keys, and letters that are dropped, doubled or written too early.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

/// Rows of a keyboard; a finger that misses lands on the neighbour.
const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// A kind of error in writing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Slip {
    /// The key beside the right one.
    #[default]
    Keyboard,
    /// A letter dropped, doubled, or overtaken by the next.
    Spelling,
}

impl Slip {
    /// Both, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Keyboard, Self::Spelling];

    /// The slip in words, and in an address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyboard => "keyboard",
            Self::Spelling => "spelling",
        }
    }

    /// The caption with so many errors, or as many as it has letters; more errors keep those of fewer.
    pub fn apply(self, caption: &str, n_errors: usize) -> String {
        let letters: Vec<char> = caption.chars().collect();
        let mut wrong: Vec<String> = letters.iter().map(char::to_string).collect();
        for (turn, at) in order(&letters).into_iter().take(n_errors).enumerate() {
            wrong[at] = match (self, turn % 3) {
                (Self::Keyboard, _) => neighbour(letters[at]).to_string(),
                (Self::Spelling, 0) => String::new(),
                (Self::Spelling, 1) => format!("{0}{0}", letters[at]),
                (Self::Spelling, _) => overtaken(&letters, at),
            };
        }
        wrong.concat()
    }

    /// Captions with errors from none to `n_errors`, each with its number.
    pub fn ladder(self, caption: &str, n_errors: usize) -> Vec<String> {
        (0..=n_errors).map(|n| self.apply(caption, n)).collect()
    }
}

/// Places of letters in random order, the same for the same caption.
fn order(letters: &[char]) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut places: Vec<usize> = (0..letters.len())
        .filter(|&i| letters[i].is_ascii_lowercase())
        .collect();
    for i in (1..places.len()).rev() {
        places.swap(i, rng.random_range(0..=i));
    }
    places
}

fn neighbour(letter: char) -> char {
    let beside = |row: &&str| {
        let at = row.find(letter)?;
        let next = row[at + 1..].chars().next();
        next.or_else(|| row[..at].chars().next_back())
    };
    ROWS.iter().find_map(beside).unwrap_or(letter)
}

/// The letter behind the one that follows it: "ra" for the "a" of "ar".
fn overtaken(letters: &[char], at: usize) -> String {
    match letters.get(at + 1) {
        Some(next) if next.is_alphabetic() => format!("{next}{}", letters[at]),
        _ => format!("{0}{0}", letters[at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_errors_leave_the_caption() {
        for slip in Slip::ALL {
            assert_eq!(slip.apply("a red star", 0), "a red star", "{slip:?}");
        }
    }

    #[test]
    fn each_error_changes_the_caption_once_more() {
        for slip in Slip::ALL {
            let ladder = slip.ladder("a small red star", 5);
            for (fewer, more) in ladder.iter().zip(&ladder[1..]) {
                assert_ne!(fewer, more, "{slip:?}: {ladder:?}");
            }
        }
    }

    #[test]
    fn a_finger_lands_beside_the_right_key() {
        for (letter, expected) in [('a', 's'), ('p', 'o'), ('m', 'n'), ('t', 'y')] {
            assert_eq!(neighbour(letter), expected, "beside {letter}");
        }
        let wrong = Slip::Keyboard.apply("red", 3);
        assert_eq!(wrong, "trf", "every letter of red");
    }

    #[test]
    fn errors_stop_where_the_letters_end() {
        assert_eq!(Slip::Keyboard.apply("ab", 9), "sn", "two letters");
        assert_eq!(Slip::Spelling.apply("", 3), "", "none");
    }
}
