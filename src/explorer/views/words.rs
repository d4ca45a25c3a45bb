//! The view of words: each beginning of a caption, and the whole caption without each word.

use crate::explorer::legibility::{is_punctuation, pieces};
use crate::explorer::number::three_significant;
use crate::explorer::readings::cache::ReadingCache;
use crate::explorer::readings::caption_view::CaptionView;
use crate::numerics::Family;

/// Words of a caption that are compared at most; each asks for two captions.
pub const MAX_WORDS: usize = 24;

/// A word with the two captions that show what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordVariant {
    /// The word as it stands in the caption, with its punctuation.
    pub word: String,
    /// The caption up to this word, with it.
    pub prefix: String,
    /// The caption without this word; `None` where nothing would be left.
    pub without: Option<String>,
}

/// A word with the numbers of its two captions.
#[derive(Debug, Clone, PartialEq)]
pub struct WordView {
    /// The word and its captions.
    pub variant: WordVariant,
    /// The beginning that ends with this word.
    pub prefix: Option<CaptionView>,
    /// κ of this beginning minus κ of the one before.
    pub prefix_change: Option<f64>,
    /// The caption without this word.
    pub without: Option<CaptionView>,
    /// Worth of the word: κ of the whole caption minus κ without it; `None` where either cannot be read.
    pub worth: Option<f64>,
    /// Whether the model has never met the word, so that it adds nothing.
    pub is_unknown: bool,
}

/// The caption that is compared with its variants: its first [`MAX_WORDS`] words.
pub fn whole(caption: &str) -> String {
    words(caption).join(" ")
}

/// Whether a caption has more words than are compared.
pub fn is_cut(caption: &str) -> bool {
    caption.split_whitespace().count() > MAX_WORDS
}

/// Each word of a caption with its variants.
fn word_variants(caption: &str) -> Vec<WordVariant> {
    let words = words(caption);
    let variant = |i: usize| {
        let rest = [&words[..i], &words[i + 1..]].concat();
        WordVariant {
            word: words[i].to_owned(),
            prefix: words[..=i].join(" "),
            without: (!rest.is_empty()).then(|| rest.join(" ")),
        }
    };
    (0..words.len()).map(variant).collect()
}

/// Every variant of a caption, each once.
pub(in crate::explorer) fn variant_captions(caption: &str) -> Vec<String> {
    let mut captions: Vec<String> = Vec::new();
    for variant in word_variants(caption) {
        for text in [Some(variant.prefix), variant.without]
            .into_iter()
            .flatten()
        {
            if !captions.contains(&text) {
                captions.push(text);
            }
        }
    }
    captions
}

/// The words of a caption with their numbers.
pub fn word_views(caption: &str, cache: &ReadingCache, family: Family) -> Vec<WordView> {
    let of_whole = cache.caption(&whole(caption), family);
    let mut before: Option<f64> = None;
    let view = |variant: WordVariant| {
        let prefix = cache.caption(&variant.prefix, family);
        let without = variant
            .without
            .as_ref()
            .and_then(|text| cache.caption(text, family));
        let kappa = |view: &Option<CaptionView>| {
            let view = view.as_ref().filter(|view| !view.is_unread())?;
            Some(view.concentration)
        };
        let own = kappa(&prefix);
        let previous = std::mem::replace(&mut before, own);
        let worth = || Some(kappa(&of_whole)? - kappa(&without)?);
        let unknown = of_whole.as_ref().map(|view| &view.unknown_words[..]);
        let mut pieces = pieces(&variant.word, unknown.unwrap_or_default()).into_iter();
        WordView {
            is_unknown: pieces.any(|(piece, is_unknown)| is_unknown && !is_punctuation(piece)),
            prefix_change: own.zip(previous).map(|(now, then)| now - then),
            worth: worth(),
            prefix,
            without,
            variant,
        }
    };
    word_variants(caption).into_iter().map(view).collect()
}

