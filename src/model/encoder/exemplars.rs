//! Familiarity of captions and pictures: mean cosines with the nearest of some exemplars: captions of the training, or
//! centres of its pictures.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::device::{change_values, host_values, is_on_host, product};
use crate::error::Result;
use crate::host::lanes::{Lanes, Real as _, replace, sum};
use crate::model::initial::zeros;
use crate::model::parameters::{Layout, ParameterVisitor};

/// Nearest exemplars whose mean cosine counts.
const N_NEAREST: usize = 3;

/// Number of exemplars of each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExemplarsConfig {
    /// Number of captions among the exemplars.
    pub text: usize,
    /// Number of pictures among the exemplars.
    pub image: usize,
    /// Which of an image tower's outputs pictures are compared by.
    #[serde(default)]
    pub image_output: ImageOutput,
}

/// Outputs of an image tower by which pictures are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageOutput {
    /// The features, as the head takes them.
    #[default]
    Features,
    /// The means of the map that the last block reads.
    BeforeLastBlock,
}

/// Captions or pictures of the training, as they are compared.
#[derive(Module, Debug)]
pub struct Exemplars {
    /// `[n_exemplars, width]`, rows of length one.
    features: Param<Tensor<2>>,
}

impl Exemplars {
    /// Exemplars of zeros, `[n, width]`, which the model's file replaces.
    pub(super) fn new(n: usize, width: usize, device: &Device) -> Self {
        Self {
            features: zeros([n, width], device),
        }
    }

    /// Exemplars with these features, `[n_exemplars, width]`, rows of length one.
    #[must_use]
    pub fn of(features: Tensor<2>) -> Self {
        Self {
            features: Param::from_tensor(features),
        }
    }

    /// The mean cosine with the three nearest exemplars; those that are equally near count as one.
    ///
    /// # Shapes
    ///
    /// - `features`: `[n, width]`, of any length
    /// - output: `[n, 1]`
    pub fn nearest(&self, features: Tensor<2>) -> Tensor<2> {
        if is_on_host(&features) {
            return self.nearest_on_host(features);
        }
        let length = features.clone().square().sum_dim(1).sqrt();
        let unit = features / length.clamp_min(f32::MIN_POSITIVE);
        let mut cosines = product(unit, self.features.val().transpose());
        let mut nearest = Vec::with_capacity(N_NEAREST);
        for _ in 0..N_NEAREST {
            let best = cosines.clone().max_dim(1);
            cosines = cosines
                .clone()
                .mask_fill(cosines.greater_equal(best.clone()), -1.0);
            nearest.push(best);
        }
        Tensor::cat(nearest, 1).mean_dim(1)
    }

    fn nearest_on_host(&self, features: Tensor<2>) -> Tensor<2> {
        let ([n, width], device) = (features.dims(), features.device());
        let unit = change_values(features, width.max(1), |row| {
            scale_to_unit_length(row);
        });
        let mut cosines = host_values(product(unit, self.features.val().transpose()));
        let n_exemplars = cosines.len() / n.max(1);
        let mean = |cosines: &mut [f32]| {
            let nearest = || {
                let best = cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                cosines
                    .iter_mut()
                    .filter(|cosine| **cosine >= best)
                    .for_each(|cosine| *cosine = -1.0);
                best
            };
            std::iter::repeat_with(nearest).take(N_NEAREST).sum::<f32>() / N_NEAREST as f32
        };
        let means = cosines.chunks_mut(n_exemplars.max(1)).map(mean);
        Tensor::from_data(TensorData::new(means.collect(), [n, 1]), &device)
    }

    /// Shows the features under `name`.
    ///
    /// # Errors
    ///
    /// Whatever the visitor cannot accept.
    pub(super) fn visit_as<V: ParameterVisitor>(
        &mut self,
        name: &str,
        visitor: &mut V,
    ) -> Result<()> {
        visitor.visit(name, Layout::Same, &mut self.features)
    }
}

/// Divides a row by its length; one of zeros stays so.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn scale_to_unit_length(row: &mut [f32]) {
    let length = sum(row, |x| x * x, |x| x * x).sqrt().max(f32::MIN_POSITIVE);
    replace(row, |x| x / Lanes::of(length), |x| x / length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu;

    #[test]
    fn the_three_nearest_exemplars_count_whatever_the_length() {
        let device = cpu();
        let features =
            Tensor::from_data([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6], [-1.0, 0.0]], &device);
        let asked = Tensor::from_data([[0.0, 3.0], [0.5, 0.0]], &device);
        let exemplars = Exemplars::of(features);
        let by_tensors = Tensor::from_inner(asked.clone()).require_grad();
        for asked in [asked, by_tensors] {
            let found = host_values(exemplars.nearest(asked));
            for (found, expected) in found.iter().zip([1.4 / 3.0, 2.4 / 3.0]) {
                assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
            }
        }
    }
}
