//! Sets of pictures that a caption could mean, with a stated coverage: split conformal prediction, by κ.
//!
//! A picture belongs to a caption's set where its cosine with the caption's mean direction is at least a threshold that
//! rises with κ.
//! Thresholds are chosen on pairs that nothing was trained on, so that the right picture is in the set as often as is
//! stated, for vague captions and specific ones alike. See <https://arxiv.org/abs/2307.07336> for such sets in
//! retrieval.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::family::{Family, PerFamily};

/// Greatest magnitude of a component in eight bits.
const MOST: f32 = 127.0;

/// Thresholds on the cosine for each stated coverage, and the coverage measured with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureSets {
    /// Stated shares of right pictures in the sets, ascending, between 0 and 1.
    pub coverages: Vec<f64>,
    /// Thresholds on the cosine as functions of κ.
    pub thresholds: PerFamily<CosineThresholds>,
    /// Coverage on data sets that neither training nor thresholds have seen.
    pub measured: Vec<MeasuredSets>,
}

/// Thresholds at some values of κ; between them they are interpolated over ln κ, beyond them they stay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CosineThresholds {
    /// ln κ of the knots, ascending.
    pub log_concentrations: Vec<f64>,
    /// Least cosine at each knot, for each stated coverage: `[n_coverages][n_knots]`.
    pub cosines: Vec<Vec<f64>>,
}

/// Coverage on one data set, for each stated coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredSets {
    /// Name of the data set, such as `Flickr8k's test pictures`.
    pub on: String,
    /// Pictures in it, from which the sets are taken.
    pub n_pictures: usize,
    /// Pairs of a caption and its right picture.
    pub n_pairs: usize,
    /// Coverage with thresholds that rise with κ.
    pub by_concentration: PerFamily<Vec<FoundCoverage>>,
    /// Coverage with one threshold on the encoder's own cosine for all captions.
    pub by_cosine: Vec<FoundCoverage>,
}

/// Share of right pictures found and size of the sets, at one stated coverage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FoundCoverage {
    /// Share of right pictures that are in their set.
    pub found: f64,
    /// The least such share in five groups of captions from the vaguest to the most specific.
    pub found_in_worst_fifth: f64,
    /// Share of all pictures that a set holds, mean over the pairs.
    pub mean_size: f64,
}

/// Direction of an embedding in eight bits a component: its cosines are off by less than .003.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompactDirection(
    #[serde(
        serialize_with = "serde_bytes::serialize",
        deserialize_with = "components"
    )]
    Vec<u8>,
);

/// Whether a caption has no mean directions, as in answers that were recorded without.
pub(super) fn is_without(directions: &PerFamily<CompactDirection>) -> bool {
    Family::ALL.map(|family| directions.get(family).is_empty()) == [true; 2]
}

/// Components as bytes, which messages hold, or as a list of numbers, which files hold.
fn components<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_any(Components)
}

struct Components;

impl<'de> Visitor<'de> for Components {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes or a list of numbers below 256")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

impl PictureSets {
    /// The least cosine of a picture in the set of a caption with this κ, at the stated coverage with this index.
    #[must_use]
    pub fn threshold(&self, family: Family, concentration: f64, i_coverage: usize) -> Option<f64> {
        let CosineThresholds {
            log_concentrations: knots,
            cosines,
        } = self.thresholds.get(family);
        let cosines = cosines.get(i_coverage)?;
        let x = concentration.ln();
        let right = knots.partition_point(|knot| *knot <= x);
        let (Some(x1), Some(y1)) = (knots.get(right), cosines.get(right)) else {
            return cosines.last().copied();
        };
        let Some(left) = right.checked_sub(1) else {
            return Some(*y1);
        };
        let (x0, y0) = (knots[left], cosines[left]);
        Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    }

