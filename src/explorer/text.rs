//! Texts about readings: notes, marks, sentences for screen readers, and the formula with its numbers.

use super::legibility::Legibility;
use super::measure::{Measure, SecondNumber};
use super::number::{percent, spoken_numbers, three_significant, two_decimals};
use super::pair_text::{likelihood_text, nats_text};
use super::readings::best::{BestMarks, free_offset};
use super::readings::caption_view::CaptionView;
use super::readings::pair_view::PairView;
use super::respelling::respelling_note;
use crate::numerics::Family;
use crate::protocol::{CaptionTokens, Familiarity, MAX_CAPTION_CHARACTERS, Respelling};

/// Unknown words that a note names at most; a caption of 2,000 characters may hold hundreds.
const MAX_NAMED_WORDS: usize = 5;

/// Note about a text that has [`MAX_CAPTION_CHARACTERS`].
const CUT_OFF: &str = "A text holds 2,000 characters at most; anything after them was left out. ";

/// Note about a caption as typed, given its last reading; empty if there is nothing to say.
pub fn caption_note(text: &str, view: Option<&CaptionView>) -> String {
    if text.trim().is_empty() {
        return "Without words there is nothing to measure.".into();
    }
    let view = view.filter(|view| view.caption == text);
    let of_reading = view.map(|view| {
        let cut = cut_note(view.truncated, view.n_tokens);
        [view_note(view), cut].concat()
    });
    [cut_off_note(text), &of_reading.unwrap_or_default()].concat()
}

/// Note about what the model could not read of a caption, and what was probably meant; empty if it read all.
pub(super) fn view_note(view: &CaptionView) -> String {
    reading_note(view.legibility, &view.unknown_words, &view.respellings)
}

/// Note about a text as typed that may have lost its end; empty if there is nothing to say.
pub(super) fn cut_off_note(text: &str) -> &'static str {
    let is_full = text.chars().count() >= MAX_CAPTION_CHARACTERS;
    if is_full { CUT_OFF } else { "" }
}

/// Note about a caption that an encoder has read, which may know how familiar it is; empty if there is nothing to say.
pub fn tokens_note(tokens: &CaptionTokens, familiarity: Option<Familiarity>) -> String {
    let legibility = Legibility::of(&tokens.caption, &tokens.unknown_words, familiarity);
    let full = cut_off_note(&tokens.caption).to_owned();
    let cut = cut_note(tokens.truncated, tokens.n_tokens);
    let read = reading_note(legibility, &tokens.unknown_words, &tokens.respellings);
    [full, read, cut].concat()
}

/// Note about words that the model could not read, and about those that were probably meant to be others.
fn reading_note(legibility: Legibility, unknown: &[String], respellings: &[Respelling]) -> String {
    unread_note(legibility, unknown) + &respelling_note(respellings, unknown)
}

/// Note about words that the model could not read, and why; empty where it read all.
fn unread_note(legibility: Legibility, unknown: &[String]) -> String {
    let does = match legibility {
        Legibility::Whole if unknown.is_empty() => return String::new(),
        Legibility::Whole | Legibility::InPart => "reads only the rest",
        Legibility::UnknownWords => "cannot read this",
        Legibility::OutOfDistribution => {
            return "The model cannot read this: it is unlike the captions it learned from. "
                .into();
        }
    };
    format!("The model {does}: it has never met {}. ", named(unknown))
}

