//! A kind of corruption with its severity, by name.

use std::fmt;

use rand::{SeedableRng as _, rngs::ChaCha8Rng};

/// A kind of corruption of pictures or of captions.
pub trait CorruptionKind: Copy + PartialEq + 'static {
    /// Every kind, in the order in which they are offered.
    const ALL: &'static [Self];
    /// The greatest severity; the least is 1.
    const MAX_SEVERITY: u8;

    /// The name on the command line, in results and in links.
    fn name(self) -> &'static str;

    /// The kind that has this name; `None` for an unknown one.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// A corruption at a severity; `shot 3` in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corruption<K> {
    kind: K,
    severity: u8,
}

impl<K: CorruptionKind> Corruption<K> {
    /// A kind at a severity, which is brought between 1 and the greatest.
    pub fn new(kind: K, severity: u8) -> Self {
        let severity = severity.clamp(1, K::MAX_SEVERITY);
        Self { kind, severity }
    }

    /// Reads a corruption as `KIND:SEVERITY`, such as `shot:3`.
    ///
    /// # Errors
    ///
    /// An unknown kind or a severity out of range; the message says which there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(name, severity)| {
            let kind = K::named(&name.to_ascii_lowercase())?;
            Some((kind, severity.parse().ok()?))
        });
        match parsed {
            Some((kind, severity)) if (1..=K::MAX_SEVERITY).contains(&severity) => {
                Ok(Self { kind, severity })
            }
            _ => {
                let names: Vec<&str> = K::ALL.iter().map(|kind| kind.name()).collect();
                let (names, most) = (names.join(", "), K::MAX_SEVERITY);
                Err(format!(
                    "{text:?}: KIND:SEVERITY was expected, one of {names} with a severity from 1 to {most}"
                ))
            }
        }
    }

    /// The kind of corruption.
    pub const fn kind(self) -> K {
        self.kind
    }

    /// The severity, from 1.
    pub const fn severity(self) -> u8 {
        self.severity
    }
}

impl<K: CorruptionKind> fmt::Display for Corruption<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.severity)
    }
}

/// Random numbers of a name, the same on every machine: FNV-1a of its bytes.
pub(super) fn rng_of(id: &str) -> ChaCha8Rng {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ChaCha8Rng::seed_from_u64(hash)
}

#[cfg(test)]
mod tests {
    use super::super::{ImageCorruption, Misspelling};
    use super::*;

    #[test]
    fn kinds_and_severities_are_read_as_they_are_written() {
        let shot = Corruption::<ImageCorruption>::parse("shot:3").expect("known");
        assert_eq!(shot, Corruption::new(ImageCorruption::Shot, 3), "shot:3");
        assert_eq!(shot.to_string(), "shot 3", "in results");
        let spelling = Corruption::<Misspelling>::parse("Spelling:7").expect("known");
        assert_eq!(spelling.to_string(), "spelling 7", "in results");
    }

    #[test]
    fn other_kinds_and_severities_are_refused_with_those_there_are() {
        for text in ["shot", "shot:0", "shot:6", "rain:1"] {
            let error = Corruption::<ImageCorruption>::parse(text).expect_err("not known");
            assert!(error.contains("gaussian, shot, impulse"), "{error}");
        }
    }
}