/// The words that are worth most and least, in a sentence; empty while numbers are missing.
pub fn worth_text(words: &[WordView]) -> String {
    let known = words.iter().filter(|word| !word.is_unknown);
    let n_known = known.clone().count();
    let mut worth: Vec<(&str, f64)> = known
        .filter_map(|word| Some((word.variant.word.as_str(), word.worth?)))
        .collect();
    if worth.len() < n_known || worth.len() < 2 {
        return String::new();
    }
    worth.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (most, least) = (worth[0], worth[worth.len() - 1]);
    let highest = format!(
        "“{}” adds the most: without it κ is lower by {}.",
        most.0,
        three_significant(most.1)
    );
    if most.1 <= 0.0 {
        return "No word makes this caption more specific: without any one of them κ is no lower."
            .into();
    }
    if least.1 < 0.0 {
        let size = three_significant(-least.1);
        return format!(
            "{highest} “{}” makes the caption vaguer to this model: without it κ is higher by {size}.",
            least.0
        );
    }
    highest
}

fn words(caption: &str) -> Vec<&str> {
    caption.split_whitespace().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explorer::readings::cache::tests::cache_of;

    proptest! {
        #[test]
        fn the_words_of_a_caption_are_the_whole_caption(caption in ".{0,80}") {
            let variants = word_variants(&caption);
            let words: Vec<&str> = variants.iter().map(|variant| variant.word.as_str()).collect();
            prop_assert_eq!(words.join(" "), whole(&caption), "the words in order are the whole");
            prop_assert_eq!(
                variants.last().map_or("", |variant| variant.prefix.as_str()),
                whole(&caption),
                "the last beginning is the whole"
            );
            for (i, variant) in variants.iter().enumerate() {
                let n_left = variant.without.as_ref().map_or(0, |rest| rest.split_whitespace().count());
                prop_assert_eq!(n_left + 1, variants.len(), "word {} leaves the others", i);
            }
        }
    }

    #[test]
    fn every_variant_is_asked_for_once() {
        let captions = variant_captions("a red red star");
        let expected = "a, red red star, a red, a red star, a red red, a red red star";
        let captions = captions.join(", ");
        assert_eq!(captions, expected, "both reds leave “a red star”");
    }

    #[test]
    fn a_word_is_worth_what_its_absence_costs() {
        let cache = cache_of(&[("a", 1.0), ("a star", 4.0), ("star", 3.5)]);
        let views = word_views(" a  star ", &cache, Family::VonMisesFisher);
        let worth: Vec<_> = views.iter().map(|view| view.worth).collect();
        assert_eq!(worth, [Some(0.5), Some(3.0)], "4 − 3.5 and 4 − 1");
        let changes: Vec<_> = views.iter().map(|view| view.prefix_change).collect();
        assert_eq!(changes, [None, Some(3.0)], "nothing comes before the first");
        let expected = "“star” adds the most: without it κ is lower by 3.00.";
        assert_eq!(worth_text(&views), expected, "in words");
    }

    #[test]
    fn a_word_that_makes_vaguer_is_named() {
        let cache = cache_of(&[("not", 2.0), ("star", 6.0), ("not star", 5.0)]);
        let sentence = worth_text(&word_views("not star", &cache, Family::VonMisesFisher));
        let expected =
            "“not” makes the caption vaguer to this model: without it κ is higher by 1.00.";
        assert!(sentence.ends_with(expected), "the sentence was: {sentence}");
    }

    #[test]
    fn nothing_is_said_while_numbers_are_missing() {
        let cache = cache_of(&[("a star", 4.0), ("star", 3.0)]);
        let views = word_views("a star", &cache, Family::VonMisesFisher);
        assert_eq!(worth_text(&views), "", "“a” alone has no κ yet");
    }

    #[test]
    fn a_single_word_has_nothing_to_be_compared_with() {
        let variants = word_variants("star");
        assert_eq!(variants[0].without, None, "no words would be left");
        assert_eq!(variant_captions("star"), ["star"], "one caption");
    }

    #[test]
    fn a_very_long_caption_is_cut() {
        let long = "word ".repeat(100);
        assert!(is_cut(&long), "100 words are too many");
        assert_eq!(word_variants(&long).len(), MAX_WORDS, "the first words");
    }
}
