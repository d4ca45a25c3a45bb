//! `WordNet`'s database files: which class a noun's first sense belongs to, and whether a word is rather a verb.
//!
//! Fellbaum 1998, *`WordNet`: An Electronic Lexical Database*; the formats are `wndb(5WN)` and `senseidx(5WN)`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context as _, Result};

/// Plurals that no rule makes singular.
const IRREGULAR: [(&str, &str); 22] = [
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("people", "person"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("geese", "goose"),
    ("mice", "mouse"),
    ("oxen", "ox"),
    ("wolves", "wolf"),
    ("leaves", "leaf"),
    ("knives", "knife"),
    ("loaves", "loaf"),
    ("shelves", "shelf"),
    ("scarves", "scarf"),
    ("calves", "calf"),
    ("firemen", "fireman"),
    ("policemen", "policeman"),
    ("snowmen", "snowman"),
    ("fishermen", "fisherman"),
    ("sportsmen", "sportsman"),
    ("horsemen", "horseman"),
];

/// Words whose first sense is not the one that people mean under photographs.
const OTHER_SENSES: [(&str, &str); 2] = [("bike", "bicycle"), ("bikes", "bicycles")];

/// Endings of plurals and of verbs after "he", and what stands there otherwise; the first that gives a known word.
const ENDINGS: [(&str, &str); 5] = [("ies", "y"), ("es", "e"), ("es", ""), ("s", ""), ("", "")];

/// Tags that a word must have more as a modifier than as a noun to be rather a modifier.
const MIN_TAGGED: u64 = 2;

/// A set of words with one sense, by its place in `data.noun`.
pub type Synset = u32;

/// Nouns with their classes, and verbs.
#[derive(Debug, Default)]
pub struct WordNet {
    /// The first sense of each noun.
    senses: HashMap<String, Synset>,
    /// The first word of each synset, and the synsets one step above it.
    synsets: HashMap<Synset, (String, Vec<Synset>)>,
    verbs: BTreeSet<String>,
    /// Number of times that a word was found in tagged texts, by [`PartOfSpeech`].
    n_tagged: BTreeMap<String, [u64; 3]>,
}

/// Part of speech of a word in a sentence.
#[derive(Debug, Clone, Copy)]
enum PartOfSpeech {
    Noun,
    Verb,
    /// An adjective or an adverb.
    Modifier,
}

/// A noun of a caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun<'a> {
    /// Singular of the noun, as `WordNet` spells it.
    pub lemma: &'a str,
    /// First sense of the noun, by its place in `data.noun`.
    pub synset: Synset,
    /// Whether the caption has its plural.
    pub is_plural: bool,
}