/// The first few words of a list, in quotes.
fn named(words: &[String]) -> String {
    let first = words.iter().take(MAX_NAMED_WORDS);
    let mut first: Vec<String> = first.map(|word| format!("“{word}”")).collect();
    if words.len() > MAX_NAMED_WORDS {
        first.push("others".into());
    }
    match first.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

fn cut_note(truncated: bool, n_tokens: usize) -> String {
    match truncated {
        true => {
            format!("Only its first {n_tokens} tokens were read: the model takes no more. ")
        }
        false => String::new(),
    }
}

/// The mark of a pair that is best among its column's captions, among its row's pictures, or both, or tied.
pub fn best_text(best: BestMarks) -> &'static str {
    match (best.is_best_caption, best.is_best_picture) {
        (true, true) => "best match for both",
        (true, false) => "best caption",
        _ if best.is_tied => "tie",
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

/// Number of pictures that have another best caption when κ takes part, in a sentence.
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

/// The captions that come first for a picture, by the cosine alone and by likelihood.
pub fn firsts_text(by_cosine: &str, by_likelihood: &str) -> String {
    match by_cosine == by_likelihood {
        true => format!("Both put “{by_cosine}” first."),
        false => format!("Cosine puts “{by_cosine}” first, likelihood “{by_likelihood}”."),
    }
}

/// The measure of the bars, with its unit.
pub fn measure_text(measure: Measure) -> &'static str {
    match measure {
        Measure::Likelihood => "evidence over a blind guess (nats)",
        Measure::Cosine => "this model’s cosine",
    }
}

/// The second number of a pair, with its name.
pub fn beside_text(pair: &PairView, beside: SecondNumber) -> String {
    match beside {
        SecondNumber::None => String::new(),
        SecondNumber::Posterior => format!("share {}", percent(pair.posterior)),
        SecondNumber::Nats => format!("{} nats", nats_text(pair.nats, pair.free_offset)),
        SecondNumber::Cosine => format!("cos {}", two_decimals(pair.cosine)),
        SecondNumber::LogDensity => format!("ln p {}", two_decimals(pair.log_density)),
    }
}

/// Effect of one nat more on likelihoods and on odds between captions, in words.
pub fn share_text(logit_scale: f64) -> String {
    let [scale, times, offset] =
        [logit_scale, logit_scale.exp(), free_offset(logit_scale)].map(three_significant);
    format!(
        "One nat more makes a picture {times} times as likely, and a caption’s odds against another {times} times as \
         large: both weigh nats by τ = {scale}, which the model learned with κ. Captions within {offset} nats of each \
         other are a tie."
    )
}

/// Place of zero, which a model leaves free by an offset in nats; empty before there is a model.
pub fn zero_text(offset: f64) -> String {
    if offset <= 0.0 {
        return String::new();
    }
    let offset = three_significant(offset);
    format!(
        "Training settles the model’s zero only within about {offset} nats: a picture within that is “≈ 1 × as \
         likely”, and captions as near to each other are a tie."
    )
}

/// A caption's numbers for a screen reader, with its best picture and that pair where there is one.
pub fn spoken(view: &CaptionView, best: Option<(&str, &PairView)>) -> String {
    let numbers = spoken_numbers(view.concentration, view.percentile);
    let note = view_note(view);
    let best = best.map_or_else(String::new, |(alt, pair)| {
        let likely = likelihood_text(pair);
        let best = match pair.best.is_best_picture {
            true => "Best picture",
            false => "No picture is clearly best; the first",
        };
        format!(" {best}: {alt}, {likely}.")
    });
    format!("{}: {numbers}{best} {note}", view.caption)
        .trim_end()
        .to_owned()
}

/// Name of a family of distributions, as labels and tables show it.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "von Mises–Fisher",
        Family::PowerSpherical => "power spherical",
    }
}

/// Formula of the nats.
pub fn formula(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "nats = κ · t + ln C(κ) − ln C(0)",
        Family::PowerSpherical => "nats = κ · ln(1 + t) + ln C(κ) − ln C(0)",
    }
}

/// Formula of the nats where κ is the same for every caption: the special case that is CLIP's.
pub fn formula_of_equal_concentrations(family: Family) -> &'static str {
    match family {
        Family::VonMisesFisher => "nats = κ · t + constant",
        Family::PowerSpherical => "nats = κ · ln(1 + t) + constant",
    }
}

