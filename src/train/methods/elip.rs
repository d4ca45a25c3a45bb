//! ELIP's evidential loss: the similarity to each picture is evidence for it, e = e^(100·cos) as the paper and the
//! released code have it, clamped to e^±10 in the loss.
//!
//! The published model trains bottlenecks inside both towers; [`ElipBottleneck`] is as near to that as frozen features
//! permit: one bottleneck behind each tower, which starts from the tower's own similarities. [`Elip`] trains the
//! perceptron of `AsymVLM` by the same loss instead. A perceptron of random weights starts from no similarity: where
//! its cosines lie beyond the clamp at ±0.1, the paper's evidence has no slope and nothing is learnt, which says
//! nothing of ELIP. With evidence of our own ([`ElipEvidence::AboveMean`]) there is a slope wherever it starts.

use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::method::{Method, parameters_of};
use crate::model::adapter::{AdapterConfig, Perceptron, evidential_loss, info_nce};
use crate::model::clip::normalize;

/// The released factor on the cosine, which is not trained.
const LOGIT_SCALE: f64 = 100.0;

/// Standard deviation of the bottlenecks' weights at the start, as released.
const INITIAL_DEVIATION: f64 = 0.001;

/// Evidence of a candidate for a query, as a function of their similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElipEvidence {
    /// Our own: what is above the mean of the query's M candidates, a candidate like the mean being 1/M of one
    /// observation: ln e = η·z − mean(η·z) − ln M, with the natural parameter η of `AsymVLM`'s perceptron.
    ///
    /// An offset that all candidates share says nothing about any of them, and a query that sees no difference has one
    /// observation in all, of whatever number of candidates, against the M of the uniform prior. So an untrained
    /// perceptron starts where the loss has a slope, and what is learnt is ‖η‖ with its direction. Order is that of
    /// η·z: the mean and M are the same for all candidates.
    AboveMean,
    /// The paper's: e = e^(100·cos).
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
    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, epoch: usize) -> Tensor<1> {
        let scores = self.scores(images, texts);
        let of = |scores| self.log_evidence(scores);
        let both = [of(scores.clone()), of(scores.transpose())];
        loss_both_ways(both, epoch as f64 / self.annealing_epochs as f64)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        let natural_parameter = self.text.forward(features);
        match self.evidence {
            ElipEvidence::AboveMean => natural_parameter,
            ElipEvidence::Cosine => normalize(natural_parameter),
        }
    }

    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(uncertainty_mass(
            self.log_evidence(self.scores(rows, gallery)),
        ))
    }
}

parameters_of!(Elip: text);

/// What is left out of ELIP's bottlenecks, as in the paper's table 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElipPart {
    /// The bottleneck of captions.
    TextBottleneck,
    /// The bottleneck of pictures.
    ImageBottleneck,
    /// The evidential loss, in whose place stands the contrastive one, with the same factor on the cosine.
    EvidentialLoss,
}

/// A bottleneck behind each tower: x + W·relu(V·x), of half the width, whose weights start near zero as released.
#[derive(Module, Debug)]
pub struct ElipBottleneck {
    text: Option<Perceptron>,
    image: Option<Perceptron>,
    annealing_epochs: usize,
    #[module(skip)]
    is_evidential: bool,
}

impl ElipBottleneck {
    /// Untrained, which is the frozen encoder but for a thousandth.
    #[must_use]
    pub fn new(
        embed_dim: usize,
        left_out: Option<ElipPart>,
        annealing_epochs: usize,
        device: &Device,
    ) -> Self {
        let widths = [embed_dim, embed_dim / 2, embed_dim];
        let unless = |part| {
            let is_there = left_out != Some(part);
            is_there.then(|| Perceptron::near_zero(&widths, INITIAL_DEVIATION, device))
        };
        Self {
            text: unless(ElipPart::TextBottleneck),
            image: unless(ElipPart::ImageBottleneck),
            annealing_epochs,
            is_evidential: left_out != Some(ElipPart::EvidentialLoss),
        }
    }
}

impl Method for ElipBottleneck {
    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, epoch: usize) -> Tensor<1> {
        let log_evidence = self.scores(images, texts) * LOGIT_SCALE;
        if !self.is_evidential {
            return info_nce(log_evidence);
        }
        let both = [log_evidence.clone(), log_evidence.transpose()];
        loss_both_ways(both, epoch as f64 / self.annealing_epochs as f64)
    }

    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        behind(self.image.as_ref(), features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        behind(self.text.as_ref(), features)
    }

    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        Some(uncertainty_mass(self.scores(rows, gallery) * LOGIT_SCALE))
    }
}

parameters_of!(ElipBottleneck: text, image);

/// Unit features behind a bottleneck, if there is one.
fn behind(bottleneck: Option<&Perceptron>, features: Tensor<2>) -> Tensor<2> {
    normalize(match bottleneck {
        None => features,
        Some(bottleneck) => bottleneck.forward(features.clone()) + features,
    })
}

/// Mean of the evidential losses from pictures to captions and back, the divergence weighted by the share of its
/// annealing that has passed.
fn loss_both_ways(log_evidence: [Tensor<2>; 2], annealed: f64) -> Tensor<1> {
    let weight = annealed.min(1.0);
    let [image_to_text, text_to_image] = log_evidence.map(|rho| evidential_loss(rho, weight));
    (image_to_text + text_to_image) * 0.5
}

/// The mass u = M/Σα that is on no candidate, with α = e + 1 not clamped, as released: one over one plus the mean
/// evidence.
///
/// # Shapes
///
/// - `log_evidence`: `[n, n_candidates]`
/// - output: `[n, 1]`
fn uncertainty_mass(log_evidence: Tensor<2>) -> Tensor<2> {
    let greatest = log_evidence.clone().max_dim(1);
    let mean = (log_evidence - greatest.clone()).exp().mean_dim(1);
    sigmoid((mean.log() + greatest).neg())
}
