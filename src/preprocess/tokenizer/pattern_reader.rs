//! Regular expressions as text → the parts that a [`Pattern`](super::pattern::Pattern) runs.

use super::character_set::{Alternative, CharacterSet, Run, SetPart};
use super::rules::refused;
use crate::error::{Error, Result};
use crate::unicode::Category;

/// Reads an expression from its start to its end.
#[derive(Debug)]
pub(super) struct PatternReader<'a> {
    expression: &'a str,
    rest: &'a str,
}

impl<'a> PatternReader<'a> {
    pub(super) fn new(expression: &'a str) -> Self {
        Self {
            expression,
            rest: expression,
        }
    }

    /// All alternatives.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] with what stands at the part that is not known.
    pub(super) fn alternatives(mut self) -> Result<Vec<Alternative>> {
        let mut alternatives = vec![self.alternative()?];
        while self.take("|") {
            alternatives.push(self.alternative()?);
        }
        match self.rest {
            "" => Ok(alternatives),
            _ => Err(self.unknown()),
        }
    }

    fn alternative(&mut self) -> Result<Alternative> {
        let mut alternative = Alternative::default();
        while !(self.rest.is_empty() || self.rest.starts_with('|')) {
            if self.take("(?!") {
                alternative.not_before = Some(self.set()?);
                self.expect(")")?;
                break;
            }
            let set = self.set()?;
            let (least, most) = self.repetitions()?;
            alternative.runs.push(Run { set, least, most });
        }
        Ok(alternative)
    }

    /// How often the set before may follow itself.
    fn repetitions(&mut self) -> Result<(usize, usize)> {
        let found = match self.rest.chars().next() {
            Some('?') => (0, 1),
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('{') => return self.counted_repetitions(),
            _ => return Ok((1, 1)),
        };
        self.rest = &self.rest[1..];
        Ok(found)
    }

    /// `{2}`, `{2,}` or `{2,3}`.
    fn counted_repetitions(&mut self) -> Result<(usize, usize)> {
        let counts = self.rest[1..].split_once('}');
        let (counts, rest) = counts.ok_or_else(|| self.unknown())?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| self.unknown());
        let (least, most) = match counts.split_once(',') {
            None => (number(counts)?, number(counts)?),
            Some((least, "")) => (number(least)?, usize::MAX),
            Some((least, most)) => (number(least)?, number(most)?),
        };
        if least > most {
            return Err(self.unknown());
        }
        self.rest = rest;
        Ok((least, most))
    }

    fn set(&mut self) -> Result<CharacterSet> {
        if self.take("[") {
            return self.listed_set();
        }
        if self.take("\\") {
            return Ok(CharacterSet::of(self.escaped()?));
        }
        if self.take(".") {
            let line_end = CharacterSet::of(SetPart::Range('\n', '\n'));
            return Ok(CharacterSet {
                is_negated: true,
                ..line_end
            });
        }
        match self.rest.chars().next() {
            None | Some('(' | ')' | '*' | '+' | '?' | '{' | '}' | '^' | '$' | '|') => {
                Err(self.unknown())
            }
            Some(character) => Ok(CharacterSet::of(self.range_from(character))),
        }
    }

    /// What stands between `[` and `]`.
    fn listed_set(&mut self) -> Result<CharacterSet> {
        let mut set = CharacterSet {
            is_negated: self.take("^"),
            ..CharacterSet::default()
        };
        while !self.take("]") {
            if self.take("--[") {
                set.except = Some(Box::new(self.listed_set()?));
                self.expect("]")?;
                return Ok(set);
            }
            let part = if self.take("\\") {
                self.escaped()?
            } else {
                let first = self.rest.chars().next().filter(|c| *c != '[');
                self.range_from(
                    first
                        .filter(|_| !self.rest.starts_with("&&"))
                        .ok_or_else(|| self.unknown())?,
                )
            };
            set.parts.push(self.range_end(part)?);
        }
        Ok(set)
    }

    /// The set of the next character alone.
    fn range_from(&mut self, character: char) -> SetPart {
        self.rest = &self.rest[character.len_utf8()..];
        SetPart::Range(character, character)
    }

    /// The range from the character before, where `-` and another one follow.
    fn range_end(&mut self, part: SetPart) -> Result<SetPart> {
        let SetPart::Range(first, _) = part else {
            return Ok(part);
        };
        let next = self
            .rest
            .strip_prefix('-')
            .and_then(|rest| rest.chars().next());
        let Some(next) = next.filter(|next| !matches!(next, ']' | '-' | '[')) else {
            return Ok(part);
        };
        self.rest = &self.rest[1..];
        let last = if self.take("\\") {
            self.escaped()?
        } else {
            self.range_from(next)
        };
        match last {
            SetPart::Range(last, _) if first <= last => Ok(SetPart::Range(first, last)),
            _ => Err(self.unknown()),
        }
    }

    /// What stands behind a `\`.
    fn escaped(&mut self) -> Result<SetPart> {
        let escaped = self.rest.chars().next().ok_or_else(|| self.unknown())?;
        let one = |character| SetPart::Range(character, character);
        let part = match escaped {
            's' => SetPart::Space,
            'S' => SetPart::NoSpace,
            't' => one('\t'),
            'n' => one('\n'),
            'r' => one('\r'),
            'p' | 'P' => return self.category(escaped == 'P'),
            _ if escaped.is_ascii_punctuation() => one(escaped),
            _ => return Err(self.unknown()),
        };
        self.rest = &self.rest[1..];
        Ok(part)
    }

    /// `p{L}` and others of one letter.
    fn category(&mut self, is_negated: bool) -> Result<SetPart> {
        let name = self.rest[1..]
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let (name, rest) = name.ok_or_else(|| self.unknown())?;
        let category = match name {
            "L" => Category::Letter,
            "M" => Category::Mark,
            "N" => Category::Number,
            "P" => Category::Punctuation,
            "S" => Category::Symbol,
            "Z" => Category::Separator,
            "C" => Category::Other,
            _ => return Err(self.unknown()),
        };
        self.rest = rest;
        Ok(if is_negated {
            SetPart::NoCategory(category)
        } else {
            SetPart::Category(category)
        })
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.take(text) {
            Ok(())
        } else {
            Err(self.unknown())
        }
    }

    fn unknown(&self) -> Error {
        refused(&format!(
            "the pattern {} is not known from “{}” on, expected characters, [sets] and \\p{{L}}, with ? * + {{2,3}} and |",
            self.expression, self.rest
        ))
    }
}
