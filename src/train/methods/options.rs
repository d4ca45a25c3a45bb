//! Choices within a method, and computations that are generic over the method.

use serde::{Deserialize, Serialize};

use super::method::Method;
use super::probvlm::UncertaintyOf;
use crate::model::adapter::AdapterConfig;

/// Whether a method is as its released code or as its paper, where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The released code, where the paper differs.
    #[default]
    Code,
    /// The paper, where the released code differs.
    Paper,
}

impl Variant {
    /// Epochs after which the divergence in ELIP's loss has its full weight.
    #[must_use]
    pub const fn annealing_epochs(self) -> usize {
        match self {
            Self::Code => 20,
            Self::Paper => 15,
        }
    }
}

/// Choices within a method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodOptions {
    /// The paper or the released code, where they differ.
    pub variant: Variant,
    /// Sizes of the perceptrons.
    pub sizes: AdapterConfig,
    /// Pairs in a batch, on which the start of the logistic loss depends.
    pub batch: usize,
    /// Initial τ of deterministic fine-tuning; 1 if not given.
    pub deterministic_scale: Option<f32>,
    /// Scalar that is `ProbVLM`'s uncertainty.
    pub probvlm_uncertainty: UncertaintyOf,
}

/// A computation that is generic over the method; [`MethodName::visit`](super::MethodName::visit) calls it with the
/// method of a name.
pub trait MethodVisitor {
    /// Result of the computation.
    type Output;

    /// Runs the computation with an untrained method.
    fn visit<M: Method>(self, method: M) -> Self::Output;
}
