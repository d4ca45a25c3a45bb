//! How like the training's captions and pictures others are: the cosine with the nearest of a few prototypes.

use burn::module::{Module, Param};
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::parameters::{Layout, ParameterVisitor};

/// How many prototypes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrototypesConfig {
    /// Of captions, in the common space.
    pub text: usize,
    /// Of pictures, in the space of the image tower, as its head takes them.
    pub image: usize,
}

/// Centres of clusters of unit vectors.
#[derive(Module, Debug)]
pub struct Prototypes {
    /// `[n_prototypes, width]`, rows of length one.
    pub centres: Param<Tensor<2>>,
}

impl Prototypes {
    /// Prototypes without values.
    pub(super) fn new(n: usize, width: usize, device: &Device) -> Self {
        Self {
            centres: Initializer::Zeros.init([n, width], device),
        }
    }

    /// The greatest cosine with a prototype.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, width]`, of any length
    /// - output: `[n, 1]`
    pub fn nearest(&self, features: Tensor<2>) -> Tensor<2> {
        let length = features.clone().square().sum_dim(1).sqrt();
        let unit = features / length.clamp_min(f32::MIN_POSITIVE);
        unit.matmul(self.centres.val().transpose()).max_dim(1)
    }

    /// Shows the centres under `name`.
    ///
    /// # Errors
    ///
    /// Whatever the visitor cannot accept.
    pub(super) fn visit_as<V: ParameterVisitor>(
        &mut self,
        name: &str,
        visitor: &mut V,
    ) -> Result<()> {
        visitor.visit(name, Layout::Same, &mut self.centres)
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;

    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_nearest_prototype_is_found_whatever_the_length() {
        let device = cpu();
        let mut prototypes = Prototypes::new(2, 2, &device);
        prototypes.centres =
            Param::from_tensor(Tensor::from_data([[1.0, 0.0], [0.6, 0.8]], &device));
        let features = Tensor::from_data([[0.0, 3.0], [-2.0, 0.0], [0.5, 0.0]], &device);
        let found = prototypes.nearest(features).into_data();
        let found = found.as_slice::<f32>().expect("floats");
        for (found, expected) in found.iter().zip([0.8, -0.6, 1.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }
}
