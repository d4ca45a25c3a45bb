//! `AsymVLM`: a caption is a distribution on the sphere, a picture a point.
//!
//! Ju et al. 2025, [Exploiting the Asymmetric Uncertainty Structure of Pre-trained VLMs on the Unit
//! Hypersphere](https://arxiv.org/abs/2505.11029), as its released code computes it; the sigmoid variant is the
//! paper's appendix A.3.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, scalar};
use crate::error::Result;
use crate::model::adapter::{
    Adapter, AdapterConfig, Family, concentration, info_nce, log_likelihood_ratio,
    scaled_log_likelihood_ratio, sigmoid_loss,
};
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

/// The contrastive loss of matching pictures and captions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContrastiveLoss {
    /// A softmax over pictures and one over captions, as released.
    InfoNce,
    /// A logistic loss of each pair, with a trained bias that starts at −ln(batch − 1).
    Sigmoid {
        /// Pairs in a batch.
        batch: usize,
    },
}

/// The adapter with its distribution.
#[derive(Module, Debug)]
pub struct AsymVlm {
    /// A caption's feature → η = κμ, and τ.
    pub adapter: Adapter,
    bias: Option<Param<Tensor<1>>>,
    #[module(skip)]
    family: Family,
}

impl AsymVlm {
    /// An untrained adapter with τ = 1.
    #[must_use]
    pub fn new(
        config: &AdapterConfig,
        family: Family,
        objective: ContrastiveLoss,
        device: &Device,
    ) -> Self {
        let bias = match objective {
            ContrastiveLoss::InfoNce => None,
            ContrastiveLoss::Sigmoid { batch } => {
                let others = u16::try_from(batch.saturating_sub(1).max(1)).unwrap_or(u16::MAX);
                Some(scalar(-f32::from(others).ln(), device))
            }
        };
        Self {
            adapter: config.init(device),
            bias,
            family,
        }
    }
}

impl Method for AsymVlm {
    fn loss_of_rows(&self, images: Tensor<2>, texts: Tensor<2>, _epoch: usize) -> Tensor<1> {
        let logits = self.logits(images, texts);
        match &self.bias {
            None => info_nce(logits),
            Some(bias) => sigmoid_loss(logits, bias.val()),
        }
    }

    fn logits(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        let factor = self.adapter.logit_scale.val();
        scaled_log_likelihood_ratio(self.family, texts, images, factor)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        self.adapter.forward(features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        log_likelihood_ratio(self.family, texts, images)
    }

    fn concentration(&self, rows: Tensor<2>) -> Option<Tensor<2>> {
        Some(concentration(rows))
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.adapter.logit_scale.val())
    }
}

impl Parameters for AsymVlm {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        self.adapter.visit_parameters(visitor)?;
        match &mut self.bias {
            Some(bias) => visitor.visit("bias", Layout::Scalar, bias),
            None => Ok(()),
        }
    }
}
