//! Layer normalisation whose ε a kernel of our own can read.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use super::initial::{ones, zeros};
use crate::device::{VALUES_PER_TASK, change_values, host_values, is_on_host, layer_norm};
use crate::host::lanes::{Lanes, Real as _, add, multiply, replace, sum};

/// `(x − mean) / √(variance + ε) · γ + β` over the last dimension (Ba et al. 2016,
/// [Layer Normalization](https://arxiv.org/abs/1607.06450)). Burn's module keeps ε to itself.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// Factor of each normalised column, γ, `[width]`; ones at first.
    pub gamma: Param<Tensor<1>>,
    /// What is added to each column, β, `[width]`; zeros at first.
    pub beta: Param<Tensor<1>>,
    epsilon: f64,
}

impl LayerNorm {
    /// γ of ones and β of zeros.
    #[must_use]
    pub fn new(width: usize, epsilon: f64, device: &Device) -> Self {
        Self {
            gamma: ones([width], device),
            beta: zeros([width], device),
            epsilon,
        }
    }

    /// Normalised rows.
    ///
    /// # Shapes
    ///
    /// - `input`, output: `[..., width]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if is_on_host(&input) {
            return self.normalize_on_host(input);
        }
        layer_norm(input, self.gamma.val(), self.beta.val(), self.epsilon)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "ε is a small number, of which the first digits count"
    )]
    fn normalize_on_host<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let (gamma, beta) = (host_values(self.gamma.val()), host_values(self.beta.val()));
        let width = gamma.len().max(1);
        let rows_per_task = (VALUES_PER_TASK / width).max(1);
        change_values(input, rows_per_task * width, |rows| {
            for row in rows.chunks_exact_mut(width) {
                normalize(row, &gamma, &beta, self.epsilon as f32);
            }
        })
    }
}

/// Normalises one row, `[width]`, in its place; γ and β are as wide.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
fn normalize(row: &mut [f32], gamma: &[f32], beta: &[f32], epsilon: f32) {
    let width = row.len() as f32;
    let mean = sum(row, |x| x, |x| x) / width;
    replace(row, |x| x - Lanes::of(mean), |x| x - mean);
    let variance = sum(row, |x| x * x, |x| x * x) / width;
    let scale = (variance + epsilon).sqrt().recip();
    replace(row, |x| x * Lanes::of(scale), |x| x * scale);
    multiply(row, gamma);
    add(row, beta);
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Distribution, Tolerance};

    use super::*;
    use crate::device::cpu;

    #[test]
    fn lists_are_normalised_as_tensors_are() {
        // Whole vectors and not, and rows of numbers that differ little from each other.
        for (width, spread) in [(8, 1.0), (19, 3.0), (5, 0.01), (384, 1.0)] {
            let random =
                |shape: [usize; 1]| Tensor::random(shape, Distribution::Uniform(-2.0, 2.0), &cpu());
            let norm = LayerNorm {
                gamma: Param::from_tensor(random([width])),
                beta: Param::from_tensor(random([width])),
                epsilon: 1e-5,
            };
            let rows =
                Tensor::<3>::random([2, 3, width], Distribution::Normal(1.0, spread), &cpu());
            let by_tensors = Tensor::from_inner(rows.clone()).require_grad();
            let expected = norm.forward(by_tensors);
            assert!(
                expected.is_autodiff(),
                "one way would be compared with itself"
            );
            norm.forward(rows)
                .into_data()
                .assert_approx_eq(&expected.into_data(), Tolerance::<f32>::absolute(1e-4));
        }
    }
}
