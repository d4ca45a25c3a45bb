//! One caption's numbers for one picture under one family, in f64.

use super::best::{BestMarks, free_offset};
use crate::explorer::measure::Measure;
use crate::numerics::Family;
use crate::protocol::{CaptionReading, ModelCard, PairReading};

/// One caption's numbers for one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct PairView {
    /// Log-likelihood minus that of the uniform distribution, in nats.
    pub nats: f64,
    /// Log-density at the picture with respect to area on the sphere, in nats.
    pub log_density: f64,
    /// The encoder's own cosine.
    pub cosine: f64,
    /// Cosine of the mean direction and the picture.
    pub mean_direction_cosine: f64,
    /// Likelihood of the picture under the caption over that of a blind guess, by the model's own scale: exp(τ · nats),
    /// its share's odds against "none of these".
    pub times_likelier: f64,
    /// Logarithm of the normaliser minus that of the uniform distribution.
    pub log_normalizer_ratio: f64,
    /// The caption's share among the captions shown, for this picture: softmax of τ · nats; NaN where it has none.
    pub posterior: f64,
    /// Offset of nats that training does not determine.
    pub free_offset: f64,
    /// Rank of it among the pairs shown.
    pub best: BestMarks,
    /// Rank of the caption for this picture by nats, from 1; 0 where it was not compared.
    pub likelihood_rank: usize,
    /// Rank of the caption for this picture by the encoder's cosine, from 1; 0 where it was not compared.
    pub cosine_rank: usize,
}

impl PairView {
    /// Reads a model's answer about one pair under a family; its posterior and ranks among others are unknown.
    pub(in crate::explorer) fn new(
        card: &ModelCard,
        caption: &CaptionReading,
        reading: &PairReading,
        family: Family,
    ) -> Self {
        let (embed_dim, concentration) = (card.embed_dim, *caption.concentration.get(family));
        let cosine = *reading.mean_direction_cosine.get(family);
        let nats = family.log_likelihood_ratio(embed_dim, concentration, cosine);
        let logit_scale = *card.logit_scale.get(family);
        Self {
            nats,
            times_likelier: (logit_scale * nats).exp(),
            log_density: family.log_likelihood(embed_dim, concentration, cosine),
            cosine: reading.cosine,
            mean_direction_cosine: cosine,
            log_normalizer_ratio: family.log_normalizer_ratio(embed_dim, concentration),
            posterior: f64::NAN,
            free_offset: free_offset(logit_scale),
            best: BestMarks::default(),
            likelihood_rank: 0,
            cosine_rank: 0,
        }
    }

    /// Whether the nats are as good as zero.
    pub fn is_near_zero(&self) -> bool {
        self.nats.abs() <= self.free_offset
    }

    /// The value that bars show and that is ranked by.
    pub fn measured(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Likelihood => self.nats,
            Measure::Cosine => self.cosine,
        }
    }
}

/// Posterior over candidates with these nats, softmax of τ · nats, where τ is the logit scale.
pub(in crate::explorer) fn posterior(
    nats: impl IntoIterator<Item = f64>,
    logit_scale: f64,
) -> Vec<f64> {
    let logits: Vec<f64> = nats.into_iter().map(|nats| logit_scale * nats).collect();
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raised: Vec<f64> = logits.iter().map(|logit| (logit - highest).exp()).collect();
    let sum: f64 = raised.iter().sum();
    raised.into_iter().map(|value| value / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn great_logits_do_not_overflow() {
        let shares = posterior([1e4, 1e4], 2.5);
        assert_eq!(shares, [0.5, 0.5], "equal nats share equally");
    }
}