impl WordNet {
    /// Reads the folder `dict` of a distribution.
    ///
    /// # Errors
    ///
    /// A file that is missing or has a line of another format.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let mut wordnet = Self::default();
        wordnet.read_index(&file("index.noun")?)?;
        wordnet.read_data(&file("data.noun")?)?;
        wordnet.read_verbs(&file("index.verb")?);
        wordnet.read_tags(&file("index.sense")?);
        Ok(wordnet)
    }

    /// `lemma pos n_synsets n_pointers pointer… n_senses n_tagged offset…`
    fn read_index(&mut self, text: &str) -> Result<()> {
        for line in entries(text) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let first_sense = || {
                let n_synsets: usize = fields.get(2)?.parse().ok()?;
                fields
                    .get(fields.len().checked_sub(n_synsets)?)?
                    .parse()
                    .ok()
            };
            let synset = first_sense().with_context(|| format!("index.noun: {line}"))?;
            self.senses.insert(fields[0].to_owned(), synset);
        }
        Ok(())
    }

    /// `offset file type n_words (word id)… n_pointers (symbol offset pos source)… | gloss`; `n_words` is hexadecimal.
    fn read_data(&mut self, text: &str) -> Result<()> {
        for line in entries(text) {
            let fields: Vec<&str> = line
                .split(" | ")
                .next()
                .unwrap_or_default()
                .split(' ')
                .collect();
            let synset = || {
                let n_words = usize::from_str_radix(fields.get(3)?, 16).ok()?;
                let start = n_words.checked_mul(2)?.checked_add(5)?;
                let pointers = fields.get(start..)?;
                let above = pointers.chunks_exact(4);
                let above = above.filter(|pointer| matches!(pointer[0], "@" | "@i"));
                let above = above.map(|pointer| pointer[1].parse::<Synset>());
                let above: Vec<Synset> = above.collect::<Result<_, _>>().ok()?;
                Some((fields[0].parse().ok()?, (fields.get(4)?.to_string(), above)))
            };
            let (offset, synset) = synset().with_context(|| format!("data.noun: {line}"))?;
            self.synsets.insert(offset, synset);
        }
        Ok(())
    }

    fn read_verbs(&mut self, text: &str) {
        let lemmas = entries(text).filter_map(|line| line.split(' ').next());
        self.verbs.extend(lemmas.map(str::to_owned));
    }

    /// `lemma%type:… offset sense n_tagged`, where type 1 is a noun and 2 a verb; 3 to 5 are modifiers.
    fn read_tags(&mut self, text: &str) {
        for line in entries(text) {
            let Some((lemma, rest)) = line.split_once('%') else {
                continue;
            };
            let kind = match rest.as_bytes().first() {
                Some(b'1') => PartOfSpeech::Noun,
                Some(b'2') => PartOfSpeech::Verb,
                _ => PartOfSpeech::Modifier,
            };
            let n_tagged = rest.rsplit(' ').next().and_then(|n| n.parse::<u64>().ok());
            let counts = self.n_tagged.entry(lemma.to_owned()).or_default();
            let count = &mut counts[kind as usize];
            *count = count.saturating_add(n_tagged.unwrap_or_default());
        }
    }

    /// A word of a caption as a noun, if it is one and in texts no more often a modifier.
    #[must_use]
    pub fn noun(&self, word: &str) -> Option<Noun<'_>> {
        let meant = OTHER_SENSES.iter().find(|(said, _)| *said == word);
        let word = meant.map_or(word, |(_, meant)| *meant);
        let irregular = IRREGULAR.iter().find(|(plural, _)| *plural == word);
        let singular = irregular.map(|(_, singular)| (*singular).to_owned());
        let is_name = |stem: &String| self.senses.contains_key(stem);
        let known = || {
            let whole = self.senses.contains_key(word).then(|| word.to_owned());
            // "glass" and "grass" end in s without being plurals; "dogs" is not a noun of its own.
            whole.or_else(|| stems(word).find(is_name))
        };
        let lemma = singular.or_else(known)?;
        // A rare word may be tagged by chance.
        let n_as_modifier = self.count(&lemma, PartOfSpeech::Modifier);
        let n_as_noun = self.count(&lemma, PartOfSpeech::Noun);
        if n_as_modifier > n_as_noun.saturating_add(MIN_TAGGED) {
            return None;
        }
        let (lemma, synset) = self.senses.get_key_value(&lemma)?;
        Some(Noun {
            lemma,
            synset: *synset,
            is_plural: lemma != word,
        })
    }

    fn count(&self, lemma: &str, part: PartOfSpeech) -> u64 {
        let counts = self.n_tagged.get(lemma);
        counts.map_or(0, |counts| counts[part as usize])
    }

    /// All nouns of one word, in alphabetical order.
    pub fn nouns(&self) -> impl Iterator<Item = &str> {
        let nouns = self.senses.keys().map(String::as_str);
        let mut nouns: Vec<&str> = nouns.filter(|noun| !noun.contains('_')).collect();
        nouns.sort_unstable();
        nouns.into_iter()
    }

    /// Whether a word is a verb that follows "he" or "they", and in texts more often than a noun.
    #[must_use]
    pub fn is_rather_verb(&self, word: &str) -> bool {
        let verb = stems(word).find(|stem| self.verbs.contains(stem));
        verb.is_some_and(|verb| {
            self.count(&verb, PartOfSpeech::Verb) > self.count(&verb, PartOfSpeech::Noun)
        })
    }

    /// Whether a word can be a verb that follows "he" or "they".
    #[must_use]
    pub fn can_be_verb(&self, word: &str) -> bool {
        stems(word).any(|stem| self.verbs.contains(&stem))
    }

    /// Everything above a synset, nearest first, each once.
    #[must_use]
    pub fn classes(&self, synset: Synset) -> Vec<Synset> {
        let mut found = vec![synset];
        let mut next = 0;
        while let Some(synset) = found.get(next) {
            let above = self.synsets.get(synset).map(|(_, above)| above.clone());
            for class in above.unwrap_or_default() {
                if !found.contains(&class) {
                    found.push(class);
                }
            }
            next += 1;
        }
        found.split_off(1)
    }

    /// The first word of a synset, with spaces.
    #[must_use]
    pub fn word(&self, synset: Synset) -> Option<String> {
        let (word, _) = self.synsets.get(&synset)?;
        Some(word.replace('_', " "))
    }
}

