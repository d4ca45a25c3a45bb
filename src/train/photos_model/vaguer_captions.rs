//! Vaguer truths of a caption: clauses dropped, adjectives and counts dropped, nouns replaced by their classes.
//!
//! "Two brown dogs run on the grass" → "two brown dogs run", "two brown dogs", "dogs", "a dog", "an animal",
//! "something". What one caption implies, others imply too, so each vague truth knows all pictures that it fits. Cuts
//! are made by rules on words, which are right for the plain sentences that people write under photographs; nothing
//! is drawn at random.

use std::collections::{BTreeSet, HashMap};

use super::wordnet::{Noun, Synset, WordNet};

/// Words before which a sentence may end and a noun phrase does.
const BOUNDARIES: &str = "in on at with of near by through over under underneath behind beside besides next to into \
    onto from down up across along alongside around against above below inside outside between among during while as \
    and or but that which who whose where when for after before toward towards past off out within via atop amongst \
    amid about upon is are was were be being has have had he she it they its his her their him them himself herself \
    themselves there this these those without like looking wearing holding not no nor so together very just then than too";

/// Words after which nothing is claimed to be in the picture.
const DENIALS: &str = "without like no not as for about";

/// Words that are never the last of a truth.
const OPEN: &str = "is are was were be being has have had and or a an the very in on at with of to";

const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Counts and determiners that may begin a noun phrase without being part of the core of its meaning.
const COUNTS: &str = "one two three four five six seven eight nine ten several some many few multiple various \
    both all other another each every dozen lots couple group pair bunch crowd number lot set";

/// Nouns that stand for what they are "of", or for a place in the picture.
const NO_THINGS: &str = "group pair couple bunch crowd number lot lots set team herd flock pack row line piece front \
    top side back middle center bottom edge end background distance air way other it something someone";

/// Boundaries before which a sentence is not cut: the words before them are not true without those that follow.
const NO_CUTS: &str = "of his her its their that which who whose it they he she him them";

/// Classes that people speak of, by the first word of their synset in `WordNet`.
const CLASSES: &str = "animal bird fish insect dog cat horse person child athlete performer vehicle car boat ship \
    aircraft bicycle motorcycle clothing footwear headdress food fruit vegetable beverage furniture seat table plant \
    tree flower building house equipment tool machine computer weapon plaything sport game road toy \
    musical_instrument body_of_water";

/// Share of "a" and "an" before a noun, below which it has no article.
const MIN_ARTICLE_SHARE: f64 = 0.2;

/// Captions that are true of every photograph.
const ANYTHING: [&str; 2] = ["something", "a photo"];

/// A vague caption and the pictures that it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VagueCaption {
    /// The caption, in lower case without a full stop.
    pub text: String,
    /// Step that made it.
    pub step: Step,
    /// Indices of all pictures that it fits by their own captions, ascending.
    pub pictures: Vec<usize>,
}

/// Step by which a vaguer caption was made, the least vague first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The sentence up to a clause.
    Clause,
    /// A noun phrase of the sentence.
    NounPhrase,
    /// The phrase's noun alone, in the plural or with an article.
    Noun,
    /// A class of its noun.
    Class,
    /// True of every picture.
    Anything,
}

/// The vaguer truths of a set of captioned pictures.
#[derive(Debug)]
pub struct VaguerCaptions {
    /// Pictures that a truth fits, by its key.
    pictures: HashMap<String, BTreeSet<usize>>,
    /// Truths of each caption of each picture.
    truths: Vec<Vec<Vec<Truth>>>,
    n_pictures: usize,
}

/// A truth of one caption.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Truth {
    text: String,
    step: Step,
    /// Normalised form, the same for all wordings that are known to mean the same.
    key: String,
}

/// Statistics of the captions of a whole set: how often a word occurs, and how often after an article.
#[derive(Debug, Default)]
struct Usage {
    n_words: HashMap<String, usize>,
    n_with_article: HashMap<String, usize>,
}

/// Makes the truths of single captions.
#[derive(Debug)]
struct Simplifier<'a> {
    wordnet: &'a WordNet,
    usage: Usage,
}

impl VaguerCaptions {
    /// Makes the truths of all captions of these pictures.
    #[must_use]
    pub fn of<S: AsRef<str>>(captions: &[Vec<S>], wordnet: &WordNet) -> Self {
        let simplifier = Simplifier {
            usage: Usage::of(captions.iter().flatten().map(AsRef::as_ref)),
            wordnet,
        };
        let truths: Vec<Vec<Vec<Truth>>> = captions
            .iter()
            .map(|of_one| {
                let truths = of_one
                    .iter()
                    .map(|caption| simplifier.truths(caption.as_ref()));
                truths.collect()
            })
            .collect();
        let mut pictures: HashMap<String, BTreeSet<usize>> = HashMap::new();
        for (i_picture, of_one) in truths.iter().enumerate() {
            for truth in of_one.iter().flatten() {
                pictures
                    .entry(truth.key.clone())
                    .or_default()
                    .insert(i_picture);
            }
        }
        Self {
            pictures,
            n_pictures: captions.len(),
            truths,
        }
    }

