//! Budget of pixels, memory and work for reading one picture's file, checked where memory is asked for: a hundred bytes
//! can claim any number of pixels.

use std::fmt;

use crate::error::Error;

/// The most that reading one picture may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeBudget {
    /// Pixels of the picture.
    pub pixels: u64,
    /// Bytes that hold the picture at one time, in whatever form.
    pub memory_bytes: u64,
    /// Samples that scans visit, all together: a progressive JPEG visits each some five times.
    pub visited_samples: u64,
    /// Bytes of metadata: colour profiles, texts, Exif.
    pub metadata_bytes: u64,
}

impl DecodeBudget {
    /// Budget of twice the pixels that a good phone's camera makes, in twelve bytes each: four channels of 16 bits, and
    /// half as much again for a decoder's own work.
    pub const FULL: Self = Self {
        pixels: 100_000_000,
        memory_bytes: 1_200_000_000,
        visited_samples: 2_000_000_000,
        metadata_bytes: 4_000_000,
    };
    /// Budget for a device with little memory, of which a browser gives a page some hundred megabytes.
    pub const SHORT_MEMORY: Self = Self {
        pixels: 25_000_000,
        memory_bytes: 300_000_000,
        visited_samples: 500_000_000,
        metadata_bytes: 4_000_000,
    };
    /// The longest side; only PNG can say more than 65,535, and filters need room for each row and column.
    pub const MAX_SIDE: u64 = 1_000_000;

    pub(super) fn check_size(&self, width: u64, height: u64) -> Result<(), Excess> {
        let most = self.pixels;
        match width.checked_mul(height) {
            Some(0) => Err(Excess::NoPixels { width, height }),
            Some(n) if n <= most && width.max(height) <= Self::MAX_SIDE => Ok(()),
            Some(n) if n <= most => Err(Excess::Side { width, height }),
            _ => Err(Excess::Pixels {
                width,
                height,
                most,
            }),
        }
    }

    pub(super) fn check_memory(&self, bytes: u64) -> Result<(), Excess> {
        let most = self.memory_bytes;
        (bytes <= most).then_some(()).ok_or(Excess::Memory { most })
    }

    /// Takes the samples of a scan from those that are left.
    pub(super) fn visit(&mut self, samples: u64) -> Result<(), Excess> {
        let left = self.visited_samples.checked_sub(samples);
        self.visited_samples = left.ok_or(Excess::Work)?;
        Ok(())
    }
}

impl Default for DecodeBudget {
    fn default() -> Self {
        Self::FULL
    }
}

/// `n` times a value, if there is memory for them.
pub(super) fn filled<T: Copy>(value: T, n: usize) -> Result<Vec<T>, Excess> {
    let mut values = with_room(n)?;
    values.resize(n, value);
    Ok(values)
}

/// No values, but room for `n`, if there is memory for them.
pub(super) fn with_room<T>(n: usize) -> Result<Vec<T>, Excess> {
    let mut values = Vec::new();
    let room = values.try_reserve_exact(n);
    room.map_err(|_| Excess::NoMemory)?;
    Ok(values)
}

/// Excess of a picture over its budget, by the quantity that it exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    NoPixels { width: u64, height: u64 },
    Pixels { width: u64, height: u64, most: u64 },
    Side { width: u64, height: u64 },
    Memory { most: u64 },
    Metadata { most: u64 },
    Work,
    NoMemory,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = |n: &u64| n / 1_000_000;
        match self {
            Self::NoPixels { width, height } => write!(
                f,
                "this picture is {width} × {height} pixels, expected at least 1 × 1"
            ),
            Self::Pixels {
                width,
                height,
                most,
            } => write!(
                f,
                "this picture is {width} × {height} pixels, expected at most {} megapixels",
                mega(most)
            ),
            Self::Side { width, height } => write!(
                f,
                "this picture is {width} × {height} pixels, expected sides of at most {}",
                DecodeBudget::MAX_SIDE
            ),
            Self::Memory { most } => write!(
                f,
                "this picture asks for more than {} MB of memory, expected a smaller one",
                mega(most)
            ),
            Self::Metadata { most } => write!(
                f,
                "this picture holds more than {} MB beside its pixels, such as a colour profile, expected less",
                mega(most)
            ),
            Self::Work => write!(
                f,
                "this picture is written over itself too often, expected fewer scans or fewer pixels"
            ),
            Self::NoMemory => write!(
                f,
                "this device has no memory left for this picture, expected a smaller one"
            ),
        }
    }
}

impl From<Excess> for Error {
    fn from(excess: Excess) -> Self {
        Self::Image(excess.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_apart_by_what_is_wrong_with_them() {
        let budget = DecodeBudget::FULL;
        let (width, most) = (1, budget.pixels);
        let tall = 59_652_324;
        assert_eq!(budget.check_size(10_000, 10_000), Ok(()), "as many as fit");
        for (height, expected) in [
            (0, Excess::NoPixels { width, height: 0 }),
            (
                tall,
                Excess::Side {
                    width,
                    height: tall,
                },
            ),
            (
                most + 1,
                Excess::Pixels {
                    width,
                    height: most + 1,
                    most,
                },
            ),
        ] {
            assert_eq!(
                budget.check_size(width, height),
                Err(expected),
                "1 × {height}"
            );
        }
    }

    #[test]
    fn visits_are_counted_over_all_scans() {
        let mut budget = DecodeBudget {
            visited_samples: 100,
            ..DecodeBudget::FULL
        };
        assert_eq!(budget.visit(60), Ok(()), "the first scan");
        assert_eq!(budget.visit(41), Err(Excess::Work), "the second");
    }

    #[test]
    fn memory_that_is_not_there_is_an_answer() {
        assert_eq!(
            filled(0_u64, usize::MAX / 16),
            Err(Excess::NoMemory),
            "2^59 numbers"
        );
    }
}
