//! CLIP zero-shot: the cosine of frozen features, nothing trained, no uncertainty.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::method::{Method, parameters_of, scalar};
use crate::model::clip::normalize;

/// The factor of CLIP's own loss.
const LOGIT_SCALE: f32 = 100.0;

/// The frozen features as they are.
#[derive(Module, Debug)]
pub struct ZeroShot {
    logit_scale: Param<Tensor<1>>,
}

impl ZeroShot {
    /// Frozen features with the factor of CLIP's own loss, 100.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self {
            logit_scale: scalar(LOGIT_SCALE, device),
        }
    }
}

impl Method for ZeroShot {
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn logit_scale(&self) -> Option<Tensor<1>> {
        Some(self.logit_scale.val())
    }
}

parameters_of!(ZeroShot: logit_scale);