    /// Vaguer truths of one caption of a picture, the least vague first.
    #[must_use]
    pub fn of_caption(&self, i_picture: usize, i_caption: usize) -> Vec<VagueCaption> {
        let truths = &self.truths[i_picture][i_caption];
        let vaguer = truths.iter().map(|truth| VagueCaption {
            text: truth.text.clone(),
            step: truth.step,
            pictures: self.pictures(truth),
        });
        vaguer.collect()
    }

    fn pictures(&self, truth: &Truth) -> Vec<usize> {
        match truth.step {
            Step::Anything => (0..self.n_pictures).collect(),
            _ => {
                let pictures = self.pictures.get(&truth.key);
                pictures.into_iter().flatten().copied().collect()
            }
        }
    }
}

impl Usage {
    fn of<'a>(captions: impl Iterator<Item = &'a str>) -> Self {
        let mut usage = Self::default();
        for caption in captions {
            let words = words(caption);
            for (i_word, word) in words.iter().enumerate() {
                *usage.n_words.entry(word.clone()).or_default() += 1;
                let after_article = words[..i_word].iter().rev().take(3);
                let mut after_article = after_article.take_while(|word| !is_in(BOUNDARIES, word));
                if after_article.any(|word| matches!(&**word, "a" | "an")) {
                    *usage.n_with_article.entry(word.clone()).or_default() += 1;
                }
            }
        }
        usage
    }

    fn count(&self, word: &str) -> usize {
        self.n_words.get(word).copied().unwrap_or_default()
    }

    /// A singular noun as people write it: "a dog", "an animal", "grass".
    fn with_article(&self, noun: &str) -> String {
        let n_with = self.n_with_article.get(noun).copied().unwrap_or_default();
        let share = n_with as f64 / self.count(noun).max(1) as f64;
        if share < MIN_ARTICLE_SHARE && self.count(noun) > 0 {
            return noun.to_owned();
        }
        let has_vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !noun.starts_with("uni");
        let article = if has_vowel { "an" } else { "a" };
        format!("{article} {noun}")
    }
}

