//! Texts about readings: notes, marks, sentences for screen readers, and the formula with its numbers.

use std::collections::BTreeSet;

use super::measure::{Measure, SecondNumber};
use super::number::{percent, spoken_numbers, three_significant};
use super::readings::caption_view::CaptionView;
use super::readings::pair_view::PairView;
use crate::numerics::Family;
use crate::protocol::{CaptionTokens, MAX_CAPTION_CHARACTERS};

/// Unknown words that a note names at most; a caption of 2,000 characters may hold hundreds.
const MAX_NAMED_WORDS: usize = 5;

/// What is said of a caption that has [`MAX_CAPTION_CHARACTERS`].
const CUT_OFF: &str = "A caption holds 2,000 characters at most; anything after them was left out.";

/// Note about a caption as typed, given its last reading; empty if there is nothing to say.
pub fn caption_note(text: &str, view: Option<&CaptionView>) -> String {
    if text.trim().is_empty() {
        return "Without words there is nothing to measure.".into();
    }
    let is_full = text.chars().count() >= MAX_CAPTION_CHARACTERS;
    let full = is_full.then(|| CUT_OFF.to_owned());
    let view = view.filter(|view| view.caption == text);
    let of_tokens = view.map(reading_note).filter(|note| !note.is_empty());
    let notes: Vec<String> = full.into_iter().chain(of_tokens).collect();
    notes.join(" ")
}

fn reading_note(view: &CaptionView) -> String {
    tokens_note(&CaptionTokens {
        caption: view.caption.clone(),
        n_tokens: view.n_tokens,
        truncated: view.truncated,
        unknown_words: view.unknown_words.clone(),
    })
}

/// Note about tokens that were cut off and words the model does not know; empty if there are none.
pub fn tokens_note(tokens: &CaptionTokens) -> String {
    let mut notes = Vec::new();
    if tokens.truncated {
        notes.push(format!(
            "Only its first {} tokens were read: the model takes no more.",
            tokens.n_tokens
        ));
    }
    let unknown: BTreeSet<&String> = tokens.unknown_words.iter().collect();
    let named = unknown
        .iter()
        .take(MAX_NAMED_WORDS)
        .map(|word| format!("“{word}”"));
    let named = named.collect::<Vec<_>>().join(", ");
    match unknown.len() {
        0 => {}
        1 => notes.push(format!("The model has never seen the word {named}.")),
        n if n > MAX_NAMED_WORDS => notes.push(format!(
            "The model has never seen {n} of these words, such as {named}."
        )),
        _ => notes.push(format!("The model has never seen the words {named}.")),
    }
    notes.join(" ")
}

/// The mark of a pair that is best among its column's captions, among its row's pictures, or both.
pub fn best_text(is_best_caption: bool, is_best_picture: bool) -> &'static str {
    match (is_best_caption, is_best_picture) {
        (true, true) => "best both ways",
        (true, false) => "best caption",
        (false, true) => "best picture",
        (false, false) => "",
    }
}

/// An ordinal number, such as `1st` or `22nd`.
pub fn ordinal(n: usize) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// Change of a caption's rank for a picture when κ takes part, such as `2nd → 1st`; empty without one.
pub fn rank_text(pair: &PairView) -> String {
    if pair.cosine_rank == pair.likelihood_rank {
        return String::new();
    }
    let [before, after] = [pair.cosine_rank, pair.likelihood_rank].map(ordinal);
    format!("{before} → {after}")
}

/// How many pictures have another best caption when κ takes part.
pub fn dispute_text(n_disputed: usize, n_pictures: usize) -> String {
    if n_pictures == 0 {
        return String::new();
    }
    let of = format!("of {n_pictures} pictures");
    match n_disputed {
        0 => format!("Likelihood and cosine agree on the best caption for each {of}."),
        1 => format!("For 1 {of} the best caption by likelihood is not the best by cosine."),
        n => format!("For {n} {of} the best caption by likelihood is not the best by cosine."),
    }
}

/// The measure of the bars, with its unit.
pub fn measure_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Likelihood => "nats above uniform",
        Measure::Cosine => "the encoder’s cosine",
    }
}

/// The second number of a pair, with its name.
pub fn beside_text(pair: &PairView, beside: SecondNumber) -> String {
    match beside {
        SecondNumber::Posterior => percent(pair.posterior),
        SecondNumber::Cosine => format!("cos {}", three_significant(pair.cosine)),
        SecondNumber::LogDensity => format!("ln p {}", three_significant(pair.log_density)),
    }
}

