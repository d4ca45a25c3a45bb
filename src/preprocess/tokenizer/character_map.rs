//! The table by which `SentencePiece` normalises characters, as it lies in `precompiled_charsmap`.
//!
//! A double-array trie (J. Aoe 1989), as `Darts-clone` writes it: the length of the trie in bytes, its units of 32
//! bits, then the replacements, each with a zero behind it, to which the leaves point.

use super::aligned::{AlignedChar, text_of};
use super::rules::{check_length, refused};
use crate::error::Result;

/// Bytes of a replacement at most; the longest of NFKC, of U+FDFA, has 33.
const MAX_REPLACEMENT_BYTES: usize = 64;

/// What stands for which characters.
#[derive(Debug, Clone)]
pub(super) struct CharacterMap {
    units: Vec<u32>,
    replacements: String,
}

impl CharacterMap {
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if the bytes are no such table.
    pub(super) fn from_base64(map: &str) -> Result<Self> {
        let broken = |reason: &str| refused(&format!("normalizer.precompiled_charsmap {reason}"));
        let map =
            base64::decode(map).map_err(|error| broken(&format!("is not base64: {error}")))?;
        let (length, rest) = map
            .split_first_chunk::<4>()
            .ok_or_else(|| broken("has no length"))?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let split = rest.split_at_checked(length / 4 * 4);
        let (units, replacements) = split.ok_or_else(|| broken("ends within its trie"))?;
        let replacements = std::str::from_utf8(replacements);
        let units = units.as_chunks::<4>().0.iter();
        Ok(Self {
            units: units.map(|unit| u32::from_le_bytes(*unit)).collect(),
            replacements: replacements
                .map_err(|_| broken("holds bytes that are not UTF-8 text"))?
                .to_owned(),
        })
    }

    /// Replaces the longest text of the table at each place.
    ///
    /// # Errors
    ///
    /// [`Error::Text`](crate::error::Error::Text) if the text becomes too long.
    pub(super) fn apply(&self, characters: &[AlignedChar]) -> Result<Vec<AlignedChar>> {
        let text = text_of(characters);
        let (mut replaced, mut at, mut byte) = (Vec::with_capacity(characters.len()), 0, 0);
        while let Some(&first) = characters.get(at) {
            check_length(replaced.len())?;
            let Some((n_bytes, replacement)) = self.longest(&text[byte..]) else {
                replaced.push(first);
                (at, byte) = (at + 1, byte + first.character.len_utf8());
                continue;
            };
            let end = at + text[byte..byte + n_bytes].chars().count();
            let to = characters[end - 1].to;
            let written = |character| AlignedChar {
                character,
                to,
                ..first
            };
            replaced.extend(replacement.chars().map(written));
            (at, byte) = (end, byte + n_bytes);
        }
        Ok(replaced)
    }

    /// The longest beginning of a text that has a replacement: its bytes, and what stands for it.
    ///
    /// What a broken table leads to outside of itself is none.
    fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let unit = |at: usize| self.units.get(at).copied();
        let (mut at, mut longest) = (offset(unit(0)?), None);
        for (i, byte) in text.bytes().enumerate() {
            let Some(found) = unit(at ^ usize::from(byte))
                .filter(|found| byte != 0 && label(*found) == u32::from(byte))
            else {
                break;
            };
            at ^= usize::from(byte) ^ offset(found);
            let leaf = unit(at).filter(|_| has_leaf(found) && text.is_char_boundary(i + 1));
            let replacement = leaf.and_then(|leaf| self.replacement((leaf & 0x7fff_ffff) as usize));
            longest = replacement
                .map(|replacement| (i + 1, replacement))
                .or(longest);
        }
        longest
    }

    /// The replacement that begins at a place, which a zero or the end of the table ends.
    fn replacement(&self, place: usize) -> Option<&str> {
        let rest = self.replacements.get(place..)?;
        let near = rest.bytes().take(MAX_REPLACEMENT_BYTES + 1);
        let n_bytes = near.take_while(|byte| *byte != 0).count();
        rest.get(..n_bytes)
            .filter(|_| n_bytes <= MAX_REPLACEMENT_BYTES)
    }
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

/// The byte that leads to a unit; that of a leaf is none.
fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xff)
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}

#[cfg(test)]
mod tests {
    use super::super::aligned::align;
    use super::*;

    /// A table that replaces "a"; `leaf` is the place of the replacement in "äb".
    fn table(first: u32, leaf: u32) -> Vec<u8> {
        table_of(first, leaf, "äb\0")
    }

    fn table_of(first: u32, leaf: u32, replacements: &str) -> Vec<u8> {
        let mut units = vec![0_u32; 512];
        // The root's children lie at 256 and beyond; "a" has a leaf at 256 ^ 97 ^ 96 = 257.
        units[0] = first;
        units[256 ^ 97] = 96 << 10 | 1 << 8 | 97;
        units[257] = 1 << 31 | leaf;
        let bytes = units.iter().flat_map(|unit| unit.to_le_bytes());
        let length = 4 * 512_u32;
        let bytes = length.to_le_bytes().into_iter().chain(bytes);
        bytes.chain(replacements.bytes()).collect()
    }

    const FIRST: u32 = 256 << 10;

    fn replaced(table: &[u8]) -> String {
        let map = CharacterMap::from_base64(&base64::encode(table)).expect("a table");
        text_of(&map.apply(&align("bat")).expect("a short text"))
    }

    #[test]
    fn what_the_table_holds_is_replaced() {
        for (leaf, expected) in [(0, "bäbt"), (2, "bbt"), (3, "bt")] {
            assert_eq!(replaced(&table(FIRST, leaf)), expected, "at {leaf}");
        }
        let long = |n: usize| replaced(&table_of(FIRST, 0, &"c".repeat(n)));
        assert_eq!(long(64).len(), 66, "as long as a replacement may be");
        assert_eq!(long(65), "bat", "a byte more");
    }

    #[test]
    fn a_table_that_leads_outside_of_itself_replaces_nothing() {
        for (table, what) in [
            (table(FIRST, 1), "a leaf within a character"),
            (table(FIRST, 5), "a leaf behind the replacements"),
            (table(512 << 10, 0), "children behind the trie"),
            (table(u32::MAX, 0), "children far behind the trie"),
            (vec![0; 4], "no trie"),
        ] {
            assert_eq!(replaced(&table), "bat", "{what}");
        }
    }

    #[test]
    fn bytes_that_are_no_table_are_refused() {
        let cut = base64::encode(&table(FIRST, 0)[..100]);
        let huge = base64::encode([0xff; 8]);
        for (map, reason) in [
            (cut.as_str(), "ends within its trie"),
            (&huge, "ends within its trie"),
            ("", "has no length"),
            ("ä", "is not base64"),
        ] {
            let error = CharacterMap::from_base64(map)
                .expect_err(reason)
                .to_string();
            assert!(error.contains(reason), "{error}, expected {reason}");
        }
    }
}
