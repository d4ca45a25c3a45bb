//! What Unicode says of characters: their categories, and the normal forms of texts.
//!
//! Natively libraries say it, in a browser the browser does: its tables need not be fetched with an engine, of which
//! they were a tenth. What Unicode has said of a character it does not change any more
//! (<https://www.unicode.org/policies/stability_policy.html>), so that two versions of it differ in characters alone
//! that the older one does not have.

#[cfg(target_arch = "wasm32")]
#[path = "browser.rs"]
mod tables;
#[cfg(not(target_arch = "wasm32"))]
#[path = "native.rs"]
mod tables;

/// What characters are (<https://www.unicode.org/reports/tr44/#General_Category_Values>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "Unicode's own names")]
pub enum Category {
    Control,
    Format,
    Letter,
    Mark,
    NonspacingMark,
    Number,
    Other,
    PrivateUse,
    Punctuation,
    Separator,
    Symbol,
}

/// The normal forms of Unicode (<https://www.unicode.org/reports/tr15/>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "Unicode's own names")]
pub enum NormalForm {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Category {
    /// All categories that this can tell; some hold others, as marks the nonspacing ones.
    pub const ALL: [Self; 11] = [
        Self::Control,
        Self::Format,
        Self::Letter,
        Self::Mark,
        Self::NonspacingMark,
        Self::Number,
        Self::Other,
        Self::PrivateUse,
        Self::Punctuation,
        Self::Separator,
        Self::Symbol,
    ];

    /// Whether a character is of this category. One without a meaning is [`Category::Other`].
    #[must_use]
    pub fn has(self, character: char) -> bool {
        if character.is_ascii() {
            return self.has_ascii(character);
        }
        tables::has(self, character)
    }

    fn has_ascii(self, character: char) -> bool {
        let is_symbol = matches!(character, '$' | '+' | '<'..='>' | '^' | '`' | '|' | '~');
        match self {
            Self::Control | Self::Other => character.is_ascii_control(),
            Self::Letter => character.is_ascii_alphabetic(),
            Self::Number => character.is_ascii_digit(),
            Self::Punctuation => character.is_ascii_punctuation() && !is_symbol,
            Self::Separator => character == ' ',
            Self::Symbol => is_symbol,
            Self::Format | Self::Mark | Self::NonspacingMark | Self::PrivateUse => false,
        }
    }
}

impl NormalForm {
    /// All four forms that Unicode defines.
    pub const ALL: [Self; 4] = [Self::Nfc, Self::Nfd, Self::Nfkc, Self::Nfkd];

    /// The form of a text.
    #[must_use]
    pub fn of(self, text: &str) -> String {
        if text.is_ascii() {
            return text.to_owned();
        }
        tables::normal_form(self, text)
    }

    /// The form in which a text is before it is composed.
    fn decomposition(self) -> Self {
        match self {
            Self::Nfc | Self::Nfd => Self::Nfd,
            Self::Nfkc | Self::Nfkd => Self::Nfkd,
        }
    }

    /// Whether a character may join one before it, or change places with it.
    #[must_use]
    pub fn may_join(self, character: char) -> bool {
        if character.is_ascii() {
            return false;
        }
        let decomposed = self.decomposition().of(character.encode_utf8(&mut [0; 4]));
        decomposed.chars().next().is_some_and(|first| {
            // Vowels and last consonants of Korean, and a vowel of Kirat Rai; all others that join are marks.
            let is_part =
                matches!(first, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}' | '\u{16d67}');
            is_part || Category::Mark.has(first)
        })
    }
}

#[cfg(test)]
mod tests {
    use unicode_normalization::char::canonical_combining_class;
    use unicode_normalization::{IsNormalized, is_nfc_quick};

    use super::*;

    #[test]
    fn ascii_is_what_the_tables_say() {
        for character in '\0'..='\x7f' {
            for category in Category::ALL {
                let (ours, theirs) = (category.has(character), tables::has(category, character));
                assert_eq!(ours, theirs, "{category:?} of {character:?}");
            }
            for form in NormalForm::ALL {
                let text = character.to_string();
                assert_eq!(
                    form.of(&text),
                    tables::normal_form(form, &text),
                    "{form:?} of {character:?}"
                );
            }
        }
    }
    #[test]
    fn what_joins_none_begins_a_cluster() {
        let mut n_joining = 0;
        for character in '\0'..=char::MAX {
            for form in NormalForm::ALL {
                if form.may_join(character) {
                    n_joining += 1;
                    continue;
                }
                let decomposed = form.decomposition().of(&character.to_string());
                let first = decomposed.chars().next().expect("a character");
                assert_eq!(
                    canonical_combining_class(first),
                    0,
                    "{character:?} stays in its place"
                );
                let may_compose = is_nfc_quick(std::iter::once(first)) == IsNormalized::Maybe;
                assert!(!may_compose, "{character:?} composes with none before it");
            }
        }
        assert!(
            (8_000..16_000).contains(&n_joining),
            "marks alone: {n_joining}"
        );
    }
}
