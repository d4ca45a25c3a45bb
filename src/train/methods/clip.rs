//! CLIP zero-shot: the cosine of frozen features, nothing trained, no uncertainty.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::{Method, Pairs, Side, scalar};
use crate::error::Result;
use crate::model::adapter::{cosine, info_nce};
use crate::model::clip::normalize;
use crate::model::parameters::{Layout, ParameterVisitor, Parameters};

/// The factor of CLIP's own loss.
const LOGIT_SCALE: f32 = 100.0;

/// The frozen model.
#[derive(Module, Debug)]
pub struct Clip {
    logit_scale: Param<Tensor<1>>,
}

impl Clip {
    /// The only one there is.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self {
            logit_scale: scalar(LOGIT_SCALE, device),
        }
    }
}

impl Method for Clip {
    fn loss(&self, pairs: Pairs, _epoch: usize) -> Tensor<1> {
        info_nce(cosine(pairs.images, pairs.texts) * self.logit_scale.val().unsqueeze::<2>())
    }

    fn of_images(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn scores(&self, images: Tensor<2>, texts: Tensor<2>) -> Tensor<2> {
        images.matmul(texts.transpose())
    }

    fn uncertain_side(&self) -> Option<Side> {
        None
    }

    fn uncertainty(&self, _rows: Tensor<2>, _gallery: Tensor<2>) -> Option<Tensor<2>> {
        None
    }
}

impl Parameters for Clip {
    fn visit_parameters<V: ParameterVisitor>(&mut self, visitor: &mut V) -> Result<()> {
        visitor.visit("logit_scale", Layout::Scalar, &mut self.logit_scale)
    }
}
