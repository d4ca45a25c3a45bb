//! The regular expressions that tokenizers are written with: alternatives of runs of characters.
//!
//! Those of tokenizers need no groups and repeat nothing but sets of characters; an engine for all regular expressions
//! would weigh an eighth of the page's engine.

use std::ops::Range;

use serde_json::Value;

use super::aligned::AlignedChar;
use super::character_set::{Alternative, CharacterSet, Run, SetPart};
use super::pattern_reader::PatternReader;
use super::rules::refused;
use crate::error::{Error, Result};

/// Comparisons that a text may need for each of its characters; CLIP's pattern needs 20.
const MAX_COMPARISONS: usize = 2_000;
/// Bytes of an expression, or of a text that is looked for; GPT-4o's has 300.
const MAX_EXPRESSION_BYTES: usize = 1_024;

/// Alternatives, of which the first that fits is taken, as in Perl.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    alternatives: Vec<Alternative>,
}

/// Part of a text, and whether a pattern fits it.
pub(super) type Span = (Range<usize>, bool);

impl Pattern {
    /// Reads a pattern, which is a text or a regular expression.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if it is neither, or an expression that is not known.
    pub(super) fn from_json(pattern: &Value) -> Result<Self> {
        match (pattern["String"].as_str(), pattern["Regex"].as_str()) {
            (Some(text), _) | (_, Some(text)) if text.len() > MAX_EXPRESSION_BYTES => {
                Err(refused(&format!(
                    "a pattern has {} bytes, expected at most {MAX_EXPRESSION_BYTES}",
                    text.len()
                )))
            }
            (Some(text), None) => Ok(Self::literal(text)),
            (None, Some(expression)) => Self::parse(expression),
            _ => Err(refused(&format!(
                "the pattern {pattern} is neither String nor Regex"
            ))),
        }
    }

    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if it has other parts than sets of characters and their repetitions, or fits nothing.
    pub(super) fn parse(expression: &str) -> Result<Self> {
        let alternatives = PatternReader::new(expression).alternatives()?;
        let is_empty =
            |alternative: &Alternative| alternative.runs.iter().all(|run| run.least == 0);
        if alternatives.iter().any(is_empty) {
            return Err(refused(&format!(
                "the pattern {expression} also fits nothing, expected a character at least"
            )));
        }
        Ok(Self { alternatives })
    }

    /// The pattern that fits a text alone; an empty one never does.
    pub(super) fn literal(text: &str) -> Self {
        let run = |character| Run {
            set: CharacterSet::of(SetPart::Range(character, character)),
            least: 1,
            most: 1,
        };
        let runs: Vec<Run> = text.chars().map(run).collect();
        let alternative = (!runs.is_empty()).then_some(Alternative {
            runs,
            not_before: None,
        });
        Self {
            alternatives: alternative.into_iter().collect(),
        }
    }

    /// Cuts a text into what the pattern fits and what lies between.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if it takes too long.
    pub(super) fn spans(&self, text: &[AlignedChar]) -> Result<Vec<Span>> {
        let mut search = Search {
            text,
            n_left: MAX_COMPARISONS.saturating_mul(text.len() + 1),
        };
        let (mut spans, mut rest, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            let ends = &mut self.alternatives.iter();
            let Some(end) = ends.find_map(|alternative| search.end(alternative, at)) else {
                at += 1;
                continue;
            };
            if rest < at {
                spans.push((rest..at, false));
            }
            spans.push((at..end, true));
            (rest, at) = (end, end);
        }
        if search.n_left == 0 {
            return Err(Error::Text(
                "this caption cannot be encoded: a pattern of the tokenizer takes too long"
                    .to_owned(),
            ));
        }
        if rest < text.len() {
            spans.push((rest..text.len(), false));
        }
        Ok(spans)
    }
}

struct Search<'a> {
    text: &'a [AlignedChar],
    /// Comparisons that may still be made.
    n_left: usize,
}

