//! ELIP's evidential loss on the adapter of `AsymVLM`: the similarity to each picture is evidence for it.
//!
//! The published model trains bottlenecks inside the towers; on frozen features the same loss trains the perceptron. The
//! released code takes e^(100·cos) as evidence and clamps it, which has no slope beyond cosines of ±0.1: where an
//! untrained perceptron's captions lie beyond that from all pictures, nothing is learnt. The other [`ElipEvidence`] has a
//! slope wherever the perceptron starts.

use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::method::{Method, Pairs, parameters_of};
use crate::model::adapter::{AdapterConfig, Perceptron, evidential_loss};
use crate::model::clip::normalize;

/// The released factor on the cosine, which is not trained.
const LOGIT_SCALE: f64 = 100.0;

/// What a query takes for evidence of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElipEvidence {
    /// What is above the mean of the query's M candidates, a candidate like the mean being 1/M of one observation:
    /// ln e = η·z − mean(η·z) − ln M, with the natural parameter η of `AsymVLM`'s perceptron.
    ///
    /// An offset that all candidates share says nothing about any of them, and a query that sees no difference has one
    /// observation in all, of whatever number of candidates, against the M of the uniform prior. So an untrained
    /// perceptron starts where the loss has a slope, and what is learnt is ‖η‖ with its direction. Order is that of η·z:
    /// the mean and M are the same for all candidates.
    AboveMean,
    /// As released: e = e^(100·cos).
    Cosine,
}

/// An adapter of captions.
#[derive(Module, Debug)]
pub struct Elip {
    text: Perceptron,
    annealing_epochs: usize,
    #[module(skip)]
    evidence: ElipEvidence,
}

impl Elip {
    /// Untrained; the divergence has its full weight after this many epochs: 20 in the released code, 15 in the paper.
    #[must_use]
    pub fn new(
        config: &AdapterConfig,
        evidence: ElipEvidence,
        annealing_epochs: usize,
        device: &Device,
    ) -> Self {
        Self {
            text: Perceptron::new(config, device),
            annealing_epochs,
            evidence,
        }
    }

    /// Logarithm of the evidence that each query has for each candidate, not clamped.
    ///
    /// # Shapes
    ///
    /// - `scores`: `[n_queries, n_candidates]`
    /// - output: `[n_queries, n_candidates]`
    fn log_evidence(&self, scores: Tensor<2>) -> Tensor<2> {
        match self.evidence {
            ElipEvidence::Cosine => scores * LOGIT_SCALE,
            ElipEvidence::AboveMean => {
                let [_, n_candidates] = scores.dims();
                let baseline = scores.clone().mean_dim(1) + (n_candidates as f64).ln(); // [n_queries, 1]
                scores - baseline
            }
        }
    }
}

impl Method for Elip {
    fn loss(&self, pairs: Pairs, epoch: usize) -> Tensor<1> {
        let scores = self.scores(self.of_images(pairs.images), self.of_texts(pairs.texts));
        let weight = (epoch as f64 / self.annealing_epochs as f64).min(1.0);
        let image_to_text = evidential_loss(self.log_evidence(scores.clone()), weight);
        let text_to_image = evidential_loss(self.log_evidence(scores.transpose()), weight);
        (image_to_text + text_to_image) * 0.5
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let natural_parameter = self.text.forward(features);
        match self.evidence {
            ElipEvidence::AboveMean => natural_parameter,
            ElipEvidence::Cosine => normalize(natural_parameter),
        }
    }

    /// The mass u = M/Σα that is on no picture, with α = e + 1 not clamped, as released: one over one plus the mean
    /// evidence.
    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        let log_evidence = self.log_evidence(self.scores(rows, gallery)); // [n, n_gallery]
        let greatest = log_evidence.clone().max_dim(1);
        let mean = (log_evidence - greatest.clone()).exp().mean_dim(1);
        Some(sigmoid((mean.log() + greatest).neg()))
    }
}

parameters_of!(Elip: text);
