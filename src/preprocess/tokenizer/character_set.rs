//! What a pattern is made of: sets of characters, and runs of them.

use crate::unicode::Category;

/// Runs one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Alternative {
    pub(super) runs: Vec<Run>,
    /// No character of this set may follow.
    pub(super) not_before: Option<CharacterSet>,
}

/// As many characters of a set as there are, `least` to `most`, or fewer where what follows would not fit otherwise.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) set: CharacterSet,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// Characters that a pattern takes for one another.
#[derive(Debug, Clone, Default)]
pub(super) struct CharacterSet {
    pub(super) parts: Vec<SetPart>,
    /// Whether it holds all characters but those.
    pub(super) is_negated: bool,
    /// Characters that it does not hold.
    pub(super) except: Option<Box<Self>>,
}

#[derive(Debug, Clone)]
pub(super) enum SetPart {
    Range(char, char),
    Space,
    NoSpace,
    Category(Category),
    NoCategory(Category),
}

impl CharacterSet {
    pub(super) fn of(part: SetPart) -> Self {
        Self {
            parts: vec![part],
            ..Self::default()
        }
    }

    /// Comparisons that a character needs at most.
    pub(super) fn n_parts(&self) -> usize {
        let except = self.except.as_deref().map_or(0, Self::n_parts);
        self.parts.len().max(1) + except
    }

    pub(super) fn has(&self, character: char) -> bool {
        let is_listed = self.parts.iter().any(|part| part.has(character));
        let is_exception = |except: &Self| except.has(character);
        is_listed != self.is_negated && !self.except.as_deref().is_some_and(is_exception)
    }
}

impl SetPart {
    fn has(&self, character: char) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&character),
            Self::Space => character.is_whitespace(),
            Self::NoSpace => !character.is_whitespace(),
            Self::Category(category) => category.has(character),
            Self::NoCategory(category) => !category.has(character),
        }
    }
}