    /// Reason for which these thresholds cannot be used, if there is one.
    #[must_use]
    pub fn problem(&self) -> Option<&'static str> {
        let n = self.coverages.len();
        let is_share = |share: &f64| *share > 0.0 && *share < 1.0;
        if n == 0 || n > 32 || !self.coverages.iter().all(is_share) || !rises(&self.coverages) {
            return Some("coverages: up to 32 ascending shares between 0 and 1 were expected");
        }
        let fits = |of: &CosineThresholds| {
            let n_knots = of.log_concentrations.len();
            let is_row = |row: &Vec<f64>| {
                row.len() == n_knots && row.iter().all(|cosine| (-1.0..=1.0).contains(cosine))
            };
            (1..=256).contains(&n_knots)
                && rises(&of.log_concentrations)
                && of.cosines.len() == n
                && of.cosines.iter().all(is_row)
        };
        let fits = Family::ALL.map(|family| fits(self.thresholds.get(family)));
        (fits != [true; 2]).then_some(
            "thresholds: a cosine for each coverage and each ascending ln κ was expected",
        )
    }
}

/// Whether finite values ascend strictly.
fn rises(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite()) && values.windows(2).all(|pair| pair[0] < pair[1])
}

impl CompactDirection {
    /// The direction of a vector, whatever its length.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let largest = vector
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from -127 to 127, kept in two's complement"
        )]
        let byte = |x: &f32| (x / largest * MOST).round() as i8 as u8;
        Self(vector.iter().map(byte).collect())
    }

    /// Directions that lie one behind the other, `embed_dim` bytes each; bytes left over are ignored.
    #[must_use]
    pub fn read_all(bytes: &[u8], embed_dim: usize) -> Vec<Self> {
        let rows = bytes.chunks_exact(embed_dim.max(1));
        rows.map(|row| Self(row.to_vec())).collect()
    }

    /// Components as bytes in two's complement.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Cosine with another direction; 0 where either is none.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f64 {
        let product = |a: &Self, b: &Self| -> f64 {
            let components = a.0.iter().zip(&b.0);
            let products =
                components.map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()));
            f64::from(products.sum::<i32>())
        };
        let lengths = (product(self, self) * product(other, other)).sqrt();
        if lengths > 0.0 {
            product(self, other) / lengths
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets() -> PictureSets {
        let thresholds = CosineThresholds {
            log_concentrations: vec![1.0, 3.0],
            cosines: vec![vec![0.1, 0.5], vec![-0.2, 0.2]],
        };
        PictureSets {
            coverages: vec![0.5, 0.9],
            thresholds: PerFamily::of(|_| thresholds.clone()),
            measured: Vec::new(),
        }
    }

    #[test]
    fn thresholds_are_interpolated_over_the_logarithm_and_stay_beyond_the_knots() {
        let at = |kappa: f64, i| sets().threshold(Family::VonMisesFisher, kappa, i);
        assert_eq!(at(1.0, 0), Some(0.1), "vaguer than all");
        assert_eq!(at(1e9, 0), Some(0.5), "more specific than all");
        let middle = at(2.0_f64.exp(), 1).expect("there is one");
        assert!(middle.abs() < 1e-12, "halfway: {middle}");
        assert_eq!(at(5.0, 2), None, "no such coverage");
    }

    #[test]
    fn thresholds_that_contradict_themselves_have_a_problem() {
        assert_eq!(sets().problem(), None, "sound");
        let spoilt: [fn(&mut PictureSets); 5] = [
            |sets| sets.coverages = vec![0.9, 0.5],
            |sets| sets.coverages = vec![0.5, 1.5],
            |sets| sets.thresholds.vmf.log_concentrations = vec![1.0, 1.0],
            |sets| sets.thresholds.power_spherical.cosines[1].push(0.3),
            |sets| sets.thresholds.vmf.cosines[0][0] = f64::NAN,
        ];
        for (i, spoil) in spoilt.into_iter().enumerate() {
            let mut sets = sets();
            spoil(&mut sets);
            assert!(sets.problem().is_some(), "spoilt in way {i}");
        }
    }

    #[test]
    fn eight_bits_keep_cosines() {
        let vector =
            |step: f32| -> Vec<f32> { (0..256_u16).map(|i| (f32::from(i) * step).sin()).collect() };
        for (a, b) in [(0.31, 0.32), (0.9, 1.7), (0.11, 0.11)] {
            let (a, b) = (vector(a), vector(b));
            let dot =
                |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let compact = CompactDirection::of(&a).cosine(&CompactDirection::of(&b));
            assert!((exact - compact).abs() < 3e-3, "{compact} for {exact}");
        }
        assert_eq!(
            CompactDirection::default().cosine(&CompactDirection::of(&[1.0])),
            0.0,
            "none"
        );
    }
}