impl Search<'_> {
    /// Where an alternative ends that begins at a place.
    fn end(&mut self, alternative: &Alternative, at: usize) -> Option<usize> {
        self.runs_end(&alternative.runs, alternative.not_before.as_ref(), at)
    }

    fn runs_end(
        &mut self,
        runs: &[Run],
        not_before: Option<&CharacterSet>,
        at: usize,
    ) -> Option<usize> {
        let Some((run, rest)) = runs.split_first() else {
            let follows = |set: &CharacterSet| {
                self.text
                    .get(at)
                    .is_some_and(|next| set.has(next.character))
            };
            return (!not_before.is_some_and(follows)).then_some(at);
        };
        let fits = self.text[at..].iter().take(run.most);
        let n_fit = fits.take_while(|at| run.set.has(at.character)).count();
        self.n_left = self.n_left.saturating_sub((n_fit + 1) * run.set.n_parts());
        let mut n_taken = (run.least..=n_fit).rev();
        n_taken.find_map(|n| {
            if self.n_left == 0 {
                return None;
            }
            self.runs_end(rest, not_before, at + n)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::aligned::align;
    use super::*;

    fn found(expression: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::parse(expression).expect("a pattern");
        let characters: Vec<char> = text.chars().collect();
        let spans = pattern
            .spans(&align(text))
            .expect("a short text")
            .into_iter();
        let fitting = spans.filter(|(_, fits)| *fits);
        fitting
            .map(|(span, _)| characters[span].iter().collect())
            .collect()
    }

    #[test]
    fn patterns_of_tokenizers_find_what_they_name() {
        let clip = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";
        let gpt = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
        let scenes = r"[\p{L}\p{M}\p{N}]+|[\p{S}--[|<>=+~^$`]]";
        let punctuation = r##"[!"#$%&\'()*+,\-.\/:;<=>?@\[\\\]^_`{|}~]"##;
        for (pattern, text, expected) in [
            (
                clip,
                "it's 24 café!?",
                &["it", "'s", "2", "4", "café", "!?"][..],
            ),
            (
                gpt,
                "it's  a\n dog 24",
                &["it", "'s", " ", " a", "\n", " dog", " 24"],
            ),
            (scenes, "a re\u{301}d ⭐+", &["a", "re\u{301}d", "⭐"]),
            (punctuation, "a-b/c\\d", &["-", "/", "\\"]),
            (" {2,}", "a  b c   d", &["  ", "   "]),
            (r"a{2}b?|.", "aaab", &["aa", "a", "b"]),
            (r"[a-c]+c", "abcabcd", &["abcabc"]),
            (r"\P{L}+", "ab12,c", &["12,"]),
            (r"<\|end\|>|\t", "a<|end|>\tb", &["<|end|>", "\t"]),
        ] {
            assert_eq!(found(pattern, text), expected, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn patterns_that_cannot_be_run_are_refused() {
        for pattern in [
            "(a|b)+",
            "(?i:a)",
            "a+?",
            "a++",
            "^a",
            "a$",
            r"\w+",
            r"\p{Lu}",
            "[a",
            "a*",
            "",
            "a|",
            "[[:alpha:]]",
            "a{2,1}",
            "a{",
            r"\",
            "(?!a)",
            "[b-a]",
            "a{99999999999999999999}",
            "(?!a",
            "[a&&b]",
            "*",
            "a{,2}",
        ] {
            let error = Pattern::parse(pattern).expect_err(pattern).to_string();
            assert!(
                error.starts_with("the tokenizer cannot be used: the pattern"),
                "{error}"
            );
            assert!(error.contains(pattern), "names it: {error}");
        }
    }

    #[test]
    fn a_pattern_of_many_parts_needs_little_room() {
        assert_eq!(
            found(&format!("{}b", "a?".repeat(500)), "aab"),
            ["aab"],
            "most are left out"
        );
        assert_eq!(
            found(
                &format!("[a{}", "--[b".repeat(250) + &"]".repeat(251)),
                "aab"
            ),
            ["a", "a"],
            "sets in sets"
        );
    }

    #[test]
    fn a_pattern_that_never_ends_is_stopped() {
        let pattern = Pattern::parse(&format!("{}b", "a*".repeat(20))).expect("a pattern");
        let error = pattern
            .spans(&align(&"a".repeat(2_000)))
            .expect_err("stopped");
        assert!(error.to_string().ends_with("takes too long"), "{error}");
    }
}
