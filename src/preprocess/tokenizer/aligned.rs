//! Characters of a text, each with the place in the caption that it comes from.

use std::ops::Range;

/// One character, and the bytes of the caption that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AlignedChar {
    pub(super) character: char,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl AlignedChar {
    /// Another character for the same place.
    pub(super) fn with(self, character: char) -> Self {
        Self { character, ..self }
    }
}

/// The characters of a caption.
pub(super) fn align(caption: &str) -> Vec<AlignedChar> {
    let characters = caption.char_indices();
    let aligned = characters.map(|(from, character)| AlignedChar {
        character,
        from,
        to: from + character.len_utf8(),
    });
    aligned.collect()
}

/// The text that characters make.
pub(super) fn text_of(characters: &[AlignedChar]) -> String {
    characters.iter().map(|at| at.character).collect()
}

/// The bytes of the caption that characters stand for together.
pub(super) fn place_of(characters: &[AlignedChar]) -> Range<usize> {
    let from = characters.first().map_or(0, |first| first.from);
    from..characters.last().map_or(from, |last| last.to)
}

/// `text` before the first character, for whose place it stands; an empty text stays empty.
pub(super) fn prepend(text: &str, characters: &mut Vec<AlignedChar>) {
    if let Some(&first) = characters.first() {
        characters.splice(..0, text.chars().map(|c| first.with(c)));
    }
}
