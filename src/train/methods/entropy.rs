//! The entropy of a frozen query's softmax over all candidates, a score that nothing is trained for: it asks how many
//! candidates compete, as the entropies both ways of [GeoFlowVLM](https://arxiv.org/abs/2605.13352) do, without their
//! flow.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

use super::method::{Method, Side, parameters_of};
use crate::model::clip::normalize;

/// The factor of CLIP's own softmax.
const LOGIT_SCALE: f32 = 100.0;

/// Cosines of frozen features, with the entropy of one side's softmax over the other side.
#[derive(Module, Debug)]
pub(super) struct Entropy {
    #[module(skip)]
    side: Side,
}

impl Entropy {
    /// Entropy of captions over all pictures, or of pictures over all captions.
    pub(super) const fn new(side: Side) -> Self {
        Self { side }
    }
}

impl Method for Entropy {
    fn of_texts(&self, features: Tensor<2>) -> Tensor<2> {
        normalize(features)
    }

    fn uncertain_side(&self) -> Side {
        self.side
    }

    /// Entropy in nats, from 0 to the logarithm of the number of candidates, `[n, 1]`.
    fn uncertainty(&self, rows: Tensor<2>, gallery: Tensor<2>) -> Option<Tensor<2>> {
        let log_share = log_softmax(rows.matmul(gallery.transpose()) * LOGIT_SCALE, 1);
        Some(-(log_share.clone().exp() * log_share).sum_dim(1))
    }
}

parameters_of!(Entropy: );

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn who_fits_all_alike_has_the_entropy_of_all_and_who_fits_one_has_none() {
        let device = cpu();
        let gallery = Tensor::<2>::from_floats([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &device);
        let queries = Tensor::<2>::from_floats([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], &device);
        let entropy = Entropy::new(Side::Text)
            .uncertainty(queries, gallery)
            .expect("it has one");
        let found: Vec<f32> = entropy.into_data().try_into_vec().expect("numbers");
        assert!(
            (found[0] - 2.0_f32.ln()).abs() < 1e-6,
            "{found:?}: both alike"
        );
        assert!(found[1].abs() < 1e-6, "{found:?}: one alone");
    }
}