impl Simplifier<'_> {
    /// Truths of a caption that are vaguer than it, the least vague first, each once.
    fn truths(&self, caption: &str) -> Vec<Truth> {
        let words = words(caption);
        let phrases = self.phrases(&words);
        let mut truths = clauses(&words, &phrases);
        for (from, to) in &phrases {
            truths.extend(self.of_phrase(&words[*from..*to]));
        }
        truths.extend(ANYTHING.map(|text| truth(text.to_owned(), Step::Anything)));
        let whole = key(&words);
        let mut seen = BTreeSet::from([whole]);
        truths.retain(|truth| seen.insert(truth.key.clone()));
        truths.sort_by_key(|truth| truth.step);
        truths
    }

    /// Ranges of words that are noun phrases, in order.
    fn phrases(&self, words: &[String]) -> Vec<(usize, usize)> {
        let (mut phrases, mut start) = (Vec::new(), 0);
        while start < words.len() {
            let end = self.phrase_end(words, start);
            start += self.n_leading_verbs(&words[start..end]);
            if start == end
                && end < words.len()
                && !is_in(BOUNDARIES, &words[end])
                && words[end] != ","
            {
                continue;
            }
            let is_denied = start > 0 && is_in(DENIALS, &words[start - 1]);
            let phrase = &words[start..end];
            if !is_denied
                && phrase
                    .last()
                    .is_some_and(|word| self.wordnet.noun(word).is_some())
            {
                phrases.push((start, end));
            }
            start = end.max(start + 1);
        }
        phrases
    }

    /// Number of verbs before the phrase itself, as in "chasing brown dog" and "wears glasses".
    fn n_leading_verbs(&self, phrase: &[String]) -> usize {
        let is_verb = |word: &&String| {
            word.ends_with("ing") || word.ends_with("ed") || self.wordnet.is_rather_verb(word)
        };
        phrase.iter().take_while(is_verb).count()
    }

    /// End of the run of articles, adjectives and nouns that begins at `start`, as the index of the next word.
    fn phrase_end(&self, words: &[String], start: usize) -> usize {
        let (mut end, mut has_noun) = (start, false);
        while let Some(word) = words.get(end) {
            let is_article = ARTICLES.contains(&&**word) && end > start;
            let is_verb = has_noun && self.ends_phrase(&words[start..end], &words[end..]);
            // "a black and white dog"
            let joins = word == "and" && end > start && !has_noun;
            let is_boundary = is_in(BOUNDARIES, word) && !joins;
            if is_boundary || word == "," || is_article || is_verb {
                break;
            }
            has_noun |= self.wordnet.noun(word).is_some() && !ARTICLES.contains(&&**word);
            end += 1;
        }
        end
    }

    /// Whether the rest after a noun begins with what the noun does.
    fn ends_phrase(&self, before: &[String], rest: &[String]) -> bool {
        let word = &*rest[0];
        if word.ends_with("ing") || word.ends_with("ed") {
            // "a light colored dog"
            let next = rest.get(1).and_then(|word| self.wordnet.noun(word));
            return word.ends_with("ing") || next.is_none();
        }
        let is_singular = matches!(before[0].as_str(), "a" | "an" | "one" | "this");
        let follows_plural = before
            .last()
            .and_then(|word| self.wordnet.noun(word))
            .is_some_and(|noun| noun.is_plural);
        let has_s = word.ends_with('s') && !word.ends_with("ss");
        match (is_singular, has_s) {
            (true, true) => self.wordnet.can_be_verb(word),
            (false, false) if follows_plural => self.wordnet.can_be_verb(word),
            _ => self.wordnet.is_rather_verb(word),
        }
    }

    /// The phrase, its noun, its classes.
    fn of_phrase(&self, phrase: &[String]) -> Vec<Truth> {
        let Some(noun) = phrase.last().and_then(|word| self.wordnet.noun(word)) else {
            return vec![];
        };
        if is_in(NO_THINGS, noun.lemma) {
            return vec![];
        }
        let kept = phrase
            .iter()
            .filter(|word| !is_in(COUNTS, word) && !ARTICLES.contains(&word.as_str()));
        let kept: Vec<&str> = kept.map(String::as_str).collect();
        let mut truths = Vec::new();
        if phrase.len() > 1 && (kept.len() > 1 || !ARTICLES.contains(&phrase[0].as_str())) {
            truths.push(truth(phrase.join(" "), Step::NounPhrase));
        }
        if kept.len() > 1 && kept.len() < phrase.len() {
            let text = if noun.is_plural {
                kept.join(" ")
            } else {
                self.usage.with_article(&kept.join(" "))
            };
            truths.push(truth(text, Step::NounPhrase));
        }
        truths.extend(self.of_noun(noun, phrase));
        truths
    }

    fn of_noun(&self, noun: Noun<'_>, phrase: &[String]) -> Vec<Truth> {
        let truth_of = |text: String, synset: Synset, step: Step| Truth {
            key: self.wordnet.word(synset).unwrap_or_else(|| text.clone()),
            text,
            step,
        };
        let mut truths = Vec::new();
        if let (true, Some(word)) = (noun.is_plural, phrase.last()) {
            truths.push(truth(word.clone(), Step::Noun));
        }
        let said = if noun.is_plural {
            noun.lemma
        } else {
            phrase.last().map_or(noun.lemma, |word| word)
        };
        truths.push(truth_of(
            self.usage.with_article(said),
            noun.synset,
            Step::Noun,
        ));
        let classes = self.wordnet.classes(noun.synset).into_iter();
        truths.extend(classes.filter_map(|synset| {
            let word = self.wordnet.word(synset)?;
            let is_said = is_in(CLASSES, &word.replace(' ', "_"));
            is_said.then(|| truth_of(self.usage.with_article(&word), synset, Step::Class))
        }));
        truths
    }
}

/// The sentence up to each boundary after its first noun phrase.
fn clauses(words: &[String], phrases: &[(usize, usize)]) -> Vec<Truth> {
    let Some((_, first_end)) = phrases.first() else {
        return vec![];
    };
    let ends = (first_end + 1..words.len()).filter(|end| {
        let is_cut = is_in(BOUNDARIES, &words[*end]) && !is_in(NO_CUTS, &words[*end]);
        let is_cut = is_cut || words[*end] == ",";
        let last = &words[end - 1];
        let inside = phrases.iter().any(|(from, to)| from < end && end < to);
        is_cut && !inside && !is_in(OPEN, last) && !is_in(BOUNDARIES, last) && last != ","
    });
    let mut clauses: Vec<_> = ends
        .map(|end| truth(words[..end].join(" ").replace(" ,", ","), Step::Clause))
        .collect();
    clauses.reverse();
    clauses
}