/// A caption's numbers for a screen reader, with its best picture and that picture's nats where there is one.
pub fn spoken(view: &CaptionView, best: Option<(&str, f64)>) -> String {
    let numbers = spoken_numbers(view.concentration, view.percentile);
    let best = best.map_or_else(String::new, |(alt, nats)| {
        format!(" Best picture: {alt}, {} nats.", three_significant(nats))
    });
    format!("{}: {numbers}{best}", view.caption)
}

/// A family's name.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "von Mises–Fisher",
        Family::PowerSpherical => "power spherical",
    }
}

/// Formula of the nats above uniform.
pub fn formula(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "nats = κ · t + ln C(κ) − ln C(0)",
        Family::PowerSpherical => "nats = κ · ln(1 + t) + ln C(κ) − ln C(0)",
    }
}

/// Formula of the nats above uniform, with a pair's numbers put in.
pub fn formula_with_numbers(family: Family, concentration: f64, pair: &PairView) -> String {
    let [nats, kappa, cosine, normalizer] = [
        pair.nats,
        concentration,
        pair.mean_direction_cosine,
        pair.log_normalizer_ratio,
    ]
    .map(three_significant);
    match family {
        Family::VonMisesFisher => format!("{nats} = {kappa} · {cosine} + ({normalizer})"),
        Family::PowerSpherical => format!("{nats} = {kappa} · ln(1 + ({cosine})) + ({normalizer})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(unknown_words: &[&str]) -> CaptionView {
        CaptionView {
            caption: "a red star".into(),
            concentration: 12.345,
            uncertainty: 1.0 / 12.345,
            percentile: 23.0,
            n_tokens: 3,
            truncated: false,
            unknown_words: unknown_words.iter().map(|&word| word.to_owned()).collect(),
            familiarity: None,
        }
    }

    #[test]
    fn ordinals_are_written_as_they_are_spoken() {
        let names = [1, 2, 3, 4, 11, 12, 13, 21, 22, 24].map(ordinal);
        let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 24th";
        assert_eq!(names.join(" "), expected, "for the ranks of a page");
    }

    #[test]
    fn an_empty_caption_has_a_note() {
        let note = caption_note(" ", None);
        assert!(note.contains("Without words"), "the note was: {note}");
    }

    #[test]
    fn a_caption_that_was_cut_has_a_note() {
        let full = "a".repeat(MAX_CAPTION_CHARACTERS);
        let note = caption_note(&full, None);
        assert!(note.contains("2,000 characters"), "the note was: {note}");
        assert_eq!(caption_note(&full[1..], None), "", "one less is whole");
    }

    #[test]
    fn a_note_belongs_to_the_words_it_was_made_for() {
        let old = view(&["giraffe"]);
        let [stag, star] = ["stag", "star"].map(|noun| format!("a red {noun}"));
        assert_eq!(caption_note(&stag, Some(&old)), "", "not answered yet");
        let note = caption_note(&star, Some(&old));
        assert!(note.contains("“giraffe”"), "the note was: {note}");
    }

    #[test]
    fn many_unknown_words_are_counted_and_few_named() {
        let many = view(&["a1", "a1", "b2", "c3", "d4", "e5", "f6", "g7"]);
        let note = caption_note("a red star", Some(&many));
        assert!(
            note.contains("7 of these words") && !note.contains("f6"),
            "the note was: {note}"
        );
    }

    #[test]
    fn the_spoken_sentence_names_all_its_numbers() {
        let sentence = spoken(&view(&[]), Some(("a star", 4.5)));
        let expected = "a red star: kappa 12.3, vaguer than 23 % of the reference captions. Best picture: a star, 4.50 nats.";
        assert_eq!(sentence, expected, "for κ = 12.345 at the 23rd percentile");
    }

    #[test]
    fn the_formulas_numbers_add_up() {
        for family in Family::ALL {
            let (embed_dim, kappa, cosine) = (128, 20.0, 0.5);
            let log_normalizer_ratio = family.log_normalizer_ratio(embed_dim, kappa);
            let linear = match family {
                Family::VonMisesFisher => kappa * cosine,
                Family::PowerSpherical => kappa * f64::ln_1p(cosine),
            };
            let nats = family.log_likelihood_ratio(embed_dim, kappa, cosine);
            let gap = nats - linear - log_normalizer_ratio;
            assert!(gap.abs() < 1e-9, "{family:?} is off by {gap}");
        }
    }
}
