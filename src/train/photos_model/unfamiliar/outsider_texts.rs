//! Texts that are no English captions: mashed keys, scrambled words, other languages, code and addresses.

use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

/// Texts of each kind that is generated.
const N_OF_KIND: usize = 200;
/// Seed of the random texts, which are the same in every run.
const SEED: u64 = 4_100_000;

/// Texts that are no English captions, by kind; always the same for the same captions.
#[must_use]
pub fn outsider_texts(captions: &[String]) -> Vec<(&'static str, Vec<String>)> {
    let rng = &mut ChaCha8Rng::seed_from_u64(SEED);
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    vec![
        ("mashed keys", (0..N_OF_KIND).map(|_| mashed(rng)).collect()),
        (
            "captions with the letters of each word scrambled",
            (0..N_OF_KIND)
                .filter_map(|_| Some(scrambled(captions.choose(rng)?, rng)))
                .collect(),
        ),
        (
            "captions in other languages",
            lines(include_str!("languages.txt")),
        ),
        (
            "code, numbers and addresses",
            lines(include_str!("code.txt")),
        ),
    ]
}

/// One to six words of random letters.
fn mashed(rng: &mut ChaCha8Rng) -> String {
    let n_words = rng.random_range(1..=6);
    let words = (0..n_words).map(|_| {
        let n_letters = rng.random_range(3..=8);
        let letters = (0..n_letters).map(|_| char::from(rng.random_range(b'a'..=b'z')));
        letters.collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Each word with its letters in random order.
fn scrambled(caption: &str, rng: &mut ChaCha8Rng) -> String {
    let words = caption.split_whitespace().map(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.shuffle(rng);
        letters.into_iter().collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambled_captions_have_the_letters_of_a_caption() {
        let captions = ["a brown dog runs".to_owned()];
        let kinds = outsider_texts(&captions);
        let (_, scrambled) = &kinds[1];
        let mut letters: Vec<char> = scrambled[0].chars().collect();
        letters.sort_unstable();
        let mut expected: Vec<char> = captions[0].chars().collect();
        expected.sort_unstable();
        assert_eq!(letters, expected, "{scrambled:?}");
        assert_eq!(kinds, outsider_texts(&captions), "always the same");
    }
}