fn truth(text: String, step: Step) -> Truth {
    let key = key(&words(&text));
    Truth { text, step, key }
}

/// Normalised form of a caption's words, the same for "A dog is running" and "the dog running".
fn key(words: &[String]) -> String {
    let is_silent = |word: &&String| {
        !ARTICLES.contains(&word.as_str()) && !matches!(word.as_str(), "is" | "are" | ",")
    };
    let kept: Vec<&str> = words.iter().filter(is_silent).map(String::as_str).collect();
    kept.join(" ")
}

/// Words in lower case and commas, without other punctuation.
fn words(caption: &str) -> Vec<String> {
    let lower = caption.to_lowercase().replace(',', " , ");
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'' | ',');
    let words = lower.split(|c: char| !kept(c));
    let words = words.map(|word| word.trim_matches(['-', '\'']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let end = words.iter().rposition(|word| *word != ",");
    let words = &words[..end.map_or(0, |end| end + 1)];
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::super::wordnet::tests::excerpt;
    use super::*;

    fn of(captions: &[&str]) -> VaguerCaptions {
        let pictures: Vec<Vec<&str>> = captions.iter().map(|caption| vec![*caption]).collect();
        VaguerCaptions::of(&pictures, &excerpt())
    }

    fn texts(captions: &VaguerCaptions, i_picture: usize) -> Vec<String> {
        let vaguer = captions.of_caption(i_picture, 0).into_iter();
        vaguer.map(|vaguer| vaguer.text).collect()
    }

    #[test]
    fn clauses_adjectives_and_kinds_are_dropped_in_turn() {
        let found = texts(&of(&["A brown dog is running on the green grass ."]), 0);
        for text in [
            "a brown dog is running",
            "a brown dog",
            "the green grass",
            "a dog",
        ] {
            assert!(found.contains(&text.to_owned()), "{text} in {found:?}");
        }
        assert!(found.contains(&"an animal".to_owned()), "{found:?}");
        assert_eq!(
            found.last().map(String::as_str),
            Some("a photo"),
            "{found:?}"
        );
    }

    #[test]
    fn a_phrase_ends_where_the_verb_begins() {
        let captions = ["Two dogs run", "A man rides a dirt bike", "a puppy jumps"];
        let all = of(&captions);
        assert!(
            texts(&all, 0).contains(&"two dogs".to_owned()),
            "{:?}",
            texts(&all, 0)
        );
        assert!(
            texts(&all, 0).contains(&"a dog".to_owned()),
            "counts are dropped"
        );
        assert!(
            texts(&all, 1).contains(&"a dirt bike".to_owned()),
            "{:?}",
            texts(&all, 1)
        );
        assert!(
            texts(&all, 1).contains(&"a person".to_owned()),
            "a man is one"
        );
        assert!(
            texts(&all, 2).contains(&"a puppy".to_owned()),
            "{:?}",
            texts(&all, 2)
        );
    }

    #[test]
    fn verbs_and_colours_are_no_things() {
        let found = texts(
            &of(&["A black and white dog wears a red dress while playing"]),
            0,
        );
        for text in ["black", "a black", "white", "wears", "playing"] {
            assert!(!found.contains(&text.to_owned()), "{text} in {found:?}");
        }
        assert!(found.contains(&"a dress".to_owned()), "{found:?}");
    }

    #[test]
    fn what_is_denied_is_no_truth() {
        let found = texts(&of(&["a man without a shirt"]), 0);
        assert!(found.contains(&"a man".to_owned()), "{found:?}");
        assert!(!found.contains(&"a shirt".to_owned()), "{found:?}");
    }

    #[test]
    fn a_vague_caption_fits_every_picture_that_implies_it() {
        let all = of(&["a brown dog running", "a puppy in the snow", "two women"]);
        let fits = |i_picture: usize, text: &str| {
            let vaguer = all.of_caption(i_picture, 0).into_iter();
            let found = vaguer.into_iter().find(|vaguer| vaguer.text == text);
            found.expect("a truth of this picture").pictures
        };
        assert_eq!(fits(0, "a dog"), [0, 1], "a puppy is a dog");
        assert_eq!(fits(1, "a puppy"), [1], "a dog need be none");
        assert_eq!(fits(2, "a person"), [2], "women");
        assert_eq!(fits(0, "something"), [0, 1, 2], "everything is");
    }

    #[test]
    fn the_same_captions_give_the_same_truths() {
        let captions = ["a brown dog running", "two women near a fence"];
        assert_eq!(
            texts(&of(&captions), 1),
            texts(&of(&captions), 1),
            "in order, too"
        );
    }
}
