//! Floats of four bytes that are kept in two, as they stream by.

use std::ops::Range;

use half::f16;

use crate::error::{Result, refuse_if};

/// The precision in which a streamed part of a checkpoint is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoragePrecision {
    /// Bytes unchanged, as they are sent.
    AsSent,
    /// Floats of four bytes in two each: half of the disk, eleven significant bits.
    F16,
}

impl StoragePrecision {
    /// Stored bytes for `n_streamed` bytes.
    #[must_use]
    pub fn bytes(self, n_streamed: u64) -> u64 {
        match self {
            Self::AsSent => n_streamed,
            Self::F16 => n_streamed / 4 * 2,
        }
    }

    /// Streamed bytes that `n_stored` bytes hold.
    #[must_use]
    pub fn streamed(self, n_stored: u64) -> u64 {
        match self {
            Self::AsSent => n_stored,
            Self::F16 => n_stored / 2 * 4,
        }
    }

    /// Range of the stored bytes that holds a range of the stream.
    #[must_use]
    pub fn range(self, streamed: &Range<u64>) -> Range<u64> {
        self.bytes(streamed.start)..self.bytes(streamed.end)
    }
}

/// Makes floats of two bytes of those of four, wherever the stream is cut.
#[derive(Debug, Default)]
pub struct F16Stream {
    /// Bytes of a float whose end has not come yet, 0 to 3.
    rest: Vec<u8>,
}

impl F16Stream {
    /// The floats that these bytes complete.
    pub fn put(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let (floats, rest) = self.rest.as_chunks();
        let halved = |float: &[u8; 4]| f16::from_f32(f32::from_le_bytes(*float)).to_le_bytes();
        let halves = floats.iter().flat_map(halved).collect();
        self.rest = rest.to_vec();
        halves
    }

    /// Bytes that wait for the others of their float.
    #[must_use]
    pub fn n_waiting(&self) -> u64 {
        self.rest.len() as u64
    }
}

/// Refuses values that two bytes do not hold.
///
/// # Errors
///
/// A value that is infinite or no number; the message names the tensor.
pub fn check_held(name: &str, values: &[f32]) -> Result<()> {
    let (is_held, most) = (values.iter().all(|value| value.is_finite()), f16::MAX);
    refuse_if!(
        !is_held,
        "{name}: holds a number that two bytes do not, at most {most} is expected"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stream_may_be_cut_anywhere(values: Vec<f32>, cuts: Vec<prop::sample::Index>) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let halved = |value: &f32| f16::from_f32(*value).to_le_bytes();
            let expected: Vec<u8> = values.iter().flat_map(halved).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let (mut stream, mut kept) = (F16Stream::default(), Vec::new());
            for cut in cuts.windows(2) {
                kept.extend(stream.put(&bytes[cut[0]..cut[1]]));
                let n_streamed = StoragePrecision::F16.streamed(kept.len() as u64) + stream.n_waiting();
                prop_assert_eq!(n_streamed, cut[1] as u64, "the stream goes on where it is");
            }
            prop_assert_eq!(kept, expected);
        }
    }

    #[test]
    fn a_float_that_was_cut_is_not_kept() {
        let halved = StoragePrecision::F16;
        assert_eq!(halved.streamed(7), 12, "three floats and a byte");
        assert_eq!(halved.bytes(12), 6, "three floats");
        assert_eq!(StoragePrecision::AsSent.streamed(7), 7, "as they come");
        assert_eq!(halved.range(&(8..16)), 4..8, "two floats of four");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let halves = F16Stream::default().put(&70_000_f32.to_le_bytes());
        let value = f16::from_le_bytes([halves[0], halves[1]]).to_f32();
        let error = check_held("text.weight", &[1.0, value]).expect_err("too large");
        assert!(error.to_string().contains("text.weight"), "{error}");
        check_held("text.weight", &[65_504.0]).expect("the greatest that fits");
    }
}