/// Lines after the licence, which is indented.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with("  "))
}

/// Possible base forms of a plural or of a verb after "he".
fn stems(word: &str) -> impl Iterator<Item = String> {
    ENDINGS.iter().filter_map(move |(ending, instead)| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() > 1).then(|| format!("{stem}{instead}"))
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A few lines of `WordNet` 3.1.
    pub(in crate::train::photos_model) fn excerpt() -> WordNet {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wordnet");
        WordNet::read(&folder).expect("the fixture")
    }

    #[test]
    fn numbers_that_no_file_has_are_refused_or_held() {
        let mut wordnet = WordNet::default();
        let error = wordnet.read_data("1 3 n ffffffffffffffff dog 0 000 | a dog\n");
        assert!(error.is_err(), "more words than an address counts");
        let most = u64::MAX;
        wordnet.read_tags(&format!("dog%1:1 1 1 {most}\ndog%1:2 2 2 {most}\n"));
        assert_eq!(wordnet.count("dog", PartOfSpeech::Noun), most, "held there");
        wordnet.senses.insert("dog".to_owned(), 1);
        assert!(wordnet.noun("dog").is_some(), "never rather a modifier");
    }

    #[test]
    fn plurals_are_nouns() {
        let wordnet = excerpt();
        for (word, lemma, is_plural) in [
            ("dogs", "dog", true),
            ("women", "woman", true),
            ("dress", "dress", false),
            ("grass", "grass", false),
            ("dresses", "dress", true),
        ] {
            let noun = wordnet.noun(word).expect("a noun");
            assert_eq!((noun.lemma, noun.is_plural), (lemma, is_plural), "{word}");
        }
        assert_eq!(wordnet.noun("with"), None, "no noun");
    }

    #[test]
    fn a_puppy_is_a_dog_and_an_animal() {
        let wordnet = excerpt();
        let puppy = wordnet.noun("puppy").expect("a noun").synset;
        let classes = wordnet.classes(puppy);
        let place = |word| {
            let synset = wordnet.noun(word).expect("a noun").synset;
            classes.iter().position(|class| *class == synset)
        };
        assert!(place("dog") < place("animal"), "nearest first");
        assert_eq!(place("man"), None, "no man");
        assert_eq!(
            wordnet.word(classes[classes.len() - 1]).as_deref(),
            Some("entity"),
            "the top"
        );
    }

    #[test]
    fn runs_is_rather_a_verb_and_bikes_a_noun() {
        let wordnet = excerpt();
        assert!(wordnet.is_rather_verb("runs"), "runs");
        assert!(!wordnet.is_rather_verb("bikes"), "bikes");
        assert_eq!(wordnet.noun("black"), None, "rather an adjective");
        assert!(wordnet.can_be_verb("bikes"), "a boy bikes");
    }
}