/// Formula of the nats, with a pair's numbers put in.
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
    use crate::protocol::CompactDirection;

    fn view(unknown_words: &[&str]) -> CaptionView {
        CaptionView {
            caption: "a red star".into(),
            concentration: 12.345,
            uncertainty: 1.0 / 12.345,
            percentile: Some(23.0),
            n_tokens: 3,
            truncated: false,
            unknown_words: unknown_words.iter().map(|&word| word.to_owned()).collect(),
            respellings: Vec::new(),
            familiarity: None,
            legibility: Legibility::of("a red star", &[], None),
            mean_direction: CompactDirection::default(),
        }
    }

    /// Shares of captions for one picture, from numbers that are compared as logits.
    fn softmax(logits: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = logits.iter().map(|logit| logit.exp()).collect();
        weights
            .iter()
            .map(|weight| weight / weights.iter().sum::<f64>())
            .collect()
    }

    #[test]
    fn with_one_concentration_for_all_the_order_is_that_of_the_cosine_and_vmf_is_clip() {
        let (cosines, kappa, scale) = ([-0.2, 0.05, 0.31, 0.4], 7.5, 2.25);
        for family in Family::ALL {
            let nats = |kappa: f64, t: f64| family.log_likelihood_ratio(128, kappa, t);
            let equal = cosines.map(|t| nats(kappa, t));
            assert!(equal.is_sorted(), "{family:?}: {equal:?}");
            let unequal = [(60.0, cosines[2]), (5.0, cosines[3])].map(|(kappa, t)| nats(kappa, t));
            assert!(
                unequal[0] > unequal[1],
                "{family:?}: κ can turn the order round, {unequal:?}"
            );
        }
        let vmf = Family::VonMisesFisher;
        let shares = softmax(&cosines.map(|t| scale * vmf.log_likelihood_ratio(128, kappa, t)));
        let clip = softmax(&cosines.map(|t| scale * kappa * t));
        for (share, clip) in shares.iter().zip(clip) {
            assert!((share - clip).abs() < 1e-12, "{share} and {clip}");
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
        let tokens = CaptionTokens {
            caption: full,
            ..CaptionTokens::default()
        };
        let note = tokens_note(&tokens, None);
        assert!(
            note.contains("2,000 characters"),
            "without adapters: {note}"
        );
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
    fn of_many_unknown_words_a_few_are_named() {
        let many = view(&["a1", "b2", "c3", "d4", "e5", "f6", "g7"]);
        let note = caption_note("a red star", Some(&many));
        let is_short = note.contains("“a1”") && note.contains("and others") && !note.contains("f6");
        assert!(is_short, "the note was: {note}");
    }

    #[test]
    fn the_note_says_whether_a_caption_was_read_at_all() {
        let puppy = ["puppy".to_owned()];
        for (legibility, start) in [
            (
                Legibility::InPart,
                "The model reads only the rest: it has never met “puppy”.",
            ),
            (
                Legibility::UnknownWords,
                "The model cannot read this: it has never met “puppy”",
            ),
            (
                Legibility::OutOfDistribution,
                "The model cannot read this: it is unlike",
            ),
        ] {
            let note = unread_note(legibility, &puppy);
            assert!(note.starts_with(start), "{legibility:?}: {note}");
        }
        assert_eq!(unread_note(Legibility::Whole, &[]), "", "all was read");
        let both = ["puppy", "grass"].map(str::to_owned);
        let note = unread_note(Legibility::InPart, &both);
        assert!(note.ends_with("met “puppy” and “grass”. "), "{note}");
    }

    #[test]
    fn the_sentence_about_shares_counts_with_the_models_scale() {
        let sentence = share_text(2.0);
        let counts = [
            "likely, and a caption’s odds against another 7.39 times",
            "τ = 2.00",
            "within 0.500 nats",
        ];
        assert!(
            counts.iter().all(|part| sentence.contains(part)),
            "{sentence}"
        );
    }

    #[test]
    fn the_sentence_about_zero_has_the_offset_of_the_model() {
        for (scale, expected) in [
            (4.0, "within about 0.250 nats"),
            (0.5, "within about 1.00 nats"),
        ] {
            let sentence = zero_text(free_offset(scale));
            assert!(sentence.contains(expected), "τ = {scale}: {sentence}");
        }
        assert_eq!(zero_text(0.0), "", "without a model");
    }

    #[test]
    fn the_spoken_sentence_names_all_its_numbers() {
        let pair = |is_best_picture| PairView {
            nats: 4.5,
            times_likelier: 90.0,
            log_density: 0.0,
            cosine: 0.0,
            mean_direction_cosine: 0.0,
            log_normalizer_ratio: 0.0,
            posterior: 0.5,
            free_offset: 1.0,
            best: BestMarks {
                is_best_picture,
                ..BestMarks::default()
            },
            likelihood_rank: 1,
            cosine_rank: 1,
        };
        let start = "a red star: kappa 12.3, vaguer than 23 % of sample captions.";
        for (is_best, end) in [
            (
                true,
                "Best picture: a star, 90 × likelier than a blind guess.",
            ),
            (
                false,
                "No picture is clearly best; the first: a star, 90 × likelier than a blind guess.",
            ),
        ] {
            let sentence = spoken(&view(&[]), Some(("a star", &pair(is_best))));
            assert_eq!(sentence, format!("{start} {end}"), "for κ = 12.345");
        }
        let tie = PairView {
            nats: 0.4,
            ..pair(true)
        };
        let sentence = spoken(&view(&[]), Some(("a star", &tie)));
        let end = "Best picture: a star, ≈ 1 × as likely as a blind guess.";
        assert_eq!(sentence, format!("{start} {end}"), "within the free offset");
    }

    #[test]
    fn nats_within_the_free_offset_are_as_good_as_zero() {
        for (nats, shown) in [
            (0.05, "≈ 0"),
            (-0.25, "≈ 0"),
            (0.26, "0.26"),
            (-3.017, "−3.02"),
            (224.168, "224.17"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(nats_text(nats, 0.25), shown, "{nats} nats");
        }
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
