//! Steps that cut a caption into words.

use serde_json::Value;

use super::aligned::{AlignedChar, prepend};
use super::pattern::{Pattern, Span};
use super::rules::{check_length, parts, refused};
use crate::error::Result;

/// Punctuation as BERT's program sees it.
const PUNCTUATION: &str = r"[!-/:-@\[-`{-~\p{P}]";
/// How GPT-2's program cuts a text into words.
const GPT_2_WORDS: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Steps one after the other.
#[derive(Debug, Clone)]
pub(super) struct PreTokenizer {
    steps: Vec<PreTokenizerStep>,
}

#[derive(Debug, Clone)]
enum PreTokenizerStep {
    Split(SplitStep),
    /// Each byte becomes a printable character.
    Bytes,
    /// Spaces become a mark.
    Spaces {
        mark: char,
    },
    /// A text that does not begin with the mark gets one, or only the text that begins the caption does.
    Start {
        mark: char,
        of_caption: bool,
    },
}

#[derive(Debug, Clone)]
struct SplitStep {
    pattern: Pattern,
    /// Whether what the pattern does not fit is meant.
    is_inverted: bool,
    behavior: SplitBehavior,
}

/// What becomes of the parts that a pattern fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitBehavior {
    Removed,
    Isolated,
    Contiguous,
    MergedWithPrevious,
    MergedWithNext,
}

/// A word of a caption.
pub(super) type Word = Vec<AlignedChar>;

impl PreTokenizer {
    /// Reads `pre_tokenizer` of a `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) with the step that is not known.
    pub(super) fn from_json(pre_tokenizer: &Value) -> Result<Self> {
        let mut steps = Vec::new();
        for part in parts(pre_tokenizer, "pre_tokenizer", "pretokenizers")? {
            steps.extend(steps_of(part)?);
        }
        Ok(Self { steps })
    }

    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if the text becomes too long.
    pub(super) fn words(&self, text: Vec<AlignedChar>) -> Result<Vec<Word>> {
        let mut words = vec![text];
        for step in &self.steps {
            let mut cut = Vec::with_capacity(words.len());
            for word in words {
                step.push_words(word, &mut cut)?;
            }
            check_length(cut.iter().map(Vec::len).sum())?;
            words = cut;
        }
        words.retain(|word| !word.is_empty());
        Ok(words)
    }
}

/// The steps that one part of the file stands for.
fn steps_of(part: &Value) -> Result<Vec<PreTokenizerStep>> {
    let flag = |field: &str, otherwise: bool| part[field].as_bool().unwrap_or(otherwise);
    let split = |pattern: Pattern, behavior| {
        PreTokenizerStep::Split(SplitStep {
            pattern,
            is_inverted: false,
            behavior,
        })
    };
    let is_single = flag("individual_digits", false);
    Ok(match part["type"].as_str().unwrap_or_default() {
        "Split" => vec![PreTokenizerStep::Split(SplitStep {
            pattern: Pattern::from_json(&part["pattern"])?,
            is_inverted: flag("invert", false),
            behavior: behavior(part)?,
        })],
        "WhitespaceSplit" => vec![split(Pattern::parse(r"\s")?, SplitBehavior::Removed)],
        "BertPreTokenizer" => vec![
            split(Pattern::parse(r"\s")?, SplitBehavior::Removed),
            split(Pattern::parse(PUNCTUATION)?, SplitBehavior::Isolated),
        ],
        "Punctuation" => vec![split(Pattern::parse(PUNCTUATION)?, behavior(part)?)],
        "Digits" if is_single => vec![split(Pattern::parse(r"\p{N}")?, SplitBehavior::Isolated)],
        "Digits" => vec![split(Pattern::parse(r"\p{N}")?, SplitBehavior::Contiguous)],
        "ByteLevel" => {
            let start = PreTokenizerStep::Start {
                mark: ' ',
                of_caption: false,
            };
            let words = split(Pattern::parse(GPT_2_WORDS)?, SplitBehavior::Isolated);
            let start = flag("add_prefix_space", true).then_some(start);
            let words = flag("use_regex", true).then_some(words);
            start
                .into_iter()
                .chain(words)
                .chain([PreTokenizerStep::Bytes])
                .collect()
        }
        "Metaspace" => metaspace(part)?,
        _ => {
            return Err(refused(&format!(
                "pre_tokenizer has the step {}, expected Split, WhitespaceSplit, BertPreTokenizer, Punctuation, Digits, \
                 ByteLevel or Metaspace",
                part["type"]
            )));
        }
    })
}

