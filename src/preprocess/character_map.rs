//! The table by which `SentencePiece` normalises characters, as it lies in `precompiled_charsmap`.
//!
//! A double-array trie (J. Aoe 1989), as `Darts-clone` writes it: the length of the trie in bytes, its units of 32
//! bits, then the replacements, each with a zero behind it, to which the leaves point. The program that follows the
//! trie checks no bounds.

/// Refuses a table with a step or a leaf that leads outside of it.
///
/// # Errors
///
/// Reason for the refusal, as the end of a sentence.
pub(super) fn check_character_map(map: &[u8]) -> Result<(), &'static str> {
    let (length, rest) = map.split_first_chunk::<4>().ok_or("has no length")?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let split = rest.split_at_checked(length / 4 * 4);
    let (units, replacements) = split.ok_or("ends within its trie")?;
    let replacements = std::str::from_utf8(replacements).map_err(|_| "holds what is no text")?;
    let units: Vec<u32> = units
        .as_chunks::<4>()
        .0
        .iter()
        .map(|unit| u32::from_le_bytes(*unit))
        .collect();
    check_units(&units, replacements).ok_or("has a step that leads outside of it")
}

/// Walks to every unit that some text leads to.
fn check_units(units: &[u32], replacements: &str) -> Option<()> {
    let mut is_known = vec![false; units.len()];
    let mut open = vec![0_usize];
    *is_known.first_mut()? = true;
    while let Some(at) = open.pop() {
        let below = at ^ offset(units[at]);
        if has_leaf(units[at]) {
            let replacement = (units.get(below)? & 0x7fff_ffff) as usize;
            replacements.is_char_boundary(replacement).then_some(())?;
        }
        for byte in 1..=255_u8 {
            let child = below ^ usize::from(byte);
            let is_step = label(*units.get(child)?) == u32::from(byte);
            if is_step && !std::mem::replace(&mut is_known[child], true) {
                open.push(child);
            }
        }
    }
    Some(())
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

    /// A table that makes nothing of "a" where `leaf` is the place of the replacement.
    fn table(first: u32, leaf: u32) -> Vec<u8> {
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
            .chain(*b"\xc3\xa4b\0")
            .collect()
    }

    const FIRST: u32 = 256 << 10;

    #[test]
    fn a_table_whose_steps_stay_within_it_is_accepted() {
        for leaf in [0, 2, 4] {
            assert_eq!(
                check_character_map(&table(FIRST, leaf)),
                Ok(()),
                "at {leaf}"
            );
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
