//! The table by which `SentencePiece` normalises characters, as it lies in `precompiled_charsmap`.
//!
//! A double-array trie (J. Aoe 1989), as `Darts-clone` writes it: the length of the trie in bytes, its units of 32
//! bits, then the replacements, each with a zero behind it, to which the leaves point. The program that follows the
//! trie checks no bounds.

use std::collections::VecDeque;

/// Bytes of a replacement at most; the longest of NFKC, of U+FDFA, has 33.
const MAX_REPLACEMENT_BYTES: usize = 64;
/// Reason to refuse a table whose trie points beyond its end.
const OUTSIDE: &str = "has a step that leads outside of it";

/// Refuses a table with a step or a leaf that leads outside of it, or with a replacement that is too long.
///
/// Returns how many times longer the table can make a text at most, which is 11 for the table of NFKC.
///
/// # Errors
///
/// Reason for the refusal, as the end of a sentence.
pub(super) fn check_character_map(map: &[u8]) -> Result<usize, &'static str> {
    let (length, rest) = map.split_first_chunk::<4>().ok_or("has no length")?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let split = rest.split_at_checked(length / 4 * 4);
    let (units, replacements) = split.ok_or("ends within its trie")?;
    let replacements =
        std::str::from_utf8(replacements).map_err(|_| "holds bytes that are not UTF-8 text")?;
    let units: Vec<u32> = units
        .as_chunks::<4>()
        .0
        .iter()
        .map(|unit| u32::from_le_bytes(*unit))
        .collect();
    check_units(&units, replacements)
}

/// Walks to every unit that some text leads to, and returns how many times longer than its text a replacement is at
/// most. Units are visited in the order of their depth, each by the shortest text that leads to it.
fn check_units(units: &[u32], replacements: &str) -> Result<usize, &'static str> {
    let mut is_known = vec![false; units.len()];
    *is_known.first_mut().ok_or(OUTSIDE)? = true;
    let mut open = VecDeque::from([(0_usize, 0_usize)]);
    let mut growth = 1;
    while let Some((at, depth)) = open.pop_front() {
        let below = at ^ offset(units[at]);
        if has_leaf(units[at]) {
            let place = (units.get(below).ok_or(OUTSIDE)? & 0x7fff_ffff) as usize;
            let n_bytes = replacement_bytes(replacements, place)?;
            growth = growth.max(n_bytes.div_ceil(depth.max(1)));
        }
        for byte in 1..=255_u8 {
            let child = below ^ usize::from(byte);
            let is_step = label(*units.get(child).ok_or(OUTSIDE)?) == u32::from(byte);
            if is_step && !std::mem::replace(&mut is_known[child], true) {
                open.push_back((child, depth + 1));
            }
        }
    }
    Ok(growth)
}

/// Length of the replacement that begins at a place, which a zero or the end of the table ends.
fn replacement_bytes(replacements: &str, place: usize) -> Result<usize, &'static str> {
    let rest = replacements.get(place..).ok_or(OUTSIDE)?;
    let near = rest.bytes().take(MAX_REPLACEMENT_BYTES + 1);
    let n_bytes = near.take_while(|byte| *byte != 0).count();
    if n_bytes > MAX_REPLACEMENT_BYTES {
        return Err("holds a replacement of more than 64 bytes, expected at most 64");
    }
    Ok(n_bytes)
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
        length
            .to_le_bytes()
            .into_iter()
            .chain(bytes)
            .chain(replacements.bytes())
            .collect()
    }

    const FIRST: u32 = 256 << 10;

    #[test]
    fn a_table_whose_steps_stay_within_it_is_accepted() {
        for (leaf, growth) in [(0, 3), (2, 1), (4, 1)] {
            assert_eq!(
                check_character_map(&table(FIRST, leaf)),
                Ok(growth),
                "at {leaf}"
            );
        }
    }

    #[test]
    fn a_replacement_that_does_not_end_soon_is_refused() {
        let found = |n: usize, end: &str| {
            let replacement = "b".repeat(n) + end;
            check_character_map(&table_of(FIRST, 0, &replacement))
        };
        let refused = Err("holds a replacement of more than 64 bytes, expected at most 64");
        for end in ["", "\0", "\0and another"] {
            assert_eq!(found(64, end), Ok(64), "as long as allowed, {end:?}");
            assert_eq!(found(65, end), refused, "a byte more, {end:?}");
        }
    }

    #[test]
    fn a_table_that_leads_outside_is_refused() {
        let outside = Err("has a step that leads outside of it");
        for (table, what) in [
            (table(FIRST, 1), "a leaf within a character"),
            (table(FIRST, 5), "a leaf behind the replacements"),
            (table(512 << 10, 0), "children behind the trie"),
            (table(u32::MAX, 0), "children far behind the trie"),
            (vec![0; 4], "no trie"),
        ] {
            assert_eq!(check_character_map(&table), outside, "{what}");
        }
        let cut = check_character_map(&table(FIRST, 0)[..100]);
        assert_eq!(cut, Err("ends within its trie"), "a file that was cut");
        let huge = check_character_map(&[0xff; 8]);
        assert_eq!(huge, Err("ends within its trie"), "4 GB of trie in 8 bytes");
    }
}