/// The steps of a pre-tokenizer of `SentencePiece`'s kind.
fn metaspace(part: &Value) -> Result<Vec<PreTokenizerStep>> {
    let replacement = part["replacement"].as_str().unwrap_or("\u{2581}");
    let mut characters = replacement.chars();
    let (Some(mark), None) = (characters.next(), characters.next()) else {
        return Err(refused(&format!(
            "pre_tokenizer.replacement is {replacement:?}, expected one character"
        )));
    };
    let scheme = part["prepend_scheme"].as_str();
    let of_caption = match scheme.unwrap_or("always") {
        "always" if part["add_prefix_space"] == false => None,
        "always" => Some(false),
        "first" => Some(true),
        "never" => None,
        other => {
            return Err(refused(&format!(
                "pre_tokenizer.prepend_scheme is {other:?}, expected always, first or never"
            )));
        }
    };
    let start = of_caption.map(|of_caption| PreTokenizerStep::Start { mark, of_caption });
    let words = PreTokenizerStep::Split(SplitStep {
        pattern: Pattern::literal(replacement),
        is_inverted: false,
        behavior: SplitBehavior::MergedWithNext,
    });
    let words = part["split"].as_bool().unwrap_or(true).then_some(words);
    let steps = [PreTokenizerStep::Spaces { mark }].into_iter();
    Ok(steps.chain(start).chain(words).collect())
}

fn behavior(part: &Value) -> Result<SplitBehavior> {
    Ok(match part["behavior"].as_str().unwrap_or("Isolated") {
        "Removed" => SplitBehavior::Removed,
        "Isolated" => SplitBehavior::Isolated,
        "Contiguous" => SplitBehavior::Contiguous,
        "MergedWithPrevious" => SplitBehavior::MergedWithPrevious,
        "MergedWithNext" => SplitBehavior::MergedWithNext,
        other => {
            return Err(refused(&format!(
                "pre_tokenizer.behavior is {other:?}, expected Removed, Isolated, Contiguous, MergedWithPrevious or \
                 MergedWithNext"
            )));
        }
    })
}

impl PreTokenizerStep {
    fn push_words(&self, mut word: Word, words: &mut Vec<Word>) -> Result<()> {
        match self {
            Self::Split(split) => return split.push_words(&word, words),
            Self::Bytes => {
                let bytes = word.iter().flat_map(|at| {
                    let encoded = at
                        .character
                        .encode_utf8(&mut [0; 4])
                        .to_owned()
                        .into_bytes();
                    encoded.into_iter().map(|byte| at.with(byte_symbol(byte)))
                });
                word = bytes.collect();
            }
            Self::Spaces { mark } => {
                for at in word.iter_mut().filter(|at| at.character == ' ') {
                    at.character = *mark;
                }
            }
            Self::Start { mark, of_caption } => {
                let lacks = |first: &AlignedChar| {
                    first.character != *mark && (!of_caption || first.from == 0)
                };
                if word.first().is_some_and(lacks) {
                    prepend(mark.encode_utf8(&mut [0; 4]), &mut word);
                }
            }
        }
        words.push(word);
        Ok(())
    }
}

impl SplitStep {
    fn push_words(&self, word: &[AlignedChar], words: &mut Vec<Word>) -> Result<()> {
        let spans = self.pattern.spans(word)?;
        let meant = spans
            .into_iter()
            .map(|(span, fits)| (span, fits != self.is_inverted));
        for (span, _) in self.behavior.joined(meant.collect()) {
            words.push(word[span].to_vec());
        }
        Ok(())
    }
}

impl SplitBehavior {
    /// The spans that stay, each as one word.
    fn joined(self, spans: Vec<Span>) -> Vec<Span> {
        let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
        let mut was_meant = false;
        for (span, is_meant) in spans {
            let (joins, is_kept) = match self {
                Self::Removed => (false, !is_meant),
                Self::Isolated => (false, true),
                Self::Contiguous => (is_meant == was_meant, true),
                Self::MergedWithPrevious => (is_meant && !was_meant, true),
                Self::MergedWithNext => (!is_meant && was_meant, true),
            };
            was_meant = is_meant;
            match joined.last_mut().filter(|_| joins) {
                Some((last, _)) => last.end = span.end,
                None if is_kept => joined.push((span, is_meant)),
                None => {}
            }
        }
        joined
    }
}

/// The printable character that stands for a byte: printable ones for themselves, the others in their order from
/// U+0100 on (`bytes_to_unicode` of `OpenAI`'s `simple_tokenizer.py`).
pub(crate) fn byte_symbol(byte: u8) -> char {
    let others = match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => return char::from(byte),
        0..=b' ' => u32::from(byte),
        0x7f..=0xa0 => u32::from(byte) - 0x7f + 33,
        0xad => 67,
    };
    char::from_u32(0x100 + others).unwrap_or(char::REPLACEMENT_CHARACTER)
}
