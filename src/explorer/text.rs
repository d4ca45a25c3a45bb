//! Readings put into words: notes, marks, spoken sentences, and the formula with its numbers.

use std::collections::BTreeSet;

use crate::explorer::number::{percent, three_significant};
use crate::explorer::readings::pair::{CaptionView, PairView};
use crate::explorer::state::{Beside, Measure};
use crate::numerics::Family;
use crate::protocol::CaptionTokens;

/// Unknown words that a note names; a caption of 10,000 characters may hold thousands.
const MAX_NAMED_WORDS: usize = 5;

/// What a visitor should know about a caption as typed, given its last reading; empty if nothing.
pub fn caption_note(text: &str, view: Option<&CaptionView>) -> String {
    if text.trim().is_empty() {
        return "Without words there is nothing to measure.".into();
    }
    let Some(view) = view.filter(|view| view.caption == text) else {
        return String::new();
    };
    tokens_note(&CaptionTokens {
        caption: view.caption.clone(),
        n_tokens: view.n_tokens,
        truncated: view.truncated,
        unknown_words: view.unknown_words.clone(),
    })
}

/// What should be known of how a model reads a caption's words; empty where that is nothing.
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

/// The mark of a pair that is best among its row or its column.
pub fn best_text(pair: &PairView) -> &'static str {
    best_of_text(pair.is_best_caption, pair.is_best_picture)
}

/// The mark of what is best among its column's captions, among its row's pictures, or both.
pub fn best_of_text(is_best_caption: bool, is_best_picture: bool) -> &'static str {
    match (is_best_caption, is_best_picture) {
        (true, true) => "best both ways",
        (true, false) => "best caption",
        (false, true) => "best picture",
        (false, false) => "",
    }
}

/// A place in a row of places: `1st`, `2nd`.
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

/// What κ does to a caption's place for a picture; empty where it leaves it.
pub fn rank_text(pair: &PairView) -> String {
    if pair.cosine_rank == pair.likelihood_rank {
        return String::new();
    }
    let [before, after] = [pair.cosine_rank, pair.likelihood_rank].map(ordinal);
    format!("{before} → {after}")
}

/// How many pictures get another best caption when κ takes part.
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

/// What bars show, with its unit.
pub fn measure_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Likelihood => "nats above uniform",
        Measure::Cosine => "CLIP’s cosine",
    }
}

/// The second number of a pair.
pub fn beside_text(pair: &PairView, beside: Beside) -> String {
    match beside {
        Beside::Posterior => percent(pair.posterior),
        Beside::Cosine => format!("cos {}", three_significant(pair.cosine)),
        Beside::LogDensity => format!("ln p {}", three_significant(pair.log_density)),
    }
}

/// A caption's numbers as a sentence for a screen reader, with its best picture where there is one.
pub fn spoken(view: &CaptionView, best: Option<(&str, f64)>) -> String {
    let (kappa, share) = (
        three_significant(view.concentration),
        percent(view.percentile / 100.0),
    );
    let caption = &view.caption;
    let best =
        best.map(|(alt, nats)| format!(" Best picture: {alt}, {} nats.", three_significant(nats)));
    format!(
        "{caption}: kappa {kappa}, vaguer than {share} of the reference captions.{}",
        best.unwrap_or_default()
    )
}

/// A law's name.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "von Mises–Fisher",
        Family::PowerSpherical => "power spherical",
    }
}

/// The formula behind the nats.
pub fn formula(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "nats = κ · t + ln C(κ) − ln C(0)",
        Family::PowerSpherical => "nats = κ · ln(1 + t) + ln C(κ) − ln C(0)",
    }
}

/// The formula with a pair's numbers put in.
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
        }
    }

    #[test]
    fn places_are_named_as_they_are_spoken() {
        let names = [1, 2, 3, 4, 11, 12, 13, 21, 22, 24].map(ordinal);
        assert_eq!(
            names,
            [
                "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "24th"
            ],
            "for the places of a page"
        );
    }

    #[test]
    fn an_empty_caption_is_told_so() {
        assert!(
            caption_note(" ", None).contains("Without words"),
            "spaces say nothing"
        );
    }

    #[test]
    fn a_note_belongs_to_the_words_it_was_made_for() {
        let old = view(&["giraffe"]);
        assert_eq!(
            caption_note("a red stag", Some(&old)),
            "",
            "the answer for these words is not there yet"
        );
        assert!(
            caption_note("a red star", Some(&old)).contains("“giraffe”"),
            "it is there for the words asked"
        );
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
            assert!(
                gap.abs() < 1e-9,
                "{family:?}: {} is off by {gap}",
                formula(family)
            );
        }
    }
}
